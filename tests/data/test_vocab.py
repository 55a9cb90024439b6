"""What must hold of the numbers given to words and labels."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.data.vocab import OUTSIDE, Labels, Vocabulary
from phraseloom.errors import CheckpointError

WORDS = ["tree", "graph", "node", "edge"]


def test_frequent_words_come_first_and_ties_are_alphabetical() -> None:
    vocab = Vocabulary.from_counts(WORDS, [2, 7, 2, 9], size=10)

    assert vocab.words == ("edge", "graph", "node", "tree")


def test_the_cap_keeps_the_most_frequent() -> None:
    vocab = Vocabulary.from_counts(WORDS, [2, 7, 2, 9], size=3)

    assert vocab.words == ("edge", "graph", "node")
    assert len(vocab) == 3


def test_counts_of_one_word_add_up_and_unseen_words_are_left_out() -> None:
    vocab = Vocabulary.from_counts(["graph", "tree", "graph", "leaf"], [2, 3, 2, 0], size=10)

    assert vocab.words == ("graph", "tree")


def test_words_without_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Vocabulary.from_counts(WORDS, [1, 2], size=10)


@given(st.dictionaries(st.text(max_size=4), st.integers(1, 5), min_size=1), st.integers(1, 9))
def test_ids_and_words_are_inverse(counts: dict[str, int], size: int) -> None:
    vocab = Vocabulary.from_counts(list(counts), counts.values(), size)

    assert vocab.ids(vocab.words).tolist() == list(range(len(vocab)))
    assert vocab.ids(counts).tolist() == [
        OUTSIDE if (place := vocab.id(word)) is None else place for word in counts
    ]
    assert {word for word in counts if vocab.id(word) is not None} == set(vocab.words)


def test_the_order_in_which_words_are_given_changes_nothing() -> None:
    forth = Vocabulary.from_counts(WORDS, [1, 1, 1, 1], size=2)
    back = Vocabulary.from_counts(WORDS[::-1], [1, 1, 1, 1], size=2)

    assert forth == back


def test_a_word_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(("graph", "graph"))


@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True))
def test_a_saved_vocabulary_comes_back(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    path = tmp_path_factory.mktemp("vocab") / "words.json"
    Vocabulary(tuple(words)).save(path)

    assert Vocabulary.load(path) == Vocabulary(tuple(words))


@pytest.mark.parametrize(
    "content",
    [b'["graph", "tr', b"", b"\xff\xfe", b'{"graph": 1}', b'["graph", 3]', b'["graph", "graph"]'],
    ids=["cut short", "empty", "not UTF-8", "no list", "no word", "repeated"],
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "words.json"
    path.write_bytes(content)

    with pytest.raises(CheckpointError, match=r"words\.json is damaged"):
        Vocabulary.load(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"cannot read .*words\.json"):
        Vocabulary.load(tmp_path / "words.json")


def test_unseen_labels_share_the_unknown_entry() -> None:
    labels = Labels.of(["nsubj", "obj", "nsubj"])

    assert labels.names == ("<unknown>", "nsubj", "obj")
    assert labels.ids(["obj", "dobj", "nsubj", "<unknown>"]).tolist() == [2, 0, 1, 0]
    assert len(labels) == 3


def test_saved_labels_come_back(tmp_path: Path) -> None:
    labels = Labels.of(["NN", "VB"])
    labels.save(tmp_path / "pos.json")

    assert Labels.load(tmp_path / "pos.json") == labels


def test_a_list_of_words_is_no_list_of_labels(tmp_path: Path) -> None:
    Vocabulary(("graph",)).save(tmp_path / "words.json")

    with pytest.raises(CheckpointError, match=r"words\.json is no list of labels"):
        Labels.load(tmp_path / "words.json")
