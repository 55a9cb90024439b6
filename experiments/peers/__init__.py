"""Other extractors on the same documents, through the same scorer: quality and speed.

Each peer runs in an environment of its own, since their requirements conflict; see `predict.py`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from experiments import options, published
from experiments.corpora import score_lists
from experiments.figures import COLOURS, figure
from experiments.peers.predict import NOT_INSTALLED, OURS
from experiments.results import Result, Row, provenance, read_rows, write_result
from experiments.tables import Table, to_markdown
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.files import read_documents, write_predictions
from phraseloom.evaluate.phrases import Split
from phraseloom.io.records import CorpusDocument, corpus_name

_HERE = Path(__file__).parent
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class Peer:
    """An extractor: what it is called, and which requirements it needs."""

    title: str
    environment: str | None
    """Name of its requirements file and folder; none: it runs in this environment."""


PEERS = {
    "yake": Peer("YAKE", "yake"),
    "rake": Peer("RAKE (multi-rake)", "rake"),
    "textrank": Peer("TextRank (pytextrank)", "textrank"),
    "positionrank": Peer("PositionRank (pytextrank)", "textrank"),
    "topicrank": Peer("TopicRank (pytextrank)", "textrank"),
    "keybert": Peer("KeyBERT, MiniLM", "keybert"),
    "keybert-vectorizers": Peer("KeyBERT + KeyphraseVectorizers, MiniLM", "keybert"),
    "phraseloom": Peer("phraseloom", None),
    "phraseloom-top": Peer("phraseloom, as many as peers", None),
    "phraseloom-indexer": Peer("phraseloom, indexer style", None),
    "phraseloom-indexer-top": Peer("phraseloom, indexer style, as many as peers", None),
}
_MARKERS = "os^vDPX****"
"""One for each of `PEERS`; ours are the stars."""
_COLUMNS = {
    "F1@5": "present.filled.macro.f1@5",
    "F1@10": "present.filled.macro.f1@10",
    "F1@M": "present.macro.f1@M",
}

AIMS = {
    "F1@5": (0.390, 0.313, 0.379, 0.320, 0.313),
    "F1@10": (0.433, 0.158, 0.250, 0.303, 0.151),
    "F1@M": (0.376, 0.345, 0.391, 0.323, 0.349),
}
"""What was aimed at on each of `published.SETS`: the paper's Div-DGCN for F1@5 and F1@M, but on
Inspec KeyBERT with KeyphraseVectorizers for F1@5; the best peer of earlier trials for F1@10."""


def run(
    corpora: Annotated[list[Path], typer.Argument(help="corpora")],
    peers: Annotated[list[str] | None, typer.Option("--peer", help="default: all")] = None,
    model: Annotated[Path | None, typer.Option(help="phraseloom's, to stand beside them")] = None,
    environments: Annotated[Path, typer.Option(help="folder of their environments")] = Path(
        "runs/peers"
    ),
    documents: Annotated[int | None, typer.Option(min=1, help="the first of each corpus")] = None,
    top: Annotated[int, typer.Option(min=1, help="phrases that a peer gives")] = 10,
    split: Annotated[Split, typer.Option(help="how the corpora part words")] = Split.spaces,
    predictions: options.Predictions = options.DEFAULT_PREDICTIONS,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Compare with other extractors; rows of peers measured before are kept."""
    path = results / "peers.json"
    chosen = _choose(peers, model)
    rows = read_rows(path)
    for corpus in corpora:
        read = read_documents(corpus)[:documents]
        for name in chosen:
            python = find_python(name, environments)
            if python is None:
                typer.echo(how_to_install(name, environments), err=True)
                continue
            typer.echo(f"{PEERS[name].title}, {corpus_name(corpus)} …", err=True)
            lists, summary = predict(name, python, read, top, model)
            values = score_lists(read, lists, split, _COLUMNS.values())
            about = {"peer": name, "corpus": corpus_name(corpus), "documents": len(read)}
            settings = {"top": top, "split": split.value, "model": str(model or "")}
            command = provenance()["command"]
            row = {**about, **settings, **summary, "command": command, "values": values}
            rows = [old for old in rows if not _is_same(old, row)] + [row]
            kept = predictions / name / f"{corpus_name(corpus)}.predictions.jsonl"
            write_predictions(kept, read, lists)
            write_result(path, {"rows": rows})
    typer.echo(to_markdown(*draw({"rows": rows}, pictures)))


