"""FCLIB files: frictional contact problems in HDF5."""

from os import PathLike, fspath
from typing import Any

from . import _core
from ._errors import ParseError

__all__ = ["Fclib", "NoSolutionError", "guess_count", "load", "read", "read_solution", "write"]

Fclib = _core.Fclib


class NoSolutionError(ParseError, LookupError):
    """A file has no solution, or no guess of that number: many are problems alone."""


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
    """The solution or a guess of a file.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    guess : int
        0: the solution; 1 to `guess_count(path)`: that guess.

    Returns
    -------
    dict
        Arrays v, u, r, l; None for those that the file leaves out.

    Raises
    ------
    NoSolutionError
        The file has no solution, or no guess of that number.
    """
    contents = load(path)
    try:
        return contents._solution(fspath(path), guess)  # type: ignore[no-any-return]
    except ParseError as error:
        if "does not exist" not in str(error):
            raise
        what = "no solution" if guess == 0 else f"no guess {guess}"
        raise NoSolutionError(f"{fspath(path)}: the file has {what}; guesses: {guess_count(path)}") from None
