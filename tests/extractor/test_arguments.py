"""Whatever stands for an argument: a result, or one line that names the fix."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom import explain
from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.text.document import Source

TEXT = "Graph-based neural networks find keyphrases."
ODD: list[Any] = [
    *(None, 3, True, 1.5, float("nan"), b"ab", object(), float, "nul\0", "x" * 5000, "\ud800"),
    *([], [3], [None], [b"a"], (1, 2), {}, {"a": 1}, Path("a\0b"), {3: "a"}, -1, 10**5000),
]
ANY: Any = TEXT
ROWS = [{"text": TEXT, "keywords": ["graph"]}] * 3  # too few to fit to: it ends early

Call = Callable[[Extractor, Any], object]
CALLS: dict[str, Call] = {
    "load": lambda extractor, odd: Extractor.load(odd),
    "load, parser": lambda extractor, odd: Extractor.load(parser=odd),
    "load, threads": lambda extractor, odd: Extractor.load(threads=odd),
    "from_pretrained": lambda extractor, odd: Extractor.from_pretrained(odd),
    "with_search": lambda extractor, odd: extractor.with_search(beam_width=odd),
    "with_search, mode": lambda extractor, odd: extractor.with_search(mode=odd),
    "with_vocabulary": lambda extractor, odd: extractor.with_vocabulary(odd),
    "with_vocabulary, forms": lambda extractor, odd: extractor.with_vocabulary({"graph": odd}),
    "extract": lambda extractor, odd: extractor.extract(odd),
    "extract, title": lambda extractor, odd: extractor.extract(TEXT, title=odd),
    "extract, options": lambda extractor, odd: extractor.extract(TEXT, odd),
    "extract_many": lambda extractor, odd: list(extractor.extract_many(odd)),
    "extract_many, one": lambda extractor, odd: list(extractor.extract_many([odd])),
    "extract_many, size": lambda extractor, odd: extractor.extract_many([TEXT], batch_size=odd),
    "extract_many, workers": lambda extractor, odd: extractor.extract_many([TEXT], workers=odd),
    "parse": lambda extractor, odd: extractor.parse(odd),
    "parse, one": lambda extractor, odd: extractor.parse([odd]),
    "extract_parsed": lambda extractor, odd: extractor.extract_parsed(odd),
    "extract_parsed, one": lambda extractor, odd: extractor.extract_parsed([odd]),
    "extract_parsed, options": lambda extractor, odd: extractor.extract_parsed([], odd),
    "extract_parsed, trace": lambda extractor, odd: extractor.extract_parsed(
        extractor.parse([TEXT]), trace=odd
    ),
    "extract_parsed, is_wanted": lambda extractor, odd: extractor.extract_parsed(
        extractor.parse([TEXT]), is_wanted=odd
    ),
    "find_candidates": lambda extractor, odd: extractor.find_candidates(odd),
    "find_candidates, one": lambda extractor, odd: extractor.find_candidates([odd]),
    "tell_kinds": lambda extractor, odd: extractor.tell_kinds(odd),
    "extract_keywords": lambda extractor, odd: extractor.extract_keywords(odd),
    "extract_keywords, range": lambda extractor, odd: extractor.extract_keywords(
        TEXT, keyphrase_ngram_range=odd
    ),
    "explain": lambda extractor, odd: explain(extractor, odd),
    "explain, extractor": lambda extractor, odd: explain(odd, TEXT),
    "explain, runners_up": lambda extractor, odd: explain(extractor, TEXT, runners_up=odd),
    "fit": lambda extractor, odd: Extractor.fit(odd, "fitted"),
    "fit, row": lambda extractor, odd: Extractor.fit([odd], "fitted"),
    "fit, out": lambda extractor, odd: Extractor.fit(ROWS, odd),
    "fit, model": lambda extractor, odd: Extractor.fit(ROWS, "fitted", model=odd),
    "fit, text": lambda extractor, odd: Extractor.fit(ROWS, "fitted", text=odd),
    "fit, title": lambda extractor, odd: Extractor.fit(ROWS, "fitted", title=odd),
    "fit, keywords": lambda extractor, odd: Extractor.fit(ROWS, "fitted", keywords=odd),
    "fit, vocabulary": lambda extractor, odd: Extractor.fit(ROWS, "fitted", vocabulary=odd),
    "fit, minutes": lambda extractor, odd: Extractor.fit(ROWS, "fitted", minutes=odd),
    "fit, network": lambda extractor, odd: Extractor.fit(ROWS, "fitted", network=odd),
    "fit, files": lambda extractor, odd: Extractor.fit(["none.csv", odd], "fitted"),
    "fit, jobs": lambda extractor, odd: Extractor.fit(ROWS, "fitted", jobs=odd),
}


@pytest.mark.filterwarnings("ignore::phraseloom.errors.LanguageWarning")
@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_any_type_is_taken_or_refused_in_one_line(
    extractor: Extractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for odd in ODD:
        try:
            CALLS[name](extractor, odd)
        except PhraseloomError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 400
    assert not [*tmp_path.iterdir()]


def test_a_model_is_saved_in_a_directory_and_nowhere_else(
    extractor: Extractor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for odd in ODD:
        with pytest.raises(PhraseloomError, match=r"^directory (must|cannot) be .*[^\n]$"):
            extractor.save_pretrained(odd)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda extractor: extractor.parse(TEXT), "give a list of texts; for one text"),
        (lambda extractor: extractor.parse(Source(TEXT)), "give a list of texts; for one text"),
        (lambda extractor: extractor.parse([TEXT, None]), "a text must be a string, not NoneType"),
        (
            lambda extractor: extractor.extract_parsed(extractor.parse([TEXT])[0]),
            r"give a list of parsed documents, as parse\(\[text\]\) does, not Document",
        ),
        (
            lambda extractor: extractor.extract_parsed([TEXT]),
            r"documents must be parsed, as parse\(\[text\]\) does, not str",
        ),
        (lambda extractor: explain(ANY, extractor), r"give explain an extractor, such as Extr"),
        (
            lambda extractor: Extractor.fit([(TEXT, ["graph"])], "fitted"),  # type: ignore[arg-type]
            "document 1 must be a row with the names of its columns, such as {'text': ...",
        ),
    ],
)
def test_the_line_says_what_to_give_instead(
    extractor: Extractor, call: Callable[[Extractor], object], message: str
) -> None:
    with pytest.raises(PhraseloomError, match=message):
        call(extractor)
