# ruff: noqa: F822
"""Functions of the user that every step calls, set for the process as in MuJoCo.

Tribo's callbacks belong to a model: a call takes over what is set here for the model that it gets.
"""

import time
from collections.abc import Callable
from typing import Any

from .. import _core

__all__ = [
    "get_mjcb_act_bias",
    "get_mjcb_act_dyn",
    "get_mjcb_act_gain",
    "get_mjcb_contactfilter",
    "get_mjcb_control",
    "get_mjcb_passive",
    "get_mjcb_sensor",
    "get_mjcb_time",
    "get_mju_user_free",
    "get_mju_user_malloc",
    "get_mju_user_warning",
    "mj_resetCallbacks",
    "set_mjcb_act_bias",
    "set_mjcb_act_dyn",
    "set_mjcb_act_gain",
    "set_mjcb_contactfilter",
    "set_mjcb_control",
    "set_mjcb_passive",
    "set_mjcb_sensor",
    "set_mjcb_time",
    "set_mju_user_free",
    "set_mju_user_malloc",
    "set_mju_user_warning",
]

_SLOTS = {"mjcb_control": 0, "mjcb_passive": 1, "mjcb_contactfilter": 2}
_HOST = ("mjcb_sensor", "mjcb_time", "mju_user_warning")
_ABSENT = {
    "mjcb_act_dyn": "activations of kind 'user' are set from C (tbCallbacks.act_dyn)",
    "mjcb_act_gain": "gains of kind 'user' are set from C (tbCallbacks.act_gain)",
    "mjcb_act_bias": "biases of kind 'user' are set from C (tbCallbacks.act_bias)",
    "mju_user_malloc": "Tribo's allocator is the C library's",
    "mju_user_free": "Tribo's allocator is the C library's",
}
_set: dict[str, Any] = {}


def _getter(name: str) -> Callable[[], Any]:
    def get() -> Any:
        return _set.get(name)

    get.__name__ = f"get_{name}"
    get.__doc__ = f"The function that is set as `{name}`, or None."
    return get


def _setter(name: str) -> Callable[[Any], None]:
    def put(callback: Any) -> None:
        if callback is not None and not callable(callback):
            raise TypeError("callback is not an Optional[Callable]")
        if callback is not None and name in _ABSENT:
            raise NotImplementedError(f"{name}: {_ABSENT[name]}")
        _set[name] = callback

    put.__name__ = f"set_{name}"
    put.__doc__ = f"Set `{name}`, or None."
    return put


for _name in (*_SLOTS, *_HOST, *_ABSENT):
    globals()[f"get_{_name}"] = _getter(_name)
    globals()[f"set_{_name}"] = _setter(_name)


def mj_resetCallbacks() -> None:
    """Remove all callbacks."""
    _set.clear()


def active(*names: str) -> list[str]:
    """Names of the callbacks that are set."""
    return [name for name in names or (*_SLOTS, *_HOST) if _set.get(name) is not None]


def attach(m: Any) -> None:
    """Give a model the callbacks that are set, or take away those that are no longer."""
    if not _set and not m._extra.get("callbacks"):
        return
    mine = m._extra.setdefault("callbacks", {})
    for name, which in _SLOTS.items():
        function = _set.get(name)
        if mine.get(name) is function:
            continue
        mine[name] = function
        _core._set_callback(m, which, _c_function(function) if _is_c(function) else function)


def _is_c(function: Any) -> bool:
    return hasattr(function, "argtypes") and hasattr(function, "restype")


def _c_function(function: Any) -> Callable[..., Any]:
    """A function of ctypes gets addresses: of Tribo's structs, which are not MuJoCo's."""

    def call(m: Any, d: Any, *rest: Any) -> Any:
        return function(_core._dropin.model_address(m), _core._dropin.data_address(d), *rest)

    return call


def sensors(m: Any, d: Any) -> None:
    """Call mjcb_sensor for each stage at which the model has sensors of the user."""
    function = _set.get("mjcb_sensor")
    if function is None:
        return
    stages = {int(stage) for kind, stage in zip(m.sensor_type, m.sensor_needstage, strict=True) if kind == 48}
    for stage in sorted(stages):
        function(m, d, stage)


def now() -> float:
    """Seconds by the clock that is set, else those of the process."""
    clock = _set.get("mjcb_time")
    if clock is None:
        return time.perf_counter()
    value = clock()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("mjcb_time callback did not return a number")
    return float(value)


def warn(message: str) -> None:
    """Pass a warning to the function that is set."""
    function = _set.get("mju_user_warning")
    if function is not None:
        function(message)
