"""Parameters of a model from logged motions: weighted least squares by Gauss-Newton."""

import copy
import dataclasses
import fnmatch
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core, _named
from ._batch import Batch
from ._errors import Error

__all__ = ["Fit", "IdentifiabilityWarning", "Log", "Parameter", "fit"]

# Kinds of terms of the compiled part (TermKind in gradients.cpp).
_INERTIAL, _GEOM, _PAIR, _SCALE, _ARMATURE, _DAMPING, _STIFFNESS, _GAIN, _CTRL = range(9)
_WORLDS = 2048  # worlds of one batch


class IdentifiabilityWarning(RuntimeWarning):
    """The log does not determine some parameters, or some combinations of them."""


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


@dataclass
class Parameter:
    """One unknown of a fit.

    Parameters
    ----------
    path : str
        What it is: "body.link.mass", "geom.ball.friction", "joint.*.damping" (one value for all that match),
        "actuator.knee.kp", "delay", "opt.comfree_stiffness", "field.geom_solref[3,0]"; see the manual.
    bounds : tuple of float, optional
        Smallest and largest value. Default: 0 and infinity for what cannot be negative.
    start : float or array_like, optional
        First value; default: the model's. With `basis` one value per function, needed.
    basis : callable, optional
        `basis(qpos, qvel)` gives functions of the state, shape (nb,): the quantity is their sum with the
        coefficients as unknowns, evaluated where an interval starts.
    scale : float, optional
        Typical size; default: the first value, or one where that is zero.
    """

    path: str
    bounds: tuple[float, float] | None = None
    start: Any = None
    basis: Callable[[Any, Any], Any] | None = None
    scale: float | None = None


# ---- what a path stands for ----------------------------------------------------------------------

# quantity: (field, column, may be negative), by kind of object.
_QUANTITIES: dict[str, dict[str, tuple[str, int, bool]]] = {
    "body": {
        "mass": ("body_mass", 0, False),
        "gravcomp": ("body_gravcomp", 0, False),
        **{f"inertia[{i}]": ("body_inertia", i, False) for i in range(3)},
        **{f"com[{i}]": ("body_ipos", i, True) for i in range(3)},
    },
    "joint": {
        "damping": ("dof_damping", 0, False),
        "armature": ("dof_armature", 0, False),
        "frictionloss": ("dof_frictionloss", 0, False),
        "stiffness": ("jnt_stiffness", 0, False),
    },
    "geom": {
        "friction": ("geom_friction", 0, False),
        "torsional": ("geom_friction", 1, False),
        "rolling": ("geom_friction", 2, False),
        "compliance": ("geom_compliance", 0, False),
        "tangentcompliance": ("geom_tangentcompliance", 0, False),
        "contactdamping": ("geom_contactdamping", 0, False),
        "restitution": ("geom_restitution", 0, False),
    },
    "pair": {
        "friction": ("pair_friction", 0, False),
        "compliance": ("pair_compliance", 0, False),
        "contactdamping": ("pair_contactdamping", 0, False),
        "restitution": ("pair_restitution", 0, False),
        "comfree_k": ("pair_comfree", 0, False),
        "comfree_d": ("pair_comfree", 1, False),
    },
    "tendon": {
        "stiffness": ("tendon_stiffness", 0, False),
        "damping": ("tendon_damping", 0, False),
        "armature": ("tendon_armature", 0, False),
        "frictionloss": ("tendon_frictionloss", 0, False),
    },
    "actuator": {
        "kp": ("actuator_gainprm", 0, False),
        "kv": ("actuator_biasprm", 2, False),
        "gain": ("actuator_gainprm", 0, True),
        "bias": ("actuator_biasprm", 0, True),
        "gear": ("actuator_gear", 0, True),
    },
}
_COUNTS = {
    "body": "nbody",
    "joint": "njnt",
    "geom": "ngeom",
    "pair": "npair",
    "tendon": "ntendon",
    "actuator": "nu",
}


@dataclass
class _Quantity:
    """An unknown as entries of the model's fields."""

    name: str
    entries: list[tuple[str, tuple[int, ...], float]]  # field or option, index, factor
    delays: list[int]  # actuators whose control it delays
    bounds: tuple[float, float]
    start: float
    scale: float
    terms: list[tuple[int, int]] = field(default_factory=list)  # kind, index
    basis: Callable[[Any, Any], Any] | None = None
    function: int = 0  # of the basis


