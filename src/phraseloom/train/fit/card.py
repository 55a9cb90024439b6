"""The card of a fitted model."""

from phraseloom.train.fit.report import FitReport


def fitted_card(name: str, base: str, report: FitReport) -> str:
    """What it was fitted to and what that gained, in Markdown."""
    return f"""---
library_name: phraseloom
language: en
tags: [keyphrase-extraction]
---

# {name}

`{base}`, fitted to a collection of {report.documents} tagged documents by `phraseloom fit`.

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
