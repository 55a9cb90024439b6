"""Odd texts and odd values."""

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from benchmarks.texts import make_texts

ABSTRACTS = make_texts(200, seed=1)


def odd_text(chance: random.Random) -> str:
    """A text of one of many kinds; most are short, since time goes with the length."""
    return chance.choice(_KINDS)(chance)


def _abstract(chance: random.Random) -> str:
    return chance.choice(ABSTRACTS)


def _cut(chance: random.Random) -> str:
    text = _abstract(chance)
    start = chance.randrange(len(text))
    return text[start : start + chance.randrange(1, 400)]


def _upper(chance: random.Random) -> str:
    return chance.choice((str.upper, str.title, str.swapcase))(_cut(chance))


def _shuffled(chance: random.Random) -> str:
    return " ".join(chance.sample(words := _cut(chance).split(), len(words)))


def _repeated(chance: random.Random) -> str:
    return (_cut(chance)[:40] + chance.choice((" ", "\n", "\n\n", ""))) * chance.randrange(1, 12)


def _long(chance: random.Random) -> str:
    return "\n\n".join(chance.sample(ABSTRACTS, chance.randrange(2, 5)))


def _unicode(chance: random.Random) -> str:
    return "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(200)))


def _from(alphabet: str) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=chance.randrange(400)))


def _salted(alphabet: str) -> Callable[[random.Random], str]:
    """A text with strange characters between its own."""

    def make(chance: random.Random) -> str:
        return "".join(
            letter + (chance.choice(alphabet) if chance.random() < 0.1 else "")
            for letter in _cut(chance)
        )

    return make


_KINDS: list[Callable[[random.Random], str]] = [
    *(_abstract, _cut, _cut, _upper, _shuffled, _repeated, _long, _unicode),
    _from("".join(map(chr, range(32)))),
    _from("".join(map(chr, range(0xD7F0, 0xE010)))),
    _from("([{<>}])\"'`.,;:!?-_/\\"),
    _from("ab1.,;()'-_/\\ \n"),
    _from(" \t\r\n\u2028\u00a0\u200b\ufeff"),
    _from("אבגד مرحبا \u202e\u202d\u2066 abc"),
    _from("👩‍🔬👨‍👩‍👧🇩🇪😀 \u200d\ufe0f"),
    _from("日本語のテキスト 한국어 中文 "),
    _from("0123456789.,%$€ e-+"),
    _salted("\x00\x1b\x7f\x85"),
    _salted("\u0301\u0323\u00ad\u200d"),
    _salted("<>&'\"\\"),
    lambda chance: "<digit> " * chance.randrange(40) + _cut(chance),
    lambda chance: f"<p>{_cut(chance)}</p><script>alert(1)</script>",
    lambda chance: " ".join(f"https://a.example/{word}?q=1" for word in _cut(chance).split()),
    lambda chance: "a" * chance.randrange(2000),
    lambda chance: _cut(chance).replace(" ", chance.choice(("", "\n", "-", "_", "\u00a0"))),
]
JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 10**9, 2**63, 10**5000, 0.5, -0.0, 1e308, 2.5),
    *(float("nan"), float("inf"), 1j, Decimal("0.5"), "", "5", "poet", "author", "a" * 10_000),
    *(b"", b"x", [], [None], ["graph"], [[]], ["a" * 5000], ["graph"] * 5000, (), (1,), (1, 2)),
    *((3, 1), (1, 10**9), {}, {"a": 1}, set(), {"graph"}, object(), int, print, range(3)),
    *("\x00", "\ud800", ["\ud800", "\x00"], [""], [" "], iter(["graph", "tree"])),
]
