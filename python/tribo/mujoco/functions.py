"""The functions `mj_...` that evaluate, query and edit a model and its data."""

from typing import Any

import numpy as np

from .. import _core, _step
from .._errors import Error
from . import callbacks
from .data import MjData
from .enums import OBJECT_TO_TRIBO, mjtTimer, mjtWarning  # type: ignore[attr-defined]
from .errors import FatalError, fatal

__all__ = [
    "mj_Euler",
    "mj_addContact",
    "mj_camlight",
    "mj_checkAcc",
    "mj_checkPos",
    "mj_checkVel",
    "mj_collision",
    "mj_comPos",
    "mj_comVel",
    "mj_copyData",
    "mj_crb",
    "mj_energyPos",
    "mj_energyVel",
    "mj_factorM",
    "mj_forward",
    "mj_forwardSkip",
    "mj_fwdAcceleration",
    "mj_fwdActuation",
    "mj_fwdConstraint",
    "mj_fwdKinematics",
    "mj_fwdPosition",
    "mj_fwdVelocity",
    "mj_inverse",
    "mj_inverseSkip",
    "mj_kinematics",
    "mj_makeM",
    "mj_passive",
    "mj_resetCtrl",
    "mj_resetData",
    "mj_resetDataDebug",
    "mj_resetDataKeyframe",
    "mj_rnePostConstraint",
    "mj_sensorAcc",
    "mj_sensorPos",
    "mj_sensorVel",
    "mj_setKeyframe",
    "mj_step",
    "mj_step1",
    "mj_step2",
    "mj_subtreeVel",
    "mj_tendon",
    "mj_transmission",
]


class _Timed:
    """Counts a call and its seconds in the timer of the data."""

    def __init__(self, d: Any, which: Any, count: int = 1) -> None:
        self.row, self.count = d._extra["timer"][int(which)], count

    def __enter__(self) -> None:
        self.start = callbacks.now()

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.row += (callbacks.now() - self.start, self.count)


_SOLVERS = 3


def _check_option(m: Any) -> None:
    solver = m.opt.tribo.mjsolver
    if not 0 <= solver < _SOLVERS:
        raise FatalError(f"mj_fwdConstraint: unknown solver type {solver}")


_dropin_step = _core._dropin.step


def mj_step(m: Any, d: Any, nstep: int = 1) -> None:
    """Advance the simulation.

    Optionally, repeat nstep times. A state or a result that is not finite counts a warning and starts
    from the reference pose, as in MuJoCo.
    """
    extra = d._extra
    try:
        if callbacks._set or "callbacks" in m._extra:
            warned = _step_with_callbacks(m, d, nstep)
        else:
            warned = _dropin_step(m, d, nstep, extra["warning"], extra["timer"])
    except Error as error:
        _check_option(m)
        raise FatalError(str(error)) from error
    if warned:
        _tell(d)


def _step_with_callbacks(m: Any, d: Any, nstep: int) -> bool:
    callbacks.attach(m)
    warning, timer = d._extra["warning"], d._extra["timer"]
    if not callbacks.active("mjcb_sensor", "mjcb_time"):
        return bool(_dropin_step(m, d, nstep, warning, timer))
    warned, unused = False, np.zeros((1, 2))
    with _Timed(d, mjtTimer.mjTIMER_STEP, nstep):
        for _ in range(nstep):
            warned |= _dropin_step(m, d, 1, warning, unused)
            callbacks.sensors(m, d)
    return warned


def _tell(d: Any) -> None:
    """Pass the kinds of warnings that a world has to mju_user_warning."""
    for kind in mjtWarning:
        if int(kind) < len(d._extra["warning"]) and d._extra["warning"][int(kind), 1]:
            callbacks.warn(
                f"{kind.name[7:]}: nan, inf or huge value at index "
                f"{d._extra['warning'][int(kind), 0]}, time = {d.time:g}"
            )


def _forward(m: Any, d: Any) -> None:
    callbacks.attach(m)
    _check_option(m)
    with _Timed(d, mjtTimer.mjTIMER_FORWARD):
        _core.forward(m, d)
    callbacks.sensors(m, d)