def _matches(m: Any, kind: str, pattern: str) -> list[int]:
    count = int(getattr(m, _COUNTS[kind]))
    if pattern.isdigit() and int(pattern) < count:
        return [int(pattern)]
    if not any(c in pattern for c in "*?["):
        return [int(_named.index(m, kind, pattern))]
    found = [i for i in range(count) if fnmatch.fnmatchcase(_name(m, kind, i), pattern)]
    if not found:
        raise KeyError(f"no {kind} matches {pattern!r}")
    return found


def _name(m: Any, kind: str, i: int) -> str:
    return str(getattr(m, kind)(i).name or i)


def _entries(m: Any, kind: str, quantity: str, ids: list[int]) -> tuple[list[Any], list[Any], bool]:
    """Entries of fields, terms of derivatives, and whether values may be negative."""
    if kind == "body" and quantity == "density":
        scaled: list[Any] = [("body_mass", (i,), float(m.body_mass[i])) for i in ids]
        scaled += [("body_inertia", (i, k), float(m.body_inertia[i, k])) for i in ids for k in range(3)]
        return scaled, [(_INERTIAL, i) for i in ids], False
    known = _QUANTITIES[kind]
    if quantity not in known:
        raise KeyError(
            f"{kind}: no quantity {quantity!r}; there are {', '.join(known)}"
            + (", density" if kind == "body" else ", delay" if kind == "actuator" else "")
        )
    name, column, negative = known[quantity]
    entries: list[Any] = []
    terms: list[Any] = []
    wide = getattr(m, name).ndim == 2
    for i in ids:
        rows = [i]
        if name.startswith("dof_"):
            first = int(m.jnt_dofadr[i])
            rows = list(range(first, first + {0: 6, 1: 3}.get(int(m.jnt_type[i]), 1)))
        entries += [(name, (r, column) if wide else (r,), 1.0) for r in rows]
        if kind == "pair" and quantity == "friction":
            entries.append((name, (i, 1), 1.0))
        if kind == "actuator" and quantity == "kp":
            entries.append(("actuator_biasprm", (i, 1), -1.0))
        if kind == "actuator" and quantity == "kv":
            entries[-1] = (name, (i, 2), -1.0)
        term = {
            ("body", "mass"): _INERTIAL,
            ("geom", "friction"): _GEOM,
            ("pair", "friction"): _PAIR,
            ("joint", "stiffness"): _STIFFNESS,
        }.get((kind, quantity))
        if kind == "body" and quantity[:3] in ("ine", "com"):
            term = _INERTIAL
        if kind == "actuator" and quantity in ("kp", "kv", "gain", "bias"):
            term = _GAIN
        if name in ("dof_armature", "dof_damping"):
            terms += [(_ARMATURE if name == "dof_armature" else _DAMPING, r) for r in rows]
        elif term is not None and not (term == _STIFFNESS and int(m.jnt_type[i]) < 2):
            terms.append((term, i))
    return entries, terms, negative


