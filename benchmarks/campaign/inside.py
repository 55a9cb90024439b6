"""Attacks inside one process: texts, options, files and model directories."""

import gzip
import json
import logging
import lzma
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from benchmarks.campaign.junk import ABSTRACTS, JUNK, odd_text
from benchmarks.campaign.tally import Tally, damage
from phraseloom.errors import LanguageWarning
from phraseloom.extractor import Extractor, Phrases
from phraseloom.io.records import read_records
from phraseloom.network.weights import MANIFEST, checksum, save_model
from phraseloom.text.document import Source
from phraseloom.text.parsers import load_parser
from tests.builders import make_styled_model
from tests.io.samples import make_docx, make_pdf

_TOGETHER = 32  # texts that are also searched in batches
COMMAND = str(Path(sys.executable).with_name("phraseloom"))


def attack_texts(tally: Tally, numbers: range) -> None:
    """Odd texts with odd but lawful options; then the same in batches, some cut into windows."""
    warnings.simplefilter("ignore", LanguageWarning)
    extractor = _default()
    narrow = extractor.with_search(window_tokens=60)
    for start in numbers[::_TOGETHER]:
        chance = tally.chance(start)
        searching = narrow if chance.random() < 0.2 else extractor
        options = _lawful_options(chance, extractor.styles)
        sources = [
            Source(odd_text(chance), odd_text(chance) if chance.random() < 0.2 else "")
            for _ in range(min(_TOGETHER, numbers.stop - start))
        ]
        alone: list[Phrases | None] = []
        for number, source in enumerate(sources, start):
            alone.append(None)
            with tally.case(f"text {number}", 60):
                alone[-1] = phrases = searching.extract(source, **options)
                check_phrases(source, phrases)
        batch_size = chance.choice((2, 7, 32))
        together = searching.extract_many(sources, batch_size=batch_size, progress=False, **options)
        for number, (one, other) in enumerate(zip(alone, together, strict=True), start):
            if one is not None:
                _compare(tally, f"text {number} in a batch of {batch_size}", one, other)


@cache
def _default() -> Extractor:
    """The default model, loaded once for all pieces."""
    return Extractor.load()


def _lawful_options(chance: random.Random, styles: Sequence[str]) -> dict[str, Any]:
    words = chance.choice(ABSTRACTS).split()
    possible: dict[str, Any] = {
        "top": chance.choice((1, 5, 20, 100)),
        "style": chance.choice(styles),
        "seeds": chance.sample(words, 2),
        "candidates": [*chance.sample(words, 20), odd_text(chance)[:100]],
        "exclude": [*chance.sample(words, 5), odd_text(chance)[:100]],
        "diversity": chance.random(),
        "min_words": chance.choice((1, 2)),
        "max_words": chance.choice((2, 3, 8)),
        "min_score": chance.random() / 4,
    }
    chosen = chance.sample(sorted(possible), chance.choice((0, 0, 1, 2, 3)))
    return {name: possible[name] for name in chosen}


def check_phrases(source: Source, phrases: Phrases) -> None:
    """What holds of every list, whatever the text."""
    assert [phrase.rank for phrase in phrases] == list(range(1, len(phrases) + 1)), "ranks"
    assert len({phrase.stems for phrase in phrases}) == len(phrases), "a phrase came twice"
    for phrase in phrases:
        assert 0 < phrase.score <= 1, phrase
        assert phrase.text.strip(), "a blank phrase"
        written = [
            text[start:end]
            for text, spans in ((source.text, phrase.spans), (source.title, phrase.title_spans))
            for start, end in spans
            if 0 <= start < end <= len(text)
        ]
        assert len(written) == len(phrase.spans) + len(phrase.title_spans), "a span out of range"
        assert phrase.text.split() in [text.split() for text in written], "text is at no span"


def _compare(tally: Tally, name: str, one: Phrases, other: Phrases) -> None:
    tally.count("lists compared with those of batches")
    tally.count("scores compared", len(one))
    if one != other:
        tally.fail(f"{name}: {one} and {other}"[:1000])


def attack_options(tally: Tally, numbers: range) -> None:
    """Options of any type: refused in one line, or obeyed."""
    extractor = _default()
    text, names = (
        "Graph networks read dependency trees.",
        sorted(_lawful_options(tally.chance(0), ["author"])),
    )
    calls: dict[str, Any] = {
        "extract": lambda junk, name: extractor.extract(text, **{name: junk}),
        "text": lambda junk, name: extractor.extract(junk),
        "title": lambda junk, name: extractor.extract(text, title=junk),
        "many": lambda junk, name: list(extractor.extract_many([text, junk], progress=False)),
        "batch_size": lambda junk, name: list(extractor.extract_many([text], batch_size=junk)),
        "ngrams": lambda junk, name: extractor.extract_keywords(text, keyphrase_ngram_range=junk),
        "top_n": lambda junk, name: extractor.extract_keywords(text, top_n=junk),
        "docs": lambda junk, name: extractor.extract_keywords(junk),
        "load": lambda junk, name: Extractor.load(junk),
        "parser": lambda junk, name: Extractor.load(parser=junk),
    }  # fmt: skip
    settings = sorted(extractor.search.model_dump())
    calls["with_search"] = lambda junk, name: extractor.with_search(
        **{settings[len(name) % len(settings)]: junk}
    ).extract(text)
    warnings.simplefilter("ignore", LanguageWarning)
    for number in numbers:
        chance = tally.chance(number)
        call, junk, name = chance.choice(sorted(calls)), chance.choice(JUNK), chance.choice(names)
        if call in ("load", "parser") and junk is None:
            continue  # the default, which takes a while
        with tally.case(f"options {number}: {call}({name}={type(junk).__name__} {repr_of(junk)})"):
            calls[call](junk, name)


