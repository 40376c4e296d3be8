"""State vectors with MuJoCo's layout: the parts that bits of mjtState select, one after another."""

from typing import Any

import numpy as np

from .. import _core
from .enums import mjtState  # type: ignore[attr-defined]
from .errors import FatalError

__all__ = ["mj_copyState", "mj_extractState", "mj_getState", "mj_setState", "mj_stateSize"]

_NSTATE = int(mjtState.mjNSTATE)


def _signature(sig: Any, what: str) -> int:
    sig = int(sig)
    if sig < 0:
        raise FatalError(f"{what}: invalid state signature {sig} < 0")
    if sig >= 1 << _NSTATE:
        raise FatalError(f"{what}: invalid state signature {sig} >= 2^mjNSTATE")
    return sig


def mj_stateSize(m: Any, sig: int) -> int:
    """Length of the vector of these parts."""
    return int(_core._dropin.state_size(m, _signature(sig, "mj_stateSize")))


def _check(m: Any, state: Any, sig: int) -> int:
    size = mj_stateSize(m, sig)
    if np.size(state) != size:
        raise TypeError("state size should equal mj_stateSize(m, sig)")
    return size


def mj_getState(m: Any, d: Any, state: Any, sig: int) -> None:
    """Write parts of the state into `state`."""
    _check(m, state, sig)
    if state.dtype == np.float64 and state.flags.c_contiguous:
        _core._dropin.state_get(m, d, state.reshape(-1), int(sig))
        return
    values = np.zeros(state.size)
    _core._dropin.state_get(m, d, values, int(sig))
    state[...] = values.reshape(state.shape)


def mj_setState(m: Any, d: Any, state: Any, sig: int) -> None:
    """Set parts of the state from a vector."""
    _check(m, state, sig)
    _core._dropin.state_set(m, d, np.ascontiguousarray(state, np.float64).reshape(-1), int(sig))


def mj_copyState(m: Any, src: Any, dst: Any, sig: int) -> None:
    """Copy parts of the state from one world to another."""
    values = np.zeros(mj_stateSize(m, sig))
    _core._dropin.state_get(m, src, values, int(sig))
    _core._dropin.state_set(m, dst, values, int(sig))


def mj_extractState(m: Any, src: Any, srcsig: int, dst: Any, dstsig: int) -> None:
    """Take the parts `dstsig` out of a vector that has the parts `srcsig`."""
    source, wanted = _signature(srcsig, "mj_extractState"), _signature(dstsig, "mj_extractState")
    if wanted & ~source:
        raise FatalError("mj_extractState: dstsig is not a subset of srcsig")
    _check(m, src, source)
    _check(m, dst, wanted)
    values, flat, at, to = np.asarray(src).reshape(-1), dst.reshape(-1), 0, 0
    for bit in (1 << i for i in range(_NSTATE)):
        if not source & bit:
            continue
        size = int(_core._dropin.state_size(m, bit))
        if wanted & bit:
            flat[to : to + size] = values[at : at + size]
            to += size
        at += size
