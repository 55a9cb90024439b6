"""KP20k is read as it comes, and one command trains the network of the paper on it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from phraseloom.io.records import read_corpus
from phraseloom.network.weights import load_config_file

SCRIPT = Path(__file__).parents[2] / "examples" / "train_on_kp20k.sh"
ROWS = [
    (
        f"Paper {i} on graphs",
        f"We draw graph number {i} with neural networks .",
        ["neural networks", "graph"],
    )
    for i in range(12)
]
TINY = {
    "model.width": 8,
    "model.layers": 1,
    "model.decoder_layers": 1,
    "model.edge_width": 4,
    "train.epochs": 1,
    "train.score_documents": 0,
    "train.threads": 1,
}


def training_json(folder: Path) -> Path:
    """As in the first release: one object a line, keywords in one string."""
    path = folder / "kp20k_training.json"
    rows = [{"title": t, "abstract": a, "keyword": ";".join(k)} for t, a, k in ROWS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def one2seq_pair(folder: Path) -> Path:
    """As preprocessed for catSeq and its descendants: present keyphrases, then absent ones."""
    path = folder / "train_src.txt"
    path.write_text("".join(f"{t} <eos> {a}\n" for t, a, _ in ROWS))
    trg = "".join(f"{';'.join(k)};<peos>;deep learning\n" for _, _, k in ROWS)
    (folder / "train_trg.txt").write_text(trg)
    return path


def hub_parquet(folder: Path) -> Path:
    """As on the model hub: lists of tokens, present and absent keyphrases apart."""
    path = folder / "train-00000-of-00001.parquet"
    rows = [
        {
            "id": i,
            "document": f"{t} . {a}".split(),
            "extractive_keyphrases": k,
            "abstractive_keyphrases": ["x"],
        }
        for i, (t, a, k) in enumerate(ROWS)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def hub_rows(folder: Path) -> Path:
    """As on the model hub, another edition: keyphrases with whether they are present or absent."""
    path = folder / "test.jsonl"
    rows = [
        {"id": i, "title": t, "abstract": a, "keyphrases": k, "prmu": ["P", "P"]}
        for i, (t, a, k) in enumerate(ROWS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("write", [training_json, one2seq_pair, hub_parquet, hub_rows])
def test_files_are_read_as_they_are(write: Callable[[Path], Path], tmp_path: Path) -> None:
    documents = list(read_corpus(write(tmp_path), strict=True))

    assert len(documents) == len(ROWS)
    for document, (title, abstract, keywords) in zip(documents, ROWS, strict=True):
        assert [word for word in " ".join(document.source).split() if word != "."] == [
            word
            for word in (
                f"{abstract} {title}" if document.source.title else f"{title} {abstract}"
            ).split()
            if word != "."
        ]
        assert {*keywords} <= {*document.keywords}


@pytest.mark.slow
def test_the_papers_network_is_trained_by_one_command(tmp_path: Path) -> None:
    train, out = training_json(tmp_path), tmp_path / "paper"
    settings = [part for key, value in TINY.items() for part in ("--set", f"{key}={value}")]
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **{"WIDTH": "8", "MIN_COUNT": "1", "BUCKETS": "20", "OMP_NUM_THREADS": "1"},
    }

    done = subprocess.run(
        ["sh", SCRIPT, train, train, out, *settings],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    config = load_config_file(out / "best" / "config.json")
    assert (config.search.mode, config.search.beam_width) == ("free", 100)
    assert config.train.batch_documents == 128