def repr_of(junk: object) -> str:
    """A value as it is written, if it can be."""
    try:
        return repr(junk)[:60]
    except ValueError:
        return "…"


def attack_files(tally: Tally, numbers: range) -> None:
    """Damaged files of every kind: each is read or refused; now and then a folder by command."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # as the command line does
    good = _good_files()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for number in numbers:
            chance = tally.chance(number)
            suffix = chance.choice(sorted(good))
            path = folder / f"{number % 40}{suffix}"
            path.write_bytes(damage(chance, good[suffix]))
            with tally.case(f"file {number}{suffix}"):
                for record in read_records(path):
                    str(record)
        _extract_folder(tally, folder, numbers)


def _extract_folder(tally: Tally, folder: Path, numbers: range) -> None:
    """The last files by command, and a good one that must not suffer from them."""
    (folder / "good.txt").write_text(ABSTRACTS[0], encoding="utf-8")
    out = folder / "results"
    command = [COMMAND, "extract", str(folder), "--out", str(out)]
    with tally.case(f"folder after files {numbers}", 60):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=590)
        assert done.returncode in (0, 1), done.stderr[-500:]
        assert "Traceback" not in done.stderr, done.stderr[-2000:]
        assert (out / "good.txt.json").exists(), "the good file was not done"


def _good_files() -> dict[str, bytes]:
    text = ABSTRACTS[0]
    rows = [{"id": i, "title": "Graphs", "text": t} for i, t in enumerate(ABSTRACTS[:3])]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    table = "id,title,text\n" + "".join(
        f'{i},"Graphs","{t}"\n' for i, t in enumerate(ABSTRACTS[:3])
    )
    body = "".join(f"<w:p><w:r><w:t>{part}</w:t></w:r></w:p>" for part in text.split("."))
    page = (
        f"<html><head><title>Graphs</title></head><body><p>{text}</p><ul><li>a</ul></body></html>"
    )
    markdown = f"# Graphs\n\n{text}\n\n- *one*\n- [two](http://a.example)\n"
    markdown += "\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    return {
        ".txt": text.encode(),
        ".md": markdown.encode(),
        ".html": page.encode(),
        ".csv": table.encode(),
        ".jsonl": lines,
        ".json": json.dumps(rows).encode(),
        ".docx": make_docx(body),
        ".pdf": make_pdf(text.split(".")[:8], ["the", "second page"]),
        ".txt.gz": gzip.compress(text.encode()),
        ".jsonl.xz": lzma.compress(lines),
    }


def attack_models(tally: Tally, numbers: range) -> None:
    """Damaged model directories, two thirds with a manifest that agrees.

    The parser is no part of a model and takes longest to load, so all that can be loaded share one.
    """
    warnings.simplefilter("ignore", LanguageWarning)
    parsers = patch("phraseloom.extractor.load_parser", cache(load_parser))
    with parsers, TemporaryDirectory() as temporary:
        good, bad = Path(temporary) / "good", Path(temporary) / "bad"
        model, config = make_styled_model()
        save_model(good, model, config, is_quantized=True)
        for number in numbers:
            chance = tally.chance(number)
            shutil.rmtree(bad, ignore_errors=True)
            shutil.copytree(good, bad)
            path = bad / chance.choice(sorted(file.name for file in good.iterdir()))
            if path.suffix == ".json" and chance.random() < 0.6:
                _change_json(chance, path)
            else:
                path.write_bytes(damage(chance, path.read_bytes()))
            if chance.random() < 0.7 and path.name != MANIFEST:
                manifest = json.loads((bad / MANIFEST).read_bytes())
                manifest["files"][path.name] = checksum(path)
                (bad / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
            with tally.case(f"model {number}: {path.name}"):
                source = Source("Graph networks read dependency trees.")
                check_phrases(source, Extractor.load(bad).extract(source))


def _change_json(chance: random.Random, path: Path) -> None:
    """Put junk somewhere into a JSON file."""
    content = part = json.loads(path.read_bytes())
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        if not keys:
            return
        key = chance.choice(keys)
        if not isinstance(part[key], dict | list) or not part[key] or chance.random() < 0.3:
            break
        part = part[key]
    part[key] = chance.choice(
        [None, True, 0, -1, 1, 10**12, 1e30, float("nan"), "", "../x", "x" * 5000, [], [[]], {}]
    )
    path.write_text(json.dumps(content), encoding="utf-8")
