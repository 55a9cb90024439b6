"""Cut phrases: how many phrases of lists are fragments of what stands in the text.

An occurrence of a phrase is cut if it does not end where a noun phrase does (its head is lost, or
it is no noun phrase: a verb, say), splits a hyphenated word, or begins inside a name. A phrase is a
fragment if most of its occurrences are cut. Annotators cut phrases, too, and parsers err: the share
among reference phrases is the measure of that.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.everyday import READERS, SCIENCE
from experiments.results import Result, Row, read_rows, write_result
from experiments.tables import Table, to_markdown
from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument, CorpusReader
from phraseloom.parallel import in_batches, show_progress
from phraseloom.text.document import Document, Sentence
from phraseloom.text.matching import unit_stems
from phraseloom.text.parsers import load_parser
from phraseloom.text.phrases import _JOINING, _NAMES, joined_tokens, noun_phrases
from phraseloom.train.ranking import RankingPlan, load_plan

_TOGETHER = 32
_REFERENCE = "reference phrases"
_KINDS = ("science", "readers' phrases", "tags")


def run(
    corpora: Annotated[list[Path], typer.Argument(help="validation documents, with their sets")],
    lists: Annotated[
        list[str] | None,
        typer.Option("--lists", metavar="NAME=FILE", help="JSON lines with id and phrases"),
    ] = None,
    model: Annotated[str | None, typer.Option(help="whose own lists are counted as “now”")] = None,
    plan: Annotated[Path, typer.Option(help="says which sets are of science")] = Path(
        "configs/recipe/8-ranking.toml"
    ),
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Count cut phrases in lists; what was counted of others before is kept."""
    documents = list(CorpusReader(corpora))
    made = {name: _read_lists(Path(file)) for name, file in map(_named, lists or [])}
    if model is not None:
        made["now"] = _own_lists(Extractor.load(model), documents)
    pairs = show_progress(_parse(documents), len(documents), "reading", is_shown=None)
    rows = count(pairs, made, load_plan(plan))
    measured, path = {row["system"] for row in rows}, results / "fragments.json"
    kept = [row for row in read_rows(path) if row["system"] not in measured]
    written = write_result(path, {"rows": [*kept, *rows]})
    typer.echo(to_markdown(*draw(written, pictures)))


def count(
    pairs: Iterable[tuple[CorpusDocument, Document]],
    made: Mapping[str, Mapping[str, Sequence[str]]],
    plan: RankingPlan,
) -> list[Row]:
    """A row for each system and kind of text; reference phrases are a system, too."""
    rows: dict[tuple[str, str], Row] = {}
    for record, document in pairs:
        is_science = plan.kind_of(record.origin) in SCIENCE
        kind = _KINDS[0 if is_science else 1 if record.origin == READERS else 2]
        found = {system: of[record.id] for system, of in made.items() if record.id in of}
        for system, phrases in {**found, _REFERENCE: record.keywords}.items():
            row = rows.setdefault(
                (system, kind),
                {"system": system, "kind": kind, "documents": 0, "phrases": 0, "cut": 0, "long": 0},
            )
            judged = judge(document, phrases)
            row["documents"] += 1
            row["phrases"] += sum(is_cut is not None for is_cut in judged)
            row["cut"] += sum(map(bool, judged))
            cut = zip(phrases, judged, strict=True)
            row["long"] += sum(bool(is_cut) and " " in phrase for phrase, is_cut in cut)
    return list(rows.values())


def _named(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not equals:
        raise PhraseloomError(f"{argument}: write it as NAME=FILE")
    return name, value


def _read_lists(path: Path) -> dict[str, list[str]]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {row["id"]: row["phrases"] for row in rows}


def _own_lists(extractor: Extractor, documents: Sequence[CorpusDocument]) -> dict[str, list[str]]:
    lists = extractor.extract_many([document.source for document in documents])
    pairs = zip(documents, lists, strict=True)
    return {document.id: [phrase.text for phrase in phrases] for document, phrases in pairs}


def _parse(documents: Sequence[CorpusDocument]) -> Iterator[tuple[CorpusDocument, Document]]:
    parser = load_parser("spacy")
    for batch in in_batches(documents, _TOGETHER):
        yield from zip(batch, parser.parse_batch([d.source for d in batch]), strict=True)


def judge(document: Document, phrases: Sequence[str]) -> list[bool | None]:
    """Whether each phrase is a fragment; none of what does not stand in the text."""
    wanted = {unit_stems(phrase): [0, 0] for phrase in phrases}  # occurrences, cut ones
    longest = max(map(len, wanted), default=0)
    joined, offset = joined_tokens(document), 0
    for sentence in document.sentences:
        end = offset + len(sentence.tokens)
        _count(sentence, joined[offset:end], wanted, longest)
        offset = end
    counts = [wanted[unit_stems(phrase)] for phrase in phrases]
    return [2 * cut > total if total else None for total, cut in counts]


def _count(
    sentence: Sentence, joined: list[bool], wanted: dict[tuple[str, ...], list[int]], longest: int
) -> None:
    tags = [token.pos for token in sentence.tokens]
    ranges = noun_phrases(tags, [token.head for token in sentence.tokens], joined)
    inside = {token: bounds for bounds in ranges for token in range(*bounds)}
    for start, _ in enumerate(sentence.tokens):
        run: tuple[str, ...] = ()
        for end in range(start + 1, min(start + longest, len(tags)) + 1):
            run += unit_stems(sentence.tokens[end - 1].word)
            counted = wanted.get(run)
            if counted is not None:
                counted[0] += 1
                counted[1] += _is_cut(sentence, joined, inside, (start, end))


def _is_cut(
    sentence: Sentence,
    joined: Sequence[bool],
    inside: dict[int, tuple[int, int]],
    place: tuple[int, int],
) -> bool:
    start, end = place
    around = inside.get(end - 1)
    splits_word = joined[end - 1] or (start > 0 and joined[start - 1])
    if splits_word or around is None or around[1] != end:
        return True
    tokens = sentence.tokens
    if start < around[0]:  # several noun phrases are whole if prepositions join them
        is_joined = all(i in inside or tokens[i].word in _JOINING for i in range(start, end))
        return not (is_joined and inside.get(start, (-1, 0))[0] == start)
    return start > around[0] and tokens[start - 1].pos in _NAMES and tokens[start].pos in _NAMES


def draw(content: Result, pictures: Path, name: str = "fragments") -> list[Table]:
    """One line of lists, one column a kind of text."""
    rows = {(row["system"], row["kind"]): row for row in content["rows"]}
    systems = list(dict.fromkeys(row["system"] for row in content["rows"]))
    lines = [[system, *(_share(rows.get((system, kind))) for kind in _KINDS)] for system in systems]
    title = "Share of phrases that are fragments (those of two words or more)"
    note = "Head lost or no noun phrase, a name or a hyphenated word split, in most occurrences."
    return [Table(title, ["lists", *_KINDS], lines, [note])]


def _share(row: Row | None) -> str:
    if row is None or not row["phrases"]:
        return "–"
    return f"{row['cut'] / row['phrases']:.1%} ({row['long'] / row['phrases']:.1%})"
