"""What all elements of a spec have: attributes under MuJoCo's names, defaults, and their place."""

import zlib
from typing import Any, ClassVar

import numpy as np

from .._errors import Error
from .enums import mjtOrientation  # type: ignore[attr-defined]
from .spec_fields import FIELDS
from .spec_lists import raw

__all__ = ["MjsElement", "moved"]

_ORIENTATIONS = ("axisangle", "xyaxes", "zaxis", "euler")


class Live(np.ndarray):
    """An attribute's numbers; writing into them writes the attribute."""

    _write: Any = None

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        if self._write is not None:
            self._write(np.array(self))


class MjsElement:
    """An element: attributes are those of MuJoCo's struct; what is not given is the default class's value."""

    _KIND: ClassVar[str] = ""
    _METHOD: ClassVar[str] = ""
    _OWN: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: Any, element: Any) -> None:
        object.__setattr__(self, "_spec_of", spec)
        object.__setattr__(self, "_element", element)

    @classmethod
    def _create(cls, spec: Any, parent: Any, values: dict[str, Any]) -> Any:
        return cls(spec, parent.add(cls._KIND))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MjsElement) and bool(self._element == other._element)

    def __hash__(self) -> int:
        return hash(self._element)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    # ---- attributes -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name."""
        if self._element.tag is None:
            return self.__dict__.get("_last", "")
        return "world" if self._element.tag == "worldbody" else self._element.name

    def _remember(self) -> None:
        """Keep the name for when the element is deleted."""
        if self._element.tag is not None:
            self.__dict__["_last"] = self.name

    def _rename(self, name: str) -> None:
        if name and any(e.name == name and e != self._element for e in raw(self._spec_of, self._KIND)):
            raise ValueError(f"Error: repeated name '{name}' in {self._KIND}")
        self._element["name"] = name or None

    @property
    def id(self) -> int:
        """Its number in the compiled model."""
        if self._element == self._spec_of._spec.world:
            return 0
        found = raw(self._spec_of, self._KIND)
        if self._element not in found:
            return -1
        return found.index(self._element) + (self._KIND == "body")

    @property
    def signature(self) -> int:
        """Of the spec as it is: that of a model that it compiles to."""
        return signature(self._spec_of.to_xml())

    @property
    def classname(self) -> Any:
        """Its default class."""
        return self._spec_of.find_default(self._element["class"] or self._inherited() or "main")

    @property
    def info(self) -> str:
        """A note of the script, not written."""
        return self._spec_of.__dict__.setdefault("_notes", {}).get(self._element, "")

    def _inherited(self) -> str | None:
        around = self._element.parent
        while around is not None:
            if around["childclass"] if around.tag in ("body", "frame") else None:
                return around["childclass"]  # type: ignore[no-any-return]
            around = around.parent
        return None

    def _text(self, attribute: str) -> tuple[str | None, Any]:
        """Text and numbers of an attribute: its own, or those of its default class and the classes around."""
        element, tag = self._element, self._DEFAULT or self._KIND
        if element[attribute] is not None:
            return element[attribute], element.reals(attribute)
        found = self._class_element()
        while found is not None and found.tag == "default":
            for child in found.children:
                if child.tag == tag and child[attribute] is not None:
                    return child[attribute], child.reals(attribute)
            found = found.parent
        return None, None

    _DEFAULT: ClassVar[str] = ""

    def _class_element(self) -> Any:
        if self._KIND in ("body", "frame"):
            return None
        sections = [c for c in self._spec_of._spec.root.children if c.tag == "default"]
        if not sections:
            return None
        name = self._element["class"] or self._inherited()
        made = self._spec_of.find_default(name) if name else None
        return sections[0] if made is None else made._element

    def __getattr__(self, name: str) -> Any:
        field = FIELDS[self._KIND].get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        text, numbers = self._text(field.attribute)
        value = field.read(text, numbers)
        if isinstance(value, np.ndarray):
            live = value.view(Live)
            live._write = lambda array: setattr(self, name, array)
            return live
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "name":
            self._rename(value)
        elif name == "classname":
            self._element["class"] = value.name if hasattr(value, "name") else value
        elif name == "info":
            self._spec_of.__dict__.setdefault("_notes", {})[self._element] = value
        elif name in self._OWN:
            object.__setattr__(self, name, value)
        elif name in FIELDS[self._KIND]:
            field = FIELDS[self._KIND][name]
            stored = field.write(name, value)
            try:
                self._element[field.attribute] = stored
            except Error as error:
                raise ValueError(str(error)) from error
        else:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def _given(self, values: dict[str, Any], default: Any = None) -> None:
        """Set attributes of a new element; it is removed again where one is wrong."""
        try:
            if sum(name in values for name in _ORIENTATIONS) > 1:
                raise ValueError("Only one of: axisangle, xyaxes, zaxis, or euler can be set.")
            if default is not None and getattr(default, "name", "main") != "main":
                self._element["class"] = default.name
            for name, value in values.items():
                if name not in FIELDS[self._KIND] and name not in ("name", "classname", "info", *self._OWN):
                    valid = ", ".join(sorted(set(FIELDS[self._KIND]) | {"name"}))
                    raise TypeError(f"Invalid {name} keyword argument. Valid options are: {valid}.")
                setattr(self, name, value)
        except (TypeError, ValueError):
            self._element.delete()
            raise

    @property
    def compiler(self) -> Any:
        """Settings of the compiler of its spec."""
        return self._spec_of.compiler

    @property
    def alt(self) -> "Orientation":
        """Its orientation in another form than a quaternion."""
        return Orientation(self)

    # ---- where it is ------------------------------------------------------------------------------

    @property
    def parent(self) -> Any:
        """The body around it; None for what was deleted."""
        top = self._element
        while top.tag is not None and top.parent is not None:
            top = top.parent
        if top != self._spec_of._spec.root:
            return None
        around = self._element.parent
        while around is not None and around.tag == "frame":
            around = around.parent
        from .spec_elements import wrap

        return None if around is None or around.tag is None else wrap(self._spec_of, around)

    @property
    def frame(self) -> Any:
        """The frame around it, or None."""
        from .spec_elements import wrap

        around = self._element.parent
        return wrap(self._spec_of, around) if around is not None and around.tag == "frame" else None

    def set_frame(self, frame: Any) -> None:
        """Move it into a frame."""
        kept = self._spec_of.__dict__.setdefault("_wrapped", {})
        old = self._element
        made = moved(old, frame._element)
        kept.pop(old, None)
        old.delete()
        object.__setattr__(self, "_element", made)
        kept[made] = self


