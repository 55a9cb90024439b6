"""Vectors: what a word gets, and what survives the disk."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from phraseloom.errors import CheckpointError
from phraseloom.network.lexicon import ngram_ids
from phraseloom.train.corpus.vectors import Vectors

WORDS = ("graph", "naïve", "図")


@pytest.fixture
def vectors() -> Vectors:
    numbers = np.random.default_rng(0).normal(size=(23, 4)).astype(np.float32)
    return Vectors(WORDS, numbers[:3], numbers[3:], min_n=2, max_n=4)


def test_a_listed_word_has_its_own_row(vectors: Vectors) -> None:
    np.testing.assert_array_equal(vectors.of("naïve"), vectors.matrix[1])


def test_another_word_has_the_mean_of_its_n_grams(vectors: Vectors) -> None:
    ids = ngram_ids("graphs", min_n=2, max_n=4, buckets=20)
    expected = sum(vectors.subwords[i] for i in ids) / len(ids)

    np.testing.assert_allclose(vectors.of("graphs"), expected, rtol=1e-5)


def test_without_subwords_another_word_is_zero(vectors: Vectors) -> None:
    bare = Vectors(WORDS, vectors.matrix, vectors.subwords[:0])

    np.testing.assert_array_equal(bare.of("graphs"), np.zeros(4))


def test_rows_are_the_words_vectors_in_their_order(vectors: Vectors) -> None:
    rows = vectors.rows(["unseen", "graph"])

    np.testing.assert_array_equal(rows, [vectors.of("unseen"), vectors.of("graph")])


def test_centered_vectors_differ_as_before_and_have_no_mean(vectors: Vectors) -> None:
    centered = vectors.centered()
    words = ["graph", "naïve", "unseen", "graphs"]

    np.testing.assert_allclose(centered.matrix.mean(axis=0), np.zeros(4), atol=1e-6)
    before, after = vectors.rows(words), centered.rows(words)
    np.testing.assert_allclose(after[1:] - after[0], before[1:] - before[0], atol=1e-6)


def test_the_nearest_words_are_those_that_point_the_same_way() -> None:
    matrix = np.array([[1, 0], [5, 1], [-1, 0], [0, 1]], dtype=np.float32)
    vectors = Vectors(("a", "b", "c", "d"), matrix, np.empty((0, 2), dtype=np.float32))

    nearest = vectors.nearest("a", 3)

    assert [word for word, _ in nearest] == ["b", "d", "c"]
    np.testing.assert_allclose([cosine for _, cosine in nearest], [5 / 26**0.5, 0, -1])


@pytest.mark.parametrize(
    ("words", "rows", "width"), [(("a",), 2, 4), (("a", "a"), 2, 4), (("a", "b"), 2, 3)]
)
def test_parts_that_do_not_fit_are_refused(words: tuple[str, ...], rows: int, width: int) -> None:
    matrix, subwords = np.zeros((rows, 4), np.float32), np.zeros((5, width), np.float32)

    with pytest.raises(ValueError, match="vector"):
        Vectors(words, matrix, subwords)


@pytest.mark.parametrize("buckets", [0, 20])
def test_saved_vectors_come_back_bit_for_bit(
    vectors: Vectors, tmp_path: Path, buckets: int
) -> None:
    path = tmp_path / "v.safetensors"
    Vectors(WORDS, vectors.matrix, vectors.subwords[:buckets], min_n=2, max_n=4).save(path)
    loaded = Vectors.load(path)

    assert (loaded.words, loaded.min_n, loaded.max_n) == (WORDS, 2, 4)
    np.testing.assert_array_equal(loaded.matrix, vectors.matrix)
    np.testing.assert_array_equal(loaded.subwords, vectors.subwords[:buckets])
    assert list(tmp_path.iterdir()) == [path]


def test_saving_leaves_the_old_file_when_it_fails(
    vectors: Vectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "v.safetensors"
    vectors.save(path)
    before = path.read_bytes()

    def fail(name: Path, arrays: object, metadata: object) -> None:
        name.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("phraseloom.train.corpus.vectors.save_arrays", fail)
    with pytest.raises(OSError, match="disk full"):
        vectors.save(path)

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_cut_short_is_refused_by_name(
    vectors: Vectors, tmp_path: Path, share: float
) -> None:
    path = tmp_path / "v.safetensors"
    vectors.save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])

    with pytest.raises(CheckpointError, match=r"v\.safetensors"):
        Vectors.load(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no vectors at .*v\.safetensors"):
        Vectors.load(tmp_path / "v.safetensors")


def test_tensors_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    save_file({"matrix": np.zeros((2, 2), np.float32)}, path)

    with pytest.raises(CheckpointError, match="holds no word vectors"):
        Vectors.load(path)


def test_parts_that_contradict_each_other_are_refused_by_name(
    vectors: Vectors, tmp_path: Path
) -> None:
    path = tmp_path / "v.safetensors"
    tensors = {"matrix": vectors.matrix, "subwords": vectors.subwords}
    metadata = {"format": "phraseloom-vectors-1", "min_n": "2", "max_n": "4"}
    save_file(tensors | {"words": np.frombuffer(b"graph", np.uint8)}, path, metadata=metadata)

    with pytest.raises(CheckpointError, match=r"v\.safetensors is damaged \(1 words but 3"):
        Vectors.load(path)
