"""Parameters of a model from logged motions: weighted least squares by Gauss-Newton."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import Error
from ._fit_log import Log, _cut, _difference, _few, _Intervals, _move
from ._fit_parameters import Parameter, _quantities, _Quantity
from ._fit_predict import _Evaluation, _Predictor

__all__ = ["Fit", "IdentifiabilityWarning", "Log", "Parameter", "fit"]


_FAR = 7.0  # standard deviations, beyond which noise does not explain a sample
_MOST = 3.0  # scales: with a larger standard error a direction counts as not determined
_SAME = 0.8  # relative difference of derivatives that are repeated, beyond which they are noise
_LAST = 0.1  # standard errors: a step below this is the last


class IdentifiabilityWarning(RuntimeWarning):
    """The log does not determine some parameters, or some combinations of them."""


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
        Directions in the space of the unknowns, each relative to its scale, along which predictions change by
        less than noise and solvers, or only by what noise and differences make: they stay at their start.
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
        Samples that these values under this law do not explain: a channel is off by more than 7 standard
        deviations.
    inexact : numpy.ndarray
        Samples whose step is far from the exact law, at more than `exact` of the fit.
    converged : bool
        Whether a whole Gauss-Newton step under the final weights is small against the error bars.
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
    parameters: Sequence[Parameter | str] | Parameter | str,
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
    parameters : Parameter, str or a sequence of them
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
        Gauss-Newton iterations, all together; a fit that needs more is not converged.
    tolerance : float
        A step smaller than this times the parameters' scales ends the fit.
    solve_tolerance : float
        Tolerance of rigid laws' solvers during the fit; the soft law's is a hundredth of it.
    singular : float
        Directions with a smaller singular value, relative to the largest, count as not determined, beside
        those of a test against noise and numerical errors.
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
    if isinstance(parameters, str | Parameter):
        parameters = [parameters]
    for one in parameters:
        if not isinstance(one, str | Parameter):
            raise TypeError(
                'parameters: expected a list of paths ("geom.box.friction") or tribo.Parameter, '
                f"got {one!r} in it"
            )
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


def _kinds(m: Any) -> Any:
    """Unit of each channel of a state: m, rad, m/s, rad/s."""
    angular: list[int] = []
    for kind in np.asarray(m.jnt_type):
        angular += {0: [0, 0, 0, 1, 1, 1], 1: [1, 1, 1], 2: [0]}.get(int(kind), [1])
    return np.array(angular + [2 + k for k in angular])


def _noise(noise: Any, motion: Any, sensors: bool) -> Any:
    """Given standard deviations, one per channel."""
    if noise is None:
        return None
    n = len(motion)
    what = f"{n} values, one per sensor value" if sensors else f"2 nv = {n} values: positions, velocities"
    try:
        array = np.asarray(noise, dtype=float)
    except (TypeError, ValueError) as e:
        raise TypeError(f"noise: expected {what}") from e
    if array.shape not in ((), (1,), (n,)):
        raise ValueError(f"noise: expected {what}, got shape {array.shape}")
    if not np.all(array > 0) or not np.all(np.isfinite(array)):
        raise ValueError(f"noise: expected {what}, all positive")
    return np.broadcast_to(array, (n,)).copy()


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
        self.locked = np.zeros((0, len(unknowns)))
        self.believed = True  # the estimate of noise
        self.rough = False
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
        self.floor = self.at_least(m, cut, predictor.sensors)
        self.given = _noise(noise, self.motion, predictor.sensors)
        self.sigma = self.motion.copy() if self.given is None else self.given

    def at_least(self, m: Any, cut: _Intervals, sensors: bool) -> Any:
        """Smallest noise that is believed; fills the motion of channels that hardly move.

        A channel that the motion leaves alone is exact, whatever the unknowns: a noise estimated from its
        residuals would give it all of the weight.
        """
        kinds = np.zeros(len(self.motion), dtype=int) if sensors else _kinds(m)
        most = np.array([np.max(self.motion[kinds == k]) for k in kinds])
        halves = np.zeros(len(self.motion), dtype=int) if sensors else np.repeat([0, 1], int(m.nv))
        both = np.array([np.max(self.motion[halves == k]) for k in halves])
        both = np.where(both > 0, both, 1.0)
        # Channels of the same unit, and the others beside them (1 rad as 1 m).
        self.motion = np.maximum(self.motion, 1e-3 * np.maximum(most, both))
        floor = np.maximum(1e-6 * self.motion, 1e-7 * most)
        self.solver = np.zeros(len(self.motion))
        if not sensors:
            # What solvers leave of the velocity that a step's forces give.
            h = float(m.opt.timestep)
            speed = float(m.opt.solve_tolerance) * float(np.linalg.norm(m.opt.gravity)) * h
            samples = min(self.predictor.horizon, 100) * cut.substeps
            self.solver = np.where(halves == 1, speed, speed * samples * h)
            floor = np.maximum(floor, self.solver)
        return floor

    def estimate_noise(self, r: Any) -> Any:
        """Standard deviation of each channel from residuals."""
        rms = np.sqrt(np.nanmean(r**2, axis=(0, 1)))
        # Both ends of an interval are measured.
        return np.maximum(rms / (math.sqrt(2) if self.free else 1.0), self.floor)

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
        self.x, *_, count = self.descend(self.x, now, qpos, qvel, False, max(self.max_iter // 2, 1), True)
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
        for _ in range(len(x) + 1):
            x, now, qpos, qvel, converged, iterations = self.iterate(x, now, qpos, qvel, iterations)
            if len(self.locked) == len(x):
                converged = True  # nothing is left to be found
                break
            self.rough = False
            more = self.undetermined(x, now, qpos, qvel)
            if not len(more):
                break
            # Back to the first values along these directions; the others once more.
            both = np.concatenate([self.locked, more])
            _, s, Vt = np.linalg.svd(both, full_matrices=False)
            self.locked = Vt[s > 1e-6]
            away = (x - self.begin) / self.scale
            x = np.clip(x - self.scale * (self.locked.T @ (self.locked @ away)), self.low, self.high)
            x = np.where(np.sum(self.locked**2, axis=0) > 1 - 1e-12, self.begin, x)
            qpos, qvel = self.begin_states()
            now = self.predictor.evaluate(x, False, qpos, qvel)
        sure = self.believed and not self.rough
        return self.report(x, now, qpos, qvel, methods, converged and sure, iterations)

    def iterate(
        self, x: Any, now: _Evaluation, qpos: Any, qvel: Any, iterations: int
    ) -> tuple[Any, _Evaluation, Any, Any, bool, int]:
        """Steps and weights until both rest."""
        converged = False
        for free in [False, True] if self.free else [False]:
            first = self.plain_squares(now.r)
            allowed = 1.1 + 10 * len(x) / max(np.isfinite(now.r).sum(), 1)
            if free:
                self.sigma = self.given if self.given is not None else self.estimate_noise(now.r)
                now = self.predictor.evaluate(x, True, qpos, qvel)
            elif self.given is None:
                # The noise that remains after a step, if the model is linear so far.
                self.sigma = self.motion.copy()
                r, J, _ = self.reduced(now, None)
                step = self.bounded(x, r, J, 1.0)[0]
                self.sigma = self.estimate_noise(now.r + now.J @ step)
            # Weights are those of the residuals at the end; with others the fit goes on.
            weights = "estimated"
            before = (x, now, qpos, qvel, self.motion)
            for _ in range(8):
                most = self.max_iter - iterations
                at = x
                x, now, qpos, qvel, converged, count = self.descend(
                    x, now, qpos, qvel, free, most, free != self.free
                )
                iterations += count
                if weights == "kept":
                    # Their proportions stay; together they are as large as the residuals.
                    self.sigma = self.sigma * max(math.sqrt(np.nanmean((now.r / self.sigma) ** 2)), 1e-6)
                if self.given is not None or free != self.free or weights == "kept":
                    break
                if not free and not self.plain_squares(now.r) <= allowed * first:
                    # These weights trade what the motion shows for channels that it leaves alone.
                    x, now, qpos, qvel, self.sigma = before
                    weights, self.believed = "kept", False
                    continue
                before = (x, now, qpos, qvel, self.sigma)
                sigma = self.refined(now, qpos, qvel) if free else self.estimate_noise(now.r)
                change = np.max(np.abs(np.log(sigma / self.sigma)))
                if change < 0.2 and (not np.any(at != x) or self.rests(x, now, qpos, qvel, sigma)):
                    break
                self.sigma = sigma
                if most <= count:
                    break
        converged = converged and self.rests(x, now, qpos, qvel, self.sigma)
        return x, now, qpos, qvel, converged, iterations

    def plain_squares(self, r: Any) -> float:
        """Squares by the motion of channels, whatever the noise; no less than what solvers leave."""
        rms = np.sqrt(np.nanmean(r**2, axis=(0, 1)))
        return float(np.sum((np.maximum(rms, self.floor) / self.motion) ** 2))

    def rests(self, x: Any, e: _Evaluation, qpos: Any, qvel: Any, sigma: Any) -> bool:
        """Whether a whole Gauss-Newton step under these weights is small against the error bars."""
        kept, self.sigma = self.sigma, sigma
        free = e.by_state is not None
        r, J, _ = self.reduced(e, self.offsets(qpos, qvel) if free else None)
        step = self.step(x, r, J, 0.0)
        self.sigma = kept
        if np.max(np.abs(step) / self.scale, initial=0.0) < 1e2 * self.tolerance:
            return True
        spread = max(float(r @ r) / max(len(r) - len(x), 1), 1.0 if self.given is None else 0.0)
        return float(np.linalg.norm(J @ step)) <= 2 * _LAST * math.sqrt(len(x) * max(spread, 1e-300))

    def reduced(self, e: _Evaluation, offset: Any) -> tuple[Any, Any, Any]:
        """Weighted residuals and derivatives, without directions that are not determined."""
        r, J, back = _reduced(e, self.sigma, offset, self.sigma)
        A = J * self.scale
        A = A - (A @ self.locked.T) @ self.locked
        # Nor are directions followed whose effect is below what solvers leave.
        _, s, Vt = np.linalg.svd(A, full_matrices=False)
        for value, v in zip(s, Vt, strict=True):
            if value > self.singular * max(s[0], 1e-300) and not self.seen(e, v):
                A = A - np.outer(A @ v, v)
        return r, A / self.scale, back

    def seen(self, e: _Evaluation, v: Any) -> bool:
        """Whether predictions along a direction change by more than what solvers leave."""
        change = np.abs(e.J @ (v * self.scale)).reshape(-1, e.J.shape[2])
        return bool(np.any(np.nanmax(change, axis=0, initial=0.0) * 0.1 > self.floor))

    def undetermined(self, x: Any, e: _Evaluation, qpos: Any, qvel: Any) -> Any:
        """Directions, relative to the scales, that the log does not determine beside those known: (k, P).

        What is predicted along a direction must change by more than solvers leave, by more than noise, and
        in the same way if differences take another step and the intervals start elsewhere within the noise.
        """
        free = e.by_state is not None
        r, J, _ = _reduced(e, self.sigma, self.offsets(qpos, qvel) if free else None, self.sigma)
        A = J * self.scale
        A = A - (A @ self.locked.T) @ self.locked
        _, s, Vt = np.linalg.svd(A, full_matrices=False)
        top = s[0] if len(s) and s[0] > 0 else 1.0
        spread = self.spread(r, len(x), free, e)
        slow = np.flatnonzero(~self.predictor.analytic)
        moved = self.believed and not self.predictor.sensors and len(e.r) > len(self.predictor.cut.signal)
        again: Any = None
        found = []
        for value, v in zip(s, Vt, strict=True):
            if value <= self.singular * top:
                continue
            direction = v * self.scale
            if not self.seen(e, v) or math.sqrt(spread) > _MOST * value:
                found.append(v)
                continue
            if not moved and not np.any(np.abs(v[slow]) > 1e-3):
                continue
            if again is None:
                again = self.repeated(x, e, qpos, qvel, slow, moved)
            if again is False:
                continue
            rows, other = again
            a, b = e.J[rows] @ direction, other @ direction
            there = np.isfinite(a) & np.isfinite(b) & np.isfinite(e.r[rows])
            a, b = np.where(there, a, 0.0), np.where(there, b, 0.0)
            if all(
                np.linalg.norm((a - b) / weight) > _SAME * np.linalg.norm(a / weight)
                for weight in (self.sigma, self.motion)
            ):
                if not moved and np.linalg.norm(b / self.sigma) > 2 * np.linalg.norm(a / self.sigma):
                    # It matters, but the motion jumps: these error bars mean nothing.
                    self.rough = True
                    continue
                found.append(v)
        lost = np.array(found).reshape(-1, len(x))
        lost = np.where(np.abs(lost) > 1e-3, lost, 0.0)
        return lost / np.linalg.norm(lost, axis=1, keepdims=True)

    def repeated(self, x: Any, e: _Evaluation, qpos: Any, qvel: Any, slow: Any, moved: bool) -> Any:
        """Derivatives of some intervals with another step, from states that noise might have given."""
        p = self.predictor
        N = len(e.r)
        rows = np.unique(np.linspace(0, N - 1, min(48, N)).astype(int))
        q, v = qpos[rows], qvel[rows]
        if moved:
            nv = int(self.m.nv)
            by = np.random.default_rng(0).normal(size=(len(rows), 2 * nv)) * self.sigma
            q, v = _move(self.m, q, by[:, :nv]), v + by[:, nv:]
        other = np.zeros((len(rows), *e.J.shape[1:]))
        wide = e.J.shape[2]
        fast = np.flatnonzero(p.analytic)
        try:
            if len(slow):
                other[..., slow] = p.differenced(x, rows, slow, q, v, 10.0)[1][:, :, :wide]
            if len(fast) and moved:
                other[..., fast] = p.linear(x, rows, fast, False, q, v)[1][:, :, :wide]
            elif len(fast):
                other[..., fast] = e.J[rows][..., fast]
        except Error:
            return False
        return rows, other

    def spread(self, r: Any, unknowns: int, free: bool, e: _Evaluation) -> float:
        """Variance of weighted residuals; an estimated noise is not believed to be smaller than it is."""
        if self.given is not None:
            return 1.0
        states = e.by_state.shape[-1] * len(e.r) if free else 0
        return max(float(r @ r) / max(len(r) - unknowns - states, 1), 1.0)

    def total(self, e: _Evaluation) -> float:
        """The cost at logged initial states."""
        return self.cost(e, None)

    def refined(self, e: _Evaluation, qpos: Any, qvel: Any) -> Any:
        """Noise from residuals of samples and of the initial states that were fitted."""
        offset = self.offsets(qpos, qvel)
        squares = np.nansum(e.r**2, axis=(0, 1)) + np.sum(offset**2, axis=0)
        count = np.sum(np.isfinite(e.r), axis=(0, 1))
        return np.maximum(np.sqrt(squares / np.maximum(count, 1)), self.floor)

    def descend(
        self, x: Any, now: _Evaluation, qpos: Any, qvel: Any, free: bool, most: int, rough: bool
    ) -> tuple[Any, _Evaluation, Any, Any, bool, int]:
        """Gauss-Newton with damping until steps are small."""
        radius, converged, count = 1.0, False, 0
        offset = self.offsets(qpos, qvel) if free else None
        r, J, back = self.reduced(now, offset)
        cost = self.cost(now, offset)
        # The part of its step that each interval's first state takes: less after it made things worse.
        share = np.ones(len(now.r))
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
                moves *= share[:, None]
                q_new = _move(self.m, qpos, moves[:, : self.m.nv])
                v_new = qvel + moves[:, self.m.nv :]
            try:
                trial = self.predictor.evaluate(x_new, free, q_new, v_new)
                new_offset = self.offsets(q_new, v_new) if free else None
                new_cost = self.cost(trial, new_offset)
            except Error:
                new_cost = math.inf
            if back is not None and math.isfinite(new_cost):
                worse = self.by_interval(trial, new_offset) > self.by_interval(now, offset) * (1 + 1e-9)
                share = np.where(worse, 0.25 * share, np.minimum(1.0, 2 * share))
            if not new_cost <= cost * (1 + 1e-12):
                radius = 0.25 * length
                if radius < 1e-10 and (back is None or np.max(share) < 1e-3):
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
            r, J, back = self.reduced(now, offset)
        return x, now, qpos, qvel, converged, count

    def cost(self, e: _Evaluation, offset: Any) -> float:
        total = float(np.nansum((e.r / self.sigma) ** 2))
        if offset is not None:
            total += float(np.sum((offset / self.sigma) ** 2))
        if np.any(~np.isfinite(e.r) & np.isfinite(self.targets())):
            return math.inf
        return total

    def by_interval(self, e: _Evaluation, offset: Any) -> Any:
        return np.nansum((e.r / self.sigma) ** 2, axis=(1, 2)) + np.sum((offset / self.sigma) ** 2, axis=1)

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
        r, J, _ = self.reduced(e, self.offsets(qpos, qvel) if free else None)
        # With fewer residuals than unknowns some directions have no row: zeros stand for these.
        rows = np.concatenate([J * self.scale, np.zeros((max(len(x) - len(J), 0), len(x)))])
        _, s, Vt = np.linalg.svd(rows, full_matrices=False)
        top = s[0] if len(s) and s[0] > 0 else 1.0
        lost = s <= self.singular * top
        spread = self.spread(r, len(x), free, e)
        variance = np.where(lost, 0.0, spread / np.where(lost, 1.0, s) ** 2)
        scaled = Vt.T * self.scale[:, None]
        covariance = (scaled * variance) @ scaled.T
        N = len(e.r)
        if max(8, 2 * len(x)) <= N:
            # The noise of an interval's first state is common to its samples: as much as intervals scatter.
            begin = np.cumsum([0, *(np.isfinite(one).sum() for one in e.r)])
            if free:
                begin = begin + np.arange(N + 1) * e.by_state.shape[-1]
            scores = np.add.reduceat(J * r[:, None], begin[:-1][np.diff(begin) > 0], axis=0)
            each = scores @ (covariance / spread) * math.sqrt(N / (N - len(x)))
            wider = np.sum(each**2, axis=0) / np.maximum(np.diag(covariance), 1e-300)
            wider = np.sqrt(np.maximum(wider, 1.0))
            covariance = covariance * np.outer(wider, wider)
        # What solvers leave may be the same in all samples, so that it does not average out.
        inverse = (scaled * np.where(lost, 0.0, 1 / np.where(lost, 1.0, s) ** 2)) @ scaled.T
        channels = e.r.shape[-1]
        none = np.full(e.by_state.shape[-1] if free else 0, -1)
        of = np.concatenate(
            [[*np.broadcast_to(np.arange(channels), one.shape)[np.isfinite(one)], *none] for one in e.r]
        ).astype(int)
        for channel in np.flatnonzero(self.solver):
            bias = inverse @ J[of == channel].sum(axis=0) * (self.solver[channel] / self.sigma[channel])
            covariance = covariance + np.outer(bias, bias)
        undetermined = np.any(np.abs(Vt[lost]) > 1e-3, axis=0) if lost.any() else np.zeros(len(x), dtype=bool)
        std = np.where(undetermined, math.inf, np.sqrt(np.diag(covariance)))
        unidentified = [_describe(v, names) for v in Vt[lost]]
        weak = [_describe(v, names) for v, var in zip(Vt[~lost], variance[~lost], strict=True) if var > 1]
        if unidentified:
            warnings.warn(
                "the log does not determine " + "; ".join(unidentified), IdentifiabilityWarning, stacklevel=4
            )
        if not converged:
            warnings.warn(
                f"fit: not converged after {iterations} iterations; values and error bars are provisional"
                + ("; predictions jump with the parameters" if self.rough else "")
                + ("" if self.believed else "; the noise could not be estimated, give noise="),
                RuntimeWarning,
                stacklevel=4,
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
        limit = np.maximum(limit, self.floor)
        if not free and not self.predictor.sensors and len(self.predictor.cut.signal) < N:
            # Intervals start at noisy states: what that does to predictions, contacts included.
            nv = int(self.m.nv)
            by = np.random.default_rng(1).normal(size=(N, 2 * nv)) * limit
            other = self.predictor.plain(x, _move(self.m, qpos, by[:, :nv]), qvel + by[:, nv:]).r
            made = np.where(np.isfinite(other) & np.isfinite(e.r), other - e.r, 0.0)
            count = np.maximum(np.isfinite(e.r).sum(axis=(0, 1)), 1)
            limit = np.sqrt(limit**2 + np.sum(made**2, axis=(0, 1)) / count)
        elif self.given is not None and not free:
            limit = limit * math.sqrt(2)
        beyond = np.flatnonzero(np.nanmax(np.abs(flat[there]) / limit, axis=1) > _FAR)
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