def _quantities(m: Any, given: Parameter | str) -> list[_Quantity]:
    """The unknowns of a parameter."""
    p = Parameter(given) if isinstance(given, str) else given
    parts = p.path.split(".")
    entries: list[Any] = []
    terms: list[Any] = []
    delays: list[int] = []
    negative = False
    if p.path == "delay":
        delays = list(range(m.nu))
    elif parts[0] == "opt" and len(parts) == 2:
        name, index = _indexed(parts[1])
        if not hasattr(m.opt, name):
            raise KeyError(f"no option {name!r}")
        entries, negative = [(f"opt.{name}", index, 1.0)], name in ("gravity", "wind", "magnetic")
        terms = [(_SCALE, 0)] if name == "friction_scale" else []
    elif parts[0] == "field" and len(parts) == 2:
        name, index = _indexed(parts[1])
        getattr(m, name)[index]  # an IndexError for what is not there
        entries, negative = [(name, index, 1.0)], True
    elif len(parts) >= 3 and parts[0] in _COUNTS:
        ids = _matches(m, parts[0], ".".join(parts[1:-1]))
        if parts[0] == "actuator" and parts[-1] == "delay":
            delays = ids
        elif parts[0] == "body" and parts[-1] in ("inertia", "com"):
            parts_of = [
                Parameter(
                    f"{p.path}[{i}]",
                    p.bounds,
                    None if p.start is None else np.asarray(p.start)[i],
                    None,
                    p.scale,
                )
                for i in range(3)
            ]
            return [q for one in parts_of for q in _quantities(m, one)]
        else:
            entries, terms, negative = _entries(m, parts[0], parts[-1], ids)
    else:
        raise KeyError(
            f"no parameter {p.path!r}: expected kind.name.quantity with a kind of {', '.join(_COUNTS)}, "
            "or opt.name, field.name[row,column], delay"
        )
    bounds = p.bounds if p.bounds is not None else (-math.inf if negative else 0.0, math.inf)
    if p.basis is not None:
        coefficients = np.atleast_1d(np.asarray(p.start, dtype=float))
        if p.start is None:
            raise ValueError(f"{p.path}: a basis needs a start value per function")
        return [
            _Quantity(
                f"{p.path}[{k}]",
                entries,
                [],
                (-math.inf, math.inf),
                float(c),
                p.scale or abs(float(c)) or 1.0,
                [],
                p.basis,
                k,
            )
            for k, c in enumerate(coefficients)
        ]
    start = p.start
    if start is None:
        start = 0.0 if delays else _value(m, *entries[0])
    value = float(start)
    scale = p.scale or abs(value) or (0.01 if delays else 1.0)
    return [
        _Quantity(p.path, entries, delays, (float(bounds[0]), float(bounds[1])), value, float(scale), terms)
    ]


def _indexed(text: str) -> tuple[str, tuple[int, ...]]:
    found = re.fullmatch(r"(\w+)(?:\[([\d, ]+)\])?", text)
    if not found:
        raise KeyError(f"cannot read {text!r}")
    return found[1], tuple(int(i) for i in found[2].split(",")) if found[2] else ()


def _value(m: Any, name: str, index: tuple[int, ...], factor: float) -> float:
    array = np.asarray(getattr(m.opt, name[4:]) if name.startswith("opt.") else getattr(m, name))
    return float(array[index]) / factor if factor else float(array[index])


def _inertial_weights(
    m: Any, quantity: str, body: int, values: dict[tuple[str, tuple[int, ...]], float]
) -> list[float]:
    """Change of a body's ten inertial parameters by one of its quantities."""

    def now(name: str, *index: int) -> float:
        return values.get((name, index), float(getattr(m, name)[index]))

    mass = now("body_mass", body)
    c = np.array([now("body_ipos", body, k) for k in range(3)])
    turn = np.asarray(m.body_imat[body]).reshape(3, 3)
    d_mass, d_first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    shift = (c @ c) * np.eye(3) - np.outer(c, c)
    if quantity == "mass":
        d_mass, d_first, second = 1.0, c, shift
    elif quantity == "density":
        m0 = float(m.body_mass[body])
        second = turn @ np.diag(np.asarray(m.body_inertia[body])) @ turn.T + m0 * shift
        d_mass, d_first = m0, m0 * c
    elif quantity.startswith("inertia"):
        e = turn[:, int(quantity[8])]
        second = np.outer(e, e)
    else:
        e = np.eye(3)[int(quantity[4])]
        d_first = mass * e
        second = mass * (2 * (c @ e) * np.eye(3) - np.outer(c, e) - np.outer(e, c))
    return [
        d_mass,
        *d_first,
        second[0, 0],
        second[0, 1],
        second[1, 1],
        second[0, 2],
        second[1, 2],
        second[2, 2],
    ]


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


# ---- predictions ---------------------------------------------------------------------------------


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

    def differenced(self, values: Any, rows: Any, which: Any, qpos: Any, qvel: Any) -> tuple[Any, ...]:
        """Predictions of the intervals `rows`, differences by the unknowns `which`, certificates."""
        cut, per = self.cut, 1 + len(which)
        eps = np.array([1e-5 * self.unknowns[k].scale for k in which])
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


# ---- least squares -------------------------------------------------------------------------------


