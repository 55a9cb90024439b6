"""What was prepared is read back, and what is not a whole corpus is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from phraseloom.errors import CorpusError
from phraseloom.io.records import read_corpus
from phraseloom.text.document import Document
from phraseloom.text.matching import split_keywords
from phraseloom.text.parsers.conllu import parse_conllu
from phraseloom.text.words import stem
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.prepared import DOCUMENTS, META, STEMS, WORDS, PreparedCorpus
from tests.train.corpus.chains import row, write_rows

ROWS = [
    row(
        "graphs hold nodes . a node links", ["node", "big tree", "graph"], title="on Graph", set="x"
    ),
    row("one", id="mine", set="y"),
    row("Nodes and 2021 nodes", ["nodes and 7"], set="x"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("prepared")
    many = [row(f"filler number{i}") for i in range(300)]  # more than one shard
    file = write_rows(base / "rows.jsonl", [*ROWS, *many])
    prepare_corpus([file], base / "out", PrepareOptions(parser="conllu", processes=1))
    return base / "out"


@pytest.fixture(scope="module")
def parsed(directory: Path) -> list[Document]:
    """The same documents, parsed here."""
    documents = read_corpus(directory.parent / "rows.jsonl")
    return [parse_conllu(d.source.text, d.source.title) for d in documents]


def test_every_token_is_read_back(directory: Path, parsed: list[Document]) -> None:
    corpus = PreparedCorpus.open(directory)

    assert len(corpus) == len(parsed) == 303
    for i, document in enumerate(parsed):
        record = corpus.document(i)
        tokens = list(document.tokens())
        sizes = [len(sentence.tokens) for sentence in document.sentences]
        firsts = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        assert [corpus.words[word] for word in record.word] == [t.word for t in tokens]
        assert [corpus.stems[corpus.word_stems[w]] for w in record.word] == [t.stem for t in tokens]
        assert [corpus.pos_tags[tag] for tag in record.pos] == [t.pos for t in tokens]
        assert [corpus.relations[r] for r in record.relation] == [t.relation for t in tokens]
        assert (record.head - firsts).tolist() == [t.head for t in tokens]
        assert record.start.tolist() == [t.start for t in tokens]
        assert record.end.tolist() == [t.end for t in tokens]
        assert record.sentence.tolist() == sorted(set(firsts.tolist()))
        assert (corpus.title(i), corpus.text(i)) == (document.title, document.text)
        assert corpus.lengths[i] == len(tokens)


def test_keyphrases_are_read_back_in_target_order(directory: Path, parsed: list[Document]) -> None:
    corpus = PreparedCorpus.open(directory)
    split = split_keywords(parsed[0], ROWS[0]["keywords"])
    record = corpus.document(0)

    assert corpus.present(0) == ["graph", "node"] == [o.phrase for o in split.present]
    assert record.phrase_start.tolist() == [1, 4] == [o.start for o in split.present]
    assert record.phrase_length.tolist() == [1, 1]
    assert corpus.absent(0) == ["big tree"]
    assert corpus.phrase_counts[:3].tolist() == [2, 0, 1]
    assert corpus.document(2).phrase_length.tolist() == [3]
    assert record.title_tokens == 2


def test_names_and_origins_are_read_back(directory: Path) -> None:
    corpus = PreparedCorpus.open(directory)

    assert [corpus.document(i).id for i in (0, 1, 302)] == ["rows-1", "mine", "rows-303"]
    assert corpus.origins == ["x", "y", "rows"]
    assert corpus.document_origins[:4].tolist() == [0, 1, 0, 2]
    assert corpus.document(1).origin == 1


def test_words_are_numbered_by_first_occurrence_and_counted(directory: Path) -> None:
    corpus = PreparedCorpus.open(directory)
    words = np.concatenate([corpus.document(i).word for i in range(len(corpus))])
    _, firsts = np.unique(words, return_index=True)

    assert (np.diff(firsts) > 0).all()
    assert corpus.word_counts.tolist() == np.bincount(words).tolist()
    assert corpus.words[:3] == ["on", "graph", "graphs"]
    assert [corpus.stems[i] for i in corpus.word_stems] == [stem(word) for word in corpus.words]
    assert len(set(corpus.words)) == len(corpus.words)
    assert len(set(corpus.stems)) == len(corpus.stems)


@pytest.mark.parametrize("i", [-1, 303])
def test_there_is_no_document_beyond_the_last(directory: Path, i: int) -> None:
    with pytest.raises(IndexError, match="of 303"):
        PreparedCorpus.open(directory).document(i)


@pytest.mark.parametrize("name", [DOCUMENTS, WORDS, STEMS, META])
def test_a_damaged_or_missing_file_is_refused(directory: Path, tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(directory, tmp_path / "copy")
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(CorpusError, match=f"copy is damaged .*{name}.*prepare it again"):
        PreparedCorpus.open(copy)
    (copy / name).unlink()
    with pytest.raises(CorpusError, match=name):
        PreparedCorpus.open(copy)


def test_a_file_of_the_right_size_but_other_content_is_refused(
    directory: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(directory, tmp_path / "copy")
    (copy / DOCUMENTS).write_bytes(bytes((copy / DOCUMENTS).stat().st_size))
    with pytest.raises(CorpusError, match="is damaged"):
        PreparedCorpus.open(copy)


def test_other_versions_and_missing_directories_are_refused(
    directory: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(directory, tmp_path / "copy")
    meta = json.loads((copy / META).read_text(encoding="utf-8"))
    (copy / META).write_text(json.dumps({**meta, "format": 0}), encoding="utf-8")
    with pytest.raises(CorpusError, match="another version"):
        PreparedCorpus.open(copy)
    with pytest.raises(CorpusError, match="no prepared corpus at .*phraseloom prepare"):
        PreparedCorpus.open(tmp_path / "nowhere")
