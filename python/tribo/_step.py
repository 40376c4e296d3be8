"""Calls whose arguments are more convenient than those of the compiled part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import _core, _named
from ._core import Data, Model

__all__ = ["InverseResult", "inverse", "reset_to_key"]


@dataclass(frozen=True)
class InverseResult:
    """What `inverse` found; ``qfrc, info = tribo.inverse(m, d, qacc)`` unpacks it.

    Attributes
    ----------
    qfrc : numpy.ndarray
        Sum of applied forces and actuators that the motion needs, N or N m, shape (nv,).
    feasible : bool
        Whether such forces exist; `reason` says why not.
    reason : str
        Empty where feasible.
    velocity_residual, base_residual : float
        How far contacts are from the motion, and forces of dofs without a motor from zero.
    worst_constraint, worst_dof : int
        Where these are largest, or -1.
    iterations : int
        Iterations of the solver.
    residual : float
        Relative residual of the contact forces.
    """

    qfrc: Any
    feasible: bool
    reason: str
    velocity_residual: float
    base_residual: float
    worst_constraint: int
    worst_dof: int
    iterations: int
    residual: float

    @property
    def info(self) -> dict[str, Any]:
        """All but `qfrc`, by name."""
        return {name: value for name, value in vars(self).items() if name != "qfrc"}

    def __iter__(self) -> Iterator[Any]:
        """`qfrc` and `info`."""
        return iter((self.qfrc, self.info))


def reset_to_key(m: Model, d: Data, key: int | str) -> None:
    """Return to a keyframe.

    Parameters
    ----------
    m, d : Model, Data
        The model and the world.
    key : int or str
        Number or name of the keyframe.
    """
    _core._reset_keyframe(m, d, _named.index(m, "key", key))


def inverse(
    m: Model,
    d: Data,
    qacc: Any,
    *,
    actuated: Any = None,
    max_iter: int = 0,
    tolerance: float = -1,
    keep_base: bool = False,
) -> InverseResult:
    """The forces that produce a motion, contacts included.

    Parameters
    ----------
    m, d : Model, Data
        The model and the world, whose state is the motion's; it is unchanged.
    qacc : array_like
        Acceleration, shape (nv,).
    actuated : array_like of int, optional
        1 where a motor drives the dof, shape (nv,). Default: dofs that an actuator moves.
    max_iter : int
        Iterations; 0: the engine's default.
    tolerance : float
        Relative residual at which iterations stop; negative: the engine's default.
    keep_base : bool
        Do not redistribute contact forces for unactuated dofs.

    Returns
    -------
    InverseResult
        `qfrc`, `feasible`, `reason`, residuals and iterations.
    """
    qfrc, info = _core._inverse(m, d, qacc, None, actuated, max_iter, tolerance, keep_base)
    return InverseResult(qfrc, **info)