def _reduced(e: _Evaluation, sigma: Any, offset: Any, prior: Any) -> tuple[Any, Any, Any]:
    """Weighted residuals and derivatives; initial states, where they are unknown, are eliminated.

    Also a function from a step of the unknowns to the steps of the initial states.
    """
    N, P = len(e.r), e.J.shape[-1]
    r = (e.r / sigma).reshape(N, -1)
    J = (e.J / sigma[:, None]).reshape(N, r.shape[1], P)
    if e.by_state is None:
        keep = np.isfinite(r).ravel()
        return r.ravel()[keep], J.reshape(-1, P)[keep], None
    F = (e.by_state / sigma[:, None]).reshape(N, r.shape[1], -1)
    rs, Js, back = [], [], []
    for i in range(N):
        keep = np.isfinite(r[i])
        Fi = np.concatenate([F[i][keep], np.diag(1 / prior)])
        ri = np.concatenate([r[i][keep], offset[i] / prior])
        Ji = np.concatenate([J[i][keep], np.zeros((len(prior), P))])
        Q, R = np.linalg.qr(Fi)
        back.append((R, Q.T @ ri, Q.T @ Ji))
        rs.append(ri - Q @ (Q.T @ ri))
        Js.append(Ji - Q @ (Q.T @ Ji))
    return np.concatenate(rs), np.concatenate(Js), back


def _describe(direction: Any, names: list[str]) -> str:
    """A direction in words: its largest parts."""
    order = np.argsort(-np.abs(direction))
    parts = [k for k in order if abs(direction[k]) > 0.05 * abs(direction[order[0]])]
    return " ".join(f"{direction[k]:+.2f} {names[k]}" for k in parts)


@dataclass
class Fit:
    """Result of a fit.

    Attributes
    ----------
    values, std : dict
        Value and standard error by name; the error of what the log does not determine is infinite.
    covariance : numpy.ndarray
        Of the values in the order of `names`, shape (P, P).
    names : list of str
        The unknowns.
    unidentified : list of str
        Directions in the space of the unknowns, each relative to its scale, along which the predictions do
        not change: they stay at their first values.
    weak : list of str
        Directions whose standard error exceeds the scale of the parameters.
    at_bound : list of str
        Unknowns that ended at a bound.
    methods : dict
        "analytic" or "differences", by name: where derivatives came from.
    noise : numpy.ndarray
        Standard deviation of each channel: of nv positions and nv velocities, or of the sensors.
    times, residual, residual_exact, differentiable : numpy.ndarray
        By sample: time (s), prediction less measurement (samples, channels), the certificate of the last step
        (relative residual of the exact law), whether the steps before it are differentiable.
    beyond_noise : numpy.ndarray
        Samples that these values under this law do not explain: a channel is further off than noise allows.
    inexact : numpy.ndarray
        Samples whose step is far from the exact law, at more than `exact` of the fit.
    converged : bool
        Whether the last step was below its tolerance.
    iterations, steps, linearised : int
        Gauss-Newton iterations; simulated steps, and how many of them were also linearised.
    rollouts : float
        `steps` and `linearised` together, in lengths of the log.
    """

    names: list[str]
    values: dict[str, float]
    std: dict[str, float]
    covariance: Any
    unidentified: list[str]
    weak: list[str]
    at_bound: list[str]
    methods: dict[str, str]
    noise: Any
    times: Any
    residual: Any
    residual_exact: Any
    differentiable: Any
    beyond_noise: Any
    inexact: Any
    converged: bool
    iterations: int
    steps: int
    linearised: int
    rollouts: float
    _unknowns: list[_Quantity]

    def apply(self, m: Any) -> None:
        """Write the values into a model and recompute its constants.

        Delays and functions of the state are left out: a model has no place for them.
        """
        for u in self._unknowns:
            if u.basis is not None:
                continue
            for name, index, factor in u.entries:
                value = factor * self.values[u.name]
                if not name.startswith("opt."):
                    getattr(m, name)[index] = value
                elif index:
                    getattr(m.opt, name[4:])[index] = value
                else:
                    setattr(m.opt, name[4:], value)
        m.set_constants()

    def __str__(self) -> str:
        """A table."""
        wide = max(len(n) for n in self.names)
        lines = [
            f"{n:{wide}}  {self.values[n]: .6g} +- {self.std[n]:.2g}  ({self.methods[n]})" for n in self.names
        ]
        lines.append(
            f"{self.iterations} iterations, {self.rollouts:.1f} rollouts, "
            f"{'converged' if self.converged else 'not converged'}"
        )
        lines += [f"not determined by the log: {d}" for d in self.unidentified]
        lines += [f"poorly determined: {d}" for d in self.weak]
        lines += [f"at its bound: {n}" for n in self.at_bound]
        if len(self.beyond_noise):
            lines.append(
                f"{len(self.beyond_noise)} of {len(self.times)} samples are not explained, the first at "
                f"{self.times[self.beyond_noise[0]]:.4g} s"
            )
        if len(self.inexact):
            lines.append(
                f"{len(self.inexact)} of {len(self.times)} samples: the step is far from the exact law"
            )
        return "\n".join(lines)


