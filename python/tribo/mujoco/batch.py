"""Many simulations of one model, with the verbs of mujoco.batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._errors import Error
from .batch_engine import FULL, Engine, get_field
from .batch_fields import (
    DATA_FIELDS,
    MODEL_FIELDS,
    STATE_FIELDS,
    hint,
    not_bindable,
    not_expandable,
    output_error,
    selection,
    structural,
    template,
    whole,
)
from .batch_named import Named
from .data import MjData
from .enums import mjtStage, mjtState  # type: ignore[attr-defined]
from .errors import FatalError
from .model import MjModel
from .state import mj_stateSize

__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]

_ids, _structural = selection, structural
ACC, NONE, CTRL = int(mjtStage.mjSTAGE_ACC), int(mjtStage.mjSTAGE_NONE), int(mjtState.mjSTATE_CTRL)


class SimulationError(RuntimeError):
    """Some simulations of a call failed: `ids`; they kept their states, the others ran."""

    def __init__(self, ids: Any, message: str, ncall: int | None = None) -> None:
        self.ids = ids
        shown = ", ".join(str(i) for i in ids[:5]) + (", ..." if len(ids) > 5 else "")
        of = "" if ncall is None else f" of {ncall}"
        super().__init__(
            f"the engine raised in {len(ids)}{of} simulations ({shown}); simulation {ids[0]}: {message}"
        )


class Batch:
    """Simulations of a copy of a model, stepped on threads.

    Fields of the state are attributes and live: `batch.qpos` has a row per simulation. Other fields of the
    data are outputs, which every call fills once they are bound. `expand` gives fields of the model to each
    simulation.

    Parameters
    ----------
    model : MjModel
        The model.
    nsim : int
        Simulations.
    nthread : int
        Threads; 0: all cores. Results do not depend on it.
    persistent : bool
        Taken for compatibility: every simulation keeps its own MjData.
    """

    def __init__(self, model: MjModel, nsim: int, nthread: int = 0, persistent: bool = False) -> None:
        self._b = Engine(model, nsim, nthread, persistent)
        self.model = self._b.model
        self.state, self.warning = self._b.rows, self._b.warning
        self.status = self._b.status.view()
        self.status.flags.writeable = False
        self._bound: dict[str, Any] = {}
        self._derived = False
        self._given: Any = None

    # ---- what it is -----------------------------------------------------------------------------

    @property
    def nsim(self) -> int:
        """Simulations."""
        return self._b.nsim

    @property
    def nthread(self) -> int:
        """Threads."""
        return self._b.nthread

    @property
    def nstate(self) -> int:
        """Length of a state row."""
        return self._b.nstate

    @property
    def persistent(self) -> bool:
        """Whether it was made persistent."""
        return self._b.persistent

    @property
    def _data(self) -> MjData:
        return self._b.datas[0]

    @property
    def _expanded(self) -> dict[str, Any]:
        return self._b.expanded

    def error(self, sim: int) -> str:
        """Message of the last call's failure of a simulation, or ""."""
        return self._b.messages[sim]

    def __getattr__(self, name: str) -> Any:
        if name in DATA_FIELDS:
            return self.bind(name)
        text = "" if name.startswith("__") else hint(name, DATA_FIELDS, True)
        raise AttributeError(f"'Batch' object has no attribute {name!r}{text}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in DATA_FIELDS:
            object.__setattr__(self, name, value)
        elif name not in STATE_FIELDS:
            raise output_error(name)
        else:
            self.bind(name)[...] = value

    # ---- fields ---------------------------------------------------------------------------------

    def bind(self, name: str) -> Any:
        """The live array of a field of the data, shape (nsim, ...); outputs are read-only."""
        if name in STATE_FIELDS:
            first, size = self._component(STATE_FIELDS[name])
            view = self.state[:, first : first + size]
            if name == "time":
                return view[:, 0]
            return view.reshape(self.nsim, *getattr(self._data, name).shape)
        if name in self._bound:
            return self._bound[name]
        if name not in DATA_FIELDS:
            raise not_bindable(name)
        out = self._b.output(name).view()
        out.flags.writeable = False
        self._bound[name] = out
        return out

    def _component(self, bit: Any) -> tuple[int, int]:
        first = mj_stateSize(self.model, int(bit) - 1 & FULL)
        return first, mj_stateSize(self.model, int(bit))

    def expand(self, name: str) -> Any:
        """Values of a field of the model per simulation, live, shape (nsim, ...); options: "opt.<name>"."""
        if name in self._expanded:
            return self._expanded[name]
        if self._given is not None:
            raise FatalError("fields cannot be expanded while caller models are set (set_models)")
        if name not in MODEL_FIELDS:
            raise not_expandable(self.model, name)
        models = self._b.own_models()
        values = np.stack([np.asarray(get_field(m, name)) for m in models])
        if name.startswith("opt."):
            values = values.astype(np.float64 if values.dtype.kind == "f" else np.int32)
        self._expanded[name] = values
        self._b.written[name] = values.copy()
        return values

    def expanded(self, name: str) -> Any:
        """Values of a field that differ between simulations, read-only; None where they are shared."""
        if name not in MODEL_FIELDS:
            raise not_expandable(self.model, name)
        if name in self._expanded:
            view = self._expanded[name].view()
        elif self._derived and self._b.models is not None and name in DERIVED:
            view = np.stack([np.asarray(get_field(m, name)) for m in self._b.models])
        else:
            return None
        view.flags.writeable = False
        return view

    # ---- runs -----------------------------------------------------------------------------------

    def step(self, ids: Any = None, nstep: int = 1, stage: int = NONE) -> None:
        """Advance by `nstep` steps, then compute the stages up to `stage` at the new state."""
        chosen = selection(ids, self.nsim)
        self._check(chosen, self._b.run(chosen, nstep, int(stage)))

    def forward(self, ids: Any = None, stage: int = ACC) -> None:
        """Compute the stages up to `stage`, by default all."""
        chosen = selection(ids, self.nsim)
        self._check(chosen, self._b.run(chosen, 0, int(stage)))

    def reset(self, ids: Any = None, keyframe: Any = -1, stage: int = ACC) -> None:
        """Return to the reference pose (-1) or to keyframes, one for all or one each."""
        chosen = selection(ids, self.nsim)
        n = self.nsim if chosen is None else len(chosen)
        models = self._b.callers or [self.model]
        keys = whole(keyframe, (n,), -1, max(m.nkey for m in models), "keyframe")
        self._check(chosen, self._b.run(chosen, 0, int(stage), keys=keys))

    def rollout(
        self,
        nstep: int,
        control: Any = None,
        control_spec: int = CTRL,
        record: Sequence[Any] = ("qpos",),
        ids: Any = None,
        out: Mapping[Any, Any] | None = None,
    ) -> dict[Any, Any]:
        """Steps with inputs, recorded after each.

        Parameters
        ----------
        nstep : int
            Steps.
        control : array_like, optional
            Inputs before each step, shape (n, nstep, ncontrol).
        control_spec : int
            Bits of mjSTATE_USER: what a row of `control` is.
        record : sequence
            Names of fields, or bits of mjtState.
        ids : array_like, optional
            The simulations.
        out : mapping, optional
            Arrays to record into.

        Returns
        -------
        dict
            Arrays by entry of `record`, shape (n, nstep, ...). A simulation whose warnings rise stops; its
            last values repeat.
        """
        chosen = selection(ids, self.nsim)
        n = self.nsim if chosen is None else len(chosen)
        if control is not None:
            width = mj_stateSize(self.model, int(control_spec))
            control = np.ascontiguousarray(np.broadcast_to(control, (n, nstep, width)), np.float64)
        results, records = {}, []
        for item in record:
            if isinstance(item, str):
                kind = template(self._data, item)
                if kind is None:
                    raise not_bindable(item)
                dtype, shape = kind[0], (n, nstep, *kind[1])
            else:
                dtype, shape = np.dtype(np.float64), (n, nstep, mj_stateSize(self.model, int(item)))
            buffer = (out or {}).get(item)
            if buffer is None:
                buffer = np.empty(shape, dtype)
            elif (
                not isinstance(buffer, np.ndarray)
                or buffer.shape != shape
                or buffer.dtype != dtype
                or not buffer.flags.c_contiguous
                or not buffer.flags.writeable
            ):
                raise ValueError(
                    f"out[{item!r}] must be a writable C-contiguous {np.dtype(dtype)} array of shape {shape}"
                )
            records.append((item, 0, buffer) if isinstance(item, str) else (None, int(item), buffer))
            results[item] = buffer
        self._check(chosen, self._b.rollout(chosen, nstep, control, int(control_spec), records))
        return results

    def set_const(self, ids: Any = None) -> None:
        """Compute the constants that follow from expanded fields, per simulation."""
        if self._given is not None:
            raise FatalError("constants are those of the caller models (set_models)")
        chosen = selection(ids, self.nsim)
        chosen = np.arange(self.nsim, dtype=np.int32) if chosen is None else chosen
        models, failures = self._b.own_models(), self._b.sync(chosen)
        for i in chosen:
            try:
                if int(i) not in failures:
                    models[i].set_constants()
            except Error as error:
                failures[int(i)] = str(error)
        for i in chosen:
            self._b.status[i] = int(int(i) in failures)
            self._b.messages[i] = failures.get(int(i), "")
        self._derived = True
        for name in set(self._expanded) & DERIVED:
            for i in chosen:
                self._expanded[name][i] = get_field(models[i], name)
                self._b.written[name][i] = self._expanded[name][i]
        self._check(chosen, len(failures))

    # ---- single simulations -----------------------------------------------------------------------

    def _index(self, sim: int) -> int:
        if not 0 <= sim < self.nsim:
            raise IndexError(f"sim must be in [0, {self.nsim}), got {sim}")
        return int(sim)

    def get_model(self, sim: int, model: MjModel | None = None) -> MjModel:
        """A copy of the model of a simulation, or the given one with its values."""
        self._b.sync(np.array([self._index(sim)]))
        source = self._b.model_of(sim)
        if model is None:
            return source.__copy__()
        for name, kind, *_ in _core.model_fields:
            if kind not in ("tbReal", "int", "float"):
                continue
            field = getattr(_core.Model, name)
            values = field.__get__(source)
            if not np.array_equal(field.__get__(model), values, equal_nan=True):
                field.__set__(model, values)
        model.opt = source.opt
        return model

    def get_data(self, sim: int, data: MjData | None = None) -> MjData:
        """A copy of the world of a simulation, or the given one with its values."""
        made = MjData(self.model) if data is None else data
        made._take(self._b.datas[self._index(sim)])
        _core._dropin.state_set(self.model, made, self.state[sim], FULL)
        return made

    def set_models(self, models: Any) -> None:
        """Run simulations on models of the caller: one each, one for all, or None for the batch's."""
        if models is None:
            self._b.callers = self._given = None
            return
        if self._expanded:
            raise FatalError("models cannot be set while fields are per-simulation (expand)")
        given = [models] if isinstance(models, MjModel) else list(models)
        if not isinstance(models, MjModel) and len(given) != self.nsim:
            raise ValueError(f"expected a model per simulation ({self.nsim}), got {len(given)}")
        for model in given:
            if mj_stateSize(model, FULL) != self.nstate or (model.nbody, model.ngeom) != (
                self.model.nbody,
                self.model.ngeom,
            ):
                raise ValueError("a model has other sizes than the batch's")
        self._b.callers = given
        self._given = models if isinstance(models, MjModel) else tuple(given)

    @property
    def models(self) -> Any:
        """The caller's models, or None."""
        return self._given

    def _model_of(self, sim: int) -> MjModel:
        return self._b.model_of(sim)

    # ---- queries --------------------------------------------------------------------------------

    def jac(self, body: Any, point: Any, ids: Any = None) -> tuple[Any, Any]:
        """Jacobians of world points fixed to bodies, shape (n, 3, nv) each."""
        chosen = selection(ids, self.nsim)
        n = self.nsim if chosen is None else len(chosen)
        bodies = whole(body, (n,), 0, self.model.nbody, "body")
        points = np.ascontiguousarray(np.broadcast_to(point, (n, 3)), np.float64)
        jacp, jacr = np.zeros((n, 3, self.model.nv)), np.zeros((n, 3, self.model.nv))
        self._b.jac(chosen, bodies, points, jacp, jacr)
        return jacp, jacr

    def ray(
        self,
        pnt: Any,
        vec: Any,
        geomgroup: Any = None,
        flg_static: bool = True,
        bodyexclude: Any = -1,
        ids: Any = None,
        normal: bool = False,
    ) -> tuple[Any, ...]:
        """Rays against the geoms of each simulation: distances and geoms, -1 for a miss; normals if asked."""
        chosen = selection(ids, self.nsim)
        n = self.nsim if chosen is None else len(chosen)
        pnt, vec = (np.atleast_2d(np.asarray(x, np.float64)) for x in (pnt, vec))
        nray = np.broadcast_shapes(pnt.shape[:-1], vec.shape[:-1])[-1]
        pnt, vec = (np.broadcast_to(x, (n, nray, 3)) for x in (pnt, vec))
        exclude = whole(bodyexclude, (n, nray), -1, self.model.nbody, "bodyexclude")
        group = None if geomgroup is None else np.asarray(geomgroup, np.int32)
        dist, geomid, normals = np.zeros((n, nray)), np.zeros((n, nray), np.int32), np.zeros((n, nray, 3))
        numbers = np.arange(self.nsim) if chosen is None else chosen
        self._b.sync(numbers)
        for k, i in enumerate(numbers):
            model, data = self._b.placed(int(i), False)
            for r in range(nray):
                dist[k, r], geomid[k, r], normals[k, r] = _core.ray(
                    model, data, pnt[k, r], vec[k, r], group, bool(flg_static), int(exclude[k, r])
                )
        return (dist, geomid, normals) if normal else (dist, geomid)

    def _check(self, ids: Any, failed: int) -> None:
        if not failed:
            return
        chosen = np.arange(self.nsim) if ids is None else ids
        bad = chosen[self.status[chosen] != 0]
        raise SimulationError(bad, self.error(int(bad[0])), len(chosen))


# What set_const computes.
DERIVED = {
    "body_subtreemass",
    "body_invweight0",
    "dof_invweight0",
    "dof_M0",
    "tendon_length0",
    "tendon_invweight0",
    "actuator_acc0",
    "actuator_length0",
    "body_imat",
    "geom_mat",
    "site_mat",
    "jnt_anchor",
    "jnt_turn",
    "geom_rbound",
    "geom_aabb",
    "body_margin",
    "eq_hold",
    "cam_pos0",
    "cam_poscom0",
    "cam_mat0",
    "tendon_lengthspring",
}


def _named(kind: str, data: bool) -> Any:
    def find(self: Batch, key: int | str) -> Named:
        return Named(self, kind, key, data)

    find.__name__ = kind
    find.__doc__ = f"Slices of all simulations of the {kind} of that name or number."
    return find


for _kind, _has_data in (
    ("actuator", True),
    ("body", True),
    ("camera", True),
    ("equality", False),
    ("geom", True),
    ("joint", True),
    ("keyframe", False),
    ("light", False),
    ("numeric", False),
    ("pair", False),
    ("sensor", True),
    ("site", True),
    ("tendon", True),
):
    setattr(Batch, _kind, _named(_kind, _has_data))
