"""Print what corpora are like: documents, keyphrases, and their graphs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import document_progress, print_table
from phraseloom.text.words import printable

if TYPE_CHECKING:
    from rich.table import Table

    from phraseloom.train.corpus.stats import CorpusStats


def stats(
    corpora: Annotated[
        list[Path], typer.Argument(help="prepared corpora, or corpora in any format")
    ],
    as_json: arguments.AsJson = False,
    parser: arguments.ParserName = "spacy",
    jobs: arguments.Jobs = 2,
    strict: arguments.Strict = False,
) -> None:
    """Print documents, present keyphrases and phrase lengths, and the size of the graphs."""
    import json  # here and below: start-up time
    from dataclasses import asdict

    from phraseloom.train.corpus.prepare import PrepareOptions
    from phraseloom.train.corpus.stats import describe

    options = PrepareOptions(parser=parser, processes=jobs, strict=strict)
    rows = []
    for path in corpora:
        with document_progress(f"Parsing {path.name}") as on_progress:
            rows.append(describe(path, options, on_progress=on_progress))
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print_table(_data_table(rows))
    print_table(_graph_table(rows))


def _data_table(rows: list["CorpusStats"]) -> "Table":
    from rich.text import Text  # here: start-up time

    table = _table("Keyphrases", "documents", "present", "absent", "none present", "words/phrase")
    for row in rows:
        name = Text(printable(row.name))
        counts = f"{row.documents:,}", f"{row.present:.2f}", f"{row.absent:.2f}"
        table.add_row(name, *counts, f"{row.without_present:,}", f"{row.phrase_length:.2f}")
    return table


def _graph_table(rows: list["CorpusStats"]) -> "Table":
    from rich.text import Text  # here: start-up time

    table = _table("Graphs", "nodes", "edges", "in–in", "in–out")
    for row in rows:
        means = row.nodes, row.edges, row.in_in_edges, row.in_out_edges
        table.add_row(Text(printable(row.name)), *(f"{mean:.2f}" for mean in means))
    return table


def _table(title: str, *columns: str) -> "Table":
    from rich.table import Table

    table = Table(title=f"{title} (means per document)", title_justify="left")
    table.add_column("corpus")
    for column in columns:
        table.add_column(column, justify="right")
    return table
