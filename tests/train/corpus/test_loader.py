"""Batches are decided by the seed, the epoch and the place, and hold every document as wanted."""

import threading
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from phraseloom.config import DataConfig, TrainConfig
from phraseloom.errors import ConfigError, CorpusError
from phraseloom.network.lexicon import Labels, Lexicon, Vocabulary
from phraseloom.train.corpus.loader import (
    BatchLoader,
    DocumentPool,
    ProcessRank,
    choose_phrases,
    plan_epoch,
    prefetch,
    shuffle_phrases,
)
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.setup import make_pool
from tests.builders import make_example
from tests.train.corpus.chains import row
from tests.train.runs import make_rows, write_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> PreparedCorpus:
    rows = make_rows(30)
    rows += [row("nothing to learn here", set="a")]
    rows += [row("these words come first and only then the graph", ["graph"], set="a")]
    return PreparedCorpus.open(write_corpus(tmp_path_factory.mktemp("loader") / "corpus", rows))


@pytest.fixture(scope="module")
def lexicon(corpus: PreparedCorpus) -> Lexicon:
    return Lexicon(
        words=Vocabulary.from_counts(corpus.words, corpus.word_counts.tolist(), 100),
        pos_tags=Labels.of(corpus.pos_tags),
        relations=Labels.of(corpus.relations),
        styles=(),
        min_n=3,
        max_n=6,
        buckets=0,
    )


def pool_of(corpus: PreparedCorpus, lexicon: Lexicon, **data: object) -> DocumentPool:
    config = DataConfig.model_validate({"max_tokens": 500, **data})
    return make_pool([corpus], lexicon, config, is_repeated=True)


