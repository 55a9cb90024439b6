"""A tiny extractor of random weights."""

import pytest
import torch

from phraseloom.config import ModelConfig, SearchConfig
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.vocab import Labels, Vocabulary
from phraseloom.extractor import Extractor
from phraseloom.model.network import KeyphraseModel
from phraseloom.text.parse import load_parser


@pytest.fixture(scope="session")
def extractor() -> Extractor:
    torch.manual_seed(0)
    lexicon = Lexicon(
        words=Vocabulary(("graph", "network", "the")),
        pos_tags=Labels.of(["NN"]),
        relations=Labels.of(["nsubj"]),
        styles=("author", "indexer"),
        min_n=3,
        max_n=5,
        buckets=50,
    )
    config = ModelConfig(
        word_width=8, width=12, layers=2, decoder_layers=1, styles=("author", "indexer")
    )
    search = SearchConfig(width=3, max_words=3, max_phrases=5)
    return Extractor(KeyphraseModel(config, lexicon), lexicon, search, load_parser("spacy"))
