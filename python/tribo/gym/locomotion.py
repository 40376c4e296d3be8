"""Tasks whose reward is the way that a body covers: Gymnasium's MuJoCo v5 walkers and swimmers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .task import Array, Mask, Task, Worlds, rows, squares


@dataclass(frozen=True, kw_only=True)
class Locomotion(Task):
    """Forward speed minus the cost of the controls.

    Parameters
    ----------
    forward_reward_weight, ctrl_cost_weight : float
        Weight of the speed along x in m/s, and of the sum of the squared controls.
    exclude_current_positions_from_observation : bool
        Leave the positions along the ground, `planar` of them, out of the observation.
    """

    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    exclude_current_positions_from_observation: bool = True

    planar: ClassVar[int] = 1

    def positions(self, worlds: Worlds) -> Array:
        """Configuration as observed."""
        skip = self.planar if self.exclude_current_positions_from_observation else 0
        return worlds.qpos[:, skip:]

    def observe(self, worlds: Worlds) -> Array:
        return rows(self.positions(worlds), worlds.qvel)

    def control_cost(self, worlds: Worlds, action: Array) -> Array:
        """Weighted sum of the squared controls, (n,)."""
        return self.ctrl_cost_weight * squares(action)

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        velocity = (self.measure(worlds) - before) / worlds.dt
        forward = self.forward_reward_weight * velocity[:, 0]
        cost = self.control_cost(worlds, action)
        info = {"x_velocity": velocity[:, 0], "reward_forward": forward, "reward_ctrl": -cost}
        if velocity.shape[1] > 1:
            info["y_velocity"] = velocity[:, 1]
        return forward - cost, info | self.facts(worlds)

    def facts(self, worlds: Worlds) -> dict[str, Array]:
        facts = {"x_position": worlds.qpos[:, 0].copy()}
        if self.planar > 1:
            facts["y_position"] = worlds.qpos[:, 1].copy()
            facts["distance_from_origin"] = np.hypot(worlds.qpos[:, 0], worlds.qpos[:, 1])
        return facts


@dataclass(frozen=True, kw_only=True)
class HalfCheetah(Locomotion):
    """A planar cat with two legs runs forward."""

    xml_file: str = "half_cheetah.xml"
    frame_skip: int = 5

    def initial_state(self, rng: np.random.Generator, worlds: Worlds) -> tuple[Array, Array]:
        noise = self.reset_noise_scale
        qpos = worlds.init_qpos + rng.uniform(-noise, noise, worlds.init_qpos.size)
        qvel = worlds.init_qvel + noise * rng.standard_normal(worlds.init_qvel.size)
        return qpos, qvel


@dataclass(frozen=True, kw_only=True)
class Swimmer(Locomotion):
    """Three links in a viscous fluid swim forward."""

    xml_file: str = "swimmer.xml"
    frame_skip: int = 4
    ctrl_cost_weight: float = 1e-4

    planar: ClassVar[int] = 2

    def measure(self, worlds: Worlds) -> Array:
        return worlds.qpos[:, :2].copy()


@dataclass(frozen=True, kw_only=True)
class Walker2d(Locomotion):
    """A planar biped walks forward; an episode ends when it falls.

    Parameters
    ----------
    healthy_reward : float
        Reward of each step in which the robot stands.
    terminate_when_unhealthy : bool
        End the episode when it no longer stands.
    healthy_z_range, healthy_angle_range : tuple of float
        Height in m and pitch in rad within which it stands.
    """

    xml_file: str = "walker2d_v5.xml"
    frame_skip: int = 4
    ctrl_cost_weight: float = 1e-3
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (0.8, 2.0)
    healthy_angle_range: tuple[float, float] = (-1.0, 1.0)
    reset_noise_scale: float = 5e-3

    def healthy(self, worlds: Worlds) -> Mask:
        """True for worlds whose robot stands, (n,)."""
        z, angle = worlds.qpos[:, 1], worlds.qpos[:, 2]
        return within(z, self.healthy_z_range) & within(angle, self.healthy_angle_range)

    def observe(self, worlds: Worlds) -> Array:
        return rows(self.positions(worlds), np.clip(worlds.qvel, -10, 10))

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        reward, info = super().reward(worlds, before, action)
        survive = self.healthy_reward * self.healthy(worlds)
        return reward + survive, info | {"reward_survive": survive}

    def terminated(self, worlds: Worlds) -> Mask:
        return ~self.healthy(worlds) & self.terminate_when_unhealthy

    def facts(self, worlds: Worlds) -> dict[str, Array]:
        return {
            "x_position": worlds.qpos[:, 0].copy(),
            "z_distance_from_origin": worlds.qpos[:, 1] - worlds.init_qpos[1],
        }


@dataclass(frozen=True, kw_only=True)
class Hopper(Walker2d):
    """A planar leg hops forward.

    Parameters
    ----------
    healthy_state_range : tuple of float
        Range of every position and velocity behind the first two within which it stands.
    """

    xml_file: str = "hopper.xml"
    healthy_state_range: tuple[float, float] = (-100.0, 100.0)
    healthy_z_range: tuple[float, float] = (0.7, float("inf"))
    healthy_angle_range: tuple[float, float] = (-0.2, 0.2)

    def healthy(self, worlds: Worlds) -> Mask:
        state = rows(worlds.qpos, worlds.qvel)[:, 2:]
        bounded = within(state, self.healthy_state_range).all(axis=1)
        return super().healthy(worlds) & bounded


@dataclass(frozen=True, kw_only=True)
class Ant(Locomotion):
    """A robot with four legs walks forward.

    Parameters
    ----------
    contact_cost_weight : float
        Weight of the squared external forces on bodies, clipped to `contact_force_range`.
    main_body : int or str
        Body whose speed is rewarded.
    include_cfrc_ext_in_observation : bool
        Observe the clipped external forces.
    """

    xml_file: str = "ant.xml"
    frame_skip: int = 5
    ctrl_cost_weight: float = 0.5
    contact_cost_weight: float = 5e-4
    healthy_reward: float = 1.0
    main_body: int | str = 1
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (0.2, 1.0)
    contact_force_range: tuple[float, float] = (-1.0, 1.0)
    include_cfrc_ext_in_observation: bool = True

    planar: ClassVar[int] = 2
    fields: ClassVar[tuple[str, ...]] = ("xpos", "cfrc_ext")

    def initial_state(self, rng: np.random.Generator, worlds: Worlds) -> tuple[Array, Array]:
        noise = self.reset_noise_scale
        qpos = worlds.init_qpos + rng.uniform(-noise, noise, worlds.init_qpos.size)
        qvel = worlds.init_qvel + noise * rng.standard_normal(worlds.init_qvel.size)
        return qpos, qvel

    def measure(self, worlds: Worlds) -> Array:
        body = self.main_body if isinstance(self.main_body, int) else worlds.body[self.main_body]
        return worlds.field["xpos"][:, body, :2].copy()

    def contact_forces(self, worlds: Worlds) -> Array:
        """Clipped external forces on bodies, (n, nbody, 6)."""
        return np.clip(worlds.field["cfrc_ext"], *self.contact_force_range)

    def healthy(self, worlds: Worlds) -> Mask:
        """True for worlds whose robot stands, (n,)."""
        finite = np.isfinite(worlds.qpos).all(axis=1) & np.isfinite(worlds.qvel).all(axis=1)
        low, high = self.healthy_z_range
        return finite & (worlds.qpos[:, 2] >= low) & (worlds.qpos[:, 2] <= high)

    def observe(self, worlds: Worlds) -> Array:
        seen = (self.positions(worlds), worlds.qvel)
        if self.include_cfrc_ext_in_observation:
            return rows(*seen, self.contact_forces(worlds)[:, 1:])
        return rows(*seen)

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        reward, info = super().reward(worlds, before, action)
        survive = self.healthy_reward * self.healthy(worlds)
        contact = self.contact_cost_weight * squares(self.contact_forces(worlds))
        parts = {"reward_survive": survive, "reward_contact": -contact}
        return reward + survive - contact, info | parts

    def terminated(self, worlds: Worlds) -> Mask:
        return ~self.healthy(worlds) & self.terminate_when_unhealthy


@dataclass(frozen=True, kw_only=True)
class Humanoid(Locomotion):
    """A humanoid walks forward.

    Parameters
    ----------
    contact_cost_weight, contact_cost_range
        Weight of the squared external forces on bodies, and the range of the cost.
    include_cinert_in_observation, include_cvel_in_observation : bool
        Observe the inertias and the velocities of bodies.
    include_qfrc_actuator_in_observation, include_cfrc_ext_in_observation : bool
        Observe the forces of actuators and the external forces.
    """

    xml_file: str = "humanoid.xml"
    frame_skip: int = 5
    forward_reward_weight: float = 1.25
    contact_cost_weight: float = 5e-7
    contact_cost_range: tuple[float, float] = (-np.inf, 10.0)
    healthy_reward: float = 5.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (1.0, 2.0)
    reset_noise_scale: float = 1e-2
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True
    include_cfrc_ext_in_observation: bool = True

    planar: ClassVar[int] = 2
    fields: ClassVar[tuple[str, ...]] = (
        "xipos",
        "cinert",
        "cvel",
        "qfrc_actuator",
        "cfrc_ext",
        "ten_length",
        "ten_velocity",
    )

    def measure(self, worlds: Worlds) -> Array:
        mass = worlds.body_mass
        centre: Array = np.einsum("b,nbi->ni", mass, worlds.field["xipos"])[:, :2]
        centre /= mass.sum()
        return centre

    def control_cost(self, worlds: Worlds, action: Array) -> Array:
        return self.ctrl_cost_weight * squares(worlds.ctrl)

    def contact_cost(self, worlds: Worlds) -> Array:
        """Bounded cost of the external forces, (n,)."""
        cost = self.contact_cost_weight * squares(worlds.field["cfrc_ext"])
        return np.clip(cost, *self.contact_cost_range)

    def healthy(self, worlds: Worlds) -> Mask:
        """True for worlds whose robot stands, (n,)."""
        return within(worlds.qpos[:, 2], self.healthy_z_range)

    def observe(self, worlds: Worlds) -> Array:
        field = worlds.field
        seen = [self.positions(worlds), worlds.qvel]
        if self.include_cinert_in_observation:
            seen.append(field["cinert"][:, 1:])
        if self.include_cvel_in_observation:
            seen.append(field["cvel"][:, 1:])
        if self.include_qfrc_actuator_in_observation:
            seen.append(field["qfrc_actuator"][:, 6:])
        if self.include_cfrc_ext_in_observation:
            seen.append(field["cfrc_ext"][:, 1:])
        return rows(*seen)

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        reward, info = super().reward(worlds, before, action)
        survive = self.healthy_reward * self.healthy(worlds)
        contact = self.contact_cost(worlds)
        parts = {"reward_survive": survive, "reward_contact": -contact}
        return reward + survive - contact, info | parts

    def terminated(self, worlds: Worlds) -> Mask:
        return ~self.healthy(worlds) & self.terminate_when_unhealthy

    def facts(self, worlds: Worlds) -> dict[str, Array]:
        tendons = {
            "tendon_length": worlds.field["ten_length"].reshape(len(worlds.qpos), -1).copy(),
            "tendon_velocity": worlds.field["ten_velocity"].reshape(len(worlds.qpos), -1).copy(),
        }
        return super().facts(worlds) | tendons


@dataclass(frozen=True, kw_only=True)
class HumanoidStandup(Humanoid):
    """A humanoid on its back stands up: the height of its pelvis is rewarded.

    Parameters
    ----------
    uph_cost_weight : float
        Without effect, as in Gymnasium's task.
    impact_cost_weight, impact_cost_range
        Weight of the squared external forces on bodies, and the range of the cost.
    """

    xml_file: str = "humanoidstandup.xml"
    uph_cost_weight: float = 1.0
    impact_cost_weight: float = 0.5e-6
    impact_cost_range: tuple[float, float] = (-np.inf, 10.0)

    def reward(
        self, worlds: Worlds, before: Array, action: Array
    ) -> tuple[Array, dict[str, Array]]:
        up = worlds.qpos[:, 2] / worlds.timestep
        control = self.control_cost(worlds, action)
        impact = self.impact_cost_weight * squares(worlds.field["cfrc_ext"])
        impact = np.clip(impact, *self.impact_cost_range)
        parts = {"reward_linup": up, "reward_quadctrl": -control, "reward_impact": -impact}
        return up - control - impact + 1, parts | self.facts(worlds)

    def terminated(self, worlds: Worlds) -> Mask:
        return np.zeros(len(worlds.qpos), dtype=bool)

    def facts(self, worlds: Worlds) -> dict[str, Array]:
        facts = super().facts(worlds)
        del facts["distance_from_origin"]
        return facts | {"z_distance_from_origin": worlds.qpos[:, 2] - worlds.init_qpos[2]}


def within(values: Array, bounds: tuple[float, float]) -> Mask:
    """True where a value lies strictly between the bounds; NaN does not."""
    result: Mask = (values > bounds[0]) & (values < bounds[1])
    return result
