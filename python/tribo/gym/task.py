"""What a task is: a model, an observation, a reward and an end, for all worlds at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Mask = NDArray[Any]


class Worlds:
    """The arrays of a batch that tasks read, one row per world.

    Attributes
    ----------
    qpos, qvel, ctrl : ndarray
        State and input of shape (n, nq), (n, nv), (n, nu).
    init_qpos, init_qvel : ndarray
        Reference state of the model, (nq,) and (nv,).
    body_mass : ndarray
        Masses in kg, (nbody,).
    timestep : float
        Length of a simulation step in s.
    dt : float
        Length of a step of the environment in s.
    field : dict of ndarray
        The fields of `Task.fields` by name, (n, rows, columns). As after a step of the engine,
        frames and forces are those of the start of its last simulation step.
    body : dict of int
        Index of each body by name.
    """

    qpos: Array
    qvel: Array
    ctrl: Array
    init_qpos: Array
    init_qvel: Array
    body_mass: Array
    timestep: float
    dt: float
    field: dict[str, Array]
    body: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Base of all tasks. A subclass says what is seen, rewarded and the end of an episode.

    Parameters
    ----------
    xml_file : str
        Model: a path, or the name of a file among Gymnasium's MuJoCo assets.
    frame_skip : int
        Simulation steps per step of the environment.
    reset_noise_scale : float
        Size of the noise on the initial state.
    """

    xml_file: str
    frame_skip: int
    reset_noise_scale: float = 0.1

    fields: ClassVar[tuple[str, ...]] = ()
    """Fields of the data that the task reads besides the state."""

    camera_distance: ClassVar[float] = 4.0
    """Distance of the camera of pictures from the moving bodies, m."""

    def path(self) -> str:
        """Full path of the model's file."""
        if Path(self.xml_file).is_file():
            return str(Path(self.xml_file))
        import gymnasium

        asset = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / self.xml_file
        if not asset.is_file():
            raise FileNotFoundError(
                f"{self.xml_file}: neither a file nor one of Gymnasium's MuJoCo assets"
            )
        return str(asset)

    def initial_state(self, rng: np.random.Generator, worlds: Worlds) -> tuple[Array, Array]:
        """Configuration (nq,) and velocity (nv,) of one world at the start of an episode."""
        noise = self.reset_noise_scale
        qpos = worlds.init_qpos + rng.uniform(-noise, noise, worlds.init_qpos.size)
        qvel = worlds.init_qvel + rng.uniform(-noise, noise, worlds.init_qvel.size)
        return qpos, qvel

    def measure(self, worlds: Worlds) -> Array:
        """Quantity whose change over a step is rewarded, of shape (n, ...)."""
        return worlds.qpos[:, :1].copy()

    def observe(self, worlds: Worlds) -> Array:
        """Observations of all worlds, (n, size)."""
        raise NotImplementedError

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        """Reward of all worlds, (n,), and its parts and other facts for `info`.

        `before` is what `measure` returned before the step.
        """
        raise NotImplementedError

    def terminated(self, worlds: Worlds) -> Mask:
        """True for worlds whose episode ends in this state, (n,)."""
        return np.zeros(len(worlds.qpos), dtype=bool)

    def facts(self, worlds: Worlds) -> dict[str, Array]:
        """Entries of `info` after a reset."""
        return {}


def squares(values: NDArray[Any]) -> Array:
    """Sum of the squares of each row, (n,)."""
    flat = values.reshape(len(values), -1).astype(np.float64, copy=False)
    result: Array = np.einsum("ij,ij->i", flat, flat)
    return result


def rows(*parts: Array) -> Array:
    """Parts side by side: one row per world."""
    return np.concatenate([p.reshape(len(p), -1) for p in parts], axis=1)
