"""Find out which papers belong together: those that share keyphrases, in whatever form."""

import json
from collections import defaultdict
from pathlib import Path

from phraseloom import Extractor, Source

PAPERS = Path(__file__).with_name("papers.jsonl")


def main() -> None:
    papers = [json.loads(line) for line in PAPERS.read_text(encoding="utf-8").splitlines()]
    sources = [Source(paper["abstract"], title=paper["title"]) for paper in papers]
    titles_of = defaultdict(list)  # by stems, so that "graph" and "graphs" meet
    written: dict[tuple[str, ...], str] = {}
    for paper, phrases in zip(papers, Extractor.load().extract_many(sources, top=8), strict=True):
        for phrase in phrases:
            titles_of[phrase.stems].append(paper["title"])
            written.setdefault(phrase.stems, phrase.text)
    shared = [stems for stems, titles in titles_of.items() if len(titles) > 1]
    for stems in sorted(shared, key=lambda stems: -len(titles_of[stems])):
        print(f"{written[stems]}: {'; '.join(titles_of[stems])}")


if __name__ == "__main__":
    main()
