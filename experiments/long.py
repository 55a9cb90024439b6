"""Long documents: is a term found that is spread over a text of many windows?

A long document is made of short ones: four that say a term, which is a keyphrase of at least one of
them, and eight that do not, in random order. No window says the term often; the document does.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from experiments import options
from experiments.results import Result, Row, write_result
from experiments.tables import Table, to_markdown
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument, CorpusReader
from phraseloom.text.document import Source
from phraseloom.text.matching import Units, unit_stems

SAYING, OTHERS = 4, 8
_LISTS = {"its own list": None, "ten phrases": 10}


def run(
    model: Annotated[str, typer.Argument(help="name or directory of a model")],
    corpora: Annotated[list[Path], typer.Argument(help="short documents with keyphrases")],
    documents: Annotated[int, typer.Option(min=1, help="long ones to make")] = 60,
    seed: options.Seed = 0,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Look for terms that are spread over long documents."""
    made = make_documents(list(CorpusReader(corpora)), documents, seed)
    extractor = Extractor.load(model)
    parsed = extractor.parse([source for _, source in made])
    rows: list[Row] = []
    for title, top in _LISTS.items():
        lists = extractor.extract_parsed(parsed, top=top)
        found = sum(
            any(unit_stems(phrase.text) == term for phrase in phrases)
            for (term, _), phrases in zip(made, lists, strict=True)
        )
        mean = sum(map(len, lists)) / max(len(lists), 1)
        rows.append({"list": title, "documents": len(made), "found": found, "phrases": mean})
    tokens = sum(sum(1 for _ in document.tokens()) for document in parsed) / max(len(parsed), 1)
    content = {"seed": seed, "tokens": round(tokens), "rows": rows}
    typer.echo(to_markdown(*draw(write_result(results / "long.json", content), pictures)))


def make_documents(
    documents: Sequence[CorpusDocument], count: int, seed: int
) -> list[tuple[Units, Source]]:
    """Long documents, each with a term of two words or more that is spread over it."""
    chance = np.random.default_rng(seed)
    stems = [_as_text(unit_stems(f"{d.source.title} {d.source.text}")) for d in documents]
    keys = [{unit_stems(keyword) for keyword in document.keywords} for document in documents]
    terms = Counter(key for of in keys for key in of if len(key) > 1)
    made = []
    for number in chance.permutation(len(terms)):
        term = sorted(terms)[number]
        saying = [i for i, text in enumerate(stems) if _as_text(term) in text]
        if len(saying) < SAYING or not any(term in keys[i] for i in saying):
            continue
        silent = [i for i in chance.permutation(len(stems)) if i not in saying][:OTHERS]
        own = sorted(saying, key=lambda i: term not in keys[i])[:SAYING]
        order = chance.permutation([*own, *silent])
        parts = [f"{documents[i].source.title}. {documents[i].source.text}" for i in order]
        made.append((term, Source("\n\n".join(parts))))
        if len(made) == count:
            break
    return made


def _as_text(stems: Units) -> str:
    return f" {' '.join(stems)} "


def draw(content: Result, pictures: Path, name: str = "long") -> list[Table]:
    """A line for each kind of list."""
    lines = [
        [row["list"], f"{row['phrases']:.1f}", f"{row['found']} of {row['documents']}"]
        for row in content["rows"]
    ]
    title = f"Terms spread over documents of {content['tokens']:,} tokens"
    return [Table(title, ["list", "phrases in it", "term found"], lines)]
