"""A network that is told of known phrases says at first what it said before, and can learn."""

from dataclasses import replace

import pytest
import torch

from phraseloom.data.batch import collate, collate_targets
from phraseloom.data.glossary import Counts, Glossary
from phraseloom.model.grow import tell_known_phrases
from tests.builders import make_example, make_lexicon, make_model


@pytest.mark.parametrize("styles", [(), ("authors", "readers")])
@pytest.mark.parametrize("node_features", [True, False])
@pytest.mark.parametrize("variant", ["gru", "dgcn"])
def test_a_grown_network_loses_as_much_as_before_and_then_heeds_the_marks(
    variant: str, node_features: bool, styles: tuple[str, ...]
) -> None:
    lexicon = make_lexicon(styles=styles)
    earlier = make_model(
        lexicon,
        variant=variant,
        node_features=node_features,
        edge_scorer="interaction",
        importance=True,
    )
    known = replace(lexicon, glossary=Glossary({"word": Counts(2, 3)}))
    grown = tell_known_phrases(earlier, known).eval()
    examples = [replace(make_example(i), style=i % max(1, len(styles))) for i in range(3)]
    batch, targets = collate(examples, lexicon), collate_targets(examples)

    before, after = earlier(batch, targets), grown(batch, targets)
    torch.testing.assert_close(after.sequence, before.sequence)
    torch.testing.assert_close(after.importance, before.importance)
    after.sequence.backward()
    weight = dict(grown.named_parameters())["encoder.context.weight_ih_l0"]
    place = grown.encoder.tokens.width - 8 * (4 + bool(styles))
    assert weight.grad is not None
    assert weight.grad[:, place : place + 32].abs().min() > 0
    assert not weight[:, place : place + 32].any()
