"""Gymnasium environments on batches: the eleven tasks of its MuJoCo v5 suite, under every law.

`import tribo.gym` registers `Tribo/Ant-v0`, `Tribo/HalfCheetah-v0`, ... :

>>> import gymnasium, tribo.gym
>>> env = gymnasium.make("Tribo/Ant-v0", law="ncp")
>>> envs = gymnasium.make_vec("Tribo/Ant-v0", num_envs=256, law="ncp")

A task of one's own is a subclass of `Task`, given to `TriboVectorEnv` or `TriboEnv`.
"""

from __future__ import annotations

try:
    import gymnasium
except ImportError as error:
    raise ImportError("tribo.gym needs Gymnasium: pip install gymnasium") from error

from .env import TriboEnv
from .suite import SUITE, make_task
from .task import Task, Worlds
from .vector import TriboVectorEnv

__all__ = ["SUITE", "Task", "TriboEnv", "TriboVectorEnv", "Worlds", "make_task"]

for _name, _entry in SUITE.items():
    if f"Tribo/{_name}-v0" not in gymnasium.registry:
        gymnasium.register(
            id=f"Tribo/{_name}-v0",
            entry_point="tribo.gym.env:TriboEnv",
            vector_entry_point="tribo.gym.vector:TriboVectorEnv",
            max_episode_steps=_entry.max_episode_steps,
            reward_threshold=_entry.reward_threshold,
            kwargs={"task": _name},
        )
