"""One world of a task as an environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .task import Array, Task
from .vector import TriboVectorEnv


class TriboEnv(gymnasium.Env[Array, NDArray[Any]]):
    """A vector environment of one world, without its first dimension.

    Parameters
    ----------
    task : str or Task
        Name of a task of the suite ("Ant"), or a task of one's own.
    law : str
        Contact law of the simulation.
    **arguments
        The other arguments of `TriboVectorEnv`.
    """

    def __init__(self, task: str | Task, law: str = "ncp", **arguments: Any) -> None:
        arguments.setdefault("threads", 1)
        self.worlds = TriboVectorEnv(
            task, 1, law=law, autoreset_mode=AutoresetMode.DISABLED, **arguments
        )
        self.render_mode = self.worlds.render_mode
        self.metadata = {k: v for k, v in self.worlds.metadata.items() if k != "autoreset_mode"}
        self.observation_space = self.worlds.single_observation_space
        self.action_space = self.worlds.single_action_space

    @property
    def model(self) -> Any:
        """The model, a `tribo.Model`."""
        return self.worlds.model

    @property
    def dt(self) -> float:
        """Length of a step in s."""
        return self.worlds.worlds.dt

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start a new episode; returns the first observation and its facts."""
        super().reset(seed=seed)
        if seed is None and self._np_random is None:
            self._np_random, self._np_random_seed = seeding.np_random(None)
        self.worlds.use_random_numbers(0, self.np_random)
        observation, info = self.worlds.reset(options=options)
        return observation[0], _first(info)

    def step(
        self, action: NDArray[Any]
    ) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Advance by one step with the controls (nu,)."""
        control = np.asarray(action)
        if control.shape != self.action_space.shape:
            raise ValueError(
                f"action has shape {control.shape}, expected {self.action_space.shape}"
            )
        observation, reward, terminated, truncated, info = self.worlds.step(control[None])
        # As in Gymnasium an episode may be continued after its end.
        self.worlds.forgive_end()
        facts = _first(info)
        return observation[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), facts

    def set_state(self, qpos: NDArray[Any], qvel: NDArray[Any]) -> Array:
        """Put the world into a state, (nq,) and (nv,); returns its observation."""
        self.worlds.set_worlds(np.asarray(qpos)[None], np.asarray(qvel)[None])
        observation: Array = self.worlds.task.observe(self.worlds.worlds)[0]
        return observation

    def render(self) -> Any:
        """A picture (height, width, 3), or None without a render mode."""
        return self.worlds.picture(0) if self.render_mode is not None else None

    def close(self) -> None:
        """Drop the renderer."""
        self.worlds.close()


def _first(info: dict[str, Any]) -> dict[str, Any]:
    """Facts of the first world that has them."""
    return {k: v[0] for k, v in info.items() if not k.startswith("_") and info["_" + k][0]}