def _choose(peers: Sequence[str] | None, model: Path | None) -> list[str]:
    unknown = [name for name in peers or [] if name not in PEERS]
    if unknown:
        raise PhraseloomError(f"no peer {unknown[0]!r}; there are: {', '.join(PEERS)}")
    ours = [name for name in peers or [] if name in OURS]
    if ours and model is None:
        raise PhraseloomError(f"--peer {ours[0]} needs --model DIRECTORY")
    return [name for name in peers or PEERS if name not in OURS or model is not None]


def find_python(name: str, environments: Path) -> Path | None:
    """Interpreter of a peer's environment; none if that was not made yet."""
    environment = PEERS[name].environment
    if environment is None:
        return Path(sys.executable)
    python = environments / environment / "bin" / "python"
    return python if python.exists() else None


def how_to_install(name: str, environments: Path) -> str:
    """Commands that make a peer's environment."""
    environment = PEERS[name].environment
    place = environments / str(environment)
    needs = f"experiments/peers/requirements-{environment}.txt"
    make = f"python -m venv {place} && {place}/bin/pip install -r {needs}"
    return f"{PEERS[name].title} is not installed; run: {make}"


def predict(
    name: str, python: Path, documents: Sequence[CorpusDocument], top: int, model: Path | None
) -> tuple[list[list[str]], dict[str, Any]]:
    """Phrases of each document by one peer, on one thread, and the seconds that it took."""
    with TemporaryDirectory(prefix="phraseloom-") as directory:
        files = [Path(directory) / name for name in ("documents", "predictions", "summary")]
        lines = [
            json.dumps({"id": d.id, "title": d.source.title, "text": d.source.text})
            for d in documents
        ]
        files[0].write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [str(python), str(_HERE / "predict.py"), name, *map(str, files)]
        command += ["--top", str(top)] + (["--model", str(model)] if model else [])
        done = subprocess.run(
            command, env={**os.environ, **_ONE_THREAD}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise PhraseloomError(_failure(name, python, done))
        rows = [json.loads(line) for line in files[1].read_text("utf-8").splitlines()]
        summary = json.loads(files[2].read_text("utf-8"))
    return [row["phrases"] for row in rows], summary


def _failure(name: str, python: Path, done: "subprocess.CompletedProcess[str]") -> str:
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    if done.returncode == NOT_INSTALLED and PEERS[name].environment is not None:
        return f"{how_to_install(name, python.parents[2])} ({last})"
    return f"{PEERS[name].title} failed: {last}"


def _is_same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return all(old[key] == new[key] for key in ("peer", "corpus"))


def draw(content: Result, pictures: Path, name: str = "peers") -> list[Table]:
    """A table a metric and a figure; or one table, of means or beside what was aimed at."""
    rows = content["rows"]
    names = [peer for peer in PEERS if any(row["peer"] == peer for row in rows)]
    if name == "peers-means":
        return [_means(rows, names)]
    if name == "peers-aims":
        return [_aims(rows)]
    _draw_speed(name, pictures, rows, names)
    return [_table(title, key, rows, names) for title, key in _COLUMNS.items()]


def _table(metric: str, key: str, rows: Sequence[Row], names: Sequence[str]) -> Table:
    """One line an extractor, one column a corpus; the best of a column is bold."""
    seen = {row["corpus"] for row in rows}
    corpora = [corpus for corpus in published.SETS if corpus in seen]
    corpora += sorted(seen - published.SETS.keys())
    values = {(row["peer"], row["corpus"]): row["values"][key] for row in rows}
    best = {
        corpus: max(values[name, corpus] for name in names if (name, corpus) in values)
        for corpus in corpora
    }
    lines = []
    for name in names:
        own = [row for row in rows if row["peer"] == name]
        cells = [_cell(values.get((name, corpus)), best[corpus]) for corpus in corpora]
        lines.append([PEERS[name].title, f"{_speed(own):.1f}", *cells])
    titles = [published.SETS.get(corpus, corpus) for corpus in corpora]
    return Table(metric, ["extractor", "documents/s", *titles], lines, [_note(rows)])


def _aims(rows: Sequence[Row]) -> Table:
    """What was aimed at, and ours: of ten phrases, or for F1@M of the model's own list."""
    values = {(row["peer"], row["corpus"]): row["values"] for row in rows}
    lines = []
    for metric, aims in AIMS.items():
        own, list_of = [], "" if metric == "F1@M" else "-top"
        for corpus, aim in zip(published.SETS, aims, strict=True):
            style = "-indexer" if corpus == "inspec" else ""
            of_ours = values.get((f"phraseloom{style}{list_of}", corpus))
            value = None if of_ours is None else of_ours[_COLUMNS[metric]]
            own.append("–" if value is None else _cell(value, max(value, aim)))
        lines += [[f"{metric}, aim", *(f"{aim:.3f}" for aim in aims)], [metric, *own]]
    return Table("Against what was aimed at", ["", *published.SETS.values()], lines)


def _means(rows: Sequence[Row], names: Sequence[str]) -> Table:
    """One line an extractor that was measured on every corpus: means over the corpora."""
    corpora = {row["corpus"] for row in rows}
    lines = []
    for name in names:
        own = [row for row in rows if row["peer"] == name]
        if {row["corpus"] for row in own} == corpora:
            means = [sum(row["values"][key] for row in own) / len(own) for key in _COLUMNS.values()]
            lines.append([PEERS[name].title, f"{_speed(own):.1f}", *(f"{m:.3f}" for m in means)])
    title = f"Means over {len(corpora)} corpora"
    return Table(title, ["extractor", "documents/s", *_COLUMNS], lines)


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "–"
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def _note(rows: Sequence[Row]) -> str:
    versions = {f"{k} {v}" for row in rows for k, v in row["versions"].items()}
    documents = {row["corpus"]: row["documents"] for row in rows}
    sizes = [f"{published.SETS.get(name, name)} {count:,}" for name, count in documents.items()]
    tops = sorted({row["top"] for row in rows})
    return (
        "Documents per second of one processor thread, loading not counted. A peer gives"
        f" {', '.join(map(str, tops))} phrases at most; phraseloom decides itself how many unless"
        f" its row says otherwise. Documents: {', '.join(sizes)}."
        f" Versions: {', '.join(sorted(versions))}."
    )


def _speed(rows: Sequence[Row]) -> float:
    """Documents a second over all corpora."""
    return sum(row["documents"] for row in rows) / max(sum(row["seconds"] for row in rows), 1e-9)


def _draw_speed(
    figure_name: str, pictures: Path, rows: Sequence[Row], names: Sequence[str]
) -> None:
    """One point an extractor: speed across, mean F1@5 up."""
    with figure(figure_name, pictures, width=5.6, height=2.8) as (axis,):
        for name in names:
            i = list(PEERS).index(name)
            own = [row for row in rows if row["peer"] == name]
            quality = sum(row["values"][_COLUMNS["F1@5"]] for row in own) / len(own)
            look = {"color": COLOURS[i % len(COLOURS)], "marker": _MARKERS[i], "markersize": 7}
            axis.plot(_speed(own), quality, linestyle="", label=PEERS[name].title, **look)
        axis.set(xscale="log", xlabel="documents per CPU second, one thread (log scale)")
        axis.set(ylabel="F1@5, mean over corpora")
        axis.set_ylim(bottom=0)
        axis.margins(x=0.15, y=0.15)
        axis.figure.legend(loc="outside right upper", fontsize=8)
