"""Elements whose tag in MJCF depends on their type: actuators, sensors, equalities, tendons."""

from typing import Any, ClassVar

import numpy as np

from .. import _mujoco_sensors as _sensors
from . import enums
from .spec_base import MjsElement
from .spec_lists import raw

_TRANSMISSIONS = ("joint", "jointinparent", "cranksite", "tendon", "site", "body")
_SENSOR_TAGS: dict[int, tuple[str, str]] = {
    kind: (tag, word) for word, table in _sensors._SIMPLE.items() for kind, tag in table.items()
}
_FRAMES = {1: "body", 2: "xbody", 5: "geom", 6: "site", 7: "camera"}
_EQUALITIES = {0: "connect", 1: "weld", 2: "joint", 3: "tendon"}
_OBJECTS = {1: "body", 3: "joint", 6: "site", 18: "tendon"}


class _Typed(MjsElement):
    """Made with a tag for its type, which stays."""

    _POSTPONED: ClassVar[tuple[str, ...]] = ()

    def __getattr__(self, name: str) -> Any:
        if name in self._POSTPONED:
            return self.__dict__.get("_values", {}).get(name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._POSTPONED:
            self.__dict__.setdefault("_values", {})[name] = value
            self._resolve()
        else:
            super().__setattr__(name, value)

    def _resolve(self) -> None:
        """Write what follows from the postponed values."""


class MjsActuator(_Typed):
    """An actuator, of the general kind."""

    _KIND = _METHOD = "actuator"
    _DEFAULT = "general"
    _OWN = _POSTPONED = ("trntype", "target", "refsite", "slidersite", "inheritrange")

    @classmethod
    def _create(cls, spec: Any, parent: Any, values: dict[str, Any]) -> Any:
        return cls(spec, parent.add("general"))

    def _resolve(self) -> None:
        values = self.__dict__["_values"]
        kind = int(values.get("trntype") or 0)
        for word in _TRANSMISSIONS:
            if self._element[word] is not None:
                self._element[word] = None
        if values.get("target"):
            self._element[_TRANSMISSIONS[kind]] = values["target"]
        for word in ("refsite", "slidersite"):
            if values.get(word):
                self._element[word] = values[word]

    def _set(self, dyn: int, gain: int, bias: int) -> None:
        self.dyntype, self.gaintype, self.biastype = dyn, gain, bias

    def set_to_motor(self) -> None:
        """A force in proportion to the control."""
        self._set(0, 0, 0)
        self.gainprm = [1.0] + [0.0] * 9
        self.biasprm = [0.0] * 10

    def set_to_position(
        self,
        kp: float,
        kv: float = 0.0,
        timeconst: float = 0.0,
        inheritrange: Any = None,
        dampratio: float | None = None,
    ) -> None:
        """A servo to a position."""
        self._set(3 if timeconst else 0, 0, 1)
        self.gainprm = [kp] + [0.0] * 9
        self.biasprm = [0.0, -kp, dampratio if dampratio is not None else -kv] + [0.0] * 7
        if timeconst:
            self.dynprm = [timeconst] + [0.0] * 9
        if inheritrange is not None:
            self.__dict__.setdefault("_values", {})["inheritrange"] = float(inheritrange)

    def set_to_intvelocity(
        self, kp: float, kv: float = 0.0, timeconst: float = 0.0, inheritrange: Any = None
    ) -> None:
        """A servo to the integral of the control."""
        self.set_to_position(kp, kv, timeconst, inheritrange)
        self.dyntype = 1

    def set_to_velocity(self, kv: float) -> None:
        """A servo to a velocity."""
        self._set(0, 0, 1)
        self.gainprm = [kv] + [0.0] * 9
        self.biasprm = [0.0, 0.0, -kv] + [0.0] * 7

    def set_to_damper(self, kv: float) -> None:
        """A damper whose strength is the control."""
        self._set(0, 1, 0)
        self.gainprm = [0.0, 0.0, -kv] + [0.0] * 7
        self.ctrllimited = 1

    def set_to_adhesion(self, gain: float) -> None:
        """A pull on the contacts of a body."""
        self._set(0, 0, 0)
        self.gainprm = [gain] + [0.0] * 9
        self.ctrllimited = 1

    def set_to_muscle(self, **values: Any) -> None:
        """A muscle: see MJCF's <muscle>."""
        self._set(4, 2, 2)
        dynamics = np.array([0.01, 0.04, 0.0] + [0.0] * 7)
        dynamics[:2] = values.get("timeconst", dynamics[:2])
        dynamics[2] = values.get("tausmooth", 0.0)
        gain = np.array([0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2, 0])
        gain[:2] = values.get("range", gain[:2])
        for i, word in enumerate(("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"), 2):
            gain[i] = values.get(word, gain[i])
        self.dynprm, self.gainprm, self.biasprm = dynamics, gain, gain


class MjsSensor(_Typed):
    """A sensor: its type must be given when it is added."""

    _KIND = _METHOD = "sensor"
    _OWN = _POSTPONED = (
        "type",
        "objtype",
        "objname",
        "reftype",
        "refname",
        "intprm",
        "needstage",
        "datatype",
    )

    @classmethod
    def _create(cls, spec: Any, parent: Any, values: dict[str, Any]) -> Any:
        kind = int(values.get("type", 48))
        if kind in _SENSOR_TAGS:
            tag = _SENSOR_TAGS[kind][0]
        else:
            tag = {
                **_sensors._OF_FRAME,
                **_sensors._OF_PAIR,
                **_sensors._OF_NOTHING,
                8: "camprojection",
                38: "insidesite",
                42: "contact",
                48: "user",
            }.get(kind, "")
        if not tag:
            raise NotImplementedError(f"add_sensor: sensors of type {kind} are not in Tribo")
        return cls(spec, parent.add(tag))

    def get_data_size(self) -> int:
        """Numbers that it gives."""
        tag = self._element.tag
        if tag == "user":
            return int(self.dim)
        if tag in ("framequat", "ballquat"):
            return 4
        if tag == "fromto":
            return 6
        scalar = (tag.endswith(("pos", "vel", "frc")) and not tag.startswith("frame")) or tag in (
            "touch",
            "rangefinder",
            "distance",
            "insidesite",
            "clock",
            "e_potential",
            "e_kinetic",
        )
        return 1 if scalar else 2 if tag == "camprojection" else 3

    def _resolve(self) -> None:
        values, element = self.__dict__["_values"], self._element
        kind = int(values.get("type", 48))
        objtype, name = int(values.get("objtype") or 0), values.get("objname")
        if kind in _SENSOR_TAGS and name:
            element[_SENSOR_TAGS[kind][1]] = name
        elif kind in _sensors._OF_FRAME and objtype and name:
            element["objtype"], element["objname"] = _FRAMES[objtype], name
            if values.get("refname") and values.get("reftype"):
                element["reftype"], element["refname"] = _FRAMES[int(values["reftype"])], values["refname"]
        elif kind in _sensors._OF_PAIR and objtype and name:
            element[_FRAMES[objtype] + "1"] = name
            if values.get("refname") and values.get("reftype"):
                element[_FRAMES[int(values["reftype"])] + "2"] = values["refname"]
        elif kind == 48 and values.get("needstage") is not None:
            element["needstage"] = ("pos", "pos", "vel", "acc")[int(values["needstage"])]


class MjsEquality(_Typed):
    """An equality constraint."""

    _KIND, _METHOD = "equality", "equality"
    _OWN = _POSTPONED = ("type", "objtype", "name1", "name2", "data")

    @classmethod
    def _create(cls, spec: Any, parent: Any, values: dict[str, Any]) -> Any:
        kind = int(values.get("type", 0))
        if kind not in _EQUALITIES:
            raise NotImplementedError(f"add_equality: constraints of type {kind} are not in Tribo")
        return cls(spec, parent.add(_EQUALITIES[kind]))

    def _resolve(self) -> None:
        values, element = self.__dict__["_values"], self._element
        tag = element.tag
        word = tag if tag in ("joint", "tendon") else _OBJECTS.get(int(values.get("objtype") or 1), "body")
        for end in ("1", "2"):
            if values.get("name" + end):
                element[word + end] = values["name" + end]
        data = values.get("data")
        if data is None:
            return
        if tag in ("joint", "tendon"):
            element["polycoef"] = data[:5]
        elif word == "body":
            element["anchor"] = data[:3]
            if tag == "weld":
                element["relpose"], element["torquescale"] = data[3:10], data[10:11]


class MjsWrap:
    """A part of the path of a tendon."""

    def __init__(self, tendon: Any, element: Any) -> None:
        self._tendon, self._element = tendon, element

    @property
    def type(self) -> Any:
        """mjtWrap; a geom is a sphere or a cylinder."""
        kind = {"joint": 1, "pulley": 2, "site": 3}.get(self._element.tag)
        if kind is None:
            kind = 4 if self.target is not None and int(self.target.type) == 2 else 5
        return enums.mjtWrap(kind)  # type: ignore[attr-defined]

    @property
    def target(self) -> Any:
        """The joint, site or geom; None for a pulley."""
        tag = self._element.tag
        return None if tag == "pulley" else self._tendon._spec_of._find(tag, self._element[tag])

    @property
    def sidesite(self) -> Any:
        """The side site of a geom, or None."""
        name = self._element["sidesite"] if self._element.tag == "geom" else None
        return self._tendon._spec_of._find("site", name) if name else None

    @property
    def coef(self) -> float:
        """Coefficient of a joint."""
        return float(self._element["coef"])

    @property
    def divisor(self) -> float:
        """Divisor of a pulley."""
        return float(self._element["divisor"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MjsWrap) and bool(self._element == other._element)

    def __hash__(self) -> int:
        return hash(self._element)


class MjsTendon(MjsElement):
    """A tendon: spatial, or fixed from its first joint on."""

    _KIND, _METHOD = "tendon", "tendon"

    @classmethod
    def _create(cls, spec: Any, parent: Any, values: dict[str, Any]) -> Any:
        return cls(spec, parent.add("spatial"))

    @property
    def path(self) -> list[MjsWrap]:
        """The parts of its path."""
        return [MjsWrap(self, child) for child in self._element.children]

    def _append(self, tag: str, **values: Any) -> MjsWrap:
        return MjsWrap(self, self._element.add(tag, **values))

    def wrap_site(self, name: str) -> MjsWrap:
        """Pass a site."""
        return self._append("site", site=name)

    def wrap_geom(self, name: str, sidesite: str = "") -> MjsWrap:
        """Pass around a sphere or a cylinder."""
        return self._append("geom", geom=name, **({"sidesite": sidesite} if sidesite else {}))

    def wrap_pulley(self, divisor: float) -> MjsWrap:
        """Start another branch."""
        return self._append("pulley", divisor=divisor)

    def wrap_joint(self, name: str, coef: float) -> MjsWrap:
        """Add a joint with its coefficient."""
        if self._element.tag == "spatial" and not self._element.children:
            self._become_fixed()
        return self._append("joint", joint=name, coef=coef)

    def _become_fixed(self) -> None:
        from .spec_fields import FIELDS

        old = self._element
        if raw(self._spec_of, "tendon")[-1] != old:
            raise NotImplementedError(
                "wrap_joint: give a fixed tendon its joints before the next tendon is added"
            )
        made = old.parent.add("fixed")
        for attribute in {"name", "class", *(f.attribute for f in FIELDS["tendon"].values())}:
            if attribute not in ("rgba", "width", "material") and old[attribute] is not None:
                made[attribute] = old[attribute]
        old.delete()
        object.__setattr__(self, "_element", made)