def test_documents_without_a_phrase_are_left_out(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    assert len(pool_of(corpus, lexicon)) == 31


def test_documents_whose_phrases_are_cut_away_are_left_out(
    corpus: PreparedCorpus, lexicon: Lexicon
) -> None:
    pool = pool_of(corpus, lexicon, max_tokens=8)

    assert (0, 31) not in pool.locations
    assert all(pool[i].phrases for i in range(len(pool)))
    assert pool.lengths.max() == 8


def test_a_corpus_with_nothing_to_learn_is_refused(tmp_path: Path, lexicon: Lexicon) -> None:
    corpus = PreparedCorpus.open(write_corpus(tmp_path / "corpus", [row("no keyphrase at all")]))
    with pytest.raises(CorpusError, match="no document with a present keyphrase"):
        pool_of(corpus, lexicon)


@pytest.mark.parametrize("size", [{"batch_documents": 7}, {"batch_tokens": 40}])
def test_an_epoch_has_every_document_once(
    corpus: PreparedCorpus, lexicon: Lexicon, size: dict[str, int]
) -> None:
    pool = pool_of(corpus, lexicon)
    batches = plan_epoch(pool, TrainConfig.model_validate(size), 0)

    assert sorted(np.concatenate(batches).tolist()) == list(range(len(pool)))


def test_batches_keep_to_their_size(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    pool = pool_of(corpus, lexicon)
    by_tokens = plan_epoch(pool, TrainConfig(batch_tokens=40), 0)
    by_documents = plan_epoch(pool, TrainConfig(batch_documents=7), 0)

    assert max(pool.lengths[batch].sum() for batch in by_tokens) <= 40
    assert sorted(map(len, by_documents)) == [3, 7, 7, 7, 7]


def test_a_document_larger_than_a_batch_is_a_batch(
    corpus: PreparedCorpus, lexicon: Lexicon
) -> None:
    pool = pool_of(corpus, lexicon)
    batches = plan_epoch(pool, TrainConfig(batch_tokens=5), 0)
    assert [len(batch) for batch in batches] == [1] * len(pool)


def test_documents_of_a_batch_are_of_like_length(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    pool = pool_of(corpus, lexicon)
    pool.lengths = np.random.default_rng(0).integers(10, 500, len(pool))
    batches = plan_epoch(pool, TrainConfig(batch_documents=8), 0)

    spans = sorted((pool.lengths[batch].min(), pool.lengths[batch].max()) for batch in batches)
    assert all(
        high <= low for (_, high), (low, _) in zip(spans, spans[1:], strict=False)
    )  # no two overlap


def test_seed_and_epoch_decide_the_order(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    pool = pool_of(corpus, lexicon)

    def order(seed: int, epoch: int) -> list[int]:
        return np.concatenate(plan_epoch(pool, TrainConfig(seed=seed), epoch)).tolist()

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(0, 1)
    assert order(0, 0) != order(1, 0)


def test_a_set_is_repeated_as_often_as_asked(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    pool = pool_of(corpus, lexicon, repeat={"a": 2.5, "b": 0})
    seen: Counter[int] = Counter()
    for epoch in range(40):
        seen.update(np.concatenate(plan_epoch(pool, TrainConfig(), epoch)).tolist())
        times = Counter(np.concatenate(plan_epoch(pool, TrainConfig(), epoch)).tolist())
        assert set(times.values()) == {2, 3}

    of_a = [i for i, repeat in enumerate(pool.repeats) if repeat]
    assert set(seen) == set(of_a)
    assert np.mean([seen[i] for i in of_a]) / 40 == pytest.approx(2.5, abs=0.1)


def test_repeating_an_unknown_set_is_refused(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    with pytest.raises(ConfigError, match="names c, but the sets are: a, b"):
        pool_of(corpus, lexicon, repeat={"c": 1})


def test_an_unknown_style_is_refused(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    with pytest.raises(ConfigError, match="style authors; add it to model.styles"):
        pool_of(corpus, lexicon, style_of={"a": "authors"})


def test_phrases_come_in_any_order_in_a_share_of_the_documents() -> None:
    example, rng = make_example(0, tokens=40, phrases=6), np.random.default_rng(0)
    gold = list(map(bytes, example.phrases))
    orders = [list(map(bytes, shuffle_phrases(example, 0.5, rng).phrases)) for _ in range(200)]

    assert 70 < orders.count(gold) < 130
    assert all(sorted(order) == sorted(gold) for order in orders)


def test_at_most_so_many_phrases_are_chosen() -> None:
    rng = np.random.default_rng(0)
    drawn = [choose_phrases(5, 2, rng).tolist() for _ in range(200)]

    assert choose_phrases(2, 3, rng).tolist() == [0, 1]
    assert choose_phrases(4, None, rng).tolist() == [0, 1, 2, 3]
    assert all(first < second for first, second in drawn)
    assert set(np.concatenate(drawn).tolist()) == {0, 1, 2, 3, 4}


def test_a_stream_can_start_anywhere(corpus: PreparedCorpus, lexicon: Lexicon) -> None:
    config = TrainConfig(batch_documents=4, phrases_per_document=1)
    loader = BatchLoader(pool_of(corpus, lexicon), lexicon, config)
    whole, rest = list(loader.stream(3)), list(loader.stream(3, 5))

    assert len(whole) == len(rest) + 5
    for one, other in zip(whole[5:], rest, strict=True):
        assert one is not None and other is not None
        np.testing.assert_array_equal(one.batch.word_ids, other.batch.word_ids)
        np.testing.assert_array_equal(one.targets.slots, other.targets.slots)


def test_the_parts_of_all_processes_make_up_the_batch(
    corpus: PreparedCorpus, lexicon: Lexicon
) -> None:
    pool, config = pool_of(corpus, lexicon), TrainConfig(phrases_per_document=1)
    documents = np.arange(5)

    def targets(process: ProcessRank) -> list[list[int]]:
        batch = BatchLoader(pool, lexicon, config, process).make(0, 0, documents)
        assert batch is not None
        rows = zip(batch.targets.slots, batch.targets.mask, strict=True)
        return [slots[mask].tolist() for slots, mask in rows]

    whole = targets(ProcessRank(0, 1))
    assert [targets(ProcessRank(0, 2)), targets(ProcessRank(1, 2))] == [whole[::2], whole[1::2]]
    assert BatchLoader(pool, lexicon, config, ProcessRank(5, 6)).make(0, 0, documents) is None


def test_prefetching_keeps_the_order_and_raises_what_a_job_raises() -> None:
    def job(number: int) -> int:
        if number == 20:
            raise ValueError("the twentieth")
        return number

    results = prefetch(partial(job, number) for number in range(30))
    assert [next(results) for _ in range(20)] == list(range(20))
    with pytest.raises(ValueError, match="the twentieth"):
        next(results)


def test_a_stream_that_is_left_ends_its_thread() -> None:
    before = set(threading.enumerate())  # those of other tests may still be ending
    results = prefetch(partial(int, number) for number in range(10**9))
    assert next(results) == 0
    [started] = set(threading.enumerate()) - before
    results.close()
    started.join(timeout=10)
    assert not started.is_alive()
