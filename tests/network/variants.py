"""Networks of every kind, tiny, with documents of different lengths and numbers of phrases."""

from dataclasses import replace
from typing import Any

import pytest

from phraseloom.network.example import Example
from phraseloom.network.model import KeyphraseModel
from tests.builders import make_example, make_lexicon, make_model

STYLES = ("authors", "readers")
VARIANTS: dict[str, dict[str, Any]] = {
    "gru": {"variant": "gru"},
    "gru-features-no-merge": {"variant": "gru", "merge": False, "node_features": True},
    "gcn": {"variant": "gcn"},
    "gcn-residual-importance": {"variant": "gcn", "residual": True, "importance": True},
    "gcn-ends-bilinear": {"variant": "gcn", "pooling": False, "attention": "bilinear"},
    "gcn-no-merge": {"variant": "gcn", "merge": False},
    "dgcn": {},
    "dgcn-bilinear": {"attention": "bilinear"},
    "dgcn-residual": {"residual": True},
    "dgcn-no-merge": {"merge": False, "importance": True},
    "dgcn-no-merge-bilinear": {"merge": False, "attention": "bilinear"},
    "dgcn-no-gate": {"gate": False},
    "dgcn-ends": {"pooling": False},
    "dgcn-features": {"node_features": True, "glossary_features": True, "token_features": True},
    "dgcn-features-styles": {"node_features": True, "styles": STYLES},
    "interaction": {"edge_scorer": "interaction"},
    "scaled": {"scaled_edges": True},
    "last": {"dynamic_layers": "last", "edge_scorer": "interaction", "residual": True},
    "told-by-the-graph": {"history_coverage": False, "numbered": False},
    "merged": {"dynamic_layers": "merged", "edge_scorer": "interaction", "residual": True},
    "merged-linear": {"dynamic_layers": "merged"},
    "merged-no-merge": {"dynamic_layers": "merged", "merge": False, "edge_scorer": "interaction"},
    "merged-no-gate": {"dynamic_layers": "merged", "gate": False, "residual": True},
    "default-like": {
        "edge_scorer": "interaction",
        "scaled_edges": True,
        "attention": "bilinear",
        "residual": True,
        "node_features": True,
        "glossary_features": True,
        "importance": True,
        "styles": STYLES,
    },
}
every_variant = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())


def build(settings: dict[str, Any]) -> tuple[KeyphraseModel, list[Example]]:
    """A model, and documents; the last is one word."""
    lexicon = make_lexicon(styles=settings.get("styles", ()))
    sizes = [(9, 3), (5, 3), (14, 4), (1, 1)]
    examples = [make_example(i, tokens=t, phrases=p) for i, (t, p) in enumerate(sizes)]
    if lexicon.styles:
        examples = [replace(example, style=i % 2) for i, example in enumerate(examples)]
    return make_model(lexicon, **settings), examples
