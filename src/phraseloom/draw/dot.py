"""A document's dependency graph in the language of Graphviz."""

from phraseloom.draw.arcs import stack_arcs
from phraseloom.draw.families import Family
from phraseloom.text.document import Document, Sentence

_COLOURS = {  # the light ones of picture.css
    Family.SUBJECT: "#1f6feb",
    Family.OBJECT: "#c2410c",
    Family.NOUN: "#15803d",
    Family.PREPOSITION: "#7c3aed",
    Family.ADVERB: "#a16207",
    Family.CLAUSE: "#be185d",
    Family.COORDINATION: "#0e7490",
    Family.FUNCTION: "#64748b",
    Family.OTHER: "#a3acb8",
}


def document_dot(document: Document) -> str:
    """Graphviz source: a chain of words for each sentence, an edge from head to dependent."""
    sentences = [_sentence_lines(i, sentence) for i, sentence in enumerate(document.sentences)]
    lines = [
        "digraph phraseloom {",
        f"  graph [label={_quote(document.title)}, rankdir=LR, labelloc=t];",
        '  node [shape=plaintext, fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
        *(f"  {line}" for sentence in sentences for line in sentence),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _sentence_lines(number: int, sentence: Sentence) -> list[str]:
    names = [f"s{number}w{i}" for i in range(len(sentence.tokens))]
    words = [
        f"{name} [label={_quote(token.text, token.pos)}];"
        for name, token in zip(names, sentence.tokens, strict=True)
    ]
    order = [f"{' -> '.join(names)} [style=invis, weight=100];"]
    arcs = [
        f"{names[arc.head]} -> {names[arc.dependent]} [label={_quote(arc.relation)}, "
        f'color="{_COLOURS[arc.family]}", fontcolor="{_COLOURS[arc.family]}", constraint=false];'
        for arc in stack_arcs(sentence.tokens)
    ]
    return words + order + arcs


def _quote(*lines: str) -> str:
    """A quoted string; what Graphviz would read as an escape stands as it is."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
