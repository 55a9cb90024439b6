"""One document, all models side by side: the paper's case study; right phrases are bold."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.ablation import inference_settings
from experiments.results import Result, write_result
from experiments.tables import Table, to_markdown
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.files import read_documents
from phraseloom.evaluate.phrases import Split
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument
from phraseloom.network.weights import BEST, load_model
from phraseloom.text.parsers import load_parser
from phraseloom.text.words import stem


def run(
    corpus: Annotated[Path, typer.Argument(help="corpus that holds the document")],
    models: Annotated[list[Path], typer.Argument(help="model directories")],
    id: Annotated[str | None, typer.Option(help="of the document; default: the first")] = None,
    split: Annotated[Split, typer.Option(help="how the text parts words")] = Split.words,
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Show what models find in one document, with and without diversified inference."""
    document = find_document(read_documents(corpus), id)
    content = measure(document, models, split, settings, chosen)
    written = write_result(results / "case.json", content)
    typer.echo(to_markdown(*draw(written, pictures)))


def find_document(documents: Sequence[CorpusDocument], id: str | None) -> CorpusDocument:
    """The document with some id, or the first."""
    for document in documents:
        if id in (None, document.id):
            return document
    raise PhraseloomError(f"--id {id}: there is no such document; leave it out for the first")


def measure(
    document: CorpusDocument,
    models: Sequence[Path],
    split: Split,
    settings: Sequence[str] | None,
    chosen: Path | None,
) -> Result:
    """What each model finds under each inference, and which of it is right."""
    parser = load_parser()
    parsed = parser.parse_batch([document.source])

    def stems(phrase: str) -> tuple[str, ...]:
        return tuple(stem(word) for word in split.cut(phrase))

    gold = {stems(phrase) for phrase in document.keywords}
    lists = []
    for path in models:
        model, config = load_model(path)
        search = options.change_search(config.search, settings, chosen)
        for inference, changed in inference_settings(search).items():
            extractor = Extractor(model, changed, parser)
            phrases = [
                {"text": phrase.text, "score": round(phrase.score, 4)}
                | {"is_right": stems(phrase.text) in gold}
                for phrase in extractor.extract_parsed(parsed)[0]
            ]
            about = {"model": _label(path), "inference": inference, "search": changed.model_dump()}
            lists.append({**about, "phrases": phrases})
    source = {"id": document.id, "title": document.source.title, "text": document.source.text}
    return {**source, "gold": list(document.keywords), "lists": lists}


def _label(path: Path) -> str:
    return path.parent.name if path.name == BEST else path.name


def draw(content: Result, pictures: Path, name: str = "case") -> list[Table]:
    """A table: a column a list, a line a rank."""
    columns = [f"{row['model']}, {row['inference']}" for row in content["lists"]]
    cells = [[_cell(phrase) for phrase in row["phrases"]] for row in content["lists"]]
    lines = [
        [str(rank), *phrases] for rank, phrases in enumerate(zip_longest(*cells, fillvalue=""), 1)
    ]
    gold = f"Reference: {'; '.join(content['gold'])}. Those that were found are bold."
    notes = [f"> {content['text']}", gold]
    return [Table(content["title"] or "A document", ["rank", *columns], lines, notes)]


def _cell(phrase: dict[str, object]) -> str:
    text = f"{phrase['text']} ({phrase['score']:.2f})"
    return f"**{text}**" if phrase["is_right"] else text
