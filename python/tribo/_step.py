"""Calls whose arguments are more convenient than those of the compiled part."""

from typing import Any

from . import _core, _named
from ._core import Data, Model

__all__ = ["inverse", "reset_to_key"]


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
    driven: Any = None,
    max_iter: int = 0,
    tolerance: float = -1,
    keep_base: bool = False,
) -> tuple[Any, dict[str, Any]]:
    """The forces that produce a motion, contacts included.

    Parameters
    ----------
    m, d : Model, Data
        The model and the world, whose state is the motion's; it is unchanged.
    qacc : array_like
        Acceleration, shape (nv,).
    driven : array_like of int, optional
        1 where a motor drives the dof, shape (nv,). Default: dofs that an actuator moves.
    max_iter : int
        Iterations; 0: the engine's default.
    tolerance : float
        Relative residual at which iterations stop; negative: the engine's default.
    keep_base : bool
        Do not redistribute contact forces for unactuated dofs.

    Returns
    -------
    qfrc : numpy.ndarray
        Sum of applied forces and actuators that the motion needs, N or N m, shape (nv,).
    info : dict
        `feasible`, `reason`, residuals and iterations.
    """
    return _core._inverse(m, d, qacc, None, driven, max_iter, tolerance, keep_base)
