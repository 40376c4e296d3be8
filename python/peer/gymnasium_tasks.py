"""Gymnasium's eleven MuJoCo tasks from their own code, under every law.

    python python/peer/gymnasium_tasks.py [steps]

Each task is made with tribo.mujoco in place of mujoco, stepped with random actions, and rendered once.
"""

import sys
import warnings

import numpy as np

import tribo.mujoco

tribo.mujoco.install()
import gymnasium  # noqa: E402

TASKS = [
    "Ant",
    "HalfCheetah",
    "Hopper",
    "Humanoid",
    "HumanoidStandup",
    "InvertedDoublePendulum",
    "InvertedPendulum",
    "Pusher",
    "Reacher",
    "Swimmer",
    "Walker2d",
]
LAWS = ["soft", "ncp", "ccp", "lcp", "raisim", "comfree", "viscoelastic"]


def run(task: str, law: str, steps: int) -> float:
    """Mean reward of a step of random actions."""
    env = gymnasium.make(f"{task}-v5")
    env.reset(seed=0)
    env.action_space.seed(0)
    env.unwrapped.model.opt.law = law
    rewards = []
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        if not np.all(np.isfinite(observation)):
            raise RuntimeError("an observation is not finite")
        rewards.append(float(reward))
        if terminated or truncated:
            env.reset()
    env.close()
    return float(np.mean(rewards))


def main() -> int:
    """Print the table; the exit status is the number of failures."""
    warnings.simplefilter("ignore")
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    failures = []
    print(f"{'task':24}" + "".join(f"{law:>13}" for law in LAWS))
    for task in TASKS:
        cells = []
        for law in LAWS:
            try:
                cells.append(f"{run(task, law, steps):13.4f}")
            except Exception as error:
                cells.append(f"{'failed':>13}")
                failures.append(f"{task} under {law}: {type(error).__name__}: {error}")
        print(f"{task:24}" + "".join(cells), flush=True)
    print("\n".join(failures))
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
