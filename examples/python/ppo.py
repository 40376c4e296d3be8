"""PPO on two tasks under several laws: the learning curve, and how far its steps were from the exact law.

    python examples/python/ppo.py --tasks InvertedPendulum Hopper --laws ncp soft --steps 200000

Needs `pip install tribo[gym] torch`. Writes a table and, with matplotlib, a figure. A policy that
lives on errors of the simulation shows a high residual of the exact law beside its return.
"""

import argparse

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

import tribo.gym  # noqa: F401 (registers Tribo/...)


class Agent(nn.Module):
    """Two small networks: the mean of the action, and the value of the state."""

    def __init__(self, observations, actions):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 64),
                                   nn.Tanh(), nn.Linear(64, actions))
        self.critic = nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 64),
                                    nn.Tanh(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(torch.full((actions,), -0.5))
        for layer, gain in (*((m, 2**0.5) for m in self.modules() if isinstance(m, nn.Linear)),
                            (self.actor[-1], 0.01), (self.critic[-1], 1.0)):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def policy(self, observation):
        return Normal(self.actor(observation), self.log_std.exp())


class Normaliser:
    """Mean and variance of all observations so far."""

    def __init__(self, size):
        self.mean, self.var, self.count = np.zeros(size), np.ones(size), 1e-4

    def __call__(self, x):
        n, mean, var = len(x), x.mean(axis=0), x.var(axis=0)
        total, delta = self.count + n, mean - self.mean
        self.var = (self.var * self.count + var * n + delta**2 * self.count * n / total) / total
        self.mean, self.count = self.mean + delta * n / total, total
        return torch.as_tensor(np.clip((x - self.mean) / np.sqrt(self.var + 1e-8), -10, 10),
                               dtype=torch.float32)


def train(task, law, steps, worlds, seed, horizon=128, gamma=0.99, lam=0.95, clip=0.2):
    """Train one agent; returns rows (steps, mean return, share of inexact steps, worst residual)."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec(f"Tribo/{task}-v0", num_envs=worlds, law=law,
                              autoreset_mode="SameStep")
    size, actions = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    low, high = envs.single_action_space.low, envs.single_action_space.high
    agent, normalise = Agent(size, actions), Normaliser(size)
    optimiser = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
    seen = normalise(envs.reset(seed=seed)[0])
    total, finished, curve = np.zeros(worlds), [], []

    for update in range(steps // (worlds * horizon)):
        obs, act, logp, reward, done, value, residual = ([] for _ in range(7))
        for _ in range(horizon):
            with torch.no_grad():
                policy = agent.policy(seen)
                action = policy.sample()
                value.append(agent.critic(seen)[:, 0])
            centre, half = (high + low) / 2, (high - low) / 2
            control = np.clip(centre + half * action.numpy(), low, high)
            after, r, terminated, truncated, info = envs.step(control)
            total += r
            bonus = np.zeros(worlds)
            if truncated.any():  # what the cut episode would still have earned
                with torch.no_grad():
                    final = torch.as_tensor((info["final_obs"] - normalise.mean)
                                            / np.sqrt(normalise.var + 1e-8), dtype=torch.float32)
                    bonus = gamma * agent.critic(final)[:, 0].numpy() * truncated
            ended = terminated | truncated
            finished += total[ended].tolist()
            total[ended] = 0
            certificate = info["residual_exact"]
            if "final_info" in info:
                certificate = np.where(ended, info["final_info"]["residual_exact"], certificate)
            residual.append(certificate)
            obs.append(seen), act.append(action)
            logp.append(policy.log_prob(action).sum(-1))
            reward.append(torch.as_tensor(r + bonus, dtype=torch.float32))
            done.append(torch.as_tensor(ended, dtype=torch.float32))
            seen = normalise(after)

        # Advantages, backwards in time.
        with torch.no_grad():
            following, advantage = agent.critic(seen)[:, 0], torch.zeros(worlds)
        advantages = [None] * horizon
        for t in reversed(range(horizon)):
            delta = reward[t] + gamma * following * (1 - done[t]) - value[t]
            advantage = delta + gamma * lam * (1 - done[t]) * advantage
            advantages[t], following = advantage, value[t]
        old = [torch.cat(x) for x in (obs, act, logp, advantages, value)]

        # Ten passes over the data in four parts each.
        for _ in range(10):
            for part in torch.randperm(worlds * horizon).chunk(4):
                o, a, lp, adv, v = (x[part] for x in old)
                policy = agent.policy(o)
                ratio = (policy.log_prob(a).sum(-1) - lp).exp()
                gain = (adv - adv.mean()) / (adv.std() + 1e-8)
                surrogate = torch.minimum(gain * ratio, gain * ratio.clamp(1 - clip, 1 + clip))
                error = (agent.critic(o)[:, 0] - (adv + v)).pow(2)
                loss = 0.5 * error.mean() - surrogate.mean()
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimiser.step()

        inexact = np.array(residual)
        inexact = inexact[np.isfinite(inexact)]
        share = float((inexact > 1e-3).mean()) if inexact.size else float("nan")
        worst = float(inexact.max()) if inexact.size else float("nan")
        recent = float(np.mean(finished[-50:])) if finished else float("nan")
        curve.append(((update + 1) * worlds * horizon, recent, share, worst))
        print(f"\r{task:20s} {law:12s} {curve[-1][0]:8d} steps  return {recent:8.1f}  "
              f"steps off the exact law by more than 1e-3: {share:6.1%}", end="", flush=True)
    print()
    envs.close()
    return curve


def draw(curves, path):
    """Learning curves per task and law, and below them the share of inexact steps."""
    import matplotlib.pyplot as plt

    tasks = list(dict.fromkeys(task for task, _ in curves))
    figure, axes = plt.subplots(2, len(tasks), sharex="col", squeeze=False,
                                figsize=(5 * len(tasks), 6))
    for (task, law), curve in curves.items():
        step, value, share, _ = np.array(curve).T
        column = tasks.index(task)
        axes[0, column].plot(step, value, label=law)
        axes[1, column].plot(step, 100 * share, label=law)
        axes[0, column].set(title=task, ylabel="return")
        axes[1, column].set(xlabel="steps", ylabel="steps off by > 1e-3, %")
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=["InvertedPendulum", "Hopper"])
    parser.add_argument("--laws", nargs="+", default=["ncp", "soft"])
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--worlds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", help="file to draw the curves to (needs matplotlib)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    curves = {(task, law): train(task, law, options.steps, options.worlds, options.seed)
              for task in options.tasks for law in options.laws}
    print(f"{'task':20s} {'law':12s} {'return':>9s} {'off the exact law':>18s} {'worst':>8s}")
    for (task, law), curve in curves.items():
        _, value, share, worst = curve[-1]
        print(f"{task:20s} {law:12s} {value:9.1f} {share:18.1%} {worst:8.1e}")
    if options.figure:
        draw(curves, options.figure)
