"""Both roads to an example, from a parse and from a prepared corpus, lead to the same one."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from phraseloom.io.records import CorpusDocument
from phraseloom.network.example import Example, ExampleEncoder
from phraseloom.network.lexicon import Labels, Lexicon, Vocabulary
from phraseloom.text.document import Source
from phraseloom.text.parsers import load_parser
from phraseloom.train.corpus.examples import CorpusExamples
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.corpus.shards import merge_shards, write_shard
from tests.train.corpus.chains import chain

TITLE = "graph walks"
BODY = "Walking random graphs helps Zyzzogeton . random zyzzogeton quuxing random walks 12"
KEYWORDS = ("random walks", "graph", "random graph", "absent thing")
SOURCES = [
    Source(chain(BODY), chain(TITLE)),
    Source(chain("random zyzzogeton quuxing random walks 12")),
    Source(chain(f"{BODY} . Walking random graphs")),
]


@pytest.fixture
def lexicon() -> Lexicon:
    return Lexicon(
        words=Vocabulary(("graph", "random", "walks", "walking", "<digit>", "helps")),
        pos_tags=Labels.of(["NN", "VB"]),
        relations=Labels.of(["dep"]),
        styles=("authors", "readers"),
        min_n=3,
        max_n=5,
        buckets=100,
    )


@pytest.fixture
def corpus(tmp_path: Path) -> PreparedCorpus:
    documents = [
        CorpusDocument(f"doc{i}", ("inspec", "kp20k")[i % 2], source, KEYWORDS)
        for i, source in enumerate(SOURCES)
    ]
    write_shard(tmp_path / "shard.arrow", documents, load_parser("conllu"))
    merge_shards([tmp_path / "shard.arrow"], tmp_path, {})
    return PreparedCorpus.open(tmp_path)


def read(corpus: PreparedCorpus, lexicon: Lexicon, *, max_tokens: int = 100) -> list[Example]:
    examples = CorpusExamples(corpus, lexicon, max_tokens=max_tokens, style_of={"kp20k": "readers"})
    return [examples[i] for i in range(len(examples))]


def assert_equal(example: Example, expected: Example) -> None:
    """Equal in everything but the gold phrases, which only a corpus knows."""
    for field in fields(Example):
        if field.name != "phrases":
            np.testing.assert_array_equal(
                getattr(example, field.name), getattr(expected, field.name), err_msg=field.name
            )


def test_both_roads_lead_to_the_same_example(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    encoder = ExampleEncoder(lexicon)
    documents = load_parser("conllu").parse_batch(SOURCES)
    for i, example in enumerate(read(corpus, lexicon)):
        assert_equal(example, encoder.encode(documents[i], style=(None, "readers")[i % 2]))


def test_gold_phrases_are_in_the_order_of_the_text(
    corpus: PreparedCorpus, lexicon: Lexicon
) -> None:
    example = read(corpus, lexicon)[0]

    # graph walk | walk random graph help zyzzogeton | random zyzzogeton quux random walk <digit>
    assert [phrase.tolist() for phrase in example.phrases] == [[0], [2, 0], [2, 1]]


def test_a_cut_document_is_the_beginning_of_the_whole(
    corpus: PreparedCorpus, lexicon: Lexicon
) -> None:
    whole, cut = read(corpus, lexicon)[0], read(corpus, lexicon, max_tokens=8)[0]

    assert len(cut) == 8
    for name in ("word_ids", "pos_ids", "relation_ids", "stem_ids"):
        assert (getattr(cut, name) == getattr(whole, name)[:8]).all(), name
    assert cut.unknown == ("graphs", "zyzzogeton")
    assert [phrase.tolist() for phrase in cut.phrases] == [[0], [2, 0]]
    assert cut.node_features[0].tolist() == [1, 1, 0]
    assert cut.node_features[1].tolist() == [1, 1, 0]  # a third walk is beyond the cut


def test_a_token_whose_head_is_cut_away_becomes_a_root(tmp_path: Path, lexicon: Lexicon) -> None:
    text = "1\ta\t_\t_\tNN\t_\t3\tdep\t_\t_\n2\tb\t_\t_\tNN\t_\t1\tdep\t_\t_\n"
    text += "3\tc\t_\t_\tNN\t_\t0\troot\t_\t_\n"
    write_shard(
        tmp_path / "shard.arrow",
        [CorpusDocument("one", "set", Source(text), ())],
        load_parser("conllu"),
    )
    merge_shards([tmp_path / "shard.arrow"], tmp_path, {})
    corpus = PreparedCorpus.open(tmp_path)

    assert read(corpus, lexicon)[0].heads.tolist() == [2, 0, 2]
    assert read(corpus, lexicon, max_tokens=2)[0].heads.tolist() == [0, 0]


@pytest.mark.parametrize(("size", "phrases"), [(3, 1), (4, 1), (5, 2), (11, 2), (12, 3)])
def test_a_phrase_that_is_cut_in_two_is_lost(
    corpus: PreparedCorpus, lexicon: Lexicon, size: int, phrases: int
) -> None:
    assert len(read(corpus, lexicon, max_tokens=size)[0].phrases) == phrases


def test_a_cut_that_cuts_nothing_changes_nothing(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    for whole, cut in zip(read(corpus, lexicon), read(corpus, lexicon, max_tokens=18), strict=True):
        assert_equal(cut, whole)
