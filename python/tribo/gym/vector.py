"""Many worlds of one task as one vector environment on a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

import tribo

from .suite import make_task
from .task import Array, Mask, Task, Worlds


class TriboVectorEnv(VectorEnv[Array, NDArray[Any], Any]):
    """All worlds step in one call of the engine; each world is as if it were alone.

    A world with seed s has the initial states of `gymnasium.make(..)` with seed s, whatever its
    number and that of the other worlds. `reset(seed=s)` gives world i the seed s + i.

    Parameters
    ----------
    task : str or Task
        Name of a task of the suite ("Ant"), or a task of one's own.
    num_envs : int
        Number of worlds.
    max_episode_steps : int, optional
        Steps after which an episode is truncated; None: never.
    law : str
        Contact law of the simulation.
    options : dict, optional
        Further options of the model by name, as `model.opt` has them ("solve_tolerance", "solver").
    autoreset_mode : AutoresetMode or str
        When worlds whose episode has ended start anew, see Gymnasium's documentation.
    threads : int
        Threads of the batch, 0 for one per core. The result does not depend on it.
    device : str
        Where the batch lives.
    render_mode : str, optional
        "rgb_array": `render` returns a picture of each world.
    width, height : int
        Size of a picture in pixels.
    **parameters
        Parameters of the task by name ("ctrl_cost_weight").

    Notes
    -----
    `info` tells of each world `residual_exact`, the residual of its last simulation step on the
    exact law (NaN: not evaluated), and `unconverged`, the number of simulation steps of this call
    whose solver did not reach its tolerance. A world whose simulation fails keeps its last good
    state, and its episode ends there.
    """

    def __init__(
        self,
        task: str | Task,
        num_envs: int = 1,
        max_episode_steps: int | None = None,
        law: str = "ncp",
        options: dict[str, Any] | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 0,
        device: str = "cpu",
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        **parameters: Any,
    ) -> None:
        super().__init__()
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}, expected at least 1")
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f'render_mode is {render_mode!r}, expected None or "rgb_array"')
        self.task = make_task(task, **parameters)
        self.model = tribo.Model.from_xml_path(self.task.path())
        self.model.opt.law = law
        for name, value in (options or {}).items():
            setattr(self.model.opt, name, value)
        self.batch = tribo.Batch(self.model, num_envs, threads=threads, device=device)
        self.worlds = _worlds(self.model, self.batch, self.task)

        self.num_envs = num_envs
        self.max_episode_steps = max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.render_mode = render_mode
        self.width, self.height = width, height
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": round(1 / self.worlds.dt),
            "autoreset_mode": self.autoreset_mode,
        }
        self._define_spaces()

        self._rng = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._ended: Mask = np.zeros(num_envs, dtype=bool)
        self._started: Mask = np.zeros(num_envs, dtype=bool)
        self._renderer: Any = None

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Start new episodes, in all worlds or those of `options["reset_mask"]`.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Seed of the first world (the others follow by ones), or of each; None: go on with the
            present random numbers.
        options : dict, optional
            "reset_mask": bool array (num_envs,).

        Returns
        -------
        observations : ndarray
            (num_envs, size). Those of other worlds are of their present states.
        info : dict
            Facts of the worlds that were reset.
        """
        seeds = self._seeds(seed)
        mask = self._mask(options)
        for i in np.flatnonzero(mask):
            if seeds[i] is not None:
                self._rng[i] = seeding.np_random(seeds[i])[0]
        self._restart(mask)
        return self.task.observe(self.worlds), self._info(self.task.facts(self.worlds), mask)

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Array, Array, Mask, Mask, dict[str, Any]]:
        """Advance all worlds by one step of the environment.

        Parameters
        ----------
        actions : ndarray
            Controls, (num_envs, nu).

        Returns
        -------
        observations : ndarray
            (num_envs, size).
        rewards : ndarray
            (num_envs,).
        terminations, truncations : ndarray of bool
            (num_envs,).
        info : dict
            Arrays by name, each with a mask `_name` of the worlds that it tells of.
        """
        action = self._action(actions)
        if not self._started.all():
            raise RuntimeError("step before reset: call reset first")
        restarted = self._ended.copy() if self.autoreset_mode == AutoresetMode.NEXT_STEP else None
        if self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            worlds = np.flatnonzero(self._ended).tolist()
            raise RuntimeError(
                f"the episodes of worlds {worlds} have ended: reset them, "
                'reset(options={"reset_mask": mask})'
            )

        before = self.task.measure(self.worlds)
        self.batch.ctrl[:] = action
        failed = self._simulate()
        self._steps += 1

        rewards, info = self.task.reward(self.worlds, before, action)
        terminated = self.task.terminated(self.worlds) | failed
        truncated = np.zeros(self.num_envs, dtype=bool)
        if self.max_episode_steps is not None:
            truncated = self._steps >= self.max_episode_steps
        facts = self._info(info | self._certificate(), ~failed)
        observations = self.task.observe(self.worlds)

        if restarted is not None and restarted.any():
            observations, facts = self._after_restart(restarted, facts)
            rewards = np.where(restarted, 0.0, rewards)
            terminated &= ~restarted
            truncated &= ~restarted
        self._ended = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            final = self._info({"final_obs": observations}, self._ended)
            final["final_info"] = facts
            final["_final_info"] = self._ended.copy()
            ended = self._ended.copy()
            observations, facts = self._after_restart(ended, facts)
            facts |= final
            self._ended = np.zeros(self.num_envs, dtype=bool)
        return observations, rewards, terminated, truncated, facts

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Pictures of all worlds, each (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            return None
        return tuple(self.picture(i) for i in range(self.num_envs))

    def picture(self, world: int) -> NDArray[np.uint8]:
        """Picture of one world, (height, width, 3)."""
        if self._renderer is None:
            self._renderer = tribo.Renderer(self.model, self.height, self.width)
            self._data = tribo.Data(self.model)
        self.batch.get_data(world, self._data)
        tribo.forward(self.model, self._data)
        self._renderer.update_scene(self._data, camera=self._camera(self._data))
        picture: NDArray[np.uint8] = self._renderer.render()
        return picture

    def close_extras(self, **kwargs: Any) -> None:
        """Drop the renderer."""
        self._renderer = None

    def set_worlds(
        self, qpos: NDArray[Any], qvel: NDArray[Any], mask: NDArray[np.bool_] | None = None
    ) -> None:
        """Put worlds into given states, as at the start of an episode.

        Parameters
        ----------
        qpos, qvel : ndarray
            (num_envs, nq) and (num_envs, nv).
        mask : ndarray of bool, optional
            Worlds to set, (num_envs,); None: all.
        """
        which = np.ones(self.num_envs, dtype=bool) if mask is None else np.asarray(mask, bool)
        self.batch.reset(mask=which)
        self.worlds.qpos[which] = np.asarray(qpos)[which]
        self.worlds.qvel[which] = np.asarray(qvel)[which]
        self.batch.forward(mask=which)
        # MuJoCo leaves external forces at zero until a step computes them.
        if "cfrc_ext" in self.worlds.field:
            self.worlds.field["cfrc_ext"][which] = 0
        self._steps[which] = 0
        self._ended[which] = False
        self._started[which] = True

    def _camera(self, data: Any) -> tribo.Camera:
        """A camera at a fixed distance that follows the centre of the moving bodies."""
        moving = np.asarray(self.model.body_weldid).reshape(-1) > 0
        mass = self.worlds.body_mass * moving
        centre = mass @ np.asarray(data.xipos).reshape(-1, 3) / mass.sum()
        return tribo.Camera(lookat=centre, distance=self.task.camera_distance, azimuth=90)

    def _define_spaces(self) -> None:
        bounds = np.asarray(self.model.actuator_ctrlrange, dtype=np.float32).reshape(-1, 2)
        limited = np.asarray(self.model.actuator_ctrllimited).astype(bool).reshape(-1)
        low = np.where(limited, bounds[:, 0], -np.inf).astype(np.float32)
        high = np.where(limited, bounds[:, 1], np.inf).astype(np.float32)
        size = self.task.observe(self.worlds).shape[1]
        self.single_action_space = spaces.Box(low, high, dtype=np.float32)
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (size,), dtype=np.float64)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} worlds")
        return seeds

    def _mask(self, options: dict[str, Any] | None) -> Mask:
        given = (options or {}).get("reset_mask")
        if given is None:
            return np.ones(self.num_envs, dtype=bool)
        mask = np.asarray(given)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"reset_mask: expected bool of shape ({self.num_envs},) with one True at least, "
                f"got {mask.dtype} of shape {mask.shape}"
            )
        return mask

    def _action(self, actions: NDArray[Any]) -> Array:
        action = np.asarray(actions)
        expected = (self.num_envs, self.model.nu)
        if action.shape != expected:
            raise ValueError(f"actions have shape {action.shape}, expected {expected}")
        return action.astype(np.float64)

    def _restart(self, mask: Mask) -> None:
        """Start an episode in the worlds of the mask."""
        qpos, qvel = self.worlds.qpos.copy(), self.worlds.qvel.copy()
        for i in np.flatnonzero(mask):
            qpos[i], qvel[i] = self.task.initial_state(self._rng[i], self.worlds)
        self.set_worlds(qpos, qvel, mask)

    def _after_restart(
        self, mask: Mask, facts: dict[str, Any]
    ) -> tuple[Array, dict[str, Any]]:
        """Observations and info after some worlds have started anew within a step."""
        self._restart(mask)
        fresh = self.task.facts(self.worlds)
        for name in [n for n in facts if not n.startswith("_")]:
            facts["_" + name] = facts["_" + name] & ~mask
        for name, value in fresh.items():
            facts[name] = value
            facts["_" + name] = facts.get("_" + name, np.zeros(self.num_envs, bool)) | mask
        return self.task.observe(self.worlds), facts

    def use_random_numbers(self, world: int, rng: np.random.Generator) -> None:
        """Have a world draw its initial states from that generator."""
        self._rng[world] = rng

    def forgive_end(self) -> None:
        """Let ended episodes be continued."""
        self._ended[:] = False

    def _simulate(self) -> Mask:
        """Advance all worlds; true for those whose simulation failed."""
        try:
            self.batch.step(self.task.frame_skip)
        except tribo.Error:
            failed: Mask = self.batch.status != 0
            if not failed.any():
                raise
            return failed
        return np.zeros(self.num_envs, dtype=bool)

    def _certificate(self) -> dict[str, NDArray[Any]]:
        report = self.batch.report
        return {
            "residual_exact": self.batch.residual_exact.copy(),
            "unconverged": report["unconverged_steps"].copy(),
        }

    def _info(self, facts: dict[str, Any], mask: Mask) -> dict[str, Any]:
        """Facts with the masks by which vector environments say whose they are."""
        return facts | {"_" + name: mask.copy() for name in facts}


def _worlds(model: Any, batch: Any, task: Task) -> Worlds:
    worlds = Worlds()
    worlds.qpos, worlds.qvel, worlds.ctrl = batch.qpos, batch.qvel, batch.ctrl
    worlds.init_qpos, worlds.init_qvel = batch.qpos[0].copy(), batch.qvel[0].copy()
    worlds.body_mass = np.asarray(model.body_mass).reshape(-1).copy()
    worlds.timestep = float(model.opt.timestep)
    worlds.dt = worlds.timestep * task.frame_skip
    worlds.field = {name: batch.request(name) for name in task.fields}
    worlds.body = {model.body(i).name: i for i in range(model.nbody)}
    return worlds