def fit(
    m: Any,
    log: Log | Sequence[Log],
    parameters: Sequence[Parameter | str],
    *,
    horizon: int | None = 10,
    states: str = "logged",
    noise: Any = None,
    max_iter: int = 30,
    tolerance: float = 1e-8,
    solve_tolerance: float = 1e-10,
    singular: float = 1e-6,
    exact: float = 1e-3,
    coarse: bool = True,
    threads: int = 0,
    **settings: Any,
) -> Fit:
    """Find parameters of a model, under its law, from logged motions.

    The log is cut into intervals, each predicted from its logged state (multiple shooting). Weighted squares
    of the differences are minimised by Gauss-Newton steps with Levenberg-Marquardt damping inside the bounds.
    Derivatives are those of the engine where it has them, after a check against differences on some
    intervals, else differences of a batch with the parameters of each world.

    Parameters
    ----------
    m : Model
        The model; it is not changed (`Fit.apply`).
    log : Log or sequence of Log
        What was measured.
    parameters : sequence of Parameter or str
        The unknowns.
    horizon : int, optional
        Samples of an interval; None: each log is one. Long intervals suffer less from noise of the logged
        states, short ones less from chaos after contacts.
    states : str
        "logged": intervals start exactly at the logged states. "estimated": initial states are unknowns too,
        measured with the noise of their channels; this removes the bias that noise gives to short intervals.
    noise : array_like, optional
        Standard deviation of each channel: nv of positions and nv of velocities (m, rad, m/s, rad/s), or one
        per sensor value. Default: estimated from the residuals.
    max_iter : int
        Gauss-Newton iterations.
    tolerance : float
        A step smaller than this times the parameters' scales ends the fit.
    solve_tolerance : float
        Tolerance of rigid laws' solvers during the fit; the soft law's is a hundredth of it.
    singular : float
        Directions with a smaller singular value, relative to the largest, count as not determined.
    exact : float
        Relative residual of the exact law above which a sample is reported as `inexact`.
    coarse : bool
        Begin with a few short intervals, spread over the log: most iterations then cost little, and long
        intervals start near their solution.
    threads : int
        Threads; 0: one per core.
    **settings
        relaxation, hold_contacts, ... of `derivatives`.

    Returns
    -------
    Fit
        Values with error bars, what the log does not determine, what the law does not explain.
    """
    logs = [log] if isinstance(log, Log) else list(log)
    unknowns = [q for p in parameters for q in _quantities(m, p)]
    if not unknowns or not logs:
        raise ValueError("fit: expected a log and at least one parameter")
    names = [u.name for u in unknowns]
    if len(set(names)) != len(names):
        raise ValueError("parameters: a name is there twice")
    if states not in ("logged", "estimated"):
        raise ValueError(f"states: expected 'logged' or 'estimated', got {states!r}")
    cut = _cut(m, logs, horizon)
    predictor = _Predictor(m, unknowns, cut, threads, solve_tolerance, settings)
    if states == "estimated" and predictor.sensors:
        raise ValueError("states='estimated' needs qpos and qvel: sensors are predicted without derivatives")
    problem = _Problem(
        m, logs, unknowns, cut, predictor, states == "estimated", noise, max_iter, tolerance, singular, exact
    )
    if coarse and not predictor.sensors:
        problem.begin_with(_few(_cut(m, logs, min(10, predictor.horizon)), len(unknowns)))
    return problem.solve()


