"""What a decoder can write next about one document, as numbers: the one thing that the network and
the search have to agree on.
"""

SEP = 0
"""Ends a phrase when another follows; as an input, begins a phrase."""
EOS = 1
"""Ends the last phrase of a list."""
FIRST_WORD = 2
"""Slots from here on are the document's distinct stems, in order of first occurrence."""

Phrase = tuple[int, ...]
"""A phrase as the slots of its words, without the SEP or EOS that ended it."""
