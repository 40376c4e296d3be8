"""Elements of a spec with the names of MuJoCo's classes and attributes."""

from itertools import pairwise
from typing import Any, ClassVar, Union

import numpy as np

from . import enums
from .spec_actors import MjsActuator, MjsEquality, MjsSensor, MjsTendon
from .spec_base import MjsElement, moved
from .spec_lists import in_body, in_tree, kind_of
from .spec_settings import merge_options

_FIND = ("body", "frame", "geom", "site", "joint", "light", "camera")


class _Place(MjsElement):
    """A body or a frame: elements can be added to it."""

    def _add(self, kind: str, default: Any, values: dict[str, Any], tag: str = "") -> Any:
        where = self._element
        if isinstance(default, MjsFrame):
            where, default = default._element, None
        made = CLASSES[kind](self._spec_of, where.add(tag or kind))
        self._spec_of.__dict__.setdefault("_wrapped", {})[made._element] = made
        made._given(values, default)
        return made

    def add_body(self, default: Any = None, **values: Any) -> Any:
        """Add a body."""
        inertial = {
            k: values.pop(k) for k in ("mass", "ipos", "iquat", "inertia", "fullinertia") if k in values
        }
        made = self._add("body", default, values)
        for name, value in inertial.items():
            setattr(made, name, value)
        return made

    def add_geom(self, default: Any = None, **values: Any) -> Any:
        """Add a geom."""
        return self._add("geom", default, values)

    def add_joint(self, default: Any = None, **values: Any) -> Any:
        """Add a joint."""
        return self._add("joint", default, values)

    def add_freejoint(self, **values: Any) -> Any:
        """Add a free joint."""
        for name in values:
            if name not in ("align", "group", "name"):
                raise TypeError(f"Invalid {name} keyword argument. Valid options are: align, group, name.")
        return self._add("joint", None, values, "freejoint")

    def add_site(self, default: Any = None, **values: Any) -> Any:
        """Add a site."""
        return self._add("site", default, values)

    def add_camera(self, default: Any = None, **values: Any) -> Any:
        """Add a camera."""
        return self._add("camera", default, values)

    def add_light(self, default: Any = None, **values: Any) -> Any:
        """Add a light."""
        return self._add("light", default, values)

    def add_frame(self, default: Any = None, **values: Any) -> Any:
        """Add a frame."""
        return self._add("frame", default, values)

    def attach_body(self, body: Any, prefix: str = "", suffix: str = "") -> Any:
        """Attach a copy of a body of another spec."""
        return attached(self, body, prefix, suffix)

    def find_all(self, kind: Any) -> list[Any]:
        """All elements of a kind in the body and in those under it."""
        word = kind if isinstance(kind, str) else enums.mjtObj(int(kind)).name[6:].lower()  # type: ignore[attr-defined]
        if word not in _FIND:
            raise ValueError(f"body.find_all supports the types: {', '.join(_FIND)}.")
        return [wrap(self._spec_of, e) for e in in_tree(self._element, word)]


class MjsBody(_Place):
    """A body."""

    _KIND, _METHOD = "body", "body"
    _OWN = ("mass", "ipos", "iquat", "inertia", "fullinertia", "fuse")
    _INERTIAL: ClassVar[dict[str, tuple[str, Any]]] = {
        "mass": ("mass", 0.0),
        "ipos": ("pos", (0, 0, 0)),
        "iquat": ("quat", (1, 0, 0, 0)),
        "inertia": ("diaginertia", (0, 0, 0)),
        "fullinertia": ("fullinertia", (0,) * 6),
    }

    @property
    def explicitinertial(self) -> bool:
        """Whether its inertia is given."""
        return self._inertial(False) is not None

    def _inertial(self, add: bool) -> Any:
        found = next((c for c in self._element.children if c.tag == "inertial"), None)
        return self._element.add("inertial") if found is None and add else found

    def __getattr__(self, name: str) -> Any:
        if name in self._INERTIAL:
            attribute, initial = self._INERTIAL[name]
            inertial = self._inertial(False)
            numbers = None if inertial is None else inertial.reals(attribute)
            if name == "mass":
                return float(initial if numbers is None else numbers[0])
            return np.array(initial if numbers is None else numbers, float)
        if name.endswith("s") and name[:-1] in (*_FIND, "bodie"):
            kind = "body" if name == "bodies" else name[:-1]
            return [wrap(self._spec_of, e) for e in in_body(self._element, kind)]
        if name.startswith(("first_", "next_")):
            step, _, kind = name.partition("_")
            found = in_body(self._element, kind)
            if step == "first":
                return lambda: wrap(self._spec_of, found[0]) if found else None
            return lambda after: next(
                (wrap(self._spec_of, b) for a, b in pairwise(found) if a == after._element),
                None,
            )
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._INERTIAL:
            self._inertial(True)[self._INERTIAL[name][0]] = value
        else:
            super().__setattr__(name, value)

    def to_frame(self) -> Any:
        """Turn the body into a frame of its parent: what is in it moves there."""
        made = self._element.parent.add("frame")
        for attribute in ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"):
            if self._element[attribute] is not None:
                made[attribute] = self._element[attribute]
        for child in self._element.children:
            if child.tag not in ("inertial", "joint", "freejoint"):
                moved(child, made)
        self._element.delete()
        return wrap(self._spec_of, made)


class MjsFrame(_Place):
    """A frame."""

    _KIND = "frame"


class MjsDefault:
    """A default class: `default.geom` are the values of geoms of this class."""

    def __init__(self, spec: Any, element: Any, name: str) -> None:
        self._spec_of, self._element, self.name = spec, element, name

    def __getattr__(self, kind: str) -> Any:
        if kind not in CLASSES:
            raise AttributeError(f"MjsDefault has no {kind!r}")
        tag = {"actuator": "general"}.get(kind, kind)
        found = next((c for c in self._element.children if c.tag == tag), None)
        return CLASSES[kind](self._spec_of, self._element.add(tag) if found is None else found)


