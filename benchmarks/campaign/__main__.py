"""Attack everything with fixed seeds, and say what was tried and what failed.

    python -m benchmarks.campaign --part texts --count 10000     # one part; all without --part
    python -m benchmarks.campaign --page docs/reliability.md     # write the table of what was run

Each part writes its result when it is done, so that a stop loses one part only.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

from benchmarks.campaign.inside import attack_files, attack_models, attack_options, attack_texts
from benchmarks.campaign.kills import attack_by_kills
from benchmarks.campaign.over_http import attack_http, soak
from benchmarks.campaign.tally import Tally
from benchmarks.reporting import ROOT, commit_of

PARTS = {
    "texts": (attack_texts, 10_000),
    "options": (attack_options, 2_000),
    "files": (attack_files, 10_000),
    "models": (attack_models, 2_000),
    "http": (attack_http, 2_000),
    "kills": (attack_by_kills, 100),
    "soak": (soak, 600),
}
"""What does it, and how many cases (kills, seconds) the whole campaign has."""
RESULTS = ROOT / "benchmarks" / "results" / "campaign.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", choices=[*PARTS], action="append")
    parser.add_argument("--count", type=int, help="cases, kills, or seconds of the soak")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="write the table into this page and end")
    args = parser.parse_args()
    if args.page is not None:
        write_page(args.page)
        return
    failed = 0
    for part in args.part or PARTS:
        attack, usual = PARTS[part]
        tally = Tally(args.seed)
        attack(tally, args.count or usual)
        failed += tally.failed
        results = _read_results() | {part: tally.result() | {"commit": commit_of()}}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(table({part: results[part]}), flush=True)
    raise SystemExit(failed > 0)


def _read_results() -> dict[str, Any]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def table(results: dict[str, Any]) -> str:
    """One row for each part that was run."""
    rows = ["| part | tried | failed | besides |", "|---|---|---|---|"]
    for part in PARTS:
        if part in results:
            row = dict(results[part])
            tried, failed = row.pop("tried"), row.pop("failed")
            row.pop("failures", None)
            besides = "; ".join(f"{name}: {_shown(value)}" for name, value in row.items())
            rows.append(f"| {part} | {_shown(tried)} | {_shown(failed)} | {besides} |")
    return "\n".join(rows)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_shown(number)} {name}" for name, number in value.items())
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def write_page(page: Path) -> None:
    """Put the table between its two marks."""
    text = page.read_text(encoding="utf-8")
    marked = f"<!-- campaign -->\n{table(_read_results())}\n<!-- end -->"
    pattern = re.compile("<!-- campaign -->.*?<!-- end -->", re.DOTALL)
    page.write_text(pattern.sub(lambda _: marked, text), encoding="utf-8")


if __name__ == "__main__":
    main()