def signature(xml: str) -> int:
    """A number that differs between specs."""
    return zlib.crc32(xml.encode())


_CONTENTS = ("body", "frame", "geom", "joint", "freejoint", "site", "camera", "light", "inertial")
_INERTIAL = ("pos", "quat", "mass", "diaginertia", "fullinertia")


def moved(element: Any, parent: Any) -> Any:
    """A copy of an element of the tree of bodies, with its contents, in another place."""
    if element.tag not in _CONTENTS:
        raise NotImplementedError(f"<{element.tag}> cannot be moved")
    kind = "joint" if element.tag == "freejoint" else element.tag
    known = _INERTIAL if kind == "inertial" else (*(f.attribute for f in FIELDS[kind].values()), "class")
    made = parent.add(element.tag)
    for attribute in dict.fromkeys(known):
        try:
            if element[attribute] is not None:
                made[attribute] = element[attribute]
        except Error:
            continue
    for child in element.children:
        moved(child, made)
    name = element.name
    if name:
        element["name"] = None
        made["name"] = name
    return made


class Orientation:
    """Forms of an orientation: the one that is given has the type."""

    def __init__(self, element: MjsElement) -> None:
        self._of = element

    @property
    def type(self) -> Any:
        """MjtOrientation."""
        given = [name for name in _ORIENTATIONS if self._of._element[name] is not None]
        return mjtOrientation[f"mjORIENTATION_{given[0].upper()}" if given else "mjORIENTATION_QUAT"]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_of":
            object.__setattr__(self, name, value)
        else:
            setattr(self._of, name, value)
