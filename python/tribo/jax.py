"""Steps and rollouts as functions of JAX.

>>> jax.config.update("jax_enable_x64", True)
>>> import tribo.jax
>>> sim = tribo.jax.Simulation(m)
>>> qpos, qvel, act = sim.rollout(qpos0, qvel0, ctrl=ctrl)  # under jit, grad and vmap
"""

from functools import partial
from typing import Any

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:  # pragma: no cover
    raise ImportError("tribo.jax needs JAX: pip install 'tribo[jax]'") from error

from ._gradients import NotDifferentiableError, NotDifferentiableWarning, Trajectories

__all__ = ["NotDifferentiableError", "NotDifferentiableWarning", "Simulation"]


def _require_x64() -> None:
    if not jax.config.read("jax_enable_x64"):  # type: ignore[no-untyped-call]
        raise RuntimeError(
            "tribo.jax computes in float64: call jax.config.update('jax_enable_x64', True) "
            "before any array is made"
        )


def _shape(shape: tuple[int, ...]) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float64)  # type: ignore[no-untyped-call]


def _flat(values: Any, trailing: tuple[int, ...]) -> tuple[list[Any], tuple[int, ...]]:
    """Arrays with one leading axis of worlds, and the leading axes that they had together."""
    arrays = [np.asarray(v) for v in values]
    lead = np.broadcast_shapes(*(a.shape[: a.ndim - t] for a, t in zip(arrays, trailing, strict=True)))
    flat = []
    for a, t in zip(arrays, trailing, strict=True):
        own = a.shape[a.ndim - t :] if t else ()
        flat.append(
            np.ascontiguousarray(np.broadcast_to(a, (*lead, *own)), dtype=np.float64).reshape(
                (int(np.prod(lead)), *own)
            )
        )
    return flat, lead


class Simulation:
    """A model as a differentiable function of JAX arrays.

    The engine runs on the CPU in a callback, in float64: without `jax_enable_x64` calls raise. Functions
    work under `jit`, `vmap` and reverse-mode differentiation (once); the backward pass repeats the forward
    one, so that nothing is kept between them. Arrays are copied in and out: JAX's stay as they are.

    Parameters
    ----------
    m : Model
        The model.
    threads : int
        Threads; 0: one per core.
    checkpoint : int
        States are kept at every such step during a backward pass.
    kinks : str
        What the backward pass does where a step is not differentiable: "warn", "raise" or "ignore".
    **settings
        relaxation, samples, spread, seed, hold_contacts, ... of `tribo.derivatives`.
    """

    def __init__(
        self, m: Any, *, threads: int = 0, checkpoint: int = 1, kinks: str = "warn", **settings: Any
    ) -> None:
        self.trajectories = Trajectories(m, threads=threads, checkpoint=checkpoint, kinks=kinks, **settings)
        function = jax.custom_vjp(self._states)
        function.defvjp(lambda *inputs: (self._states(*inputs), inputs), self._pull)
        self._function = function

    @property
    def model(self) -> Any:
        """The model."""
        return self.trajectories.model

    # Inputs of the function: qpos, qvel, act, ctrl, qfrc_applied, friction_scale, and the axes of each
    # behind those of the worlds.
    _trailing = (1, 1, 1, 2, 2, 0)

    def _states(self, *inputs: Any) -> Any:
        m, steps = self.model, inputs[4].shape[-2]
        lead = inputs[0].shape[:-1]
        shapes = tuple(_shape((*lead, steps, k)) for k in (m.nq, m.nv, m.na))

        def call(*given: Any) -> Any:
            flat, axes = _flat(given, self._trailing)
            t = self.trajectories.forward(*flat)
            return tuple(a.reshape((*axes, *a.shape[1:])) for a in (t.qpos, t.qvel, t.act))

        return jax.pure_callback(call, shapes, *inputs, vmap_method="broadcast_all")

    def _pull(self, inputs: Any, grads: Any) -> Any:
        shapes = tuple(_shape(a.shape) for a in inputs)
        names = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "friction_scale")

        def call(*given: Any) -> Any:
            flat, axes = _flat(given, (*self._trailing, 2, 2, 2))
            found = self.trajectories.backward(self.trajectories.forward(*flat[:6]), *flat[6:])
            return tuple(found[name].reshape((*axes, *found[name].shape[1:])) for name in names)

        return jax.pure_callback(call, shapes, *inputs, *grads, vmap_method="broadcast_all")

    def rollout(
        self,
        qpos: Any,
        qvel: Any,
        act: Any = None,
        ctrl: Any = None,
        qfrc_applied: Any = None,
        *,
        friction_scale: Any = None,
        nstep: int | None = None,
    ) -> tuple[Any, Any, Any]:
        """Many steps from given states.

        Parameters
        ----------
        qpos, qvel, act : array_like
            Initial states, shape (n, nq), (n, nv), (n, na), or without n for one world. Quaternions of any
            length stand for their direction.
        ctrl, qfrc_applied : array_like, optional
            Inputs before each step, shape (n, nstep, nu), (n, nstep, nv); zero if not given.
        friction_scale : array_like, optional
            Factor of all friction coefficients, shape (n,) or () for one world.
        nstep : int, optional
            Steps, if no input says how many.

        Returns
        -------
        qpos, qvel, act : jax.Array
            States after each step, shape (n, nstep, nq), (n, nstep, nv), (n, nstep, na).
        """
        _require_x64()
        m = self.model
        real = partial(jnp.asarray, dtype=jnp.float64)
        qpos, qvel = real(qpos), real(qvel)
        lead = qpos.shape[:-1]
        steps = nstep
        for name, value in (("ctrl", ctrl), ("qfrc_applied", qfrc_applied)):
            if value is not None:
                given = jnp.shape(value)[-2]
                if steps is not None and steps != given:
                    raise ValueError(f"{name}: expected {steps} steps, got {given}")
                steps = given
        steps = 1 if steps is None else steps
        act = jnp.zeros((*lead, m.na)) if act is None else real(act)
        ctrl = jnp.zeros((*lead, steps, m.nu)) if ctrl is None else real(ctrl)
        force = jnp.zeros((*lead, steps, m.nv)) if qfrc_applied is None else real(qfrc_applied)
        scale = jnp.full(lead, m.opt.friction_scale) if friction_scale is None else real(friction_scale)
        return self._function(qpos, qvel, act, ctrl, force, scale)  # type: ignore[no-any-return]

    def step(
        self,
        qpos: Any,
        qvel: Any,
        act: Any = None,
        ctrl: Any = None,
        qfrc_applied: Any = None,
        *,
        friction_scale: Any = None,
    ) -> tuple[Any, Any, Any]:
        """One step; shapes as `rollout`, without the axis of steps.

        The world has no memory between calls (warm starts, anchors of springs): it is a function of its
        arguments.
        """
        inputs = [
            None if value is None else jnp.expand_dims(jnp.asarray(value), -2)
            for value in (ctrl, qfrc_applied)
        ]
        states = self.rollout(qpos, qvel, act, *inputs, friction_scale=friction_scale, nstep=1)
        return tuple(jnp.squeeze(value, -2) for value in states)  # type: ignore[return-value]
