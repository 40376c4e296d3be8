"""Trajectories from many initial states, with the calls of mujoco.rollout."""

import atexit
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from . import callbacks
from .enums import mjtState  # type: ignore[attr-defined]
from .errors import FatalError
from .functions import _check_option
from .model import MjModel
from .state import mj_stateSize

__all__ = ["Rollout", "rollout", "shutdown_persistent_pool"]

FULL = int(mjtState.mjSTATE_FULLPHYSICS)
CTRL = int(mjtState.mjSTATE_CTRL)
USER = int(mjtState.mjSTATE_USER)


class Rollout:
    """Rolls out on a number of threads, one MjData each; results do not depend on it.

    Parameters
    ----------
    nthread : int
        Threads; 0: the calling one.
    """

    def __init__(self, *, nthread: int | None = None) -> None:
        self.nthread = 0 if nthread is None else nthread
        self._open = True

    def __enter__(self) -> "Rollout":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it: later calls raise."""
        self._open = False

    def rollout(
        self,
        model: Any,
        data: Any,
        initial_state: Any,
        control: Any = None,
        *,
        control_spec: int = CTRL,
        skip_checks: bool = False,
        nstep: int | None = None,
        initial_warmstart: Any = None,
        state: Any = None,
        sensordata: Any = None,
        chunk_size: int | None = None,
    ) -> tuple[Any, Any]:
        """States and sensor values after each step of open-loop trajectories.

        Parameters
        ----------
        model : MjModel or sequence of MjModel
            One model, or one per trajectory.
        data : MjData or sequence of MjData
            Worlds that are used for it, one per thread.
        initial_state : array_like
            States of mjSTATE_FULLPHYSICS, shape (nbatch or 1, nstate).
        control : array_like, optional
            Inputs before each step, shape (nbatch or 1, nstep or 1, ncontrol).
        control_spec : int
            Bits of mjSTATE_USER: what a row of `control` is.
        skip_checks : bool
            Take shapes and types as they are.
        nstep : int, optional
            Steps; default: those of the arrays.
        initial_warmstart : array_like, optional
            qacc_warmstart, shape (nbatch or 1, nv).
        state, sensordata : numpy.ndarray, optional
            Where results are written to, shape (nbatch, nstep, nstate) and (nbatch, nstep, nsensordata).
        chunk_size : int, optional
            Checked, not needed: threads take trajectories one by one.

        Returns
        -------
        state, sensordata : numpy.ndarray
            The results.
        """
        if not self._open:
            raise RuntimeError("rollout requested after thread pool shutdown")
        datas = list(data) if isinstance(data, (list, tuple)) else [data]
        if skip_checks:
            models = [model] if isinstance(model, MjModel) else list(model)
            _check_counts(nstep, chunk_size, False)
            if nstep is None:
                raise ValueError("nstep must be an integer")
            self._run(
                models,
                datas,
                len(initial_state),
                nstep,
                int(control_spec),
                initial_state,
                initial_warmstart,
                control,
                state,
                sensordata,
            )
            return state, sensordata
        if control_spec & ~USER:
            raise ValueError("control_spec can only contain bits in mjSTATE_USER")
        _check_counts(nstep, chunk_size, True)
        arrays = {
            "initial_state": (initial_state, 2),
            "initial_warmstart": (initial_warmstart, 2),
            "control": (control, 3),
            "state": (state, 3),
            "sensordata": (sensordata, 3),
        }
        shaped = {name: _shaped(name, value, ndim) for name, (value, ndim) in arrays.items()}
        nbatch = _common(0, 1, shaped, shaped)
        models = [model] if isinstance(model, MjModel) else list(model)
        if len(models) > 1 and nbatch == 1:
            nbatch = len(models)
        if len(models) > 1 and len(models) != nbatch:
            raise ValueError(f"nbatch inferred as {nbatch} but model is length {len(models)}")
        steps = _common(1, 1 if nstep is None else nstep, shaped, ("control", "state", "sensordata"))
        first = models[0]
        sizes = {
            "initial_state": mj_stateSize(first, FULL),
            "state": mj_stateSize(first, FULL),
            "control": mj_stateSize(first, control_spec),
            "initial_warmstart": first.nv,
            "sensordata": first.nsensordata,
        }
        for other in models[1:]:
            if (
                mj_stateSize(other, FULL),
                mj_stateSize(other, control_spec),
                other.nv,
                other.nsensordata,
            ) != (sizes["state"], sizes["control"], sizes["initial_warmstart"], sizes["sensordata"]):
                raise ValueError("models are not compatible")
        for name, array in shaped.items():
            if array is not None and array.shape[-1] != sizes[name]:
                raise ValueError(f"trailing dimension of {name} must be {sizes[name]}, got {array.shape[-1]}")
        x0 = _tiled(shaped["initial_state"], (nbatch,))
        a0 = _tiled(shaped["initial_warmstart"], (nbatch,))
        u = _tiled(shaped["control"], (nbatch, steps))
        x = np.empty((nbatch, steps, sizes["state"])) if state is None else shaped["state"]
        s = np.empty((nbatch, steps, sizes["sensordata"])) if sensordata is None else shaped["sensordata"]
        self._run(models, datas, nbatch, steps, int(control_spec), x0, a0, u, x, s)
        for given, array in ((state, x), (sensordata, s)):
            if isinstance(given, np.ndarray) and not np.shares_memory(given, array):
                given[...] = array.reshape(given.shape)
        return x, s

    def _run(
        self,
        models: Any,
        datas: Any,
        nbatch: int,
        nstep: int,
        spec: int,
        x0: Any,
        a0: Any,
        u: Any,
        x: Any,
        s: Any,
    ) -> None:
        if not datas:
            raise ValueError("The list of data instances is empty")
        if self.nthread == 0 and len(datas) > 1:
            raise ValueError(
                "More than one data instance passed but rollout is configured to run on main thread"
            )
        if self.nthread > 0 and len(datas) != self.nthread:
            raise ValueError(f"Length of data: {len(datas)} not equal to nthread: {self.nthread}")
        for i, one in enumerate(datas):
            if one.threadpool:
                raise ValueError(f"data[{i}] has a thread pool: rollout has threads of its own")
        if len(models) not in (1, nbatch):
            models = models[:nbatch]
        for model in {id(m): m for m in models}.values():
            callbacks.attach(model)
            _check_option(model)
        errors = _core._dropin.rollout(models, datas, nbatch, nstep, spec, x0, a0, u, x, s)
        first = next((message for message in errors if message), None)
        if first is not None:
            raise FatalError(first)


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_counts(nstep: Any, chunk_size: Any, types: bool) -> None:
    if types and nstep is not None and not _whole(nstep):
        raise ValueError("nstep must be an integer")
    if nstep is not None and nstep < 0:
        raise ValueError("nstep must be non-negative")
    if types and chunk_size is not None and not _whole(chunk_size):
        raise ValueError("chunk_size must be an integer")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("chunk_size must be a positive integer")


def _shaped(name: str, value: Any, ndim: int) -> Any:
    """The argument with leading dimensions of 1, contiguous."""
    if value is None:
        return None
    if not isinstance(value, (np.ndarray, float)):
        raise ValueError(f"{name} must be a numpy array or float")
    if np.ndim(value) > ndim:
        raise ValueError(f"{name} can have at most {ndim} dimensions")
    array = np.ascontiguousarray(value, np.float64)
    return array.reshape((1,) * (ndim - np.ndim(value)) + np.shape(value))


def _common(axis: int, guess: int, arrays: dict[str, Any], names: Any) -> int:
    """The size that all arrays have along an axis, those of 1 left out."""
    size = guess
    for name in names:
        array = arrays[name]
        if array is None or array.shape[axis] in (size, 1):
            continue
        if size != 1:
            raise ValueError(f"dimension {axis} inferred as {size} but {name} has {array.shape[axis]}")
        size = array.shape[axis]
    return size


def _tiled(array: Any, leading: tuple[int, ...]) -> Any:
    if array is None:
        return None
    shape = (*leading, *array.shape[len(leading) :])
    return np.ascontiguousarray(np.broadcast_to(array, shape))


_persistent: Rollout | None = None


def shutdown_persistent_pool() -> None:
    """End the rollout object that `persistent_pool` keeps."""
    global _persistent
    if _persistent is not None:
        _persistent.close()
    _persistent = None


atexit.register(shutdown_persistent_pool)


def rollout(
    model: MjModel | Sequence[MjModel],
    data: Any,
    initial_state: Any,
    control: Any = None,
    *,
    persistent_pool: bool = False,
    **options: Any,
) -> tuple[Any, Any]:
    """As Rollout.rollout, on a thread per MjData.

    Parameters
    ----------
    model, data, initial_state, control
        As Rollout.rollout.
    persistent_pool : bool
        Keep the rollout object for the next call.
    **options
        As Rollout.rollout.
    """
    global _persistent
    count = len(data) if isinstance(data, (list, tuple)) else 1
    nthread = count if count > 1 else 0
    if not persistent_pool:
        with Rollout(nthread=nthread) as once:
            return once.rollout(model, data, initial_state, control, **options)
    if _persistent is None or _persistent.nthread != nthread:
        shutdown_persistent_pool()
        _persistent = Rollout(nthread=nthread)
    return _persistent.rollout(model, data, initial_state, control, **options)
