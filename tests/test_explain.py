"""An explanation shows the very search that found the keyphrases."""

import json
import math
from itertools import chain
from typing import Any

import pytest

from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.explanation import MAX_STEPS, Explanation, explain
from phraseloom.extractor import Extractor
from phraseloom.network.example import ExampleEncoder
from phraseloom.network.graph import build_edges
from phraseloom.network.lexicon import Labels, Lexicon, Vocabulary
from phraseloom.options import Options
from phraseloom.text.document import Source
from phraseloom.text.parsers import Parser, load_parser
from tests.builders import make_model

TITLE = "Dynamic graphs"
TEXT = (
    "Graph-based neural networks 😀 find keyphrases. The graph is dynamic; it is re-scored\n"
    "after each phrase, and the Graph based networks say what is left."
)
LONG = " ".join(f"Tool number{i} mends fence{i} near house{i}." for i in range(20))


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load_parser("spacy")


def make_extractor(parser: Parser, *, window_tokens: int = 600, variant: str = "dgcn") -> Extractor:
    lexicon = Lexicon(
        words=Vocabulary(("graph", "network", "the")),
        pos_tags=Labels.of(["NN", "DT", "VBZ"]),
        relations=Labels.of(["nsubj", "det", "compound"]),
        styles=(),
        min_n=3,
        max_n=5,
        buckets=50,
    )
    search = SearchConfig(
        beam_width=4, max_words=3, max_phrases=4, window_tokens=window_tokens, order="score"
    )
    return Extractor(make_model(lexicon, variant=variant), search, parser)


@pytest.mark.parametrize("window_tokens", [600, 12])
@pytest.mark.parametrize("top", [None, 1, 6])
@pytest.mark.parametrize("text", [TEXT, LONG, "", " \n"])
def test_keyphrases_are_those_of_the_extractor(
    parser: Parser, text: str, top: int | None, window_tokens: int
) -> None:
    extractor = make_extractor(parser, window_tokens=window_tokens)

    explained = explain(extractor, text, title=TITLE, top=top)

    assert list(explained.keyphrases) == extractor.extract(text, title=TITLE, top=top)
    assert (explained.text, explained.title) == (text, TITLE)


def test_steps_are_the_decoded_phrases_and_know_their_place_in_the_list(parser: Parser) -> None:
    explained = explain(make_extractor(parser), TEXT, title=TITLE, top=6)

    assert [step.number for step in explained.steps] == list(range(1, len(explained.steps) + 1))
    placed = {step.rank: step.chosen for step in explained.steps if step.rank is not None}
    for phrase in explained.keyphrases:
        chosen = placed.pop(phrase.rank)
        assert (chosen.text, chosen.stems, chosen.score) == (
            phrase.text,
            phrase.stems,
            phrase.score,
        )
    assert not placed


def test_what_lost_is_given_with_the_parts_of_its_score(parser: Parser) -> None:
    extractor = make_extractor(parser).with_search(lambda1=0.7, lambda2=0.3, alpha=1.2)
    explained = explain(extractor, TEXT, top=5, runners_up=2)

    assert any(step.runners_up for step in explained.steps)
    for step in explained.steps:
        assert len(step.runners_up) <= 2
        candidates = [step.chosen, *step.runners_up]
        totals = [candidate.total for candidate in candidates]
        assert totals == sorted(totals, reverse=True)
        for candidate in candidates:
            length = ((5 + len(candidate.stems)) / 6) ** explained.search.alpha
            normalised = candidate.normalised
            assert math.isclose(normalised, candidate.log_prob / length, rel_tol=1e-5)
            total = normalised + 0.7 * candidate.dissimilarity - 0.3 * candidate.sibling_rank
            assert math.isclose(candidate.total, total, rel_tol=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"diversity": 0.6, "exclude": ["graph"], "min_words": 2},
        {"candidates": ["neural networks", "keyphrases"], "min_score": 0.0},
        {"seeds": ["phrase"], "max_words": 1},
    ],
)
def test_options_are_those_of_the_extractor(parser: Parser, changes: dict[str, Any]) -> None:
    extractor = make_extractor(parser)

    explained = explain(extractor, TEXT, Options(top=3), **changes)

    assert list(explained.keyphrases) == extractor.extract(TEXT, top=3, **changes)


