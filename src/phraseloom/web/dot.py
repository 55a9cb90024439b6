"""A document's dependency graph in the language of Graphviz."""

from phraseloom.text.document import Document, Sentence
from phraseloom.web.layout import stack_arcs
from phraseloom.web.relation_groups import RelationGroup

_COLOURS = {  # the light ones of picture.css
    RelationGroup.SUBJECT: "#1f6feb",
    RelationGroup.OBJECT: "#c2410c",
    RelationGroup.NOUN: "#15803d",
    RelationGroup.PREPOSITION: "#7c3aed",
    RelationGroup.ADVERB: "#a16207",
    RelationGroup.CLAUSE: "#be185d",
    RelationGroup.COORDINATION: "#0e7490",
    RelationGroup.FUNCTION: "#64748b",
    RelationGroup.OTHER: "#a3acb8",
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
        f'color="{_COLOURS[arc.group]}", fontcolor="{_COLOURS[arc.group]}", constraint=false];'
        for arc in stack_arcs(sentence.tokens)
    ]
    return words + order + arcs


def _quote(*lines: str) -> str:
    """A quoted string; what Graphviz would read as an escape stands as it is."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
