"""What must hold of a document as numbers."""

import numpy as np
import pytest

from phraseloom.network.example import ExampleEncoder, by_first_occurrence
from phraseloom.network.lexicon import Labels, Lexicon, Vocabulary
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import load_parser

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


def conllu(*sentences: list[tuple[str, str, int, str]]) -> str:
    return "\n".join(
        "".join(
            f"{i}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_\n"
            for i, (word, tag, head, relation) in enumerate(sentence, start=1)
        )
        for sentence in sentences
    )


SOURCES = [Source(conllu(BODY, SECOND), conllu(TITLE)), Source(conllu(SECOND))]


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


def test_words_outside_the_vocabulary_are_numbered_by_first_occurrence(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = ExampleEncoder(lexicon).encode(documents[0])

    words = [token.word for token in documents[0].tokens()]
    assert example.unknown == ("graphs", "zyzzogeton", "quuxing")
    names = (*lexicon.words.words, *example.unknown)
    assert [names[i] for i in example.word_ids] == words


def test_stems_are_numbered_by_first_occurrence(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = ExampleEncoder(lexicon).encode(documents[0])

    stems = [token.stem for token in documents[0].tokens()]
    distinct = list(dict.fromkeys(stems))
    assert [distinct[i] for i in example.stem_ids] == stems


def test_heads_count_in_the_document(documents: list[Document], lexicon: Lexicon) -> None:
    example = ExampleEncoder(lexicon).encode(documents[0])

    assert example.heads.tolist() == [1, 1, 5, 4, 2, 5, 5, 8, 8, 8, 11, 9, 11]


def test_labels_that_training_never_saw_share_one_number(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = ExampleEncoder(lexicon).encode(documents[0])

    tokens = list(documents[0].tokens())
    for ids, labels, names in (
        (example.pos_ids, lexicon.pos_tags, [token.pos for token in tokens]),
        (example.relation_ids, lexicon.relations, [token.relation for token in tokens]),
    ):
        assert ids.tolist() == [labels.names.index(n) if n in labels.names else 0 for n in names]


def test_features_tell_how_often_whether_in_the_title_and_where_first(
    documents: list[Document], lexicon: Lexicon
) -> None:
    example = ExampleEncoder(lexicon).encode(documents[0])
    graph, walk, helps, digit = (example.node_features[i].tolist() for i in (0, 1, 5, 12))

    assert graph == [1, 1, 0]  # twice, in the title, at once
    assert walk == [2, 1, 0]  # three times
    assert helps == [0, 0, 1]  # once, in the body, among tokens 5 to 9
    assert digit == [0, 0, 2]  # from token 10 on
    assert (example.node_features[4] == example.node_features[0]).all()  # a feature is its stem's
    untitled = ExampleEncoder(lexicon).encode(documents[1])
    assert not untitled.node_features[:, 1].any()


def test_an_empty_document_is_an_empty_example(lexicon: Lexicon) -> None:
    example = ExampleEncoder(lexicon).encode(Document("", "", ()))

    assert len(example) == 0
    assert example.node_features.shape == (0, 3)
    assert example.phrases == ()


def test_a_style_is_numbered_by_its_name(documents: list[Document], lexicon: Lexicon) -> None:
    encoder = ExampleEncoder(lexicon)

    assert encoder.encode(documents[0]).style == 0
    assert encoder.encode(documents[0], style="readers").style == 1


def test_what_occurs_first_has_the_lowest_number() -> None:
    assert by_first_occurrence(np.array([7, 3, 7, 9, 3])).tolist() == [0, 1, 0, 2, 1]
