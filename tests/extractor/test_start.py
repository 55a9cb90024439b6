"""A first result needs no library that takes long to load and does nothing for it."""

import subprocess
import sys

CODE = """
import sys
from phraseloom import Extractor

text = "Graph networks read dependency trees. Graph networks copy phrases from the trees."
phrases = Extractor.load().extract(text, top=3)
assert len(phrases) == 3
heavy = {"torch._dynamo", "sympy", "nltk", "sklearn", "scipy", "pandas", "pyarrow", "gensim"}
print("loaded:", *sorted(heavy & set(sys.modules)))

from nltk.stem.porter import PorterStemmer  # all of NLTK, afterwards
from phraseloom.text.words import stem

words = "Networks relational dying skies generously y 3d études <digit> c++ happily".split()
assert [stem(word) for word in words] == [PorterStemmer().stem(word.lower()) for word in words]
"""


def test_only_what_is_needed_is_loaded() -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", CODE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == ["loaded:"]
