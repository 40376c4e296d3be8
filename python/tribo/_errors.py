"""Exceptions and warnings of the package; the compiled part raises them."""

__all__ = [
    "ArgumentError",
    "ConvergenceWarning",
    "Error",
    "FileError",
    "ModelError",
    "NumericError",
    "OutOfMemoryError",
    "ParseError",
    "UnsupportedError",
]


class Error(RuntimeError):
    """Any error that the engine reports, with its message."""


class ArgumentError(Error, ValueError):
    """An argument is out of its documented range."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, or a limit of memory was exceeded."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class ParseError(Error, ValueError):
    """The content of a file is malformed; the message names file and line."""


class ModelError(Error, ValueError):
    """A model is well-formed but physically meaningless."""


class UnsupportedError(Error, NotImplementedError):
    """A feature that the engine does not have, or was built without."""


class NumericError(Error, ArithmeticError):
    """A computation gave a number that is not finite; the state is as before the step."""


class ConvergenceWarning(RuntimeWarning):
    """A step's solver stopped above its tolerance; given once per Data."""
