"""Gradients of trajectories: what the back ends for PyTorch and JAX share."""

import threading
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._batch import Batch
from ._errors import Error

__all__ = ["NotDifferentiableError", "NotDifferentiableWarning", "Trajectory", "Trajectories"]

_SETTINGS = ("relaxation", "proximal", "mode_tolerance", "samples", "spread", "seed", "hold_contacts")


class NotDifferentiableError(Error):
    """A gradient was asked for where a step has none."""


class NotDifferentiableWarning(RuntimeWarning):
    """A gradient passes steps that have none: one of the one-sided or generalised derivatives was used."""


@dataclass
class Trajectory:
    """What `Trajectories.forward` returns.

    Attributes
    ----------
    qpos, qvel, act : numpy.ndarray
        States after each step, shape (n, nstep, nq), (n, nstep, nv), (n, nstep, na).
    """

    qpos: Any
    qvel: Any
    act: Any
    _tape: Any
    _batch: Any
    _scale: Any

    @property
    def memory_bytes(self) -> int:
        """Bytes that the tape holds for the backward pass: linear in the steps."""
        return int(self._tape.memory_bytes)


class Trajectories:
    """Trajectories of many worlds and the transposed products of their derivatives.

    The gradient of a loss goes through the steps in reverse; every step is linearised at its own state and
    applied by products, so no matrices A and B are formed. Inputs and results are NumPy arrays of float64.

    Parameters
    ----------
    m : Model
        The model. Its options are read at each call.
    threads : int
        Threads; 0: one per core.
    checkpoint : int
        States are kept at every such step, and those between are stepped through again: memory is
        proportional to nstep / checkpoint + checkpoint.
    kinks : str
        What the backward pass does where a step is not differentiable: "warn", "raise" or "ignore".
    **settings
        relaxation, samples, spread, seed, hold_contacts, ... of `derivatives`.
    """

    def __init__(
        self, m: Any, *, threads: int = 0, checkpoint: int = 1, kinks: str = "warn", **settings: Any
    ) -> None:
        if kinks not in ("warn", "raise", "ignore"):
            raise ValueError(f"kinks: expected 'warn', 'raise' or 'ignore', got {kinks!r}")
        unknown = set(settings) - set(_SETTINGS)
        if unknown:
            raise TypeError(
                f"no setting of derivatives: {', '.join(sorted(unknown))}; there are {', '.join(_SETTINGS)}"
            )
        self.model = m
        self.threads = threads
        self.checkpoint = checkpoint
        self.kinks = kinks
        self.settings = settings
        self._batches: dict[tuple[int, bool], Batch] = {}
        self._lock = threading.RLock()

    def batch(self, n: int, scaled: bool = False) -> Batch:
        """The batch that `n` worlds use: set mocap poses, equalities and held forces in it."""
        if (n, scaled) not in self._batches:
            b = Batch(self.model, n, self.threads)
            if scaled:
                b.expand("opt.friction_scale")
            self._batches[n, scaled] = b
        return self._batches[n, scaled]

    def forward(
        self,
        qpos: Any,
        qvel: Any,
        act: Any = None,
        ctrl: Any = None,
        qfrc_applied: Any = None,
        friction_scale: Any = None,
        nstep: int | None = None,
    ) -> Trajectory:
        """Step all worlds and keep what the backward pass needs.

        Parameters
        ----------
        qpos, qvel, act : array_like
            Initial states, shape (n, nq), (n, nv), (n, na); quaternions of any length. Worlds start without
            memory of earlier steps.
        ctrl, qfrc_applied : array_like, optional
            Inputs before each step, shape (n, nstep, nu), (n, nstep, nv). Default: the batch's own, held.
        friction_scale : array_like, optional
            Factor of all friction coefficients, shape (n,).
        nstep : int, optional
            Steps; default: as many as `ctrl` or `qfrc_applied` have, else one.

        Returns
        -------
        Trajectory
            States after each step, and the tape.
        """
        steps = nstep
        for name, value in (("ctrl", ctrl), ("qfrc_applied", qfrc_applied)):
            if value is not None:
                given = np.shape(value)[1]
                if steps is not None and steps != given:
                    raise ValueError(f"{name}: expected {steps} steps, got {given}")
                steps = given
        n = np.shape(qpos)[0]
        with self._lock:
            b = self.batch(n, friction_scale is not None)
            scale = None if friction_scale is None else np.array(friction_scale, dtype=np.float64)
            if scale is not None:
                b["opt.friction_scale"] = scale.reshape(n)
            tape, q, v, a = _core._tape(
                b, qpos, qvel, act, ctrl, qfrc_applied, 1 if steps is None else steps, self.checkpoint
            )
        return Trajectory(q, v, a, tape, b, scale)

    def backward(
        self, trajectory: Trajectory, qpos: Any = None, qvel: Any = None, act: Any = None
    ) -> dict[str, Any]:
        """The gradient of a loss by all inputs, from its gradient by the states.

        Parameters
        ----------
        trajectory : Trajectory
            Of `forward`.
        qpos, qvel, act : array_like, optional
            Derivatives of the loss by the states, shapes as those of the trajectory; None: zero.

        Returns
        -------
        dict
            "qpos" (n, nq), "qvel" (n, nv), "act" (n, na), "ctrl" (n, nstep, nu),
            "qfrc_applied" (n, nstep, nv), "friction_scale" (n,) if it was given, and "kinks": for
            each world how many steps were not differentiable, the first of them, the engine's reason, and how
            many were differenced.
        """
        with self._lock:
            if trajectory._scale is not None:
                trajectory._batch["opt.friction_scale"] = trajectory._scale.reshape(-1)
            result: dict[str, Any] = trajectory._tape.backward(
                qpos, qvel, act, trajectory._scale is not None, self.settings
            )
        self._tell(result["kinks"])
        return result

    def _tell(self, kinks: list[tuple[int, int, str, int]]) -> None:
        """Warn of steps without a derivative, or raise."""
        count = sum(k[0] for k in kinks)
        if not count or self.kinks == "ignore":
            return
        world, (_, step, reason, _) = next((w, k) for w, k in enumerate(kinks) if k[0])
        text = f"{count} steps are not differentiable; the first: world {world}, step {step}: {reason}"
        if self.kinks == "raise":
            raise NotDifferentiableError(text)
        warnings.warn(text, NotDifferentiableWarning, stacklevel=4)
