"""Examples through the network and the search."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from phraseloom.config import SearchConfig
from phraseloom.data.batch import collate
from phraseloom.data.example import Example
from phraseloom.data.lexicon import Lexicon
from phraseloom.extractor.windows import Segments
from phraseloom.model.network import KeyphraseModel
from phraseloom.model.step import NeuralStep
from phraseloom.search.beam import UNFOCUSED, Focus, find_phrases
from phraseloom.search.found import Found
from phraseloom.search.settings import Count, Settings
from phraseloom.search.trace import Trace

_DECODED_TOGETHER = 32


def decode(
    model: KeyphraseModel,
    lexicon: Lexicon,
    examples: Sequence[Example],
    segments: Sequence[Segments],
    search: SearchConfig,
    count: Count,
    *,
    focus: Focus = UNFOCUSED,
    trace: Trace | None = None,
) -> list[list[Found]]:
    """Phrases of each example, as slots; a bounded number of examples is searched at once.

    A trace is filled from the examples that are searched first, and tells nothing of the others.
    """
    settings = Settings(**search.model_dump(exclude={"window"}))
    found: list[list[Found]] = []
    with torch.inference_mode():
        for start in range(0, len(examples), _DECODED_TOGETHER):
            chunk = slice(start, start + _DECODED_TOGETHER)
            step = NeuralStep(model, collate(examples[chunk], lexicon))
            part = replace(focus, seeds=focus.seeds[chunk])
            seen = trace if start == 0 else None  # each chunk counts its documents from 0
            found += find_phrases(step, segments[chunk], settings, count, focus=part, trace=seen)
    return found
