"""What goes wrong through no fault of ours: each message names the fix."""


class PhraseloomError(Exception):
    """A mistake in the input or the set-up that the caller can mend."""


class CorpusError(PhraseloomError):
    """A corpus file that cannot be read, or a line in it."""


class ConfigError(PhraseloomError):
    """A setting that does not exist or cannot have that value."""


class ParserError(PhraseloomError):
    """A parser that is not installed, or lacks its models."""


class CheckpointError(PhraseloomError):
    """A model directory that is missing a part, or whose part is damaged."""


class TrainingError(PhraseloomError):
    """A training run that cannot go on."""


class LanguageWarning(UserWarning):
    """A text in a language that the models do not know; not an error, but what comes is poor."""


class ReadingError(PhraseloomError):
    """A file, or a row of one, whose text cannot be read."""
