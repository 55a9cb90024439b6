"""Text in, keyphrases with scores and spans out."""

from phraseloom.extractor.decoding import decode
from phraseloom.extractor.extractor import Extractor
from phraseloom.extractor.keyphrase import Keyphrase
from phraseloom.extractor.windows import cut_windows, document_segments, is_word

__all__ = ["Extractor", "Keyphrase", "cut_windows", "decode", "document_segments", "is_word"]
