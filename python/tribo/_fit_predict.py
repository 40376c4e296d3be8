"""Predictions of intervals and their derivatives by the unknowns."""

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._batch import Batch
from ._errors import Error
from ._fit_log import _difference, _Intervals
from ._fit_parameters import _CTRL, _GAIN, _INERTIAL, _inertial_weights, _Quantity

_WORLDS = 2048  # worlds of one batch


class _Predictor:
    """Predictions of intervals and their derivatives by the unknowns."""

    def __init__(
        self,
        m: Any,
        unknowns: list[_Quantity],
        cut: _Intervals,
        threads: int,
        tolerance: float,
        settings: dict[str, Any],
    ) -> None:
        self.m = copy.copy(m)
        self.m.opt.solve_tolerance = min(float(m.opt.solve_tolerance), tolerance)
        self.m.opt.tolerance = min(float(m.opt.tolerance), 1e-2 * tolerance)
        self.unknowns, self.cut, self.threads, self.settings = unknowns, cut, threads, settings
        self.steps = self.linearised = 0
        self.horizon = cut.target_q.shape[1]
        self.nstep = self.horizon * cut.substeps
        self.sensors = cut.target_s is not None
        self._batches: dict[int, Batch] = {}
        analytic = [not self.sensors and (bool(u.terms) or bool(u.delays)) for u in unknowns]
        self.analytic = np.array(analytic, dtype=bool)
        self.features = [
            None
            if u.basis is None
            else np.array(
                [
                    np.asarray(u.basis(q, v), dtype=float)[u.function]
                    for q, v in zip(cut.qpos, cut.qvel, strict=True)
                ]
            )
            for u in unknowns
        ]

    def batch(self, n: int) -> Batch:
        if n not in self._batches:
            b = Batch(self.m, n, self.threads)
            for name in {e[0] for u in self.unknowns for e in u.entries}:
                b.expand(name)
            self._batches[n] = b
        return self._batches[n]

    def put(self, b: Batch, values: Any, rows: Any, worlds: Any) -> None:
        """Give worlds the values (one row of unknowns for each), for the intervals `rows`."""
        sums: dict[tuple[str, tuple[int, ...]], Any] = {}
        for k, u in enumerate(self.unknowns):
            for name, index, factor in u.entries:
                by_function = self.features[k]
                part = factor * values[:, k] * (1.0 if by_function is None else by_function[rows])
                key = (name, index)
                sums[key] = part if u.basis is None or u.function == 0 else sums[key] + part
        for (name, index), value in sums.items():
            array = b[name]
            array[(worlds, *index)] = value

    def controls(self, values: Any, rows: Any) -> tuple[Any, Any]:
        """Controls of intervals for one set of values, and their derivatives by each delay."""
        m, cut = self.m, self.cut
        delayed = [k for k, u in enumerate(self.unknowns) if u.delays]
        delay = np.full(int(m.nu), -1.0)
        for k in delayed:
            delay[self.unknowns[k].delays] = max(values[k], 0.0)
        t = cut.step_times[rows, : self.nstep]
        ctrl, slope = np.empty((*t.shape, m.nu)), np.empty((*t.shape, m.nu))
        for log in np.unique(cut.of[rows]):
            mine = cut.of[rows] == log
            ctrl[mine], slope[mine] = cut.signal[log].mean(t[mine], float(m.opt.timestep), delay)
        by = np.zeros((*t.shape, len(delayed), m.nu))
        for column, k in enumerate(delayed):
            by[..., column, self.unknowns[k].delays] = slope[..., self.unknowns[k].delays]
        return ctrl, by

    def terms(self, values: Any) -> list[Any]:
        """What the compiled part differentiates by; bodies together."""
        now = {
            (name, index): factor * values[k]
            for k, u in enumerate(self.unknowns)
            if u.basis is None
            for name, index, factor in u.entries
        }
        terms: list[Any] = []
        delayed = 0
        for k, u in enumerate(self.unknowns):
            if u.delays:
                if self.analytic[k]:
                    terms.append((k, _CTRL, delayed, []))
                delayed += 1
            if not self.analytic[k]:
                continue
            quantity = u.name.split(".")[-1]
            for kind, index in u.terms:
                weight: list[float] = []
                if kind == _INERTIAL:
                    weight = _inertial_weights(self.m, quantity, index, now)
                if kind == _GAIN:
                    weight = {
                        "kp": [1.0, -1.0, 0, 0],
                        "kv": [0, 0, -1.0, 0],
                        "gain": [1.0, 0, 0, 0],
                        "bias": [0, 0, 0, 1.0],
                    }[quantity]
                terms.append((k, kind, index, weight))
        return sorted(terms, key=lambda t: (t[1], t[2]))

    def differenced(
        self, values: Any, rows: Any, which: Any, qpos: Any, qvel: Any, larger: float = 1.0
    ) -> tuple[Any, ...]:
        """Predictions of the intervals `rows`, differences by the unknowns `which`, certificates."""
        cut, per = self.cut, 1 + len(which)
        eps = np.array([1e-5 * larger * self.unknowns[k].scale for k in which])
        for i, k in enumerate(which):
            # Steps away from an upper bound.
            if values[k] + eps[i] > self.unknowns[k].bounds[1]:
                eps[i] = -eps[i]
        wide = 2 * self.m.nv + self.m.na if not self.sensors else self.m.nsensordata
        samples = self.horizon + 1 if self.sensors else self.horizon
        base = {
            "qpos": np.empty((len(rows), samples, self.m.nq)),
            "qvel": np.empty((len(rows), samples, self.m.nv)),
            "act": np.empty((len(rows), samples, self.m.na)),
            "sensordata": np.empty((len(rows), samples, self.m.nsensordata)),
        }
        by = np.zeros((len(rows), samples, wide, len(which)))
        exact = np.full((len(rows), samples), np.nan)
        at_once = max(1, _WORLDS // per)
        nstep = self.nstep + (1 if self.sensors else 0)
        record = (
            ("sensordata", "residual_exact") if self.sensors else ("qpos", "qvel", "act", "residual_exact")
        )
        every = 1 if self.sensors else cut.substeps
        for begin in range(0, len(rows), at_once):
            chunk = rows[begin : begin + at_once]
            n = len(chunk) * per
            b = self.batch(n)
            b.certify_every = every
            mine = np.repeat(chunk, per)
            local = np.repeat(np.arange(begin, begin + len(chunk)), per)
            all_values = np.tile(values, (n, 1))
            ctrl = np.repeat(self.controls(values, chunk)[0], per, axis=0)
            for i, k in enumerate(which):
                all_values[1 + i :: per, k] += eps[i]
                if self.unknowns[k].delays:
                    moved = values.copy()
                    moved[k] += eps[i]
                    ctrl[1 + i :: per] = self.controls(moved, chunk)[0]
            self.put(b, all_values, mine, np.arange(n))
            if self.sensors:
                ctrl = np.concatenate([ctrl, ctrl[:, -1:]], axis=1)
            found = b.rollout(
                nstep,
                record=record,
                every=every,
                qpos=qpos[local],
                qvel=qvel[local],
                act=cut.act[mine],
                ctrl=ctrl,
            )
            self.steps += n * nstep
            if self.sensors:
                found = {name: a[:, :: cut.substeps] for name, a in found.items()}
                whole = found["sensordata"]
            else:
                whole = None
            here = slice(begin, begin + len(chunk))
            for name in base:
                if name in found:
                    base[name][here] = found[name][::per]
            exact[here] = found["residual_exact"][::per]
            for i in range(len(which)):
                if whole is not None:
                    by[here, ..., i] = (whole[1 + i :: per] - whole[::per]) / eps[i]
                else:
                    by[here, ..., : self.m.nv, i] = (
                        _difference(self.m, found["qpos"][::per], found["qpos"][1 + i :: per]) / eps[i]
                    )
                    for name, part in (
                        ("qvel", slice(self.m.nv, 2 * self.m.nv)),
                        ("act", slice(2 * self.m.nv, wide)),
                    ):
                        by[here, ..., part, i] = (found[name][1 + i :: per] - found[name][::per]) / eps[i]
        return base, by, exact

    def linear(
        self, values: Any, rows: Any, which: Any, states: bool, qpos: Any, qvel: Any
    ) -> tuple[Any, ...]:
        """The same by analytic derivatives, with derivatives by the initial state if `states`."""
        cut, nx = self.cut, 2 * self.m.nv + self.m.na
        column = {k: i for i, k in enumerate(which)}
        terms = [(column[k], *rest) for k, *rest in self.terms(values) if k in column]
        each = max(1, self.nstep * nx * (len(which) + (nx if states else 0)))
        at_once = int(max(1, min(_WORLDS, 8_000_000 // each)))
        parts: list[Any] = []
        for begin in range(0, len(rows), at_once):
            chunk = rows[begin : begin + at_once]
            n = len(chunk)
            b = self.batch(n)
            here = slice(begin, begin + n)
            self.put(b, np.tile(values, (n, 1)), chunk, np.arange(n))
            ctrl, by_ctrl = self.controls(values, chunk)
            found = _core._sensitivities(
                b,
                qpos[here],
                qvel[here],
                cut.act[chunk],
                ctrl,
                self.nstep,
                len(which),
                terms,
                np.ascontiguousarray(by_ctrl) if by_ctrl.size else None,
                states,
                self.settings,
            )
            self.steps += n * self.nstep
            self.linearised += n * self.nstep
            end = slice(cut.substeps - 1, None, cut.substeps)
            kink = found["kink"].reshape(n, -1, cut.substeps).any(-1)
            parts.append(
                (
                    {k: found[k][:, end] for k in ("qpos", "qvel", "act")},
                    found["by_parameters"][:, end],
                    found["residual_exact"][:, end],
                    kink,
                    found["by_state"][:, end] if states else None,
                )
            )
        base = {k: np.concatenate([p[0][k] for p in parts]) for k in ("qpos", "qvel", "act")}
        return (
            base,
            *(np.concatenate([p[i] for p in parts]) for i in (1, 2, 3)),
            np.concatenate([p[4] for p in parts]) if states else None,
        )

    def check(self, values: Any, methods: list[str], samples: int = 24) -> None:
        """Compare analytic derivatives with differences on some intervals; others are not used."""
        which = np.flatnonzero(self.analytic)
        if not len(which):
            return
        N = len(self.cut.qpos)
        rows = np.unique(np.linspace(0, N - 1, min(samples, N)).astype(int))
        q, v = self.cut.qpos[rows], self.cut.qvel[rows]
        whole = self.horizon, self.nstep
        self.horizon = min(self.horizon, max(1, 2 * samples // len(rows)), 5)
        self.nstep = self.horizon * self.cut.substeps
        _, fast, _, kink, _ = self.linear(values, rows, which, False, q, v)
        _, slow, _ = self.differenced(values, rows, which, q, v)
        self.horizon, self.nstep = whole
        good = ~np.maximum.accumulate(kink, axis=1)
        for i, k in enumerate(which):
            a, b = fast[good][..., i], slow[good][..., i]
            worst = np.max(np.abs(a - b), initial=0.0)
            if worst > 1e-3 * np.max(np.abs(b), initial=0.0) + 1e-9 / self.unknowns[k].scale:
                self.analytic[k] = False
        for index in range(len(self.unknowns)):
            methods[index] = "analytic" if self.analytic[index] else "differences"

    def plain(self, values: Any, qpos: Any, qvel: Any) -> "_Evaluation":
        """Residuals only."""
        rows = np.arange(len(self.cut.qpos))
        try:
            base, J, exact = self.differenced(values, rows, np.arange(0), qpos, qvel)
        except Error:
            nothing = np.full((*self.cut.target_v.shape[:2], 2 * self.m.nv), math.inf)
            return _Evaluation(nothing, nothing[..., None], None, nothing[..., 0], nothing[..., 0])
        return _Evaluation(self.residual(base), J, None, exact, np.zeros(exact.shape, dtype=bool))

    def residual(self, base: Any) -> Any:
        """Predictions less measurements."""
        cut = self.cut
        if self.sensors:
            return base["sensordata"] - cut.target_s
        return np.concatenate(
            [_difference(self.m, cut.target_q, base["qpos"]), base["qvel"] - cut.target_v], axis=-1
        )

    def evaluate(self, values: Any, states: bool, qpos: Any, qvel: Any) -> "_Evaluation":
        """Residuals of all intervals and their derivatives."""
        cut, m = self.cut, self.m
        rows = np.arange(len(cut.qpos))
        fast, slow = np.flatnonzero(self.analytic), np.flatnonzero(~self.analytic)
        wide = m.nsensordata if self.sensors else 2 * m.nv + m.na
        samples = self.horizon + (1 if self.sensors else 0)
        J = np.zeros((len(rows), samples, wide, len(values)))
        kink = np.zeros((len(rows), samples), dtype=bool)
        by_state = None
        base: Any = None
        if len(slow) or self.sensors or not (len(fast) or states):
            base, J[..., slow], exact = self.differenced(values, rows, slow, qpos, qvel)
        if not self.sensors and (len(fast) or states):
            base, J[..., fast], exact, kink, by_state = self.linear(values, rows, fast, states, qpos, qvel)
        r = self.residual(base)
        if not self.sensors:
            J = J[..., : 2 * m.nv, :]
            if by_state is not None:
                by_state = by_state[..., : 2 * m.nv, : 2 * m.nv]
        return _Evaluation(r, J, by_state, exact, kink)


@dataclass
class _Evaluation:
    r: Any  # (N, H, channels), NaN: no sample
    J: Any  # (N, H, channels, P)
    by_state: Any  # (N, H, channels, 2 nv) or None
    exact: Any  # (N, H)
    kink: Any  # (N, H)
