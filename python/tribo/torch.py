"""Steps and rollouts as functions of PyTorch.

>>> import tribo.torch
>>> sim = tribo.torch.Simulation(m)
>>> qpos, qvel, act = sim.rollout(qpos0, qvel0, ctrl=ctrl)  # gradients flow through all steps
"""

from typing import Any

import numpy as np

try:
    import torch
except ImportError as error:  # pragma: no cover
    raise ImportError("tribo.torch needs PyTorch: pip install 'tribo[torch]'") from error

from ._gradients import NotDifferentiableError, NotDifferentiableWarning, Trajectories

__all__ = ["NotDifferentiableError", "NotDifferentiableWarning", "Simulation"]

_INPUTS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "friction_scale")


def _array(value: Any) -> Any:
    return None if value is None else np.ascontiguousarray(value.detach().cpu().numpy(), dtype=np.float64)


class _Rollout(torch.autograd.Function):
    """Many steps of many worlds."""

    @staticmethod
    def forward(ctx: Any, of: Trajectories, nstep: int | None, *inputs: Any) -> Any:
        """States after each step."""
        arrays = {name: _array(value) for name, value in zip(_INPUTS, inputs, strict=True)}
        trajectory = of.forward(**arrays, nstep=nstep)
        ctx.of, ctx.trajectory = of, trajectory
        ctx.like = inputs
        ctx.set_materialize_grads(False)
        first = inputs[0]
        return tuple(
            torch.from_numpy(a).to(dtype=first.dtype, device=first.device)
            for a in (trajectory.qpos, trajectory.qvel, trajectory.act)
        )

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        """Transposed products, step by step in reverse."""
        found = ctx.of.backward(ctx.trajectory, *(_array(g) for g in grads))
        back = []
        for index, (name, like) in enumerate(zip(_INPUTS, ctx.like, strict=True)):
            needed = like is not None and ctx.needs_input_grad[2 + index]
            back.append(
                torch.from_numpy(found[name]).to(dtype=like.dtype, device=like.device) if needed else None
            )
        return None, None, *back


class Simulation:
    """A model as a differentiable function of PyTorch tensors.

    Tensors of any device and floating type are taken; the engine computes in float64 on the CPU. Second
    derivatives are not available and raise. Every parameter is one of `Trajectories`.

    Parameters
    ----------
    m : Model
        The model.
    threads : int
        Threads; 0: one per core.
    checkpoint : int
        States are kept at every such step for the backward pass.
    kinks : str
        What the backward pass does where a step is not differentiable: "warn", "raise" or "ignore".
    **settings
        relaxation, samples, spread, seed, hold_contacts, ... of `tribo.derivatives`.
    """

    def __init__(
        self, m: Any, *, threads: int = 0, checkpoint: int = 1, kinks: str = "warn", **settings: Any
    ) -> None:
        self.trajectories = Trajectories(m, threads=threads, checkpoint=checkpoint, kinks=kinks, **settings)

    @property
    def model(self) -> Any:
        """The model."""
        return self.trajectories.model

    def rollout(
        self,
        qpos: torch.Tensor,
        qvel: torch.Tensor,
        act: torch.Tensor | None = None,
        ctrl: torch.Tensor | None = None,
        qfrc_applied: torch.Tensor | None = None,
        *,
        friction_scale: torch.Tensor | None = None,
        nstep: int | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Many steps from given states.

        Parameters
        ----------
        qpos, qvel, act : torch.Tensor
            Initial states, shape (n, nq), (n, nv), (n, na), or without n for one world. Quaternions of any
            length stand for their direction.
        ctrl, qfrc_applied : torch.Tensor, optional
            Inputs before each step, shape (n, nstep, nu), (n, nstep, nv); zero if not given.
        friction_scale : torch.Tensor, optional
            Factor of all friction coefficients, shape (n,).
        nstep : int, optional
            Steps, if no input says how many.

        Returns
        -------
        qpos, qvel, act : torch.Tensor
            States after each step, shape (n, nstep, nq), (n, nstep, nv), (n, nstep, na).
        """
        one = qpos.dim() == 1
        inputs = [qpos, qvel, act, ctrl, qfrc_applied, friction_scale]
        if one:
            inputs = [None if value is None else value.unsqueeze(0) for value in inputs]
        states = _Rollout.apply(self.trajectories, nstep, *inputs)
        return tuple(value.squeeze(0) for value in states) if one else states

    def step(
        self,
        qpos: torch.Tensor,
        qvel: torch.Tensor,
        act: torch.Tensor | None = None,
        ctrl: torch.Tensor | None = None,
        qfrc_applied: torch.Tensor | None = None,
        *,
        friction_scale: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """One step; shapes as `rollout`, without the axis of steps.

        The world has no memory between calls (warm starts, anchors of springs): it is a function of its
        arguments.
        """
        inputs = [None if value is None else value.unsqueeze(-2) for value in (ctrl, qfrc_applied)]
        states = self.rollout(qpos, qvel, act, *inputs, friction_scale=friction_scale, nstep=1)
        return tuple(value.squeeze(-2) for value in states)  # type: ignore[return-value]
