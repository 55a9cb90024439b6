"""What tells the kind of a text has one number for each thing that it tells."""

import numpy as np

from phraseloom.network.model import CUES, kind_vector, kind_vector_size
from phraseloom.text.document import Source
from phraseloom.text.parsers import load_parser
from tests.builders import make_styled_model


def test_how_a_text_is_written_is_told_beside_its_words() -> None:
    model, config = make_styled_model()
    sources = [Source("We said: our study of graph networks.", "Graphs"), Source("")]
    documents = load_parser("spacy").parse_batch(sources)

    vectors = [kind_vector(document, model) for document in documents]

    width = config.model.word_width
    assert {len(vector) for vector in vectors} == {kind_vector_size(width)}
    cues = dict(zip(CUES, vectors[0][width + 2 :], strict=False))
    assert cues["we"] == 0.2  # "We" and "our" of ten tokens, the title's among them
    assert cues["quote"] == 0
    assert vectors[0][-1] == 0.1  # a title of one word
    assert np.isfinite(np.stack(vectors)).all()
