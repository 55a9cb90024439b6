"""What a fit says of itself is what was measured."""

from dataclasses import replace

from phraseloom.train.fit.report import FitReport

SURE = FitReport(
    documents=60,
    measured=50,
    before=0.3,
    after=0.4,
    before_at_m=0.3,
    after_at_m=0.4,
    low=0.02,
    high=0.18,
    calibration_error=0.01,
    is_kept=False,
)


def test_a_gain_whose_interval_has_losses_in_it_is_not_told_as_sure() -> None:
    assert str(SURE).startswith("F1@5 0.300 before, 0.400 after (95 % from +0.020")
    assert str(replace(SURE, low=-0.013)).startswith("probably better: F1@5 0.300 before")


def test_a_gain_that_may_be_luck_is_told_from_none() -> None:
    luck, loss = replace(SURE, is_kept=True, low=-0.1), replace(SURE, is_kept=True, after=0.2)
    assert str(luck).startswith("what was gained may be luck, so the lists stay as they were")
    assert str(loss).startswith("nothing gained, so the lists stay as they were")
    assert luck.gain == loss.gain == 0
