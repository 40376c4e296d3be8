"""FCLIB files: frictional contact problems in HDF5."""

from os import PathLike, fspath
from typing import Any

from . import _core

__all__ = ["Fclib", "guess_count", "load", "read", "read_solution", "write"]

Fclib = _core.Fclib


def load(path: str | PathLike[str]) -> Any:
    """The contents of a file (`Fclib`)."""
    return Fclib.read(fspath(path))


def read(path: str | PathLike[str]) -> Any:
    """The contact problem of a file (`tribo.Problem`): a cone per contact, then the equalities."""
    return load(path).problem()


def write(problem: Any, path: str | PathLike[str]) -> None:
    """Write a problem (or an `Fclib`) to a new file."""
    (problem if isinstance(problem, Fclib) else Fclib.of_problem(problem)).write(fspath(path))


def guess_count(path: str | PathLike[str]) -> int:
    """Number of guesses stored in a file."""
    return int(_core._fclib_guess_count(fspath(path)))


def read_solution(path: str | PathLike[str], guess: int = 0) -> dict[str, Any]:
    """The solution (guess 0) or a guess of a file: arrays v, u, r, l, None where absent."""
    return load(path)._solution(fspath(path), guess)  # type: ignore[no-any-return]
