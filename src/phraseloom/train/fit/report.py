"""What a fit has gained, on documents that it was not fitted to."""

from dataclasses import dataclass

from phraseloom.train.fit.lists import F1_AT_5, F1_AT_M, Measured, gain, is_better

_NETWORK = {
    None: "",
    True: "; what the network learned is kept",
    False: "; the network learned, too, but lists were not better for it, so it stays as it was",
}


@dataclass(frozen=True)
class FitReport:
    """Scores before and after; each document was listed by weights that were fitted to others."""

    documents: int
    """Of the collection."""
    measured: int
    """Of these."""
    before: float
    """F1@5 of the model that it began from."""
    after: float
    before_at_m: float
    """F1@M, of whole lists."""
    after_at_m: float
    low: float
    """Bounds of the middle 95 % of the gain in F1@5."""
    high: float
    calibration_error: float
    is_kept: bool
    """Whether the model's own lists were kept, as a gain was not even probable."""
    present: float = 1.0
    """Share of the collection's keywords that stand in their texts."""
    terms: int = 0
    """Of a vocabulary that the model knew before, too."""
    network: bool | None = None
    """Whether what the network learned is kept; none: it has not learned."""

    @property
    def is_sure(self) -> bool:
        """Whether all of the 95 % interval is gain."""
        return self.low > 0

    @property
    def gain(self) -> float:
        """In F1@5; none if the lists were kept."""
        return 0.0 if self.is_kept else self.after - self.before

    def __str__(self) -> str:
        interval = f"95 % from {self.low:+.3f} to {self.high:+.3f}"
        share = f"{100 * self.present:.0f} % of the keywords stand in their texts"
        known = f"; before and after with a vocabulary of {self.terms} terms" if self.terms else ""
        end = f"{known}; {share}, and no others can be found{_NETWORK[self.network]}"
        if self.is_kept:
            why = "nothing gained" if self.after <= self.before else "what was gained may be luck"
            return (
                f"{why}, so the lists stay as they were: F1@5 {self.before:.3f} before,"
                f" {self.after:.3f} if fitted ({interval}), on {self.measured} documents{end}"
            )
        return (
            f"{'' if self.is_sure else 'probably better: '}F1@5 {self.before:.3f} before,"
            f" {self.after:.3f} after ({interval} more); F1@M"
            f" {self.before_at_m:.3f} before, {self.after_at_m:.3f} after; measured on"
            f" {self.measured} documents, each by what was fitted to others{end}"
        )


def make_report(
    documents: int,
    terms: int,
    present: float,
    before: Measured,
    after: Measured,
    *,
    network: bool | None,
) -> FitReport:
    """Put figures side by side; documents and what is present are of the whole collection."""
    difference = gain(after, before)
    is_kept = not is_better(difference)
    (old, old_at_m), (new, new_at_m) = (
        (round(m.report.values[F1_AT_5], 4), round(m.report.values[F1_AT_M], 4))
        for m in (before, after)
    )
    return FitReport(
        documents=documents,
        measured=before.report.documents,
        before=old,
        after=new,
        before_at_m=old_at_m,
        after_at_m=new_at_m,
        low=round(difference.interval.low, 4),
        high=round(difference.interval.high, 4),
        calibration_error=round(after.calibration_error, 4),
        is_kept=is_kept,
        present=round(present, 4),
        terms=terms,
        network=network and not is_kept,
    )


def fitted_card(name: str, base: str, report: FitReport) -> str:
    """What it was fitted to and what that gained, in Markdown."""
    base = f"`{base}`, with a vocabulary of {report.terms} terms" if report.terms else f"`{base}`"
    return f"""---
library_name: phraseloom
language: en
tags: [keyphrase-extraction]
---

# {name}

{base}, fitted to a collection of {report.documents} tagged documents by `phraseloom fit`.

```python
from phraseloom import Extractor

phrases = Extractor.load("{name}").extract(text)
```

{str(report)[0].upper()}{str(report)[1:]}.

| on {report.measured} documents | before | after |
|---|---|---|
| F1@5 | {report.before:.3f} | {report.after:.3f} |
| F1@M | {report.before_at_m:.3f} | {report.after_at_m:.3f} |

Scores are chances: on these documents they are off by {report.calibration_error:.3f} on average.
Keywords count if they stand in the text, compared by stems.
"""
