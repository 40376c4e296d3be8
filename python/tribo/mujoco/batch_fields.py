"""Which fields a batch binds and expands, and what it says about others."""

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from .data_fields import WHY as _DATA_WHY
from .enums import mjtState  # type: ignore[attr-defined]
from .option import FIELDS as _OPTIONS

# Fields of the state rows, by their bit of mjtState.
STATE_FIELDS = {
    "time": mjtState.mjSTATE_TIME,
    "qpos": mjtState.mjSTATE_QPOS,
    "qvel": mjtState.mjSTATE_QVEL,
    "act": mjtState.mjSTATE_ACT,
    "history": mjtState.mjSTATE_HISTORY,
    "qacc_warmstart": mjtState.mjSTATE_WARMSTART,
    "ctrl": mjtState.mjSTATE_CTRL,
    "qfrc_applied": mjtState.mjSTATE_QFRC_APPLIED,
    "xfrc_applied": mjtState.mjSTATE_XFRC_APPLIED,
    "eq_active": mjtState.mjSTATE_EQ_ACTIVE,
    "mocap_pos": mjtState.mjSTATE_MOCAP_POS,
    "mocap_quat": mjtState.mjSTATE_MOCAP_QUAT,
    "userdata": mjtState.mjSTATE_USERDATA,
    "plugin_state": mjtState.mjSTATE_PLUGIN,
    "plastic": mjtState.mjSTATE_PLASTIC,
}
# Outputs that are no arrays of Tribo's data: type and shape.
SCALARS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "ncon": (np.int32, ()),
    "energy": (np.float64, (2,)),
    "solver_niter": (np.int32, (20,)),
}
# Tribo's name of a field.
RENAMED = {"M": "qM"}
_ARRAYS = {row[0] for row in _core.data_fields}
DATA_FIELDS = frozenset(STATE_FIELDS) | frozenset(_ARRAYS - {"eq_load", "ten_load"}) | set(SCALARS) | {"M"}
_SHARED = ("mesh_", "hull_", "hfield_data", "hfield_adr", "name_", "text_", "names", "notes")
_OPTION_FIELDS = [name for name in _OPTIONS if name not in ("threads",)]
MODEL_FIELDS = frozenset(
    row[0] for row in _core.model_fields if row[1] != "char" and not row[0].startswith(_SHARED)
) | frozenset("opt." + name for name in _OPTION_FIELDS)
_FREE = (
    "contype",
    "conaffinity",
    "group",
    "priority",
    "limited",
    "active0",
    "gravcomp",
    "actearly",
    "condim",
)


def structural(field: str, part: Any) -> bool:
    """Whether a field says how the arrays of a model belong together."""
    return bool(part.dtype.kind in "iu" and not field.endswith(_FREE))


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint with names that are close."""
    close = difflib.get_close_matches(name, sorted(names), 3)
    return f" (did you mean {', '.join(map(repr, close))}?)" if close else ""


def hint(name: str, names: Iterable[str], model: bool = False) -> str:
    """Where a name belongs, or what is close to it."""
    if model and name in MODEL_FIELDS:
        return f"; {name} is an MjModel field: use expand({name!r})"
    if "opt." + name in MODEL_FIELDS:
        return f"; {name} is an MjOption field: use expand('opt.{name}')"
    return did_you_mean(name, names)


def not_bindable(name: str) -> ValueError:
    """Why bind() does not accept a name."""
    if name in MODEL_FIELDS:
        return ValueError(f"{name} is an MjModel field: use expand({name!r})")
    if name in ("parena", "pstack", "pbase", "narena", "nbuffer"):
        return ValueError(
            f"{name} is not one of the MjData scalars bind() accepts: {', '.join(sorted(SCALARS))}"
        )
    if name in _DATA_WHY:
        return ValueError(
            f"{name} cannot be bound: not an array of fixed size, as MuJoCo's arena ({_DATA_WHY[name]})"
        )
    return ValueError(f"{name} is not an MjData array field{hint(name, DATA_FIELDS)}")


def not_expandable(model: Any, name: str) -> ValueError:
    """Why expand() does not accept a name."""
    if name in DATA_FIELDS:
        return ValueError(f"{name} is an MjData field: use bind({name!r})")
    if isinstance(getattr(model, name, None), np.ndarray):
        return ValueError(f"{name} is asset data, shared by all simulations, and cannot be expanded")
    return ValueError(f"{name} is not an expandable MjModel field{hint(name, MODEL_FIELDS)}")


def output_error(name: str) -> ValueError:
    """Why a derived field cannot be written."""
    return ValueError(
        f"{name} is computed by every call and cannot be written; write the state (qpos, ctrl, ...) "
        "or expand fields of the model"
    )


def template(data: Any, name: str) -> tuple[Any, tuple[int, ...]] | None:
    """Type and shape of a field of one simulation."""
    if name in SCALARS:
        return SCALARS[name]
    if name == "time":
        return np.float64, ()
    if name not in DATA_FIELDS:
        return None
    value = getattr(data, name)
    return value.dtype, value.shape


def selection(ids: Any, nsim: int) -> Any:
    """Sorted numbers of simulations from numbers or a mask; None: all."""
    if ids is None:
        return None
    ids = np.asarray(ids)
    if ids.dtype == bool:
        if ids.shape != (nsim,):
            raise ValueError(f"a mask must have shape ({nsim},), got {ids.shape}")
        return None if ids.all() else np.flatnonzero(ids).astype(np.int32)
    if ids.ndim != 1:
        raise ValueError(f"ids must have one dimension, got {ids.ndim}")
    if not ids.size:
        return np.zeros(0, np.int32)
    if not np.issubdtype(ids.dtype, np.integer):
        raise ValueError(f"ids must be integers, got {ids.dtype}")
    falls = np.flatnonzero(ids[:-1] >= ids[1:])
    if falls.size:
        raise ValueError(f"ids must be sorted and unique, got {ids[falls[0]]} before {ids[falls[0] + 1]}")
    for bad in (ids[0], ids[-1]):
        if not 0 <= bad < nsim:
            raise ValueError(f"ids must be in [0, {nsim}), got {bad}")
    return np.ascontiguousarray(ids, np.int32)


def whole(x: Any, shape: tuple[int, ...], low: int, high: int, name: str) -> Any:
    """Whole numbers in [low, high), broadcast."""
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.integer):
        raise ValueError(f"{name} must be integers, got {x.dtype}")
    bad = x[(x < low) | (x >= high)]
    if bad.size:
        raise ValueError(f"{name} must be in [{low}, {high}), got {bad.flat[0]}")
    return np.ascontiguousarray(np.broadcast_to(x, shape), np.int32)
