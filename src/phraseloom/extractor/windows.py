"""A document as the search sees it: windows of tokens, and runs of slots in each."""

from dataclasses import replace

from phraseloom.data.batch import FIRST_WORD
from phraseloom.search.windows import Piece, split_windows
from phraseloom.text.document import Document, Sentence

Segments = list[list[int]]


def cut_windows(document: Document, budget: int) -> list[Document]:
    """The document in windows of at most ``budget`` tokens; itself if it fits, none if empty."""
    lengths = [len(sentence.tokens) for sentence in document.sentences]
    title = sum(sentence.in_title for sentence in document.sentences)
    return [
        replace(document, sentences=tuple(_cut_sentence(document, piece) for piece in window))
        for window in split_windows(lengths, budget, title=title)
    ]


def _cut_sentence(document: Document, piece: Piece) -> Sentence:
    """Part of a sentence; a token whose head is cut away becomes a root."""
    sentence = document.sentences[piece.sentence]
    tokens = []
    for place, token in enumerate(sentence.tokens[piece.start : piece.end]):
        head = token.head - piece.start
        if 0 <= head < piece.end - piece.start:
            tokens.append(token._replace(head=head))
        else:
            tokens.append(token._replace(head=place, relation="root"))
    return Sentence(tuple(tokens), sentence.in_title)


def document_segments(document: Document) -> Segments:
    """Runs of slots that a phrase may not cross: cut at sentence ends and punctuation."""
    slots = number_stems(document)
    segments: Segments = []
    for sentence in document.sentences:
        segments.append([])
        for token in sentence.tokens:
            if is_word(token.word):
                segments[-1].append(slots[token.stem])
            else:
                segments.append([])
    return [segment for segment in segments if segment]


def is_word(word: str) -> bool:
    """Whether a token can be part of a phrase: it has a letter or a digit in it."""
    return any(character.isalnum() for character in word)


def number_stems(document: Document) -> dict[str, int]:
    """Slot of each distinct stem: in order of first occurrence, after SEP and EOS."""
    stems = dict.fromkeys(token.stem for token in document.tokens())
    return {stem: slot for slot, stem in enumerate(stems, start=FIRST_WORD)}
