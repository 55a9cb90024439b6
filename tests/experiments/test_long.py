"""Long documents are made of those that say a term and of others."""

from experiments.long import OTHERS, SAYING, make_documents
from phraseloom.io.records import CorpusDocument
from phraseloom.text.document import Source


def test_a_term_stands_in_some_parts_and_not_in_the_others() -> None:
    saying = [
        CorpusDocument(str(i), "own", Source(f"box kite {i}", "kites"), ("box kite",))
        for i in range(SAYING)
    ]
    others = [
        CorpusDocument(f"o{i}", "own", Source(f"kite box {i}", "bread"), ("yeast",))
        for i in range(OTHERS + 3)
    ]

    [(term, source)] = make_documents([*saying, *others], 5, seed=0)

    assert term == ("box", "kite")
    assert source.text.count("box kite") == SAYING
    assert source.text.count("bread") == OTHERS
