"""Poles that are to stay upright, and arms that reach and push: Gymnasium's other MuJoCo v5 tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .task import Array, Mask, Task, Worlds, rows, squares


@dataclass(frozen=True, kw_only=True)
class InvertedPendulum(Task):
    """A pole on a cart stays upright."""

    xml_file: str = "inverted_pendulum.xml"
    frame_skip: int = 2
    reset_noise_scale: float = 0.01

    camera_distance: ClassVar[float] = 2.0

    def observe(self, worlds: Worlds) -> Array:
        return rows(worlds.qpos, worlds.qvel)

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        reward = (~self.terminated(worlds)).astype(np.float64)
        return reward, {"reward_survive": reward}

    def terminated(self, worlds: Worlds) -> Mask:
        failed: Mask = np.logical_not(np.isfinite(rows(worlds.qpos, worlds.qvel)).all(axis=1))
        return failed | (np.abs(worlds.qpos[:, 1]) > 0.2)


@dataclass(frozen=True, kw_only=True)
class InvertedDoublePendulum(Task):
    """Two poles, one on the other, on a cart stay upright.

    Parameters
    ----------
    healthy_reward : float
        Reward of each step that does not end the episode.
    """

    xml_file: str = "inverted_double_pendulum.xml"
    frame_skip: int = 5
    healthy_reward: float = 10.0

    fields: ClassVar[tuple[str, ...]] = ("site_xpos", "qfrc_constraint")

    def initial_state(self, rng: np.random.Generator, worlds: Worlds) -> tuple[Array, Array]:
        noise = self.reset_noise_scale
        qpos = worlds.init_qpos + rng.uniform(-noise, noise, worlds.init_qpos.size)
        qvel = worlds.init_qvel + rng.standard_normal(worlds.init_qvel.size) * noise
        return qpos, qvel

    def observe(self, worlds: Worlds) -> Array:
        angle = worlds.qpos[:, 1:]
        force = worlds.field["qfrc_constraint"].reshape(len(angle), -1)[:, :1]
        return rows(
            worlds.qpos[:, :1],
            np.sin(angle),
            np.cos(angle),
            np.clip(worlds.qvel, -10, 10),
            np.clip(force, -10, 10),
        )

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        tip = worlds.field["site_xpos"][:, 0]
        distance = 0.01 * tip[:, 0] ** 2 + (tip[:, 2] - 2) ** 2
        velocity = 1e-3 * worlds.qvel[:, 1] ** 2 + 5e-3 * worlds.qvel[:, 2] ** 2
        alive = self.healthy_reward * ~self.terminated(worlds)
        parts = {
            "reward_survive": alive,
            "distance_penalty": -distance,
            "velocity_penalty": -velocity,
        }
        return alive - distance - velocity, parts

    def terminated(self, worlds: Worlds) -> Mask:
        height = worlds.field["site_xpos"][:, 0, 2]
        return ~(height > 1)


@dataclass(frozen=True, kw_only=True)
class Reacher(Task):
    """The tip of a planar arm reaches a target.

    Parameters
    ----------
    reward_dist_weight, reward_control_weight : float
        Weights of the distance in m and of the squared controls.
    """

    xml_file: str = "reacher.xml"
    frame_skip: int = 2
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 1.0

    camera_distance: ClassVar[float] = 1.0
    fields: ClassVar[tuple[str, ...]] = ("xpos",)

    def initial_state(self, rng: np.random.Generator, worlds: Worlds) -> tuple[Array, Array]:
        qpos = rng.uniform(-0.1, 0.1, worlds.init_qpos.size) + worlds.init_qpos
        while True:
            target = rng.uniform(-0.2, 0.2, 2)
            if np.linalg.norm(target) < 0.2:
                break
        qpos[-2:] = target
        qvel = worlds.init_qvel + rng.uniform(-0.005, 0.005, worlds.init_qvel.size)
        qvel[-2:] = 0
        return qpos, qvel

    def gap(self, worlds: Worlds) -> Array:
        """From the target to the fingertip, (n, 3)."""
        xpos = worlds.field["xpos"]
        return xpos[:, worlds.body["fingertip"]] - xpos[:, worlds.body["target"]]

    def observe(self, worlds: Worlds) -> Array:
        angle = worlds.qpos[:, :2]
        rest = (worlds.qpos[:, 2:], worlds.qvel[:, :2], self.gap(worlds)[:, :2])
        return rows(np.cos(angle), np.sin(angle), *rest)

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        distance = -self.reward_dist_weight * np.linalg.norm(self.gap(worlds), axis=1)
        control = -self.reward_control_weight * squares(action)
        return distance + control, {"reward_dist": distance, "reward_ctrl": control}


@dataclass(frozen=True, kw_only=True)
class Pusher(Task):
    """An arm pushes a cylinder to a goal.

    Parameters
    ----------
    reward_near_weight, reward_dist_weight, reward_control_weight : float
        Weights of the distances from the tip and from the goal to the cylinder in m, and of the
        squared controls.
    """

    xml_file: str = "pusher_v5.xml"
    frame_skip: int = 5
    reward_near_weight: float = 0.5
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 0.1

    camera_distance: ClassVar[float] = 2.5
    fields: ClassVar[tuple[str, ...]] = ("xpos",)

    def initial_state(self, rng: np.random.Generator, worlds: Worlds) -> tuple[Array, Array]:
        qpos = worlds.init_qpos.copy()
        while True:
            x = rng.uniform(-0.3, 0, 1)
            y = rng.uniform(-0.2, 0.2, 1)
            cylinder = np.concatenate([x, y])
            if np.linalg.norm(cylinder) > 0.17:
                break
        qpos[-4:-2] = cylinder
        qpos[-2:] = 0
        qvel = worlds.init_qvel + rng.uniform(-0.005, 0.005, worlds.init_qvel.size)
        qvel[-4:] = 0
        return qpos, qvel

    def place(self, worlds: Worlds, name: str) -> Array:
        """Position of a body, (n, 3)."""
        return worlds.field["xpos"][:, worlds.body[name]]

    def observe(self, worlds: Worlds) -> Array:
        bodies = (self.place(worlds, name) for name in ("tips_arm", "object", "goal"))
        return rows(worlds.qpos[:, :7], worlds.qvel[:, :7], *bodies)

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        cylinder = self.place(worlds, "object")
        near = np.linalg.norm(cylinder - self.place(worlds, "tips_arm"), axis=1)
        far = np.linalg.norm(cylinder - self.place(worlds, "goal"), axis=1)
        parts = {
            "reward_near": -self.reward_near_weight * near,
            "reward_dist": -self.reward_dist_weight * far,
            "reward_ctrl": -self.reward_control_weight * squares(action),
        }
        return parts["reward_dist"] + parts["reward_ctrl"] + parts["reward_near"], parts
