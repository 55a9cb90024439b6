"""What must hold of padding and of the softmax over what is real."""

import torch

from phraseloom.nn.masking import masked_log_softmax, pad_rows


def test_rows_go_where_they_are_told_and_the_rest_is_zero() -> None:
    rows, places = torch.randn(3, 2), torch.tensor([4, 0, 3])

    padded = pad_rows(rows, places, size=6)

    assert torch.equal(padded[places], rows)
    assert padded[[1, 2, 5]].eq(0).all()


def test_gradients_come_back_from_where_the_rows_went() -> None:
    rows = torch.randn(2, 3, requires_grad=True)
    weights = torch.randn(4, 3)

    (pad_rows(rows, torch.tensor([2, 1]), size=4) * weights).sum().backward()

    assert rows.grad is not None
    assert torch.equal(rows.grad, weights[[2, 1]])


def test_a_masked_softmax_is_the_softmax_of_what_is_real() -> None:
    logits, mask = torch.randn(2, 5), torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0]]).bool()

    found = masked_log_softmax(logits, mask)

    for row in range(2):
        torch.testing.assert_close(found[row, mask[row]], logits[row, mask[row]].log_softmax(0))
        assert found[row, ~mask[row]].isneginf().all()


def test_what_is_masked_neither_matters_nor_spoils_the_gradient() -> None:
    mask = torch.tensor([True, True, False])
    gradients = []
    for hidden in (0.0, 1e30):
        logits = torch.tensor([0.5, -1.0, hidden], requires_grad=True)
        masked_log_softmax(logits, mask)[0].backward()
        assert logits.grad is not None
        gradients.append(logits.grad)

    assert torch.equal(gradients[0], gradients[1])
    assert gradients[0].isfinite().all()
