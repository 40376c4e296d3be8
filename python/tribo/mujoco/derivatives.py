"""Derivatives of steps and of inverse dynamics with MuJoCo's arguments."""

from typing import Any

import numpy as np

from .. import _core, _derivatives, _step
from . import callbacks
from .arrays import out
from .errors import FatalError, fatal
from .functions import mj_forward, mj_step

__all__ = ["mjd_inverseFD", "mjd_transitionFD"]


@fatal
def mjd_transitionFD(
    m: Any, d: Any, eps: float, flg_centered: int, A: Any = None, B: Any = None, C: Any = None, D: Any = None
) -> None:
    """Partials of a step: A, B of the next state, C, D of the sensors, by state and controls.

    A and B are analytic, C and D differences with `eps`. The state is unchanged.
    """
    callbacks.attach(m)
    nx = 2 * m.nv + m.na
    targets = {
        name: out(value, shape, name, True)
        for name, value, shape in (
            ("A", A, (nx, nx)),
            ("B", B, (nx, m.nu)),
            ("C", C, (m.nsensordata, nx)),
            ("D", D, (m.nsensordata, m.nu)),
        )
    }
    if A is not None or B is not None:
        result = _derivatives.derivatives(m, d, kinks="ignore")
        if A is not None:
            targets["A"][...] = result.A
        if B is not None:
            targets["B"][...] = result.B
    if C is not None or D is not None:
        _sensors(m, d, eps, bool(flg_centered), targets["C"], targets["D"])
    mj_forward(m, d)


def _displaced(m: Any, d: Any, state: Any, i: int, h: float) -> None:
    """Move coordinate i of (q, v, act, ctrl) by h."""
    nv = m.nv
    if i < nv:
        step = np.zeros(nv)
        step[i] = 1
        d.qpos[:] = _core.integrate_pos(m, d.qpos, step, h)
    elif i < 2 * nv:
        d.qvel[i - nv] += h
    elif i < 2 * nv + m.na:
        d.act[i - 2 * nv] += h
    else:
        d.ctrl[i - 2 * nv - m.na] += h


def _sensors(m: Any, d: Any, eps: float, centered: bool, C: Any, D: Any) -> None:
    state, ctrl, snapshot = d.state.copy(), d.ctrl.copy(), d.snapshot()

    def measure(i: int, h: float) -> Any:
        d.load_snapshot(snapshot)
        d.state = state
        d.ctrl[:] = ctrl
        if i >= 0:
            _displaced(m, d, state, i, h)
        mj_step(m, d)
        return d.sensordata.copy()

    nx = 2 * m.nv + m.na
    middle = None if centered else measure(-1, 0.0)
    for i in range(nx + m.nu):
        target = C if i < nx else D
        if target is None:
            continue
        above = measure(i, eps)
        below = measure(i, -eps) if centered else middle
        target[:, i if i < nx else i - nx] = (above - below) / (2 * eps if centered else eps)
    d.load_snapshot(snapshot)
    d.state = state
    d.ctrl[:] = ctrl


@fatal
def mjd_inverseFD(
    m: Any,
    d: Any,
    eps: float,
    flg_actuation: int,
    DfDq: Any = None,
    DfDv: Any = None,
    DfDa: Any = None,
    DsDq: Any = None,
    DsDv: Any = None,
    DsDa: Any = None,
    DmDq: Any = None,
) -> None:
    """Differences of inverse dynamics, of sensors and of the inertia matrix; rows are inputs."""
    if flg_actuation:
        raise FatalError("mjd_inverseFD: forces of actuators are not subtracted; pass flg_actuation = 0")
    nv, ns, nM = m.nv, m.nsensordata, m.nM
    targets = [
        out(v, s, n, True)
        for v, s, n in (
            (DfDq, (nv, nv), "DfDq"),
            (DfDv, (nv, nv), "DfDv"),
            (DfDa, (nv, nv), "DfDa"),
            (DsDq, (nv, ns), "DsDq"),
            (DsDv, (nv, ns), "DsDv"),
            (DsDa, (nv, ns), "DsDa"),
            (DmDq, (nv, nM), "DmDq"),
        )
    ]
    if any(t is not None for t in targets[3:6]) and 3 in m.sensor_needstage:
        raise FatalError(
            "mjd_inverseFD: sensors of acceleration and force are not computed by inverse dynamics; "
            "pass None for DsDq, DsDv, DsDa, or use mjd_transitionFD"
        )
    callbacks.attach(m)
    state, qacc = d.state.copy(), d.qacc.copy()

    def evaluate(kind: int, i: int) -> tuple[Any, Any, Any]:
        d.state = state
        acceleration = qacc.copy()
        if kind == 2:
            acceleration[i] += eps
        elif kind >= 0:
            _displaced(m, d, state, kind * nv + i, eps)
        force, _ = _step.inverse(m, d, acceleration, keep_base=True)
        return force.copy(), d.sensordata.copy(), d.qM.copy()

    centre = evaluate(-1, 0)
    for kind in range(3):
        if targets[kind] is None and targets[kind + 3] is None and (kind or targets[6] is None):
            continue
        for i in range(nv):
            force, sensors, inertia = evaluate(kind, i)
            for target, value, base in (
                (targets[kind], force, centre[0]),
                (targets[kind + 3], sensors, centre[1]),
                (targets[6] if kind == 0 else None, inertia, centre[2]),
            ):
                if target is not None:
                    target[i] = (value - base) / eps
    d.state = state