@fatal
def mj_forward(m: Any, d: Any) -> None:
    """Everything that a step computes, without moving the state."""
    _forward(m, d)


@fatal
def mj_forwardSkip(m: Any, d: Any, skipstage: int, skipsensor: int) -> None:
    """As mj_forward; nothing is skipped."""
    _forward(m, d)


@fatal
def mj_step1(m: Any, d: Any) -> None:
    """First half of a step: what depends on position and velocity."""
    callbacks.attach(m)
    _core.step1(m, d)


@fatal
def mj_step2(m: Any, d: Any) -> None:
    """Second half of a step, after controls were set."""
    callbacks.attach(m)
    _core.step2(m, d)


@fatal
def mj_Euler(m: Any, d: Any) -> None:
    """Move the state by the acceleration of the last evaluation: the second half of a step."""
    if m.opt.integrator != 0:
        raise FatalError("mj_Euler: the model has another integrator; use mj_step")
    _core.step1(m, d)
    _core.step2(m, d)


@fatal
def mj_inverse(m: Any, d: Any) -> None:
    """Inverse dynamics: d.qfrc_inverse from d.qacc."""
    callbacks.attach(m)
    qacc = d.qacc.copy()
    force, _ = _step.inverse(m, d, qacc, keep_base=True)
    d.qfrc_inverse[:] = force


@fatal
def mj_inverseSkip(m: Any, d: Any, skipstage: int, skipsensor: int) -> None:
    """As mj_inverse; nothing is skipped."""
    mj_inverse(m, d)


# ---- parts of an evaluation -----------------------------------------------------------------------


def _stage(name: str, *steps: str, doc: str) -> Any:
    functions = [getattr(_core, step) for step in steps]

    @fatal
    def call(m: Any, d: Any) -> None:
        for function in functions:
            function(m, d)

    call.__name__ = name
    call.__doc__ = doc
    return call


mj_kinematics = _stage("mj_kinematics", "kinematics", doc="Frames of bodies, joints, geoms and sites.")
mj_fwdKinematics = _stage(
    "mj_fwdKinematics", "kinematics", "com_position", "tendon", doc="Kinematics, centres of mass and tendons."
)
mj_comPos = _stage("mj_comPos", "com_position", doc="subtree_com, cinert, cdof.")
mj_comVel = _stage("mj_comVel", "com_velocity", doc="cvel, cdof_dot.")
mj_camlight = _stage("mj_camlight", "kinematics", doc="Frames of cameras and lights.")
mj_tendon = _stage("mj_tendon", "tendon", doc="Lengths and Jacobians of tendons.")
mj_transmission = _stage("mj_transmission", "transmission", doc="Lengths and moments of actuators.")
mj_crb = _stage("mj_crb", "crb", doc="The inertia matrix.")
mj_makeM = _stage("mj_makeM", "crb", doc="The inertia matrix.")
mj_factorM = _stage("mj_factorM", "factor_m", doc="The factor of the inertia matrix.")
mj_subtreeVel = _stage("mj_subtreeVel", "subtree_velocity", doc="Momenta of subtrees.")
mj_energyPos = _stage("mj_energyPos", "energy_position", doc="Potential energy.")
mj_energyVel = _stage("mj_energyVel", "energy_velocity", doc="Kinetic energy.")
mj_collision = _stage("mj_collision", "find_contacts", doc="Contacts of the pose.")
mj_fwdPosition = _stage(
    "mj_fwdPosition", "compute_position", "find_contacts", doc="What depends on position, and contacts."
)
mj_fwdVelocity = _stage(
    "mj_fwdVelocity", "compute_position", "compute_velocity", doc="What depends on position and velocity."
)
mj_rnePostConstraint = _stage(
    "mj_rnePostConstraint",
    "rne_post_constraint",
    doc="Accelerations and forces of bodies: cacc, cfrc_int, cfrc_ext.",
)


def _whole(name: str, what: str) -> Any:
    @fatal
    def call(m: Any, d: Any) -> None:
        _forward(m, d)

    call.__name__ = name
    call.__doc__ = f"{what}: Tribo computes them together with all else that mj_forward does."
    return call


