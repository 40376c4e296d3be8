"""Logged motions, cut into intervals."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core


@dataclass
class Log:
    """A recorded motion, sampled at equal distances that are a multiple of the model's time step.

    Parameters
    ----------
    times : array_like
        s, shape (K,).
    qpos, qvel, act : array_like, optional
        States, shape (K, nq), (K, nv), (K, na). With `sensordata` only those where intervals start are used;
        without rows for all times give those of the first: shape (1, nq), (1, nv), (1, na).
    ctrl : array_like, optional
        Controls, held from each time to the next, shape (K, nu) or (K - 1, nu).
    sensordata : array_like, optional
        Sensor values at each time, while its control acts; shape (K, nsensordata). NaN: not measured.
        If given, they are what is fitted, else qpos and qvel.
    """

    times: Any
    qpos: Any = None
    qvel: Any = None
    act: Any = None
    ctrl: Any = None
    sensordata: Any = None


# ---- differences of states -----------------------------------------------------------------------


def _difference(m: Any, to: Any, of: Any) -> Any:
    """Displacement from `to` to `of` in coordinates of qvel, shape (..., nv)."""
    out = np.empty((*of.shape[:-1], int(m.nv)))
    for j in range(int(m.njnt)):
        at, dof, kind = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), int(m.jnt_type[j])
        straight = {0: 3, 1: 0}.get(kind, 1)
        out[..., dof : dof + straight] = of[..., at : at + straight] - to[..., at : at + straight]
        if kind > 1:
            continue
        a, b = to[..., at + straight : at + straight + 4], of[..., at + straight : at + straight + 4]
        w = np.sum(a * b, axis=-1)
        v = a[..., :1] * b[..., 1:] - b[..., :1] * a[..., 1:] - np.cross(a[..., 1:], b[..., 1:])
        v, w = np.where(w[..., None] < 0, -v, v), np.abs(w)
        sine = np.linalg.norm(v, axis=-1)
        angle = 2 * np.arctan2(sine, w)
        ratio = np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 2.0)
        out[..., dof + straight : dof + straight + 3] = v * ratio[..., None]
    return out


def _move(m: Any, qpos: Any, by: Any) -> Any:
    """Positions moved by displacements, shape (n, nq)."""
    return np.array([_core.integrate_pos(m, q, d, 1.0) for q, d in zip(qpos, by, strict=True)]).reshape(
        qpos.shape
    )


# ---- intervals -----------------------------------------------------------------------------------


class _Signal:
    """Controls as a function of time: held values, averaged over steps, so that delays have derivatives."""

    def __init__(self, times: Any, ctrl: Any) -> None:
        self.times, self.ctrl = times, ctrl
        self.area = np.concatenate(
            [np.zeros((1, ctrl.shape[1])), np.cumsum(ctrl[:-1] * np.diff(times)[:, None], 0)]
        )

    def value(self, t: Any) -> Any:
        k = np.clip(np.searchsorted(self.times, t + 1e-9, side="right") - 1, 0, len(self.times) - 1)
        return self.ctrl[k]

    def integral(self, t: Any) -> Any:
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 1)
        return self.area[k] + self.ctrl[k] * (t - self.times[k])[..., None]

    def mean(self, t: Any, h: float, delay: Any) -> tuple[Any, Any]:
        """Mean over [t, t + h] of the signal delayed by `delay` (nu,), and its derivative by the delay."""
        value, slope = self.value(t), np.zeros((*t.shape, self.ctrl.shape[1]))
        for u in np.flatnonzero(delay >= 0):
            begin, end = t - delay[u], t + h - delay[u]
            value[..., u] = (self.integral(end)[..., u] - self.integral(begin)[..., u]) / h
            # A delay grows: what counts is the signal just before both ends.
            slope[..., u] = -(self.value(end - 1e-8)[..., u] - self.value(begin - 1e-8)[..., u]) / h
        return value, slope


@dataclass
class _Intervals:
    """Logged intervals, each a short trajectory from a logged state."""

    qpos: Any  # where they start: (N, nq), (N, nv), (N, na)
    qvel: Any
    act: Any
    target_q: Any  # (N, H, nq), (N, H, nv), NaN: no sample
    target_v: Any
    target_s: Any  # (N, H + 1, nsensordata) or None
    times: Any  # (N, H) of the samples
    step_times: Any  # (N, H * substeps) of the steps
    signal: list[_Signal]
    of: Any  # (N,) log
    substeps: int


def _uniform(log: Log, h: float) -> tuple[Any, int]:
    times = np.asarray(log.times, dtype=float)
    if times.ndim != 1 or len(times) < 2:
        raise ValueError("log.times: expected two or more times")
    dt = float(np.median(np.diff(times)))
    substeps = round(dt / h)
    if (
        substeps < 1
        or np.max(np.abs(times - times[0] - dt * np.arange(len(times)))) > 1e-3 * h
        or abs(dt - substeps * h) > 1e-3 * h
    ):
        raise ValueError(
            f"log.times: expected equal distances that are a multiple of the time step {h} s, got {dt} s; "
            "resample the log"
        )
    return times, substeps


def _cut(m: Any, logs: Sequence[Log], horizon: int | None) -> _Intervals:
    h = float(m.opt.timestep)
    made: list[Any] = []
    signals = []
    substeps = 0
    sensors = any(log.sensordata is not None for log in logs)
    longest = max(len(np.asarray(log.times)) for log in logs) - 1
    length = longest if horizon is None else min(horizon, longest)
    for index, log in enumerate(logs):
        times, count = _uniform(log, h)
        if substeps not in (0, count):
            raise ValueError("logs: expected the same distance of samples in all")
        substeps = count
        K = len(times)
        q = np.atleast_2d(np.asarray(log.qpos, dtype=float)) if log.qpos is not None else np.array([m.qpos0])
        v = np.atleast_2d(np.asarray(log.qvel, dtype=float)) if log.qvel is not None else np.zeros((1, m.nv))
        a = (
            np.atleast_2d(np.asarray(log.act, dtype=float))
            if log.act is not None
            else np.zeros((len(q), m.na))
        )
        for name, array, width in (("qpos", q, m.nq), ("qvel", v, m.nv), ("act", a, m.na)):
            if array.shape[1:] != (width,) or len(array) not in (1, K):
                raise ValueError(f"log.{name}: expected shape ({K}, {width}), got {array.shape}")
        if not sensors and (len(q) != K or len(v) != K):
            raise ValueError("log: qpos and qvel at all times, or sensordata, are needed")
        u = np.zeros((K, m.nu)) if log.ctrl is None else np.asarray(log.ctrl, dtype=float).reshape(-1, m.nu)
        if len(u) == K - 1:
            u = np.concatenate([u, u[-1:]])
        if len(u) != K:
            raise ValueError(f"log.ctrl: expected shape ({K}, {m.nu}) or ({K - 1}, {m.nu}), got {u.shape}")
        signals.append(_Signal(times, u))
        whole = min(len(q), len(v)) != K
        size = K - 1 if whole else length
        for first in range(0, K - 1, size):
            rows = np.arange(first + 1, first + size + 1)
            inside = rows < K
            rows = np.minimum(rows, K - 1)
            pad = np.where(inside, 1.0, np.nan)[:, None]
            s = None
            if sensors:
                values = np.asarray(log.sensordata, dtype=float).reshape(K, m.nsensordata)
                s = np.concatenate(
                    [values[first : first + 1] * (1.0 if first == 0 else np.nan), values[rows] * pad]
                )
            made.append(
                (
                    q[min(first, len(q) - 1)],
                    v[min(first, len(v) - 1)],
                    a[min(first, len(a) - 1)],
                    q[rows] * pad if len(q) == K else np.full((size, m.nq), np.nan),
                    v[rows] * pad if len(v) == K else np.full((size, m.nv), np.nan),
                    s,
                    np.where(inside, times[rows], np.nan),
                    times[first] + h * np.arange(size * substeps),
                    index,
                )
            )
    if len({len(one[6]) for one in made}) > 1:
        raise ValueError("logs with sensors and one initial state each: expected the same length")
    columns: list[Any] = list(zip(*made, strict=True))
    return _Intervals(
        qpos=np.array(columns[0]),
        qvel=np.array(columns[1]),
        act=np.array(columns[2]),
        target_q=np.array(columns[3]),
        target_v=np.array(columns[4]),
        target_s=np.array(columns[5]) if sensors else None,
        times=np.array(columns[6]),
        step_times=np.array(columns[7]),
        signal=signals,
        of=np.array(columns[8]),
        substeps=substeps,
    )


def _few(cut: _Intervals, unknowns: int) -> _Intervals | None:
    """Some of many intervals, spread evenly; None if there are not many."""
    N = len(cut.qpos)
    count = max(8, N // 20, unknowns)
    if count > N // 4:
        return None
    rows = np.linspace(0, N - 1, count).astype(int)
    return dataclasses.replace(
        cut,
        **{
            name: getattr(cut, name)[rows]
            for name in ("qpos", "qvel", "act", "target_q", "target_v", "times", "step_times", "of")
        },
    )
