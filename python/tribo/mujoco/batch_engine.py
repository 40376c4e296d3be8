"""The worlds of a batch: their rows of states, their models, and the calls that run them."""

import copy
import os
from typing import Any

import numpy as np

from .. import _core
from .._errors import Error
from . import callbacks
from .batch_fields import DATA_FIELDS, RENAMED, SCALARS
from .data import MjData
from .enums import mjtState  # type: ignore[attr-defined]
from .errors import FatalError
from .model import MjModel
from .state import mj_getState, mj_stateSize

FULL = int(mjtState.mjSTATE_INTEGRATION)
SLEEP = 16
NWARNING = 7


class Engine:
    """Rows of mjSTATE_INTEGRATION, an MjData each, and one model or one each."""

    def __init__(self, model: MjModel, nsim: int, nthread: int, persistent: bool) -> None:
        check_callbacks()
        if nsim < 1:
            raise ValueError(f"nsim must be positive, got {nsim}")
        self.nsim, self.persistent = int(nsim), bool(persistent)
        self.nthread = int(nthread) or os.cpu_count() or 1
        if (model.opt.tribo.sleep or model.opt.enableflags & SLEEP) and not persistent:
            raise ValueError("a model that sleeps needs persistent=True")
        self.model = copy.copy(model)
        self.models: list[MjModel] | None = None  # copies with fields of their own
        self.callers: list[MjModel] | None = None
        self.datas = [MjData(self.model) for _ in range(nsim)]
        self.nstate = mj_stateSize(self.model, FULL)
        self.rows = np.zeros((nsim, self.nstate))
        for data, row in zip(self.datas, self.rows, strict=True):
            mj_getState(self.model, data, row, FULL)
        self.warning = np.zeros((nsim, NWARNING, 2), np.int32)
        self.status = np.zeros(nsim, np.int32)
        self.messages = [""] * nsim
        self.bound: dict[str, Any] = {}
        self.expanded: dict[str, Any] = {}
        self.written: dict[str, Any] = {}  # values that the models have

    # ---- models ---------------------------------------------------------------------------------

    def model_of(self, sim: int) -> MjModel:
        """The model that a simulation runs on."""
        if self.callers is not None:
            return self.callers[sim if len(self.callers) > 1 else 0]
        return self.models[sim] if self.models is not None else self.model

    def own_models(self) -> list[MjModel]:
        """A model per simulation."""
        if self.models is None:
            self.models = [copy.copy(self.model) for _ in range(self.nsim)]
        return self.models

    def _list(self) -> list[MjModel]:
        return self.callers or self.models or [self.model]

    def sync(self, ids: Any) -> dict[int, str]:
        """Give the models the expanded values; messages of those that refuse them."""
        refused: dict[int, str] = {}
        for name, values in self.expanded.items():
            last = self.written.get(name)
            models = self.own_models()
            for i in ids:
                if last is not None and np.array_equal(last[i], values[i], equal_nan=True):
                    continue
                try:
                    put_field(models[i], name, values[i])
                except Error as error:
                    refused[int(i)] = str(error)
            if last is None:
                self.written[name] = values.copy()
            else:
                last[ids] = values[ids]
            for i in refused:
                fill_different(self.written[name], i)
        return refused

    # ---- runs -----------------------------------------------------------------------------------

    def run(
        self,
        ids: Any,
        nstep: int,
        stage: int,
        control: Any = None,
        spec: int = 0,
        records: list[tuple[Any, int, Any]] | None = None,
        keys: Any = None,
    ) -> int:
        """Run simulations; returns how many failed."""
        check_callbacks()
        chosen = np.arange(self.nsim, dtype=np.int32) if ids is None else ids
        refused = self.sync(chosen)
        keep = [k for k, i in enumerate(chosen) if int(i) not in refused]
        for model in self._list():
            callbacks.attach(model)
        full_records = [(name, 0, raw) for name, raw in self.bound.items()] if records is None else records
        if refused:
            # What is left runs; records of refused simulations repeat nothing.
            chosen_run = np.ascontiguousarray(chosen[keep])
            control = None if control is None else np.ascontiguousarray(control[keep])
            keys = None if keys is None else keys[keep]
        else:
            chosen_run = chosen
        _core._dropin.batch_run(
            self._list(),
            self.datas,
            chosen_run,
            nstep,
            stage,
            self.rows,
            FULL,
            control,
            spec,
            [(RENAMED.get(name, name), signature, raw) for name, signature, raw in full_records],
            records is not None,
            keys,
            self.status,
            self.warning,
            self.messages,
            self.nthread,
        )
        for i, message in refused.items():
            self.status[i], self.messages[i] = 1, message
        if records is not None and self.bound:
            self._refresh(chosen_run)
        return int(np.count_nonzero(self.status[chosen]))

    def _refresh(self, ids: Any) -> None:
        """Outputs after a rollout: those of its last step."""
        for name, raw in self.bound.items():
            for i in ids:
                raw[i] = getattr(self.datas[i], name)

    def output(self, name: str) -> Any:
        """The array of an output, filled by every call."""
        if name not in self.bound:
            kind, shape = SCALARS[name] if name in SCALARS else _like(getattr(self.datas[0], name))
            self.bound[name] = np.zeros((self.nsim, *shape), kind)
        return self.bound[name]

    # ---- calls with checked buffers ---------------------------------------------------------------

    def rollout(self, ids: Any, nstep: int, control: Any, spec: int, records: list[Any]) -> int:
        """Record into buffers, whose types and shapes are checked."""
        n = self.nsim if ids is None else len(ids)
        if control is not None and np.shape(control) != (n, nstep, mj_stateSize(self.model, spec)):
            raise ValueError(f"control: wrong shape {np.shape(control)}")
        for name, signature, buffer in records:
            kind, shape = self._kind(name, signature)
            if (
                not isinstance(buffer, np.ndarray)
                or buffer.shape != (n, nstep, *shape)
                or buffer.dtype != kind
                or not buffer.flags.c_contiguous
                or not buffer.flags.writeable
            ):
                raise ValueError(
                    f"{name or signature}: expected a writable contiguous {np.dtype(kind)} array of "
                    f"shape {(n, nstep, *shape)}"
                )
        return self.run(ids, nstep, 0, control, spec, records)

    def _kind(self, name: Any, signature: int) -> tuple[Any, tuple[int, ...]]:
        if name is None:
            try:
                return np.float64, (mj_stateSize(self.model, signature),)
            except FatalError as error:
                raise ValueError(str(error)) from error
        if name in SCALARS:
            return SCALARS[name]
        if name == "time":
            return np.float64, ()
        if name not in DATA_FIELDS:
            raise ValueError(f"{name} is not a field that can be recorded")
        return _like(getattr(self.datas[0], name))

    def jac(self, ids: Any, body: Any, point: Any, jacp: Any, jacr: Any) -> int:
        """Jacobians of points of bodies into buffers."""
        if ids is not None and (not isinstance(ids, np.ndarray) or ids.dtype != np.int32):
            raise TypeError("ids: expected an array of int32")
        n = self.nsim if ids is None else len(ids)
        chosen = range(self.nsim) if ids is None else ids
        _buffer(body, np.int32, (n,), "body")
        _buffer(point, np.float64, (n, 3), "point")
        for buffer, name in ((jacp, "jacp"), (jacr, "jacr")):
            if buffer is not None:
                _buffer(buffer, np.float64, (n, 3, self.model.nv), name)
        if ids is not None and len(ids) and (min(ids) < 0 or max(ids) >= self.nsim):
            raise ValueError(f"ids must be in [0, {self.nsim})")
        self.sync(np.asarray(chosen))
        for k, i in enumerate(chosen):
            model, data = self.placed(int(i), True)
            linear, angular = _core.jac(model, data, int(body[k]), point[k])
            if jacp is not None:
                jacp[k] = linear
            if jacr is not None:
                jacr[k] = angular
            self.status[i] = 0
        return 0

    def placed(self, sim: int, dynamics: bool) -> tuple[MjModel, MjData]:
        """A simulation with the kinematics of its row."""
        model, data = self.model_of(sim), self.datas[sim]
        _core._dropin.state_set(model, data, self.rows[sim], FULL)
        _core.kinematics(model, data)
        if dynamics:
            _core.com_position(model, data)
        return model, data


