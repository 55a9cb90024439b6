"""An explanation tells of the very search that found the keyphrases."""

import json
import math
from itertools import chain

import pytest
import torch

from phraseloom.config import SearchConfig
from phraseloom.data.batch import collate
from phraseloom.data.example import Numbering
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.vocab import Labels, Vocabulary
from phraseloom.errors import PhraseloomError
from phraseloom.explain import MAX_STEPS, Explanation, explain
from phraseloom.extractor import Extractor
from phraseloom.model.step import NeuralStep
from phraseloom.text.document import Source
from phraseloom.text.parse import Parser, load_parser
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


def make_extractor(parser: Parser, *, window: int = 600, variant: str = "dgcn") -> Extractor:
    lexicon = Lexicon(
        words=Vocabulary(("graph", "network", "the")),
        pos_tags=Labels.of(["NN", "DT", "VBZ"]),
        relations=Labels.of(["nsubj", "det", "compound"]),
        styles=(),
        min_n=3,
        max_n=5,
        buckets=50,
    )
    search = SearchConfig(width=4, max_words=3, max_phrases=4, window=window, order="score")
    return Extractor(make_model(lexicon, variant=variant), lexicon, search, parser)


@pytest.mark.parametrize("window", [600, 12])
@pytest.mark.parametrize("top", [None, 1, 6])
@pytest.mark.parametrize("text", [TEXT, LONG, "", " \n"])
def test_keyphrases_are_those_of_the_extractor(
    parser: Parser, text: str, top: int | None, window: int
) -> None:
    extractor = make_extractor(parser, window=window)

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
        totals = [each.total for each in (step.chosen, *step.runners_up)]
        assert totals == sorted(totals, reverse=True)
        for each in (step.chosen, *step.runners_up):
            length = ((5 + len(each.stems)) / 6) ** explained.search.alpha
            assert math.isclose(each.normalised, each.log_prob / length, rel_tol=1e-5)
            total = each.normalised + 0.7 * each.dissimilarity - 0.3 * each.sibling_rank
            assert math.isclose(each.total, total, rel_tol=1e-4)


def test_weights_belong_to_the_arcs_they_are_given_for(parser: Parser) -> None:
    """Each is looked up in the network's own graph by the two words that it joins."""
    extractor = make_extractor(parser)
    explained = explain(extractor, TEXT, title=TITLE, top=3)
    [document] = parser.parse_batch([Source(TEXT, TITLE)])
    batch = collate([Numbering(extractor.lexicon).encode_document(document)], extractor.lexicon)
    step = NeuralStep(extractor.model, batch)
    with torch.inference_mode():
        [weights] = step.edge_weights(step.begin([0], [[]]))
    ends = zip(batch.edge_sources.tolist(), batch.edge_targets.tolist(), strict=True)
    weight_of = dict(zip(ends, weights.tolist(), strict=True))
    first = 0
    for place, sentence in enumerate(explained.sentences):
        down, up = explained.steps[0].down[place], explained.steps[0].up[place]
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
    every = [list(chain(*step.down, *step.up)) for step in explained.steps]
    assert all(0 <= weight <= 1 for weights in every for weight in weights)


def test_a_model_without_a_graph_has_steps_without_weights(parser: Parser) -> None:
    explained = explain(make_extractor(parser, variant="gru"), TEXT, top=3)

    assert len(explained.steps) >= 3
    assert {(step.down, step.up) for step in explained.steps} == {((), ())}


def test_a_long_text_is_told_up_to_its_first_window(parser: Parser) -> None:
    explained = explain(make_extractor(parser, window=30), LONG, title=TITLE, top=3)

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
    assert [each["text"] for each in again["keyphrases"]] == [
        each.text for each in explained.keyphrases
    ]


def test_a_bad_number_is_refused_as_by_the_extractor(parser: Parser) -> None:
    with pytest.raises(PhraseloomError, match="top must be at least 1"):
        explain(make_extractor(parser), TEXT, top=0)
