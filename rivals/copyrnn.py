"""CopyRNN: one phrase a target; a wide beam finds phrases, and a list is cut off it.

Meng et al., Deep Keyphrase Generation (ACL 2017). Every phrase of a document is a training pair of
its own, so that the probability of a phrase ranks it.
"""

from rivals.seq2seq import Seq2Seq


class CopyRNN(Seq2Seq):
    """The shared network; a sequence is a phrase."""

    one_phrase = True
