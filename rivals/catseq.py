"""catSeq: all phrases of a document are one sequence, with SEP between them.

Yuan et al., One Size Does Not Fit All: Generating and Evaluating Variable Number of Keyphrases (ACL
2020; arXiv 1810.05241). The shared network as it is, over whole lists.
"""

from rivals.seq2seq import Seq2Seq


class CatSeq(Seq2Seq):
    """The shared network; a sequence is a document's list."""
