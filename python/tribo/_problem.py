"""Contact problems of one's own: solve (G + R) lambda + g under any law of rigid contact."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from . import _core
from ._attach import attach
from ._core import Problem
from ._enums import BlockType, Law
from ._world import Residual, SolveInfo, solve_info

__all__ = ["Block", "Solution", "problem", "solve", "solvers"]


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a problem.

    Attributes
    ----------
    type : BlockType or str
        "equality", "one_sided", "box" or "cone".
    dim : int
        Rows, 1 to 6; a cone has 2 to 6, its normal row first.
    mu : float or sequence of float
        Cone: friction coefficient of the tangential rows, one for all or one each.
    lower, upper : float
        Box: bounds of every row.
    """

    type: Any
    dim: int
    mu: Any = 0.0
    lower: float = -np.inf
    upper: float = np.inf

    def row(self) -> tuple[Any, ...]:
        """As the compiled part takes it."""
        kind = BlockType[self.type.upper()] if isinstance(self.type, str) else BlockType(self.type)
        mu = [float(self.mu)] * 5 if isinstance(self.mu, (int, float)) else [float(x) for x in self.mu]
        if kind == BlockType.CONE and len(mu) < self.dim - 1:
            raise ValueError(f"mu: {len(mu)} coefficients for a cone of {self.dim} rows")
        return int(kind), int(self.dim), (mu + [0.0] * 5)[:5], float(self.lower), float(self.upper)


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes
    ----------
    impulse : numpy.ndarray
        lambda, N s, shape (n,).
    velocity : numpy.ndarray
        sigma = (G + R) lambda + g, m/s, shape (n,).
    info : SolveInfo
        Status, iterations, residuals of the law solved and of the exact law.
    history : list of tuple
        (iteration, seconds, residual, penalty) of the iterations that were asked for.
    """

    impulse: Any
    velocity: Any
    info: SolveInfo
    history: list[tuple[int, float, Residual, float]] = field(default_factory=list, repr=False)

    @property
    def converged(self) -> bool:
        """Whether the residual is within the tolerance."""
        return self.info.converged


def _blocks(n: int, mu: Any, blocks: Sequence[Block] | None) -> list[tuple[Any, ...]]:
    if blocks is not None:
        if mu is not None:
            raise TypeError("give either mu or blocks, not both")
        return [block.row() for block in blocks]
    if mu is None:
        raise TypeError("mu: expected a friction coefficient per contact of three rows, or blocks")
    coefficients = np.atleast_1d(np.asarray(mu, dtype=np.float64))
    if n % 3:
        raise ValueError(f"g: {n} rows are no contacts of three rows; describe them by blocks")
    if np.ndim(mu) == 0:
        coefficients = np.full(n // 3, coefficients[0])
    if coefficients.size != n // 3:
        raise ValueError(f"mu: {coefficients.size} coefficients for {n // 3} contacts")
    return [(int(BlockType.CONE), 3, [float(x)] * 5, 0.0, 0.0) for x in coefficients]


def _csr(matrix: Any) -> tuple[Any, Any, Any]:
    rows = matrix.tocsr()
    return rows.indptr, rows.indices, np.asarray(rows.data, dtype=np.float64)


def problem(
    G: Any, g: Any, mu: Any = None, *, blocks: Sequence[Block] | None = None, R: Any = None
) -> Problem:
    """A contact problem from its matrices, which are copied.

    Parameters
    ----------
    G : array_like or scipy.sparse matrix
        Delassus matrix, symmetric, shape (n, n), 1/kg.
    g : array_like
        Free velocity, shape (n,), m/s.
    mu : float or array_like, optional
        Friction coefficient of contacts of three rows (normal first): one for all, or one each.
    blocks : sequence of Block, optional
        Instead of `mu`: equalities, limits, bounded impulses, cones of any size.
    R : array_like, optional
        Diagonal compliance, shape (n,).

    Returns
    -------
    Problem
        With `solve`, `residual` and `velocity`.
    """
    free = np.asarray(g, dtype=np.float64).ravel()
    rows = _blocks(free.size, mu, blocks)
    if sum(row[1] for row in rows) != free.size:
        raise ValueError(f"blocks: {sum(row[1] for row in rows)} rows, g has {free.size}")
    if hasattr(G, "tocsr"):
        return _core.Problem._csr(_csr(G), free, rows, R)
    return _core.Problem._dense(G, free, rows, R)


def _solve(
    self: Any, law: str = "ncp", solver: str = "auto", *, guess: Any = None, history: int = 0, **settings: Any
) -> Solution:
    """Solve under a law.

    Parameters
    ----------
    law : str
        "ncp" (exact), "ccp", "lcp" or "raisim".
    solver : str
        "auto" or a solver of the law (`tribo.solvers`).
    guess : array_like, optional
        First impulses, shape (n,).
    history : int
        Iterations whose residuals are kept.
    **settings
        Any field of the engine's settings: `tol`, `max_iter`, `time_limit`, `admm_rho`, ...

    Returns
    -------
    Solution
        Impulses, velocities, status and residuals.
    """
    given = {
        "law": law,
        "solver": solver,
        **{k: int(v) if isinstance(v, bool) else v for k, v in settings.items()},
    }
    impulse, velocity, info, past = _core.Problem._solve(self, given, guess, history)
    return Solution(
        impulse,
        velocity,
        solve_info(info),
        [(i, seconds, Residual(**r), penalty) for i, seconds, r, penalty in past],
    )


def _residual(self: Any, impulse: Any, law: str = "ncp") -> Residual:
    """Violation of a law by impulses, by the one function that all solvers are judged by."""
    return Residual(**_core.Problem._residual(self, impulse, law))


def _from_mass(
    M: Any,
    J: Any,
    v_free: Any,
    mu: Any = None,
    *,
    blocks: Sequence[Block] | None = None,
    R: Any = None,
    gamma: Any = None,
) -> Problem:
    """G = J M^-1 J^T and g = J v_free + gamma from sparse matrices (scipy.sparse).

    Parameters
    ----------
    M : scipy.sparse matrix
        Mass matrix, symmetric positive definite, shape (nv, nv).
    J : scipy.sparse matrix
        Jacobian, shape (n, nv).
    v_free : array_like
        Free velocity of the bodies, shape (nv,).
    mu, blocks, R
        As in `problem`.
    gamma : array_like, optional
        Added to g, shape (n,).
    """
    return _core.Problem._mass(_csr(M), _csr(J), v_free, _blocks(J.shape[0], mu, blocks), R, gamma)


def solve(
    G: Any,
    g: Any,
    mu: Any = None,
    *,
    blocks: Sequence[Block] | None = None,
    R: Any = None,
    law: str = "ncp",
    solver: str = "auto",
    guess: Any = None,
    history: int = 0,
    **settings: Any,
) -> Solution:
    """Solve a contact problem: ``problem(G, g, mu).solve(...)``.

    Parameters
    ----------
    G, g, mu, blocks, R
        The problem, see `problem`.
    law, solver, guess, history, **settings
        How it is solved, see `Problem.solve`.

    Returns
    -------
    Solution
        Impulses, velocities, status and residuals.
    """
    return _solve(
        problem(G, g, mu, blocks=blocks, R=R), law, solver, guess=guess, history=history, **settings
    )


@overload
def solvers(law: None = None) -> list[tuple[str, str]]: ...


@overload
def solvers(law: str | Law) -> list[str]: ...


def solvers(law: str | Law | None = None) -> list[str] | list[tuple[str, str]]:
    """Names of registered solvers.

    Parameters
    ----------
    law : str or Law, optional
        A law ("ncp").

    Returns
    -------
    list
        Names of the solvers of the law; without one (law, solver) of every solver.
    """
    if law is None:
        return list(_core.solvers)
    word = str(law).lower()
    found = [name for of, name in _core.solvers if of == word]
    if not found:
        laws = ", ".join(dict.fromkeys(of for of, _ in _core.solvers))
        raise ValueError(f"no solver has the law {word!r}; laws with solvers: {laws}")
    return found


def _block_list(self: Any) -> list[Block]:
    """Its blocks in row order."""
    return [
        Block(BlockType(type_), dim, mu or 0.0, lower, upper)
        for type_, _, dim, mu, lower, upper in self._blocks
    ]


def _problem_repr(self: Any) -> str:
    """One line."""
    return f"<tribo.Problem: {self.n} rows, {len(self._blocks)} blocks>"


def install() -> None:
    """Give Problem what is here."""
    attach(
        _core.Problem,
        solve=_solve,
        residual=_residual,
        from_mass=staticmethod(_from_mass),
        blocks=property(_block_list),
        __repr__=_problem_repr,
    )
