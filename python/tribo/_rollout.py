"""Rollouts with the signature and the meaning of ``mujoco.rollout``."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._batch import Batch
from ._core import Data, Model
from ._errors import Error

__all__ = ["StateBit", "rollout", "state_size"]

# Parts of a control vector, by the bits of MuJoCo's mjtState, and the columns of each.
StateBit = {
    "ctrl": 1 << 6,
    "qfrc_applied": 1 << 7,
    "xfrc_applied": 1 << 8,
    "eq_active": 1 << 9,
    "mocap_pos": 1 << 10,
    "mocap_quat": 1 << 11,
    "userdata": 1 << 12,
}
_HELD = ("ctrl", "qfrc_applied", "xfrc_applied")


def state_size(m: Model) -> int:
    """Values of a state of a rollout: time, qpos, qvel, act."""
    return int(1 + m.nq + m.nv + m.na)


def _widths(m: Any, spec: int) -> dict[str, int]:
    columns = {
        "ctrl": m.nu,
        "qfrc_applied": m.nv,
        "xfrc_applied": 6 * m.nbody,
        "eq_active": m.neq,
        "mocap_pos": 3 * m.nmocap,
        "mocap_quat": 4 * m.nmocap,
        "userdata": m.nuserdata,
    }
    if spec & ~sum(StateBit.values()):
        raise ValueError("control_spec can only contain bits of mjSTATE_USER")
    return {name: columns[name] for name, bit in StateBit.items() if spec & bit}


def _rows(name: str, value: Any, ndim: int) -> Any:
    """An array of `ndim` dimensions; missing ones are added in front."""
    if value is None:
        return None
    array = np.asarray(value, dtype=np.float64)
    if array.ndim > ndim:
        raise ValueError(f"{name} can have at most {ndim} dimensions")
    return array.reshape((1,) * (ndim - array.ndim) + array.shape)


def _width(name: str, array: Any, columns: int) -> None:
    if array is not None and array.shape[-1] != columns:
        raise ValueError(f"trailing dimension of {name} must be {columns}, got {array.shape[-1]}")


def _common(what: str, sizes: list[int]) -> int:
    """The one size above one, else one."""
    wide = {size for size in sizes if size != 1}
    if len(wide) > 1:
        raise ValueError(f"dimension mismatch in {what}: {sorted(wide)}")
    return wide.pop() if wide else 1


def _set_initial(b: Batch, m: Any, initial: Any, warmstart: Any) -> None:
    """States and warm starts of all worlds."""
    b.time[...] = initial[:, 0]
    b.qpos[...] = initial[:, 1 : 1 + m.nq]
    b.qvel[...] = initial[:, 1 + m.nq : 1 + m.nq + m.nv]
    b.act[...] = initial[:, 1 + m.nq + m.nv :]
    if warmstart is not None:
        b.qacc_warmstart[...] = warmstart


def _run(b: Batch, nstep: int, inputs: dict[str, Any], state: Any, sensordata: Any) -> None:
    """Step, and write states and sensors."""
    m = b.model
    record = ("time", "qpos", "qvel", "act", "sensordata")
    ends = np.cumsum([1, m.nq, m.nv, m.na])

    def keep(found: dict[str, Any], rows: slice) -> None:
        state[:, rows, 0] = found["time"]
        for name, start, end in zip(record[1:4], ends[:3], ends[1:], strict=True):
            state[:, rows, start:end] = found[name]
        sensordata[:, rows] = found["sensordata"]

    held = {name: value for name, value in inputs.items() if name in _HELD}
    others = {name: value for name, value in inputs.items() if name not in _HELD}
    if not others:
        out = {name: np.zeros((b.n, nstep, *getattr(b, name).shape[1:])) for name in record}
        try:
            b.rollout(nstep, record=record, out=out, **held)
        except Error as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=4)
        keep(out, slice(0, nstep))
        return
    # What changes poses of mocap bodies and equalities is set step by step.
    for t in range(nstep):
        for name, value in inputs.items():
            target = getattr(b, name)
            target[...] = value[:, t].reshape(target.shape)
        try:
            b.step()
        except Error as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=4)
        keep({name: getattr(b, name)[:, None] for name in record}, slice(t, t + 1))


def rollout(
    model: Model | Sequence[Model],
    data: Data | Sequence[Data],
    initial_state: Any,
    control: Any = None,
    *,
    control_spec: int = StateBit["ctrl"],
    skip_checks: bool = False,
    nstep: int | None = None,
    initial_warmstart: Any = None,
    state: Any = None,
    sensordata: Any = None,
    chunk_size: int | None = None,
    persistent_pool: bool = False,
) -> tuple[Any, Any]:
    """Roll out trajectories from initial states, as ``mujoco.rollout.rollout``.

    Parameters
    ----------
    model : Model or sequence of Model
        One model for all rollouts, or one each (of the same sizes).
    data : Data or sequence of Data
        Their number is the number of threads; they are not changed.
    initial_state : array_like
        Time, qpos, qvel, act; shape (nroll, nstate) or (nstate,).
    control : array_like, optional
        Inputs before each step, shape (nroll or 1, nstep, ncontrol); zero if not given.
    control_spec : int
        What a control vector consists of: bits of MuJoCo's mjtState.
    skip_checks : bool
        Accepted for compatibility; shapes are always checked.
    nstep : int, optional
        Steps; default: as many as `control`, `state` or `sensordata` have, else one.
    initial_warmstart : array_like, optional
        qacc_warmstart, shape (nroll, nv).
    state, sensordata : numpy.ndarray, optional
        Where results are written to, float64.
    chunk_size, persistent_pool : optional
        Accepted for compatibility; a batch balances its threads itself.

    Returns
    -------
    state : numpy.ndarray
        After each step, shape (nroll, nstep, nstate).
    sensordata : numpy.ndarray
        Of each step, shape (nroll, nstep, nsensordata).

    Notes
    -----
    A rollout that fails keeps its last good state, and a RuntimeWarning says why.
    """
    models = list(model) if isinstance(model, Sequence) else [model]
    datas = list(data) if isinstance(data, Sequence) else [data]
    if not models or not datas:
        raise ValueError("model and data must not be empty")
    m = models[0]
    initial = _rows("initial_state", initial_state, 2)
    controls = _rows("control", control, 3)
    warm = _rows("initial_warmstart", initial_warmstart, 2)
    widths = _widths(m, control_spec)
    nstate = state_size(m)
    for name, array, columns in (
        ("initial_state", initial, nstate),
        ("control", controls, sum(widths.values())),
        ("initial_warmstart", warm, m.nv),
        ("state", state, nstate),
        ("sensordata", sensordata, m.nsensordata),
    ):
        _width(name, array, columns)
    outputs = [(name, a) for name, a in (("state", state), ("sensordata", sensordata)) if a is not None]
    for name, array in outputs:
        if array.ndim != 3 or array.dtype != np.float64:
            raise ValueError(f"{name}: expected three dimensions of float64")
    # One model per rollout, or one for all; the same for states and inputs.
    nroll = _common(
        "nroll",
        [
            len(models),
            *(a.shape[0] for a in (initial, controls, warm) if a is not None),
            *(a.shape[0] for _, a in outputs),
        ],
    )
    steps = _common(
        "nstep",
        [
            *([controls.shape[1]] if controls is not None else []),
            *(a.shape[1] for _, a in outputs),
            *([nstep] if nstep is not None else []),
        ],
    )
    for name, array in outputs:
        if array.shape[:2] != (nroll, steps):
            raise ValueError(f"{name}: expected shape ({nroll}, {steps}, ...), got {array.shape}")
    if state is None:
        state = np.empty((nroll, steps, nstate))
    if sensordata is None:
        sensordata = np.empty((nroll, steps, m.nsensordata))
    b = Batch(m, nroll, len(datas))
    for world, own in enumerate(models):
        if own is not m:
            b.set_model(world, own)
    _set_initial(b, m, np.broadcast_to(initial, (nroll, nstate)), warm)
    inputs: dict[str, Any] = {}
    if controls is not None:
        full = np.broadcast_to(controls, (nroll, steps, controls.shape[2]))
        start = 0
        for name, columns in widths.items():
            inputs[name] = full[:, :, start : start + columns]
            start += columns
    _run(b, steps, inputs, state, sensordata)
    return state, sensordata
