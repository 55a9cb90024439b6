"""What people read of a run."""

import io

from rich.console import Console

from phraseloom.train.display import MetricsPanel, describe
from phraseloom.train.metrics_log import MetricsEntry

TRAIN: MetricsEntry = {
    **{"kind": "train", "step": 1200, "epoch": 0, "documents": 38400, "loss": 1.5},
    **{"importance": 0.25, "norm": 0.8, "rate": 0.001, "seconds": 61.2},
    **{"documents_per_second": 33.3, "seconds_left": 3600},
}
VALID: MetricsEntry = {
    **{"kind": "valid", "step": 1000, "epoch": 0, "documents": 32000, "perplexity": 9.5},
    **{"f1@5": 0.251, "f1@M": None, "seconds": 50},
}


def test_a_line_says_what_people_ask_for() -> None:
    line = describe(TRAIN)
    for words in ("step 1,200", "loss 1.500", "33.3 documents/s", "0:01:01 gone, 1:00:00 left"):
        assert words in line
    line = describe(VALID)
    for words in ("perplexity 9.50", "F1@5 0.251", "F1@M –", "32,000 documents"):
        assert words in line


def test_the_panel_shows_validations_and_the_newest_figures() -> None:
    panel = MetricsPanel("a [/b] \x1b run", rows=1)
    for entry in ({**VALID, "perplexity": 77.0}, VALID, TRAIN):
        panel.add(entry)
    console = Console(file=io.StringIO(), width=160)
    console.print(panel.table())
    shown = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO

    assert "9.50" in shown and "0.251" in shown and "33.3 documents/s" in shown
    assert "77.00" not in shown
    assert "a [/b] \ufffd run" in shown