mj_fwdActuation = _whole("mj_fwdActuation", "Actuator forces")
mj_fwdAcceleration = _whole("mj_fwdAcceleration", "Smooth accelerations")
mj_fwdConstraint = _whole("mj_fwdConstraint", "Constraint forces")
mj_passive = _whole("mj_passive", "Passive forces")
mj_sensorPos = _whole("mj_sensorPos", "Sensors of position")
mj_sensorVel = _whole("mj_sensorVel", "Sensors of velocity")
mj_sensorAcc = _whole("mj_sensorAcc", "Sensors of acceleration")


# ---- resets and copies ----------------------------------------------------------------------------


def mj_resetData(m: Any, d: Any) -> None:
    """Return to the reference pose."""
    _core.reset(m, d)
    d._extra["warning"][...] = 0
    d._extra["timer"][...] = 0


def mj_resetDataDebug(m: Any, d: Any, debug_value: int) -> None:
    """As mj_resetData: Tribo's world is never unset."""
    mj_resetData(m, d)


def mj_resetDataKeyframe(m: Any, d: Any, key: int) -> None:
    """Return to a keyframe; a number that is none is the reference pose."""
    mj_resetData(m, d)
    if 0 <= int(key) < m.nkey:
        _core._reset_keyframe(m, d, int(key))


def mj_resetCtrl(m: Any, d: Any) -> None:
    """Set controls to zero."""
    d.ctrl[:] = 0


def mj_setKeyframe(m: Any, d: Any, k: int) -> None:
    """Store the state as a keyframe of the model."""
    if k >= m.nkey:
        raise FatalError(
            f"mj_setKeyframe: index must be smaller than {m.nkey} (keyframes allocated in model)"
        )
    if k < 0:
        raise FatalError("mj_setKeyframe: keyframe index cannot be negative")
    m.key_time[k] = d.time
    for name in ("qpos", "qvel", "act", "ctrl"):
        getattr(m, f"key_{name}")[k] = getattr(d, name)
    m.key_mpos[k] = d.mocap_pos.reshape(-1)
    m.key_mquat[k] = d.mocap_quat.reshape(-1)


def mj_copyData(dest: MjData, m: Any, src: MjData) -> MjData:
    """Make a world a copy of another one."""
    dest._take(src)
    return dest


def mj_addContact(m: Any, d: Any, con: Any) -> int:
    """Raises: contacts are those that the step detects."""
    raise NotImplementedError(
        "mj_addContact: Tribo detects contacts itself; forces of your own go to "
        "d.xfrc_applied, further constraints to <equality>"
    )


# ---- checks ---------------------------------------------------------------------------------------


def _check(d: Any, m: Any, which: Any, word: str) -> None:
    if not _core._dropin.check_state(m, d, d._extra["warning"], int(which)):
        callbacks.warn(
            f"{word}: nan, inf or huge value at index {d._extra['warning'][int(which), 0]}, time = {d.time:g}"
        )


def mj_checkPos(m: Any, d: Any) -> None:
    """Count a warning and reset if qpos is not finite."""
    _check(d, m, mjtWarning.mjWARN_BADQPOS, "QPOS")


def mj_checkVel(m: Any, d: Any) -> None:
    """Count a warning and reset if qvel is not finite."""
    _check(d, m, mjtWarning.mjWARN_BADQVEL, "QVEL")


def mj_checkAcc(m: Any, d: Any) -> None:
    """Count a warning and reset if qacc is not finite."""
    if np.all(np.abs(d.qacc) <= 1e10):
        return
    row = d._extra["warning"][int(mjtWarning.mjWARN_BADQACC)]
    bad = int(np.argmax(~(np.abs(d.qacc) <= 1e10)))
    if not m.opt.disableflags & 65536:
        _core.reset(m, d)
    row[:] = bad, row[1] + 1
    callbacks.warn(f"QACC: nan, inf or huge value at index {bad}")


def tribo_type(kind: int, what: str) -> int:
    """Tribo's number of a kind of objects."""
    if int(kind) not in OBJECT_TO_TRIBO:
        raise ValueError(f"{what}: Tribo has no objects of kind {int(kind)}")
    return OBJECT_TO_TRIBO[int(kind)]
