"""The eleven tasks of Gymnasium's MuJoCo v5 suite by name."""

from __future__ import annotations

import difflib
from typing import Any, NamedTuple

from .balance import InvertedDoublePendulum, InvertedPendulum, Pusher, Reacher
from .locomotion import Ant, HalfCheetah, Hopper, Humanoid, HumanoidStandup, Swimmer, Walker2d
from .task import Task


class Entry(NamedTuple):
    """A task of the suite, the length of its episodes, and the return that counts as solved."""

    task: type[Task]
    max_episode_steps: int
    reward_threshold: float | None


SUITE: dict[str, Entry] = {
    "Ant": Entry(Ant, 1000, 6000.0),
    "HalfCheetah": Entry(HalfCheetah, 1000, 4800.0),
    "Hopper": Entry(Hopper, 1000, 3800.0),
    "Humanoid": Entry(Humanoid, 1000, None),
    "HumanoidStandup": Entry(HumanoidStandup, 1000, None),
    "InvertedDoublePendulum": Entry(InvertedDoublePendulum, 1000, 9100.0),
    "InvertedPendulum": Entry(InvertedPendulum, 1000, 950.0),
    "Pusher": Entry(Pusher, 100, 0.0),
    "Reacher": Entry(Reacher, 50, -3.75),
    "Swimmer": Entry(Swimmer, 1000, 360.0),
    "Walker2d": Entry(Walker2d, 1000, None),
}


def make_task(task: str | Task, **parameters: Any) -> Task:
    """The task of that name with the given parameters, or the task itself."""
    if isinstance(task, Task):
        if parameters:
            raise TypeError(f"unexpected arguments with a task of one's own: {sorted(parameters)}")
        return task
    if task not in SUITE:
        near = difflib.get_close_matches(task, SUITE, 1, 0)
        raise KeyError(f"no task {task!r}, did you mean {near[0]!r}? There are {list(SUITE)}")
    return SUITE[task].task(**parameters)
