"""Attack everything with fixed seeds, and say what was tried and what failed.

    python -m benchmarks.campaign                                # all that has not been done yet
    python -m benchmarks.campaign --part texts --count 500       # the first pieces of one part
    python -m benchmarks.campaign --again                        # anew what failed
    python -m benchmarks.campaign --page docs/reliability.md     # write the table of what was run

The results are kept piece by piece in benchmarks/results/campaign.json, so that a campaign that was
stopped goes on; several may run side by side with different parts.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.campaign.inside import attack_files, attack_models, attack_options, attack_texts
from benchmarks.campaign.kills import VICTIMS, attack_by_kills
from benchmarks.campaign.over_http import attack_http, soak
from benchmarks.campaign.tally import Tally
from benchmarks.reporting import ROOT, commit_of


class Part(NamedTuple):
    """What does it, how many cases (kills, seconds) it has, and how many of them are a piece."""

    attack: Callable[[Tally, range], None]
    cases: int
    piece: int


PARTS = {
    "texts": Part(attack_texts, 10_000, 512),
    "options": Part(attack_options, 2_000, 250),
    "files": Part(attack_files, 10_000, 1_000),
    "models": Part(attack_models, 2_000, 250),
    "http": Part(attack_http, 2_000, 200),
    **{f"kills of {name}": Part(partial(attack_by_kills, name), 25, 25) for name in VICTIMS},
    "soak": Part(soak, 600, 600),
}
RESULTS = ROOT / "benchmarks" / "results" / "campaign.json"

Piece = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", choices=[*PARTS], action="append")
    parser.add_argument("--count", type=int, help="cases, kills, or seconds of the soak")
    parser.add_argument("--again", action="store_true", help="do again the pieces that failed")
    parser.add_argument("--anew", action="store_true", help="do again all pieces of these parts")
    parser.add_argument("--page", type=Path, help="write the table into this page and end")
    args = parser.parse_args()
    if args.page is not None:
        write_page(args.page)
        return
    parts = args.part or [*PARTS]
    with _results() as results:
        for part in parts:
            pieces = results.get(part, {})
            is_old = {name: args.anew or (args.again and pieces[name]["failed"]) for name in pieces}
            results[part] = {name: pieces[name] for name in pieces if not is_old[name]}
    for part in parts:
        _attack(part, args.count or PARTS[part].cases)
    with _results() as results:
        print(table(results))
    raise SystemExit(any(row["failed"] for part in parts for row in results[part].values()))


def _attack(name: str, count: int) -> None:
    """Do the pieces of a part that are still to be done."""
    part = PARTS[name]
    for start in range(0, count, part.piece):
        numbers = range(start, min(start + part.piece, count))
        key = f"{numbers.start}-{numbers.stop}"
        with _results() as results:
            if key in results[name]:
                continue
        commit, tally = commit_of(), Tally(name)
        part.attack(tally, numbers)
        with _results() as results:
            results[name][key] = tally.result() | {"commit": commit}
        print(f"{name} {key}: {tally.tried} tried, {tally.failed} failed", flush=True)


@contextmanager
def _results() -> Iterator[dict[str, dict[str, Piece]]]:
    """The results of all pieces so far, by part; nobody else changes them meanwhile."""
    with RESULTS.open("a+", encoding="utf-8") as file:
        flock(file, LOCK_EX)
        file.seek(0)
        results = json.loads(file.read() or "{}")
        before = json.dumps(results)
        yield results
        if json.dumps(results) != before:
            file.truncate(0)
            file.write(json.dumps(results, indent=1) + "\n")


def table(results: dict[str, dict[str, Piece]]) -> str:
    """One row for each part that was run, the sum of its pieces."""
    rows = ["| part | tried | failed | besides |", "|---|---|---|---|"]
    for part in PARTS:
        if pieces := [*results.get(part, {}).values()]:
            row = _sum(pieces)
            tried, failed = row.pop("tried"), row.pop("failed")
            besides = "; ".join(f"{name}: {_shown(value)}" for name, value in row.items())
            rows.append(f"| {part} | {_shown(tried)} | {_shown(failed)} | {besides} |")
    return "\n".join(rows)


def _sum(pieces: list[Piece]) -> Piece:
    """What all pieces of a part did: figures are added, the largest one is kept if it is a most."""
    total: Piece = {}
    for piece in pieces:
        for name, value in piece.items():
            if name in ("failures", "commit"):
                continue
            if isinstance(value, dict):
                total[name] = Counter(total.get(name, {})) + Counter(value)
            elif name.startswith("most"):
                total[name] = max(total.get(name, value), value)
            else:
                total[name] = round(total.get(name, 0) + value, 1)
    return total | {"commits": ", ".join(dict.fromkeys(piece["commit"] for piece in pieces))}


def _shown(value: object) -> str:
    if isinstance(value, dict):
        most = sorted(value.items(), key=lambda item: -item[1])
        return ", ".join(f"{_shown(number)} {name}" for name, number in most)
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def write_page(page: Path) -> None:
    """Put the table between its two marks."""
    before, start, rest = page.read_text(encoding="utf-8").partition("<!-- campaign -->\n")
    _, end, after = rest.partition("<!-- end -->")
    with _results() as results:
        page.write_text(f"{before}{start}{table(results)}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
