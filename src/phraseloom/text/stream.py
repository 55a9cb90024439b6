"""Any number of documents through a parser, in order, in several processes, in bounded memory."""

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial

from phraseloom.text.document import Document, Source
from phraseloom.text.parse import Parser, load_parser
from phraseloom.text.workers import in_batches, ordered_stream


def parse_stream(
    sources: Iterable[Source], *, parser: str = "spacy", batch_size: int = 64, processes: int = 1
) -> Iterator[Document]:
    """Parse documents in order; any number of processes gives the same documents.

    No more than a few batches are held at a time, so the sources may be endless.

    Args:
        sources: read only as fast as the documents are taken.
        parser: ``spacy``, ``stanza`` or ``conllu``.
        batch_size: documents parsed together.
        processes: workers with a parser each; with one, parsing happens in this process.
    """
    work = partial(_parse_batch, parser)
    for documents in ordered_stream(in_batches(sources, batch_size), work, processes=processes):
        yield from documents


def _parse_batch(parser: str, batch: list[Source]) -> list[Document]:
    return _parser_of_process(parser).parse_batch(batch)


@lru_cache(maxsize=1)
def _parser_of_process(name: str) -> Parser:
    return load_parser(name)