def test_the_weights_of_a_score_are_those_of_the_search(parser: Parser) -> None:
    extractor = make_extractor(parser).with_search(lambda1=1.0)

    assert explain(extractor, TEXT).search.diversity == 0.5
    diverse = explain(extractor, TEXT, diversity=0.75).search
    assert (diverse.diversity, diverse.lambda1) == pytest.approx((0.75, 3.0))


def test_weights_belong_to_the_arcs_they_are_given_for(parser: Parser) -> None:
    """Each is looked up in the network's own graph by the two words that it joins."""
    extractor = make_extractor(parser)
    explained = explain(extractor, TEXT, title=TITLE, top=3)
    [document] = parser.parse_batch([Source(TEXT, TITLE)])
    example = ExampleEncoder(extractor.lexicon).encode(document)
    decoder = extractor.model.decoder([example])
    [weights] = decoder.edge_weights(decoder.begin([0], [[]]))
    relations = len(extractor.lexicon.relations)
    edges, _ = build_edges(example.heads, example.relation_ids, relation_count=relations)
    ends = zip(edges.sources.tolist(), edges.targets.tolist(), strict=True)
    weight_of = dict(zip(ends, weights.tolist(), strict=True))
    first = 0
    step = explained.steps[0]
    for sentence, down, up in zip(explained.sentences, step.down, step.up, strict=True):
        for arc, falling, rising in zip(sentence.arcs, down, up, strict=True):
            head, dependent = first + arc.head, first + arc.dependent
            assert falling == pytest.approx(weight_of[head, dependent], abs=1e-4)
            assert rising == pytest.approx(weight_of[dependent, head], abs=1e-4)
        first += len(sentence.tokens)


def test_tokens_stand_where_they_say(parser: Parser) -> None:
    explained = explain(make_extractor(parser), TEXT, title=TITLE)

    assert [sentence.in_title for sentence in explained.sentences] == [True, False, False]
    for sentence in explained.sentences:
        string = TITLE if sentence.in_title else TEXT
        assert all(string[token.start : token.end] == token.text for token in sentence.tokens)
        roots = set(range(len(sentence.tokens))) - {arc.dependent for arc in sentence.arcs}
        assert len(roots) == 1


@pytest.mark.parametrize(("variant", "is_dynamic"), [("dgcn", True), ("gcn", False)])
def test_weights_move_only_if_the_graph_is_dynamic(
    parser: Parser, variant: str, is_dynamic: bool
) -> None:
    explained = explain(make_extractor(parser, variant=variant), TEXT, top=4)

    assert explained.is_dynamic == is_dynamic
    assert (len({step.down for step in explained.steps}) > 1) == is_dynamic
    for step in explained.steps:
        assert all(0 <= weight <= 1 for weight in chain(*step.down, *step.up))


def test_a_model_without_a_graph_has_steps_without_weights(parser: Parser) -> None:
    explained = explain(make_extractor(parser, variant="gru"), TEXT, top=3)

    assert len(explained.steps) >= 3
    assert {(step.down, step.up) for step in explained.steps} == {((), ())}


def test_a_long_text_is_shown_up_to_its_first_window(parser: Parser) -> None:
    explained = explain(make_extractor(parser, window_tokens=30), LONG, title=TITLE, top=3)

    assert (explained.extent.windows, explained.extent.of_windows > 1) == (1, True)
    assert sum(len(sentence.tokens) for sentence in explained.sentences) <= 30
    assert explained.sentences[0].in_title


def test_the_number_of_steps_is_bounded(parser: Parser) -> None:
    explained = explain(make_extractor(parser), LONG, top=MAX_STEPS + 5)

    assert len(explained.keyphrases) == MAX_STEPS + 5
    assert len(explained.steps) == explained.extent.steps == MAX_STEPS
    assert explained.extent.of_steps == MAX_STEPS + 5


@pytest.mark.parametrize("text", [TEXT, ""])
def test_json_holds_everything(parser: Parser, text: str) -> None:
    explained = explain(make_extractor(parser), text, title="", top=2)

    again = json.loads(json.dumps(explained.as_json(), allow_nan=False))
    assert set(again) == set(Explanation.__dataclass_fields__)
    assert len(again["steps"]) == len(explained.steps)
    texts = [phrase["text"] for phrase in again["keyphrases"]]
    assert texts == [phrase.text for phrase in explained.keyphrases]


def test_a_bad_number_is_refused_as_by_the_extractor(parser: Parser) -> None:
    with pytest.raises(PhraseloomError, match="top must be at least 1"):
        explain(make_extractor(parser), TEXT, top=0)
