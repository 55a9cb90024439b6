"""Both roads to an example, from a parse and from a prepared corpus, lead to the same one."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from phraseloom.data.cache import Corpus
from phraseloom.data.corpus import CorpusDocument
from phraseloom.data.example import CorpusExamples, Example, Numbering
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.merge import merge_parts
from phraseloom.data.parts import write_part
from phraseloom.data.vocab import Labels, Vocabulary
from phraseloom.text.document import Document, Source
from phraseloom.text.parse import load_parser

TITLE = [("graph", "NN", 2, "compound"), ("walks", "NNS", 0, "root")]
BODY = [
    ("Walking", "VBG", 4, "csubj"),
    ("random", "JJ", 3, "amod"),
    ("graphs", "NNS", 1, "obj"),
    ("helps", "VBZ", 0, "root"),
    ("Zyzzogeton", "NNP", 4, "obj"),
]
SECOND = [
    ("random", "JJ", 2, "amod"),
    ("zyzzogeton", "NN", 0, "root"),
    ("quuxing", "VBG", 2, "acl"),
    ("random", "JJ", 5, "amod"),
    ("walks", "NNS", 3, "obj"),
    ("12", "CD", 5, "nummod"),
]
KEYWORDS = ("random walks", "graph", "random graph", "absent thing")


def conllu(*sentences: list[tuple[str, str, int, str]]) -> str:
    return "\n".join(
        "".join(
            f"{i}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_\n"
            for i, (word, tag, head, relation) in enumerate(sentence, start=1)
        )
        for sentence in sentences
    )


SOURCES = [
    Source(conllu(BODY, SECOND), conllu(TITLE)),
    Source(conllu(SECOND)),
    Source(conllu(BODY, SECOND, BODY)),
]


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon(
        words=Vocabulary(("graph", "random", "walks", "walking", "<digit>", "helps")),
        pos_tags=Labels.of(["NN", "NNS", "VBG", "VBZ"]),
        relations=Labels.of(["amod", "obj", "compound"]),
        styles=("authors", "readers"),
        min_n=3,
        max_n=5,
        buckets=100,
    )


@pytest.fixture
def documents() -> list[Document]:
    return load_parser("conllu").parse_batch(SOURCES)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    rows = [
        CorpusDocument(f"doc{i}", ("inspec", "kp20k")[i % 2], source, KEYWORDS)
        for i, source in enumerate(SOURCES)
    ]
    write_part(tmp_path / "part.arrow", rows, load_parser("conllu"))
    merge_parts([tmp_path / "part.arrow"], tmp_path, {})
    return Corpus.open(tmp_path)


def read(corpus: Corpus, lexicon: Lexicon, *, max_tokens: int = 100) -> list[Example]:
    examples = CorpusExamples(corpus, lexicon, max_tokens=max_tokens, style_of={"kp20k": "readers"})
    return [examples[i] for i in range(len(examples))]


def assert_equal(found: Example, expected: Example) -> None:
    """Equal in everything but the gold phrases, which only a corpus knows."""
    for field in fields(Example):
        if field.name != "phrases":
            np.testing.assert_array_equal(
                getattr(found, field.name), getattr(expected, field.name), err_msg=field.name
            )


def test_both_roads_lead_to_the_same_example(
    corpus: Corpus, documents: list[Document], lexicon: Lexicon
) -> None:
    numbering = Numbering(lexicon)
    for i, found in enumerate(read(corpus, lexicon)):
        style = (None, "readers")[i % 2]

        assert_equal(found, numbering.encode_document(documents[i], style=style))


def test_words_outside_the_vocabulary_are_numbered_by_first_occurrence(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = Numbering(lexicon).encode_document(documents[0])

    words = [token.word for token in documents[0].tokens()]
    assert example.unknown == ("graphs", "zyzzogeton", "quuxing")
    names = (*lexicon.words.words, *example.unknown)
    assert [names[i] for i in example.word_ids] == words


def test_stems_are_numbered_by_first_occurrence(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = Numbering(lexicon).encode_document(documents[0])

    stems = [token.stem for token in documents[0].tokens()]
    distinct = list(dict.fromkeys(stems))
    assert [distinct[i] for i in example.stem_ids] == stems


def test_heads_count_in_the_document(documents: list[Document], lexicon: Lexicon) -> None:
    example = Numbering(lexicon).encode_document(documents[0])

    assert example.heads.tolist() == [1, 1, 5, 4, 2, 5, 5, 8, 8, 8, 11, 9, 11]


def test_labels_that_training_never_saw_share_one_number(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = Numbering(lexicon).encode_document(documents[0])

    tokens = list(documents[0].tokens())
    for ids, labels, names in (
        (example.pos_ids, lexicon.pos_tags, [token.pos for token in tokens]),
        (example.relation_ids, lexicon.relations, [token.relation for token in tokens]),
    ):
        assert ids.tolist() == [labels.names.index(n) if n in labels.names else 0 for n in names]


def test_features_tell_how_often_whether_in_the_title_and_where_first(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = Numbering(lexicon).encode_document(documents[0])
    graph, walk, helps, digit = (example.features[i].tolist() for i in (0, 1, 5, 12))

    assert graph == [1, 1, 0]  # twice, in the title, at once
    assert walk == [2, 1, 0]  # three times
    assert helps == [0, 0, 1]  # once, in the body, among tokens 5 to 9
    assert digit == [0, 0, 2]  # from token 10 on
    assert (example.features[4] == example.features[0]).all()  # a feature is its stem's
    untitled = Numbering(lexicon).encode_document(documents[1])
    assert not untitled.features[:, 1].any()


def test_gold_phrases_are_in_the_order_of_the_text(corpus: Corpus, lexicon: Lexicon) -> None:
    example = read(corpus, lexicon)[0]

    # graph walk | walk random graph help zyzzogeton | random zyzzogeton quux random walk <digit>
    assert [phrase.tolist() for phrase in example.phrases] == [[0], [2, 0], [2, 1]]


def test_a_cut_document_is_the_beginning_of_the_whole(corpus: Corpus, lexicon: Lexicon) -> None:
    whole, cut = read(corpus, lexicon)[0], read(corpus, lexicon, max_tokens=8)[0]

    assert len(cut) == 8
    for name in ("word_ids", "pos_ids", "relation_ids", "stem_ids"):
        assert (getattr(cut, name) == getattr(whole, name)[:8]).all(), name
    assert cut.heads.tolist() == [1, 1, 5, 4, 2, 5, 5, 7]  # the last lost its head: a root
    assert cut.unknown == ("graphs", "zyzzogeton")
    assert [phrase.tolist() for phrase in cut.phrases] == [[0], [2, 0]]
    assert cut.features[0].tolist() == [1, 1, 0]
    assert cut.features[1].tolist() == [1, 1, 0]  # a third walk is beyond the cut


@pytest.mark.parametrize(("size", "phrases"), [(3, 1), (4, 1), (5, 2), (11, 2), (12, 3)])
def test_a_phrase_that_is_cut_in_two_is_lost(
    corpus: Corpus, lexicon: Lexicon, size: int, phrases: int
) -> None:
    assert len(read(corpus, lexicon, max_tokens=size)[0].phrases) == phrases


def test_a_cut_that_cuts_nothing_changes_nothing(corpus: Corpus, lexicon: Lexicon) -> None:
    for whole, cut in zip(read(corpus, lexicon), read(corpus, lexicon, max_tokens=18), strict=True):
        assert_equal(cut, whole)


def test_an_empty_document_is_an_empty_example(lexicon: Lexicon) -> None:
    example = Numbering(lexicon).encode_document(Document("", "", ()))

    assert len(example) == 0
    assert example.features.shape == (0, 3)
    assert example.phrases == ()
