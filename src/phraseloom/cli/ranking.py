"""Fit how lists are put together to documents whose keyphrases are known."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli.console import document_progress, say


def ranking(
    model: Annotated[str, typer.Argument(help="name or directory of a model")],
    corpora: Annotated[
        list[Path], typer.Argument(help="documents with keyphrases, not learned from")
    ],
    plan: Annotated[Path, typer.Option(help="TOML file with a table for each style")],
    out: Annotated[Path, typer.Option(help="directory to make or replace")],
) -> None:
    """Fit the ranking of a trained model, so that scores are probabilities, and save it anew."""
    from phraseloom.extractor import Extractor  # here: start-up time
    from phraseloom.io.records import CorpusReader
    from phraseloom.train.ranking import fit_styles, load_plans

    plans = load_plans(plan)
    extractor = Extractor.load(model)
    documents = list(CorpusReader(corpora))
    with document_progress("searching") as on_progress:
        fitted = fit_styles(extractor, documents, plans, on_progress=on_progress)
    extractor.ranking = {style: fit.ranking for style, fit in fitted.items()}
    extractor.save_pretrained(out)
    for style, fit in fitted.items():
        say(f"{style}: lists go on down to a score of {fit.ranking.min_score:.2f}")
        for origin, report in fit.reports.items():
            say(
                f"  {origin}: {report.documents} documents, F1@5 {report.f1_at_5:.3f}, F1@10"
                f" {report.f1_at_10:.3f}, one list {report.one_list_f1_at_5:.3f} and"
                f" {report.one_list_f1_at_m:.3f}, calibration error {report.calibration_error:.3f}"
            )
