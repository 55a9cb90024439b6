"""Groups of dependency relations: what shares a colour in a picture."""

from enum import StrEnum


class RelationGroup(StrEnum):
    """Relations that a reader need not tell apart at a glance; the value is their name."""

    SUBJECT = "subject"
    OBJECT = "object"
    NOUN = "noun phrase"
    PREPOSITION = "preposition"
    ADVERB = "adverbial"
    CLAUSE = "clause"
    COORDINATION = "coordination"
    FUNCTION = "function word"
    OTHER = "punctuation, other"


_RELATIONS = {  # of spaCy's English models and of Universal Dependencies
    RelationGroup.SUBJECT: "nsubj nsubjpass csubj csubjpass expl",
    RelationGroup.OBJECT: "dobj obj iobj dative attr acomp oprd",
    RelationGroup.NOUN: "compound amod nmod nummod poss appos flat fixed goeswith quantmod",
    RelationGroup.PREPOSITION: "prep pobj pcomp obl case agent",
    RelationGroup.ADVERB: "advmod npadvmod neg prt",
    RelationGroup.CLAUSE: "ccomp xcomp advcl acl relcl parataxis",
    RelationGroup.COORDINATION: "conj cc preconj",
    RelationGroup.FUNCTION: "det predet aux auxpass cop mark clf",
}
_GROUPS = {name: group for group, names in _RELATIONS.items() for name in names.split()}


def group_of(relation: str) -> RelationGroup:
    """Group of a relation; a subtype (``nsubj:pass``) belongs with its type.

    >>> group_of("amod"), group_of("nsubj:pass")
    (<RelationGroup.NOUN: 'noun phrase'>, <RelationGroup.SUBJECT: 'subject'>)
    """
    return _GROUPS.get(relation.partition(":")[0], RelationGroup.OTHER)
