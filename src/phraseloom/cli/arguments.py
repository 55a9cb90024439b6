"""Arguments that several commands take: under one name, with one meaning."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phraseloom.cli.console import say
from phraseloom.io.files import read_phrases

if TYPE_CHECKING:
    from phraseloom.io.vocabulary import Term

Model = Annotated[
    str | None, typer.Option(help="name of a model, or its directory, such as ./mine")
]
Top = Annotated[int | None, typer.Option(min=1, help="exactly so many phrases each")]
Style = Annotated[str | None, typer.Option(help="kind of annotator to imitate")]
Candidates = Annotated[
    Path | None,
    typer.Option(readable=False, help="file with the only phrases that may be found, one a line"),
]
Seeds = Annotated[
    list[str] | None,
    typer.Option("--seed", metavar="PHRASE", help="steer towards it; repeatable; @FILE: its lines"),
]
Diversity = Annotated[
    float | None, typer.Option(min=0, max=1, help="0: best, however alike; 1: as unlike as can be")
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(readable=False, help="file of terms that should be known: lines, .csv, SKOS"),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="PHRASE", help="never this one; repeatable; @FILE: its lines"),
]
MinWords = Annotated[int, typer.Option(min=1, help="words of a phrase, at least")]
MaxWords = Annotated[int | None, typer.Option(min=1, help="words of a phrase, at most")]
MinScore = Annotated[
    float | None, typer.Option(min=0, max=1, help="no phrase with less, even if --top asks for it")
]
Jobs = Annotated[int, typer.Option(min=1, help="processes at work")]
Threads = Annotated[int, typer.Option(min=1, help="threads of a process; more seldom help")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="such as search.alpha=1.5")
]
AsJson = Annotated[bool, typer.Option("--json", help="all values as JSON")]
ParserName = Annotated[str, typer.Option("--parser", help="spacy, stanza or conllu")]
Strict = Annotated[bool, typer.Option("--strict", help="refuse bad rows instead of skipping them")]


_MOST_JOBS = 8


def usual_jobs() -> int:
    """As many processes as there are cores for us, but no more than a machine is glad to lend."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:  # macOS
        cores = os.cpu_count() or 1
    return min(cores, _MOST_JOBS)


def expand_phrases(phrases: list[str] | None) -> list[str]:
    """Phrases as given, but ``@FILE`` stands for the lines of a file."""
    expanded: list[str] = []
    for phrase in phrases or ():
        is_file = phrase.startswith("@")
        expanded += read_phrases(Path(phrase.removeprefix("@"))) if is_file else [phrase]
    return expanded


def read_terms(path: Path) -> "list[Term]":
    """Terms of a vocabulary; what was guessed or mended is said."""
    from phraseloom.io.vocabulary import read_vocabulary  # here: start-up time

    return read_vocabulary(path, say)
