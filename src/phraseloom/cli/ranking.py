"""Fit how lists are put together to documents whose keyphrases are known."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli.console import document_progress, say


def ranking(
    model: Annotated[str, typer.Argument(help="name of a model, or its directory, such as ./mine")],
    corpora: Annotated[list[Path], typer.Argument(help="documents with keyphrases, not learned")],
    plan: Annotated[Path, typer.Option(help="TOML file with a table for each style")],
    out: Annotated[Path, typer.Option(help="directory to make or replace")],
) -> None:
    """Fit the ranking of a trained model, so that scores are probabilities, and save it anew."""
    from phraseloom.extractor import Extractor  # here: start-up time
    from phraseloom.io.records import CorpusReader
    from phraseloom.train.ranking import fit_styles, load_plan

    wanted = load_plan(plan)
    extractor = Extractor.load(model)
    documents = list(CorpusReader(corpora))
    with document_progress("searching") as on_progress:
        fits, reports = fit_styles(extractor, documents, wanted, on_progress=on_progress)
    extractor.ranking = {style: fit.ranking for style, fit in fits.items()}
    extractor.kinds = next((fit.kinds for fit in fits.values() if fit.kinds), {})
    extractor.save_pretrained(out)
    say("style    set, documents: F1@5 and F1@10 of ten, F1@5 and F1@M of one list, calibration")
    for style, by_set in reports.items():
        for origin, report in by_set.items():
            figures = " ".join(f"{value:.3f}" for value in report[1:])
            say(f"{style:8} {origin}, {report.documents}: {figures}")
