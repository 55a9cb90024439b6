"""Families of dependency relations: what shares a colour in a picture."""

from enum import StrEnum


class Family(StrEnum):
    """A kind of relation that a reader tells apart at a glance; the value is its name."""

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
    Family.SUBJECT: "nsubj nsubjpass csubj csubjpass expl",
    Family.OBJECT: "dobj obj iobj dative attr acomp oprd",
    Family.NOUN: "compound amod nmod nummod poss appos flat fixed goeswith quantmod",
    Family.PREPOSITION: "prep pobj pcomp obl case agent",
    Family.ADVERB: "advmod npadvmod neg prt",
    Family.CLAUSE: "ccomp xcomp advcl acl relcl parataxis",
    Family.COORDINATION: "conj cc preconj",
    Family.FUNCTION: "det predet aux auxpass cop mark clf",
}
_FAMILY = {name: family for family, names in _RELATIONS.items() for name in names.split()}


def family_of(relation: str) -> Family:
    """Family of a relation; a subtype (``nsubj:pass``) belongs with its type.

    >>> family_of("amod"), family_of("nsubj:pass")
    (<Family.NOUN: 'noun phrase'>, <Family.SUBJECT: 'subject'>)
    """
    return _FAMILY.get(relation.partition(":")[0], Family.OTHER)
