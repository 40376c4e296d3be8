"""Derivatives of a step."""

from dataclasses import dataclass
from typing import Any

from . import _core
from ._attach import attach
from ._core import Data, Derivatives, Model

__all__ = ["DerivativeInfo", "derivatives"]


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

    Returns
    -------
    Derivatives
        `A` (nx, nx) and `B` (nx, nu) with nx = 2 nv + na, products without matrices, and `info`.
    """
    return _core._linearize(
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


def _info(self: Any) -> DerivativeInfo:
    """Whether the step is differentiable there, and its contacts by mode."""
    return DerivativeInfo(*self._info)


def install() -> None:
    """Give Derivatives what is here."""
    attach(_core.Derivatives, info=property(_info))
