"""MuJoCo's exceptions, and how the engine's become them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .._errors import Error

__all__ = ["FatalError", "UnexpectedError"]

F = TypeVar("F", bound=Callable[..., Any])


class FatalError(Exception):
    """What the engine refuses to compute, with its message."""


class UnexpectedError(Exception):
    """An error inside of the engine."""


def fatal(function: F) -> F:
    """Errors of the engine leave the function as FatalError."""

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Error as error:
            raise FatalError(str(error)) from error

    return wrapped  # type: ignore[return-value]
