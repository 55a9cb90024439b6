"""Time of degenerate texts at 10, 20 and 40 KB: it must grow as their length does.

    python benchmarks/bench_degenerate.py --out benchmarks/results/degenerate.json

CPU seconds of one thread for `Extractor.extract`, all of it. The bar is 2.5 for a doubling: times
wobble, but what grows with the square of the length would be at 4. Beside the twenty kinds stands
ordinary text, to see what a kind costs that is merely full of tokens.
"""

import random
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # `python …` sees only the script's folder

from benchmarks.reporting import make_parser, report, timed
from benchmarks.texts import make_texts
from phraseloom import Extractor
from phraseloom.errors import LanguageWarning

SIZES = (10_000, 20_000, 40_000)
BAR = 2.5
REPEATED = {
    "closing brackets and stops": ").",
    "opening brackets": "(",
    "brackets of all kinds": "([{<>}])",
    "apostrophes": "'",
    "quotation marks": '"',
    "question and exclamation marks": "!?",
    "stops": ".",
    "commas": ",",
    "underscores": "_",
    "possessives": "'s",
    "smileys": ":)",
    "emoji": "😀",
    "hyphens between letters": "a-",
    "addresses": "http://a.b/",
    "numbers and signs": "$1%",
    "masked digits": "<digit>",
    "one-letter words": "a ",
    "one long word": "a",
    "line ends": "a\n\n",
    "combining marks": "e\u0301\u0323",
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--kind", help="only this one")
    args = parser.parse_args()
    warnings.simplefilter("ignore", LanguageWarning)
    extractor = Extractor.load()
    kinds = {name: _repeat(unit) for name, unit in REPEATED.items()}
    kinds["letters and punctuation at random"] = _at_random()
    kinds["ordinary text"] = " ".join(make_texts(60))[: max(SIZES)]
    extractor.extract(kinds["ordinary text"][:2000])  # what is loaded once
    rows = {
        name: measure(extractor, text) for name, text in kinds.items() if args.kind in (None, name)
    }
    worst = max(max(row["ratios"]) for row in rows.values())
    report({**rows, "largest ratio for a doubling": worst, "bar": BAR}, args.out)
    if worst > BAR:
        raise SystemExit(1)


def measure(extractor: Extractor, text: str) -> dict[str, Any]:
    """CPU seconds at each size, the better of two, and how many times the one before that is."""
    rounds = [
        [timed(lambda size=size: extractor.extract(text[:size]))[1] for size in SIZES]  # type: ignore[misc]
        for _ in range(2)
    ]
    seconds = [min(of_size) for of_size in zip(*rounds, strict=True)]
    ratios = [after / before for before, after in zip(seconds, seconds[1:], strict=False)]
    return {
        "CPU s": [round(second, 2) for second in seconds],
        "ratios": [round(ratio, 2) for ratio in ratios],
    }


def _repeat(unit: str) -> str:
    return (unit * max(SIZES))[: max(SIZES)]


def _at_random() -> str:
    return "".join(random.Random(0).choices("ab1.,;()'-_/\\ \n", k=max(SIZES)))


if __name__ == "__main__":
    main()
