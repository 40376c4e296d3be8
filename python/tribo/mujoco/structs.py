"""MuJoCo's small structs: numbers and arrays with fixed names, made from tables."""

import copy
from typing import Any, ClassVar

import numpy as np

from .constants import mjVISSTRING

f32, i32, u8 = np.float32, np.int32, np.uint8


class Struct:
    """Attributes with fixed names; arrays are written in place; compared and printed by value."""

    _fields: ClassVar[dict[str, Any]] = {}
    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {name: copy.deepcopy(v) for name, v in self._fields.items()})

    def __getattr__(self, name: str) -> Any:
        if name != "_values" and name in self._fields:
            return self._values[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            object.__setattr__(self, name, value)  # a property, or it raises
            return
        self._values[name] = stored(self._values[name], value, name)

    def __dir__(self) -> list[str]:
        return sorted(set(self._fields) | set(super().__dir__()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct) or other._fields.keys() != self._fields.keys():
            return NotImplemented
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in self._fields)

    def __repr__(self) -> str:
        rows = []
        for name in sorted(self._fields):
            text = repr(getattr(self, name)).replace("\n", "\n  ")
            rows.append(f"  {name}: {text}\n")
        return f"<{type(self).__name__}\n{''.join(rows)}>"

    def assign(self, other: "Struct") -> None:
        """Copy all values of another one; arrays of this one stay the same objects."""
        for name in self._fields:
            mine, value = getattr(self, name), getattr(other, name)
            if isinstance(mine, Struct):
                mine.assign(value)
            else:
                setattr(self, name, value)

    def __copy__(self) -> Any:
        made = type(self).__new__(type(self))
        object.__setattr__(made, "_values", copy.deepcopy(self._values))
        return made

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return _restored, (type(self), self._values)


def _restored(made: type, values: dict[str, Any]) -> Any:
    struct = made.__new__(made)
    object.__setattr__(struct, "_values", values)
    return struct


def stored(before: Any, value: Any, name: str) -> Any:
    """What an attribute becomes: arrays keep their memory, whole numbers stay whole."""
    if isinstance(before, np.ndarray):
        before[...] = value
        return before
    if isinstance(before, Struct):
        before.assign(value)
        return before
    if isinstance(before, bool):
        return bool(value)
    if isinstance(before, int):
        if isinstance(value, (float, np.floating)):
            raise TypeError(f"{name}: expected a whole number")
        return int(value)
    if isinstance(before, float):
        return float(value)
    return value


def _flags(table: Any) -> Any:
    return np.array([int(row[1]) for row in table], u8)


def _group() -> Any:
    return np.array([1, 1, 1, 0, 0, 0], u8)


def _zeros(n: int, kind: Any = float) -> Any:
    return np.zeros(n, kind)


_TABLES: dict[str, dict[str, Any]] = {
    "MjWarningStat": {"lastinfo": 0, "number": 0},
    "MjTimerStat": {"duration": 0.0, "number": 0},
    "MjSolverStat": {
        "gradient": 0.0,
        "improvement": 0.0,
        "lineslope": 0.0,
        "nactive": 0,
        "nchange": 0,
        "neval": 0,
        "nupdate": 0,
    },
    "MjLROpt": {
        "accel": 20.0,
        "interval": 2.0,
        "inttotal": 10.0,
        "maxforce": 0.0,
        "mode": 1,
        "timeconst": 1.0,
        "timestep": 0.01,
        "tolrange": 0.05,
        "useexisting": 1,
        "uselimit": 0,
    },
    "MjvPerturb": {
        "active": 0,
        "active2": 0,
        "flexselect": -1,
        "localmass": 0.0,
        "localpos": _zeros(3),
        "refpos": _zeros(3),
        "refquat": np.array([1.0, 0, 0, 0]),
        "refselpos": _zeros(3),
        "scale": 1.0,
        "select": 0,
        "skinselect": -1,
    },
    "MjvCamera": {
        "azimuth": 90.0,
        "distance": 2.0,
        "elevation": -45.0,
        "fixedcamid": -1,
        "lookat": _zeros(3),
        "orthographic": 0,
        "trackbodyid": -1,
        "type": 0,
    },
    "MjvOption": {
        "actuatorgroup": _group(),
        "bvh_depth": 1,
        "flags": _flags(mjVISSTRING),
        "flex_layer": 0,
        "flexgroup": _group(),
        "frame": 0,
        "geomgroup": _group(),
        "jointgroup": _group(),
        "label": 0,
        "sitegroup": _group(),
        "skingroup": _group(),
        "tendongroup": _group(),
    },
    "MjvGLCamera": {
        "forward": _zeros(3, f32),
        "frustum_bottom": 0.0,
        "frustum_center": 0.0,
        "frustum_far": 0.0,
        "frustum_near": 0.0,
        "frustum_top": 0.0,
        "frustum_width": 0.0,
        "orthographic": 0,
        "pos": _zeros(3, f32),
        "up": _zeros(3, f32),
    },
    "MjvGeom": {
        "category": 0,
        "dataid": -1,
        "emission": 0.0,
        "label": "",
        "mat": np.eye(3, dtype=f32),
        "matid": -1,
        "objid": 0,
        "objtype": 0,
        "pos": _zeros(3, f32),
        "reflectance": 0.0,
        "rgba": np.array([0.5, 0.5, 0.5, 1], f32),
        "segid": 0,
        "shininess": 0.5,
        "size": np.full(3, 0.1, f32),
        "specular": 0.5,
        "texcoord": 0,
        "texid": -1,
        "texrepeat": _zeros(2, f32),
        "texuniform": 0,
        "transparent": 0,
        "type": 1001,
    },
    "MjvLight": {
        "ambient": _zeros(3, f32),
        "attenuation": _zeros(3, f32),
        "castshadow": 0,
        "cutoff": 0.0,
        "diffuse": _zeros(3, f32),
        "dir": _zeros(3, f32),
        "exponent": 0.0,
        "headlight": 0,
        "id": 0,
        "pos": _zeros(3, f32),
        "specular": _zeros(3, f32),
        "type": 0,
    },
    "MjvFigure": {
        "figurergba": np.array([0, 0, 0, 1], f32),
        "flg_barplot": 0,
        "flg_extend": 1,
        "flg_legend": 1,
        "gridsize": np.array([2, 2], i32),
        "linedata": np.zeros((100, 2002), f32),
        "linepnt": _zeros(100, i32),
        "linergb": np.zeros((100, 3), f32),
        "linewidth": 3.0,
        "range": np.array([[0, 1], [0, 1]], f32),
        "title": "",
        "xlabel": "",
        "ylabel": "",
    },
    "MjContact": {
        "H": _zeros(36),
        "adhesion": 0.0,
        "dim": 0,
        "dist": 0.0,
        "efc_address": 0,
        "elem": _zeros(2, i32),
        "exclude": 0,
        "flex": _zeros(2, i32),
        "frame": _zeros(9),
        "friction": _zeros(5),
        "geom": _zeros(2, i32),
        "geom1": 0,
        "geom2": 0,
        "includemargin": 0.0,
        "mu": 0.0,
        "pos": _zeros(3),
        "solimp": _zeros(5),
        "solref": _zeros(2),
        "solreffriction": _zeros(2),
        "surfacevel": _zeros(3),
        "vert": _zeros(2, i32),
    },
}


def _made(name: str, fields: dict[str, Any]) -> Any:
    return type(
        name, (Struct,), {"_fields": fields, "__doc__": f"MuJoCo's `{name}`.", "__module__": __name__}
    )


MjWarningStat = _made("MjWarningStat", _TABLES["MjWarningStat"])
MjTimerStat = _made("MjTimerStat", _TABLES["MjTimerStat"])
MjSolverStat = _made("MjSolverStat", _TABLES["MjSolverStat"])
MjLROpt = _made("MjLROpt", _TABLES["MjLROpt"])
MjvPerturb = _made("MjvPerturb", _TABLES["MjvPerturb"])
MjvCamera = _made("MjvCamera", _TABLES["MjvCamera"])
MjvOption = _made("MjvOption", _TABLES["MjvOption"])
MjvGLCamera = _made("MjvGLCamera", _TABLES["MjvGLCamera"])
MjvGeom = _made("MjvGeom", _TABLES["MjvGeom"])
MjvLight = _made("MjvLight", _TABLES["MjvLight"])
MjvFigure = _made("MjvFigure", _TABLES["MjvFigure"])


class MjContact(_made("MjContact", _TABLES["MjContact"])):  # type: ignore[misc]
    """One contact; `geom1` and `geom2` are the two entries of `geom`."""

    def __getattr__(self, name: str) -> Any:
        if name in ("geom1", "geom2"):
            return int(self._values["geom"][int(name == "geom2")])
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("geom1", "geom2"):
            self._values["geom"][int(name == "geom2")] = value
        else:
            super().__setattr__(name, value)


class MjrRect(Struct):
    """A rectangle of a picture, pixels."""

    _fields: ClassVar[dict[str, Any]] = {"bottom": 0, "height": 0, "left": 0, "width": 0}

    def __init__(self, left: int, bottom: int, width: int, height: int) -> None:
        super().__init__()
        self.left, self.bottom, self.width, self.height = left, bottom, width, height


class StructList:
    """A fixed list of structs; its attributes are new arrays over all of them."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return StructList(self._items[index])
        return self._items[int(index)]

    def __iter__(self) -> Any:
        return iter(self._items)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return np.array([getattr(item, name) for item in self._items])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StructList):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return "[" + ",\n".join(map(repr, self._items)) + "]"


__all__ = [name for name in dir() if name.startswith("Mj")]
