"""Derivatives of a step."""

import warnings
import weakref
from dataclasses import dataclass
from typing import Any

from . import _core
from ._attach import attach
from ._core import Data, Derivatives, Model
from ._gradients import NotDifferentiableError, NotDifferentiableWarning

__all__ = ["DerivativeInfo", "derivatives"]

# Worlds whose kinks were told.
_told: "weakref.WeakSet[Data]" = weakref.WeakSet()


@dataclass(frozen=True)
class DerivativeInfo:
    """What a linearised step consists of.

    Attributes
    ----------
    differentiable : bool
        False where the step changes mode within the tolerance; `reason` names the constraint.
    reason : str
        Empty if differentiable.
    finite_differences : bool
        Whether smooth forces or the whole step were differentiated by differences.
    separated, sticking, sliding : int
        Contacts by mode.
    rows : int
        Rows of active constraints.
    """

    differentiable: bool
    reason: str
    finite_differences: bool
    separated: int
    sticking: int
    sliding: int
    rows: int


def derivatives(
    m: Model,
    d: Data,
    *,
    relaxation: float = 0.0,
    samples: int = 0,
    spread: float | None = None,
    seed: int = 0,
    proximal: float | None = None,
    mode_tolerance: float | None = None,
    hold_contacts: bool = False,
    kinks: str = "warn",
) -> Derivatives:
    """Linearise the step at the state of a world, under the model's law; the state is unchanged.

    Parameters
    ----------
    m, d : Model, Data
        The model and the world.
    relaxation : float
        0 for the exact active set; else complementarity is smoothed over this speed, m/s (rigid laws).
    samples, spread, seed : int, float, int
        More than one sample: the mean over random states with that standard deviation.
    proximal, mode_tolerance : float, optional
        See `tbDerivativeSettings`; default: the engine's.
    hold_contacts : bool
        Contacts and limits that carry a force stay closed, whatever their gap (rigid laws).
    kinks : str
        Where the step is not differentiable: "warn" (`NotDifferentiableWarning`, once per Data), "raise"
        (`NotDifferentiableError`) or "ignore"; `info` says it in each case.

    Returns
    -------
    Derivatives
        `A` (nx, nx) and `B` (nx, nu) with nx = 2 nv + na, products without matrices, and `info`.
    """
    if kinks not in ("warn", "raise", "ignore"):
        raise ValueError(f"kinks: expected 'warn', 'raise' or 'ignore', not {kinks!r}")
    result = _core._linearize(
        m,
        d,
        relaxation,
        samples,
        -1.0 if spread is None else spread,
        seed,
        -1.0 if proximal is None else proximal,
        -1.0 if mode_tolerance is None else mode_tolerance,
        hold_contacts,
    )
    if kinks != "ignore":
        _tell(d, result.info, kinks)
    return result


def _tell(d: Data, info: DerivativeInfo, kinks: str) -> None:
    """Warn of a step without a derivative once per world, or raise."""
    if info.differentiable:
        return
    text = f"the step is not differentiable: {info.reason}"
    if kinks == "raise":
        raise NotDifferentiableError(text)
    if d not in _told:
        _told.add(d)
        warnings.warn(text, NotDifferentiableWarning, stacklevel=3)


def _info(self: Any) -> DerivativeInfo:
    """Whether the step is differentiable there, and its contacts by mode."""
    return DerivativeInfo(*self._info)


def _repr(self: Any) -> str:
    """One line."""
    nx, nu = self._sizes
    info = _info(self)
    found = "differentiable" if info.differentiable else f"not differentiable ({info.reason})"
    return (
        f"<tribo.Derivatives: A ({nx}, {nx}), B ({nx}, {nu}), {found}; contacts: {info.sticking} sticking, "
        f"{info.sliding} sliding, {info.separated} separated>"
    )


def install() -> None:
    """Give Derivatives what is here."""
    attach(_core.Derivatives, info=property(_info), __repr__=_repr)
