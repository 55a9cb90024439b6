"""A rival with its weights: made anew, read from disk, bound to documents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import Parameter

from phraseloom.config import Config, ModelConfig
from phraseloom.errors import CheckpointError
from phraseloom.network.example import Example
from phraseloom.network.graph import Batch, collate
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.ops import Weights
from phraseloom.network.weights import (
    CONFIG,
    LEXICON,
    WEIGHTS,
    check_directory,
    find_model,
    load_arrays,
    load_config_file,
)
from phraseloom.train.corpus.vectors import Vectors
from phraseloom.train.initial import initial_weights
from phraseloom.train.loss import Losses
from phraseloom.train.ops import TorchOps, to_torch
from rivals import find_network
from rivals.decoding import RivalDecoder
from rivals.documents import PhraseTargets, collate_documents, collate_targets
from rivals.seq2seq import Seq2Seq, Sizes, read_source

NAME = "rival.json"
"""File of a run that says which rival it trains."""
_BACKBONE = ("encoder.words.", "encoder.tokens.", "encoder.context.")
_OWN = "rival."


@dataclass(frozen=True)
class RivalModel:
    """A rival's network and the backbone's weights."""

    name: str
    config: ModelConfig
    lexicon: Lexicon
    backbone: Mapping[str, Parameter]
    network: Seq2Seq
    """With weights of its own."""

    @classmethod
    def new(
        cls,
        name: str,
        config: ModelConfig,
        lexicon: Lexicon,
        *,
        seed: int,
        vectors: Vectors | None = None,
    ) -> "RivalModel":
        """A network with random weights; word vectors may come from trained ones."""
        drawn = initial_weights(config, lexicon, seed=seed, vectors=vectors)
        backbone = {key: weight for key, weight in drawn.items() if key.startswith(_BACKBONE)}
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = find_network(name)(Sizes.of(config, lexicon))
        return cls(name, config, lexicon, backbone, network)

    @classmethod
    def of(cls, name: str, config: ModelConfig, lexicon: Lexicon, weights: Weights) -> "RivalModel":
        """A network with given weights, to be used as it is: without dropout."""
        model = cls.new(name, config, lexicon, seed=0)
        wanted = model.weights()
        for key, weight in wanted.items():
            if key not in weights or tuple(weights[key].shape) != tuple(weight.shape):
                raise CheckpointError(f"the weights are not those of {name}: {key} does not fit")
            weight.data = torch.as_tensor(weights[key]).detach().float()
        model.network.eval()
        return model

    @classmethod
    def load(cls, run: Path) -> tuple["RivalModel", Config]:
        """The best model of a run."""
        directory = find_model(run)
        check_directory(directory, required=(WEIGHTS, CONFIG, LEXICON))
        config = load_config_file(directory / CONFIG)
        lexicon = Lexicon.load(directory / LEXICON)
        arrays = load_arrays(directory / WEIGHTS)
        return cls.of(read_name(run), config.model, lexicon, arrays), config

    def weights(self) -> dict[str, Parameter]:
        """All weights by name, the network's own in place."""
        own = {f"{_OWN}{key}": weight for key, weight in self.network.named_parameters()}
        return {**self.backbone, **own}

    def losses(
        self,
        config: ModelConfig,
        weights: Weights,
        batch: Batch,
        targets: PhraseTargets,
        ops: TorchOps,
    ) -> Losses:
        """A loss function for `phraseloom.train.learner.Learner`.

        ``weights`` must be this model's, but for the rows of the word table that the batch reads.
        """
        targets = to_torch(targets)
        source = read_source(weights, config, to_torch(batch), targets.documents, ops)
        return self.network.losses(source, targets)

    def likelihood(self, examples: Sequence[Example]) -> Losses:
        """Negative log-likelihood of the phrases of documents, whatever the network learns by."""
        batch, one_phrase = collate(examples, self.lexicon), self.network.one_phrase
        targets = to_torch(
            collate_targets(batch, examples, None, lexicon=self.lexicon, one_phrase=one_phrase)
        )
        packed, ops = to_torch(batch), TorchOps()
        source = read_source(self.backbone, self.config, packed, targets.documents, ops)
        return self.network.likelihood(source, targets)

    def decoder(self, examples: Sequence[Example]) -> RivalDecoder:
        """The network bound to documents, as the search drives it."""
        batch = collate(examples, self.lexicon)
        documents = to_torch(collate_documents(batch, examples, self.lexicon))
        with torch.no_grad():
            packed = to_torch(batch)
            source = read_source(self.backbone, self.config, packed, documents, TorchOps())
        return RivalDecoder(self.network, batch, source)

    @property
    def size(self) -> int:
        """Weights, word vectors not counted."""
        unread = () if self.network.reads_states else ("encoder.context.",)
        left_out = ("encoder.words.", *unread)
        return sum(w.numel() for k, w in self.weights().items() if not k.startswith(left_out))


def read_name(run: Path) -> str:
    """Which rival a run trains."""
    try:
        return str(json.loads((run / NAME).read_text(encoding="utf-8"))["rival"])
    except FileNotFoundError:
        raise CheckpointError(f"{run} is no run of a rival: there is no {NAME} in it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{run / NAME} is damaged: {error}") from None
