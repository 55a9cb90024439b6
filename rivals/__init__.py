"""The systems of the paper's tables, each a small network on one backbone; not shipped.

All of them read our token embeddings and BiGRU, train in our trainer and are searched and scored as
ours is. A rival is one file that says what differs, with its equations and the paper it is from.
"""

import importlib
from typing import TYPE_CHECKING, NamedTuple

from phraseloom.errors import PhraseloomError

if TYPE_CHECKING:
    from rivals.seq2seq import Seq2Seq


class Rival(NamedTuple):
    """Where a rival is."""

    title: str
    """Its name in tables."""
    module: str
    network: str
    """Its class."""


RIVALS = {
    "catseq": Rival("catSeq", "rivals.catseq", "CatSeq"),
    "catseqd": Rival("catSeqD", "rivals.catseqd", "CatSeqD"),
    "catseqcorr": Rival("catSeqCorr", "rivals.catseqcorr", "CatSeqCorr"),
    "catseqtg": Rival("catSeqTG", "rivals.titleguided", "CatSeqTG"),
    "tgnet": Rival("TG-Net", "rivals.titleguided", "TGNet"),
    "copyrnn": Rival("CopyRNN", "rivals.copyrnn", "CopyRNN"),
    "transformer": Rival("Transformer", "rivals.transformer", "Transformer"),
    "exhird": Rival("ExHiRD-h", "rivals.exhird", "ExHiRD"),
    "paranet": Rival("ParaNetT+CoAtt", "rivals.paranet", "ParaNet"),
    "divgraphpointer": Rival("DivGraphPointer", "rivals.divgraphpointer", "DivGraphPointer"),
    "skerank": Rival("SKE-Rank, MiniLM", "rivals.skerank", "SkeRank"),
    "pointergenerator": Rival("Pointer-generator", "rivals.pointergenerator", "PointerGenerator"),
    "catseqd-2rf1": Rival("catSeqD-2RF1", "rivals.reward", "CatSeqDReward"),
    "catseqtg-2rf1": Rival("catSeqTG-2RF1", "rivals.reward", "CatSeqTGReward"),
}


def find_network(name: str) -> "type[Seq2Seq]":
    """The class of a rival's network."""
    if name not in RIVALS:
        raise PhraseloomError(f"no rival {name!r}; there are: {', '.join(RIVALS)}")
    network: type[Seq2Seq] = getattr(
        importlib.import_module(RIVALS[name].module), RIVALS[name].network
    )
    return network
