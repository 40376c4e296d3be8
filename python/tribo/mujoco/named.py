"""Parts of a model or of its data by name, as MuJoCo's bindings have them."""

from typing import Any

import numpy as np

from .. import _core, _named, _parts

# Name of the kind in Tribo by the method of MuJoCo; several methods mean the same.
ALIASES = {
    "body": "body",
    "joint": "joint",
    "jnt": "joint",
    "geom": "geom",
    "site": "site",
    "camera": "camera",
    "cam": "camera",
    "light": "light",
    "mesh": "mesh",
    "hfield": "hfield",
    "pair": "pair",
    "exclude": "exclude",
    "equality": "equality",
    "eq": "equality",
    "tendon": "tendon",
    "ten": "tendon",
    "actuator": "actuator",
    "sensor": "sensor",
    "numeric": "numeric",
    "text": "text",
    "tuple": "tuple",
    "key": "key",
    "keyframe": "key",
}
_TITLES = {"key": "Keyframe"}
# Fields that MuJoCo has and Tribo computes: kind, attribute, field of the model or the data, per row.
EXTRA_MODEL = {
    "actuator": ("actuator_ctrladr", "actuator_ctrlnum", "actuator_outadr", "actuator_outnum"),
    "geom": ("geom_matid",),
    "sensor": ("sensor_needstage", "sensor_datatype"),
}
EXTRA_DATA = {
    "body": ("xiquat",),
    "geom": ("geom_xquat",),
    "site": ("site_xquat",),
    "camera": (),
    "light": (),
}


class Views:
    """One object of a model or of its data; attributes are live rows, each made once."""

    __slots__ = ("_arrays", "_owner", "id", "name")
    _rows: dict[str, tuple[str, str, bool]] = {}

    def __init__(self, owner: Any, id: int, name: str) -> None:
        for slot, value in (("_owner", owner), ("_arrays", {}), ("id", id), ("name", name)):
            object.__setattr__(self, slot, value)

    def __getattr__(self, attr: str) -> Any:
        kept = self._arrays.get(attr)
        if kept is not None:
            return kept
        row = self._rows.get(attr)
        if row is None:
            raise AttributeError(f"{type(self).__name__} has no {attr!r}")
        return self._view(attr, row)

    def _view(self, attr: str, row: tuple[str, str, bool]) -> Any:
        field, how, matrix = row
        owner = self._owner
        array = getattr(owner, field)
        if how == "id":
            view = array[self.id] if matrix else array[self.id : self.id + 1]
        else:
            model = owner if isinstance(owner, _core.Model) else owner.model
            span = _span(model, how, self.id)
            view = array[0:0] if span is None else array[span]
            if how == "mocap" and span is not None:
                view = view[0]
        if array.base is not None or not array.flags.owndata:
            self._arrays[attr] = view
        return view

    def __setattr__(self, attr: str, value: Any) -> None:
        if attr in ("id", "name"):
            raise AttributeError(f"{attr} is read-only")
        getattr(self, attr)[...] = value

    def __dir__(self) -> list[str]:
        return sorted([*self._rows, "id", "name"])

    def __repr__(self) -> str:
        rows = "".join(f"  {attr}: {getattr(self, attr)!r}\n" for attr in dir(self))
        return f"<{type(self).__name__}\n{rows}>"


def _span(model: Any, how: str, id: int) -> slice | None:
    if how == "path":
        first = int(model.tendon_Jadr[id])
        return slice(first, first + int(model.tendon_Jnnz[id]))
    return _parts._span(model, how, id)


def _rows_of(
    fields: list[tuple[str, ...]], kind: str, extra: tuple[str, ...]
) -> dict[str, tuple[str, str, bool]]:
    """Field, rule of its rows and whether a row is a vector, by attribute."""
    made: dict[str, tuple[str, str, bool]] = {}
    prefixes = (*_parts.KINDS[kind][3], "dof_") if kind == "joint" else _parts.KINDS[kind][3]
    for field, type_, rows, columns, _, _ in fields:
        how = _parts._rows(kind, rows)
        if how is None or type_ == "char" or field.startswith("name_"):
            continue
        attr = "data" if field == "sensordata" else _short(field, prefixes)
        if attr not in made and attr not in ("id", "name"):
            made[attr] = (field, how, columns != "1")
    for field in extra:
        made[_short(field, prefixes)] = (field, "id", field.endswith("quat"))
    if kind == "tendon" and any(row[0] == "Jten_colind" for row in fields):
        made["J_colind"] = ("Jten_colind", "path", False)
    return made


def _short(field: str, prefixes: tuple[str, ...]) -> str:
    for prefix in prefixes:
        if field.startswith(prefix):
            return field[len(prefix) :]
    return field


def _class(of: str, kind: str, fields: Any, extra: tuple[str, ...]) -> type[Views]:
    title = _TITLES.get(kind, kind.capitalize())
    return type(
        f"_Mj{of}{title}Views",
        (Views,),
        {
            "__slots__": (),
            "_rows": _rows_of(fields, kind, extra),
            "__module__": "tribo.mujoco",
            "__doc__": f"A {kind}, as MuJoCo's bindings show it.",
        },
    )


MODEL = {kind: _class("Model", kind, _core.model_fields, EXTRA_MODEL.get(kind, ())) for kind in _parts.KINDS}
DATA = {kind: _class("Data", kind, _core.data_fields, EXTRA_DATA.get(kind, ())) for kind in _parts.KINDS}


class ActuatorData(DATA["actuator"]):  # type: ignore[misc,valid-type,name-defined]
    """An actuator of a world: also its row of moments, dense."""

    __slots__ = ()
    _rows = {**DATA["actuator"]._rows, "moment": ("", "moment", True)}

    def _view(self, attr: str, row: tuple[str, str, bool]) -> Any:
        if attr != "moment":
            return super()._view(attr, row)
        data, model = self._owner, self._owner.model
        dense = np.zeros(model.nv)
        first, count = model.actuator_Jadr[self.id], model.actuator_Jnnz[self.id]
        dense[model.Jmom_colind[first : first + count]] = data.actuator_moment[first : first + count]
        dense.flags.writeable = False
        return dense


ActuatorData.__name__ = "_MjDataActuatorViews"
DATA["actuator"] = ActuatorData


def lookup(model: Any, kind: str, which: Any) -> int:
    """Id of a part by name or number, with MuJoCo's errors."""
    type_, size, _, _ = _parts.KINDS[kind]
    count = getattr(model, size)
    if isinstance(which, str):
        id = int(model.name2id(type_, which)) if which else -1
        if id < 0:
            valid = sorted(name for name in _named.names(model, kind) if name)
            raise KeyError(f"Invalid name '{which}'. Valid names: {valid}")
        return id
    id = int(which)
    if not 0 <= id < count:
        raise IndexError(f"Invalid index {id}. Valid indices from 0 to {count - 1}")
    return id


def method(alias: str, of_model: bool) -> Any:
    """The method `model.geom` or `data.geom`."""
    kind = ALIASES[alias]
    views = (MODEL if of_model else DATA)[kind]

    def find(self: Any, name: Any = "") -> Any:
        model = self if of_model else self.model
        id = lookup(model, kind, name)
        kept = self._extra.setdefault(("views", kind), {})
        if id not in kept:
            kept[id] = views(self, id, model.id2name(_parts.KINDS[kind][0], id))
        return kept[id]

    find.__name__ = alias
    find.__doc__ = f"The {kind} of that name or number."
    return find