def _buffer(value: Any, kind: Any, shape: tuple[int, ...], name: str) -> None:
    if not isinstance(value, np.ndarray) or value.dtype != kind or not value.flags.c_contiguous:
        raise TypeError(f"{name}: expected a contiguous array of {np.dtype(kind)}")
    if value.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {value.shape}")


def _like(value: Any) -> tuple[Any, tuple[int, ...]]:
    return value.dtype, value.shape


def fill_different(values: Any, i: int) -> None:
    """Mark a row of written values as unlike any other."""
    if values.dtype.kind == "f":
        values[i] = np.inf
    else:
        values[i] = np.iinfo(values.dtype).min if values.dtype.kind in "iu" else False


def put_field(model: MjModel, name: str, value: Any) -> None:
    """Set a field of a model or of its options."""
    if name.startswith("opt."):
        setattr(model.opt, name[4:], value if np.ndim(value) else value.item())
    else:
        setattr(model, name, value)


def get_field(model: MjModel, name: str) -> Any:
    """A field of a model or of its options."""
    return getattr(model.opt, name[4:]) if name.startswith("opt.") else getattr(model, name)


def check_callbacks() -> None:
    """Threads of a batch do not call Python."""
    for name in callbacks.active("mjcb_control", "mjcb_passive", "mjcb_contactfilter", "mjcb_sensor"):
        function = callbacks._set[name]
        if not callbacks._is_c(function):
            raise ValueError(f"{name} is a Python function: a batch calls C functions only")