class MjsGeom(MjsElement):
    """A geom."""

    _KIND = _METHOD = "geom"


class MjsJoint(MjsElement):
    """A joint."""

    _KIND = _METHOD = "joint"

    def __getattr__(self, name: str) -> Any:
        if name == "type" and self._element.tag == "freejoint":
            return enums.mjtJoint.mjJNT_FREE  # type: ignore[attr-defined]
        return super().__getattr__(name)


class MjsSite(MjsElement):
    """A site."""

    _KIND = _METHOD = "site"

    def attach_body(self, body: Any, prefix: str = "", suffix: str = "") -> Any:
        """Attach a copy of a body of another spec."""
        return attached(self, body, prefix, suffix)


class MjsCamera(MjsElement):
    """A camera."""

    _KIND = _METHOD = "camera"


class MjsLight(MjsElement):
    """A light."""

    _KIND = _METHOD = "light"


class MjsMesh(MjsElement):
    """A mesh."""

    _KIND = _METHOD = "mesh"


class MjsHField(MjsElement):
    """A height field."""

    _KIND = _METHOD = "hfield"


class MjsMaterial(MjsElement):
    """A material: its colour is used."""

    _KIND = "material"
    _OWN = ("textures",)

    @property
    def textures(self) -> "Names":
        """Names of its textures by mjtTextureRole: kept, not used."""
        return self.__dict__.setdefault("_textures", Names([""] * 10))  # type: ignore[no-any-return]

    @textures.setter
    def textures(self, names: Any) -> None:
        if len(names) != 10:
            raise ValueError(f"textures must have exactly 10 elements, got {len(names)}")
        self.textures[:] = list(names)


class Names(list[str]):
    """A list of fixed length, counted from the front."""

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, int) and index < 0:
            raise IndexError("an index from 0 on")
        super().__setitem__(index, value)


class MjsTexture(MjsElement):
    """A texture: what a script says is kept, pictures do not show it."""

    _KIND = "texture"

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        initial = {"height": 0, "width": 0, "nchannel": 3, "builtin": 0, "data": b"", "file": "", "type": 0}
        if name in initial:
            return initial[name]
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "gridlayout":
            if len(value) > 12:
                raise ValueError("gridlayout may have at most 12 characters")
            if any(len(letter) != 1 for letter in value):
                raise ValueError("gridlayout: list elements must be single characters")
            value = [*value, *["\0"] * (12 - len(value))]
        if name in ("name", "classname", "info"):
            super().__setattr__(name, value)
        else:
            self.__dict__.setdefault("_values", {})[name] = value

    def _given(self, values: dict[str, Any], default: Any = None) -> None:
        try:
            if len(values.get("gridlayout", [""] * 12)) != 12:
                raise ValueError("gridlayout should have length 12")
            for name, value in values.items():
                setattr(self, name, value)
        except ValueError:
            self._element.delete()
            raise


class MjsPair(MjsElement):
    """An explicit contact pair."""

    _KIND = _METHOD = "pair"


class MjsExclude(MjsElement):
    """An excluded pair of bodies."""

    _KIND = _METHOD = "exclude"


class MjsNumeric(MjsElement):
    """A custom numeric field."""

    _KIND = _METHOD = "numeric"


class MjsText(MjsElement):
    """A custom text field."""

    _KIND = _METHOD = "text"


class MjsTuple(MjsElement):
    """A custom tuple."""

    _KIND = _METHOD = "tuple"


class MjsKey(MjsElement):
    """A keyframe."""

    _KIND, _METHOD = "key", "key"


CLASSES: dict[str, Any] = {
    "body": MjsBody,
    "frame": MjsFrame,
    "geom": MjsGeom,
    "joint": MjsJoint,
    "site": MjsSite,
    "camera": MjsCamera,
    "light": MjsLight,
    "mesh": MjsMesh,
    "hfield": MjsHField,
    "material": MjsMaterial,
    "texture": MjsTexture,
    "pair": MjsPair,
    "exclude": MjsExclude,
    "equality": MjsEquality,
    "tendon": MjsTendon,
    "actuator": MjsActuator,
    "sensor": MjsSensor,
    "numeric": MjsNumeric,
    "text": MjsText,
    "tuple": MjsTuple,
    "key": MjsKey,
}
MjStruct = Union[  # noqa: UP007
    MjsBody,
    MjsFrame,
    MjsGeom,
    MjsJoint,
    MjsSite,
    MjsCamera,
    MjsLight,
    MjsMesh,
    MjsHField,
    MjsMaterial,
    MjsPair,
    MjsExclude,
    MjsEquality,
    MjsTendon,
    MjsActuator,
    MjsSensor,
    MjsNumeric,
    MjsText,
    MjsTuple,
    MjsKey,
]


def wrap(spec: Any, element: Any) -> Any:
    """An element as the class of its kind; the same object each time."""
    if element is None:
        return None
    kept = spec.__dict__.setdefault("_wrapped", {})
    if element not in kept:
        around = element.parent
        kind = kind_of(element.tag, around.tag if around is not None else "")
        kept[element] = CLASSES[kind or element.tag](spec, element)
    return kept[element]


def attached(place: Any, body: Any, prefix: str, suffix: str) -> Any:
    """Attach a body of another spec: it stays an element of that one, and changes of it are seen here."""
    merge_options(place._spec_of, body._spec_of._spec)
    place._spec_of._attached.append((place._element, body._element, prefix, suffix))
    return body