class _Problem:
    """The least-squares problem of one fit."""

    def __init__(
        self,
        m: Any,
        logs: list[Log],
        unknowns: list[_Quantity],
        cut: _Intervals,
        predictor: _Predictor,
        free: bool,
        noise: Any,
        max_iter: int,
        tolerance: float,
        singular: float,
        exact: float,
    ) -> None:
        self.m, self.unknowns, self.cut, self.predictor, self.free = m, unknowns, cut, predictor, free
        self.max_iter, self.tolerance, self.singular, self.exact = max_iter, tolerance, singular, exact
        self.scale = np.array([u.scale for u in unknowns])
        self.low = np.array([u.bounds[0] for u in unknowns])
        self.high = np.array([u.bounds[1] for u in unknowns])
        self.x = np.clip(np.array([u.start for u in unknowns]), self.low, self.high)
        self.begin = self.x.copy()
        self.methods = ["differences"] * len(unknowns)
        self.iterations, self.checked = 0, False
        self.length = sum((len(np.asarray(log.times)) - 1) * cut.substeps for log in logs)
        # Motion of each channel over a sample, below which nothing can be resolved.
        if predictor.sensors:
            self.motion = np.nanstd(cut.target_s.reshape(-1, cut.target_s.shape[-1]), axis=0)
        else:
            before = np.concatenate([cut.qpos[:, None], cut.target_q[:, :-1]], axis=1)
            moves = _difference(m, before, cut.target_q)
            self.motion = np.concatenate(
                [
                    np.sqrt(np.nanmean(moves**2, axis=(0, 1))),
                    np.nanstd(cut.target_v.reshape(-1, m.nv), axis=0),
                ]
            )
        self.motion = np.where(self.motion > 0, self.motion, np.max(self.motion, initial=0.0) or 1.0)
        channels = len(self.motion)
        self.given = (
            None if noise is None else np.broadcast_to(np.asarray(noise, dtype=float), (channels,)).copy()
        )
        self.sigma = self.motion.copy() if self.given is None else self.given

    def estimate_noise(self, r: Any) -> Any:
        """Standard deviation of each channel from residuals."""
        rms = np.sqrt(np.nanmean(r**2, axis=(0, 1)))
        # Both ends of an interval are measured.
        return np.maximum(rms / (math.sqrt(2) if self.free else 1.0), 1e-7 * self.motion)

    def begin_states(self) -> tuple[Any, Any]:
        return self.cut.qpos.copy(), self.cut.qvel.copy()

    def offsets(self, qpos: Any, qvel: Any) -> Any:
        if not self.free:
            return None
        return np.concatenate([_difference(self.m, self.cut.qpos, qpos), qvel - self.cut.qvel], axis=1)

    def begin_with(self, few: _Intervals | None) -> None:
        """First values from a part of the log."""
        if few is None:
            return
        whole = self.predictor
        p = self.predictor = _Predictor(
            self.m, self.unknowns, few, whole.threads, whole.m.opt.solve_tolerance, whole.settings
        )
        self.cut, cut, sigma, given, free = few, self.cut, self.sigma, self.given, self.free
        self.free = False
        p.check(self.x, self.methods, 4)
        qpos, qvel = self.begin_states()
        now = p.evaluate(self.x, False, qpos, qvel)
        self.x, *_, count = self.descend(self.x, now, qpos, qvel, False, self.max_iter, True)
        self.iterations += count
        self.cut, self.predictor, self.sigma, self.given, self.free = cut, whole, sigma, given, free
        whole.analytic, whole.steps, whole.linearised = p.analytic, p.steps, p.linearised
        self.checked = True

    def solve(self) -> Fit:
        """Iterate."""
        x, methods = self.x, self.methods
        if not self.checked:
            self.predictor.check(x, methods)
        qpos, qvel = self.begin_states()
        now = self.predictor.evaluate(x, False, qpos, qvel)
        if self.checked:
            # A part of the log may have led astray.
            other = self.total(self.predictor.plain(self.begin, qpos, qvel))
            if math.isfinite(other) and not self.total(now) <= other:
                x = self.begin
                now = self.predictor.evaluate(x, False, qpos, qvel)
        converged, iterations = False, self.iterations
        for free in [False, True] if self.free else [False]:
            if free:
                self.sigma = self.given if self.given is not None else self.estimate_noise(now.r)
                now = self.predictor.evaluate(x, True, qpos, qvel)
            elif self.given is None:
                # The noise that remains after a step, if the model is linear so far.
                r, J, _ = _reduced(now, self.sigma, None, None)
                step = self.bounded(x, r, J, 1.0)[0]
                self.sigma = self.estimate_noise(now.r + now.J @ step)
            # Weights are those of the residuals at the end; with others the fit goes on.
            for _ in range(4):
                x, now, qpos, qvel, converged, count = self.descend(
                    x, now, qpos, qvel, free, max(self.max_iter - iterations, 3), free != self.free
                )
                iterations += count
                if self.given is not None or free != self.free:
                    break
                before = self.sigma
                self.sigma = self.refined(now, qpos, qvel) if free else self.estimate_noise(now.r)
                if np.max(np.abs(np.log(self.sigma / before))) < 0.2:
                    break
        return self.report(x, now, qpos, qvel, methods, converged, iterations)

    def total(self, e: _Evaluation) -> float:
        """The cost at logged initial states."""
        return self.cost(e, None)

    def refined(self, e: _Evaluation, qpos: Any, qvel: Any) -> Any:
        """Noise from residuals of samples and of the initial states that were fitted."""
        offset = self.offsets(qpos, qvel)
        squares = np.nansum(e.r**2, axis=(0, 1)) + np.sum(offset**2, axis=0)
        count = np.sum(np.isfinite(e.r), axis=(0, 1))
        return np.maximum(np.sqrt(squares / np.maximum(count, 1)), 1e-7 * self.motion)

    def descend(
        self, x: Any, now: _Evaluation, qpos: Any, qvel: Any, free: bool, most: int, rough: bool
    ) -> tuple[Any, _Evaluation, Any, Any, bool, int]:
        """Gauss-Newton with damping until steps are small."""
        radius, converged, count = 1.0, False, 0
        offset = self.offsets(qpos, qvel) if free else None
        r, J, back = _reduced(now, self.sigma, offset, self.sigma)
        cost = self.cost(now, offset)
        while count < most:
            count += 1
            step, length, predicted = self.bounded(x, r, J, radius)
            # The decrease in units of the residuals' variance: a step of 1/10 standard error is the last.
            gained = predicted * max(len(r) - len(x), 1) / max(cost, 1e-300)
            still = np.max(np.abs(step) / self.scale, initial=0.0) < self.tolerance
            if (still or gained < 1e-2) and (back is None or count > 1):
                converged = True
                x = x if back is not None else np.clip(x + step, self.low, self.high)
                break
            x_new = np.clip(x + step, self.low, self.high)
            q_new, v_new = qpos, qvel
            if back is not None:
                moves = np.array([-np.linalg.solve(R, a + b @ (x_new - x)) for R, a, b in back])
                q_new = _move(self.m, qpos, moves[:, : self.m.nv])
                v_new = qvel + moves[:, self.m.nv :]
            try:
                trial = self.predictor.evaluate(x_new, free, q_new, v_new)
                new_offset = self.offsets(q_new, v_new) if free else None
                new_cost = self.cost(trial, new_offset)
            except Error:
                new_cost = math.inf
            if not new_cost <= cost * (1 + 1e-12):
                radius = 0.25 * length
                if radius < 1e-10:
                    break
                continue
            gain = (cost - new_cost) / max(predicted, 1e-300)
            radius = max(radius, 3 * length) if gain > 0.5 else radius if gain > 0.1 else 0.5 * length
            small = cost - new_cost <= (1e-2 if rough else 1e-9) * cost
            x, qpos, qvel, now, offset = x_new, q_new, v_new, trial, new_offset
            cost = new_cost
            if small:
                converged = True
                break
            r, J, back = _reduced(now, self.sigma, offset, self.sigma)
        return x, now, qpos, qvel, converged, count

    def cost(self, e: _Evaluation, offset: Any) -> float:
        total = float(np.nansum((e.r / self.sigma) ** 2))
        if offset is not None:
            total += float(np.sum((offset / self.sigma) ** 2))
        if np.any(~np.isfinite(e.r) & np.isfinite(self.targets())):
            return math.inf
        return total

    def targets(self) -> Any:
        cut = self.cut
        if cut.target_s is not None:
            return cut.target_s
        return np.concatenate([_difference(self.m, cut.target_q, cut.target_q), cut.target_v], axis=-1)

    def bounded(self, x: Any, r: Any, J: Any, radius: float) -> tuple[Any, float, float]:
        """The step within a trust region: no unknown changes by more than `radius` of its size at once.

        Also its length in these units, and the decrease of the cost that the linear model predicts.
        """
        size = np.maximum(np.abs(x), 0.1 * self.scale)
        damping = 0.0
        for _ in range(60):
            step = self.step(x, r, J, damping)
            length = float(np.max(np.abs(step) / size, initial=0.0))
            if length <= radius:
                break
            damping = max(3 * damping, 1e-12)
        after = r + J @ step
        return step, length, float(r @ r - after @ after)

    def step(self, x: Any, r: Any, J: Any, damping: float) -> Any:
        """A damped Gauss-Newton step in scaled unknowns, zero along directions without information."""
        blocked = np.zeros(len(x), dtype=bool)
        for _ in range(len(x) + 1):
            free = np.flatnonzero(~blocked)
            step = np.zeros(len(x))
            if len(free):
                A = J[:, free] * self.scale[free]
                U, s, Vt = np.linalg.svd(A, full_matrices=False)
                good = s > self.singular * max(s[0], 1e-300)
                s2 = s[0] ** 2 if len(s) else 1.0
                part = np.where(good, s / (s**2 + damping * s2 + 1e-300), 0.0) * (U.T @ r)
                step[free] = -(Vt.T @ part) * self.scale[free]
            # Unknowns at a bound that the step would cross stay there.
            out = ~blocked & (((x <= self.low) & (step < 0)) | ((x >= self.high) & (step > 0)))
            if not out.any():
                break
            blocked |= out
        return step

    def report(
        self,
        x: Any,
        e: _Evaluation,
        qpos: Any,
        qvel: Any,
        methods: list[str],
        converged: bool,
        iterations: int,
    ) -> Fit:
        """Error bars, identifiability and the certificate."""
        names = [u.name for u in self.unknowns]
        free = self.free and e.by_state is not None
        r, J, _ = _reduced(e, self.sigma, self.offsets(qpos, qvel) if free else None, self.sigma)
        _, s, Vt = np.linalg.svd(J * self.scale, full_matrices=False)
        top = s[0] if len(s) and s[0] > 0 else 1.0
        lost = s <= self.singular * top
        unknown_states = e.by_state.shape[-1] * len(e.r) if free else 0
        spread = float(r @ r) / max(len(r) - len(x) - unknown_states, 1) if self.given is None else 1.0
        variance = np.where(lost, 0.0, spread / np.where(lost, 1.0, s) ** 2)
        scaled = Vt.T * self.scale[:, None]
        covariance = (scaled * variance) @ scaled.T
        undetermined = np.any(np.abs(Vt[lost]) > 1e-3, axis=0) if lost.any() else np.zeros(len(x), dtype=bool)
        std = np.where(undetermined, math.inf, np.sqrt(np.diag(covariance)))
        unidentified = [_describe(v, names) for v in Vt[lost]]
        weak = [_describe(v, names) for v, var in zip(Vt[~lost], variance[~lost], strict=True) if var > 1]
        if unidentified:
            warnings.warn(
                "the log does not determine " + "; ".join(unidentified), IdentifiabilityWarning, stacklevel=4
            )
        # Samples in the order of time within each log.
        flat = e.r.reshape(-1, e.r.shape[-1])
        there = np.isfinite(flat).any(axis=1)
        times = self.cut.times
        if self.predictor.sensors:
            h = float(self.m.opt.timestep) * self.cut.substeps
            times = np.concatenate([times[:, :1] - h, times], axis=1)
        # A robust spread, so that what is not explained does not hide itself.
        robust = 1.4826 * np.nanmedian(np.abs(flat - np.nanmedian(flat, axis=0)), axis=0)
        limit = self.given if self.given is not None else robust
        limit = np.maximum(limit, 1e-6 * self.motion)
        if self.given is not None and not free:
            limit = limit * math.sqrt(2)
        count = max(int(np.isfinite(flat).sum()), 2)
        far = math.sqrt(2 * math.log(count)) + 2.5
        beyond = np.flatnonzero(np.nanmax(np.abs(flat[there]) / limit, axis=1) > far)
        certificate = e.exact.ravel()[there]
        p = self.predictor
        return Fit(
            names,
            dict(zip(names, map(float, x), strict=True)),
            dict(zip(names, map(float, std), strict=True)),
            covariance,
            unidentified,
            weak,
            [n for n, v, a, b in zip(names, x, self.low, self.high, strict=True) if v <= a or v >= b],
            dict(zip(names, methods, strict=True)),
            self.sigma,
            times.ravel()[there],
            flat[there],
            certificate,
            ~e.kink.ravel()[there],
            beyond,
            np.flatnonzero(certificate > self.exact),
            converged,
            iterations,
            p.steps,
            p.linearised,
            (p.steps + p.linearised) / self.length,
            self.unknowns,
        )
