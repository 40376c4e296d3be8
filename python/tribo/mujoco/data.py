"""MjData: a tribo.Data with MuJoCo's names and lists."""

import copy
import weakref
from typing import Any

import numpy as np

from .. import _core, _world
from . import named
from .data_fields import COMPUTED, WHY
from .model import MjModel, boolean_view
from .structs import MjContact, MjTimerStat, MjWarningStat, Struct, StructList

__all__ = ["MjData"]

_RECORD = np.dtype(
    {
        "names": [m[0] for m in _core._dropin.contact_members],
        "formats": [m[1] if m[2] == 1 else (m[1], m[2]) for m in _core._dropin.contact_members],
        "offsets": [m[3] for m in _core._dropin.contact_members],
        "itemsize": _core._dropin.contact_size,
    }
)
NWARNING, NTIMER = 7, 15


class MjData(_core.Data):
    """A world under MuJoCo's names. It is a tribo.Data: every function of the package takes it."""

    __slots__ = ("_extra",)

    def __init__(self, model: MjModel) -> None:
        if not isinstance(model, MjModel):
            raise TypeError(f"MjData: expected an MjModel, got {type(model).__name__}")
        super().__init__(model)
        self._extra: dict[Any, Any] = {}
        _prepare(self)

    @property
    def contact(self) -> "Contacts":
        """The contacts of the last evaluation: the list follows the data."""
        return self._extra.setdefault("contact", Contacts(self))  # type: ignore[no-any-return]

    @property
    def warning(self) -> "Rows":
        """Counts of each mjtWarning."""
        return self._extra.setdefault("warnings", Rows(self._extra["warning"], Warning))  # type: ignore[no-any-return]

    @property
    def timer(self) -> "Rows":
        """Calls and seconds of each mjtTimer; only those of whole calls are measured."""
        return self._extra.setdefault("timers", Rows(self._extra["timer"], Timer))  # type: ignore[no-any-return]

    @property
    def eq_active(self) -> Any:
        """Whether each equality constraint is active, live."""
        kept = self._extra.get("eq_active")
        if kept is None:
            kept = self._extra["eq_active"] = boolean_view(_core.Data.eq_active.__get__(self))
        return kept

    @eq_active.setter
    def eq_active(self, value: Any) -> None:
        self.eq_active[...] = value

    @property
    def qfrc_inverse(self) -> Any:
        """What mj_inverse found, shape (nv,)."""
        if "qfrc_inverse" not in self._extra:
            self._extra["qfrc_inverse"] = np.zeros(self.model.nv)
        return self._extra["qfrc_inverse"]

    @property
    def _address(self) -> int:
        return int(_core._dropin.data_address(self))

    def bind(self, *parts: Any) -> Any:
        """Parts of a spec in this world."""
        from .spec import bind_data

        return bind_data(self, *parts)

    def __copy__(self) -> "MjData":
        return self._onto(self.model)

    def __deepcopy__(self, memo: Any) -> "MjData":
        return self._onto(copy.copy(self.model))

    def _onto(self, model: MjModel) -> "MjData":
        made = MjData(model)
        made._take(self)
        return made

    def _take(self, other: "MjData") -> None:
        """Everything that another world of the same model has."""
        self.load_snapshot(other.snapshot())
        self._set_arrays(other._arrays())
        self.energy[...] = other.energy
        for name in ("warning", "timer"):
            self._extra[name][...] = other._extra[name]
        frozen = Contacts(self)
        frozen._take(other.contact)
        self._extra["contact"] = frozen

    def __reduce__(self) -> Any:
        contacts = self.contact._frozen()
        return _restored, (
            self.model,
            self._arrays(),
            self.snapshot(),
            self.energy.copy(),
            self._extra["warning"].copy(),
            contacts,
        )

    @property
    def ncon(self) -> int:
        """Contacts of the last evaluation."""
        kept = self._extra.get("contact")
        return len(kept) if kept is not None and kept._held else int(_core.Data.ncon.__get__(self))

    def __getattr__(self, name: str) -> Any:
        if name in COMPUTED:
            return COMPUTED[name](self)
        why = WHY.get(name)
        if why:
            raise AttributeError(f"MjData.{name}: {why}")
        raise AttributeError(f"MjData has no {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *COMPUTED})

    def __repr__(self) -> str:
        return _world.data_repr(self).replace("tribo.Data", "tribo.mujoco.MjData")


def _prepare(data: MjData) -> None:
    data._extra.update(warning=np.zeros((NWARNING, 2), np.int32), timer=np.zeros((NTIMER, 2)))


def _restored(model: Any, arrays: bytes, snapshot: bytes, energy: Any, warning: Any, contacts: Any) -> MjData:
    data = MjData(model)
    data.load_snapshot(snapshot)
    data._set_arrays(arrays)
    data.energy[...] = energy
    data._extra["warning"][...] = warning
    frozen = Contacts(data)
    frozen._take(contacts)
    data._extra["contact"] = frozen
    return data


class Row(Struct):
    """Two numbers of an array, live."""

    def __init__(self, row: Any) -> None:
        object.__setattr__(self, "_row", row)

    def _names(self) -> dict[str, tuple[int, type]]:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name not in self._fields:
            raise AttributeError(name)
        at, kind = self._names()[name]
        return kind(self._row[at])

    def __setattr__(self, name: str, value: Any) -> None:
        self._row[self._names()[name][0]] = value


class Warning(Row):
    """A warning of a world."""

    _fields = MjWarningStat._fields

    def _names(self) -> dict[str, tuple[int, type]]:
        return {"lastinfo": (0, int), "number": (1, int)}


class Timer(Row):
    """A timer of a world."""

    _fields = MjTimerStat._fields

    def _names(self) -> dict[str, tuple[int, type]]:
        return {"duration": (0, float), "number": (1, int)}


class Rows(StructList):
    """A list over the rows of an array."""

    def __init__(self, array: Any, kind: Any) -> None:
        super().__init__([kind(row) for row in array])


class Contacts(StructList):
    """The contacts of a world, read anew when the world has others.

    What a script writes into them stays until then and changes no force.
    """

    def __init__(self, data: MjData | None) -> None:
        self.__dict__.update(
            _data=None if data is None else weakref.ref(data), _raw=b"", _made=[], _held=False
        )

    @property
    def _items(self) -> list[Any]:
        data = self._data and self._data()
        if data is None:
            return self._made  # type: ignore[no-any-return]
        raw = _core._dropin.contact_bytes(data)
        if raw != self._raw:
            made = [_contact(record) for record in np.frombuffer(raw, _RECORD)]
            self.__dict__.update(_raw=raw, _made=made, _held=False)
        return self._made  # type: ignore[no-any-return]

    def _take(self, other: "Contacts") -> None:
        """Show the contacts of another world until this one is evaluated."""
        raw = _core._dropin.contact_bytes(self._data())
        self.__dict__.update(_made=[copy.copy(contact) for contact in other._items], _raw=raw, _held=True)

    def _frozen(self) -> "Contacts":
        made = Contacts(None)
        made.__dict__["_made"] = list(self._items)
        return made

    def __reduce__(self) -> Any:
        return _frozen_list, (self._items,)


def _frozen_list(items: list[Any]) -> Contacts:
    made = Contacts(None)
    made.__dict__["_made"] = items
    return made


def _contact(record: Any) -> MjContact:
    made = MjContact()
    values = made._values
    for name in ("dist", "includemargin"):
        values[name] = float(record[name])
    for name in ("pos", "frame", "friction", "solref", "solreffriction", "solimp", "geom"):
        values[name][...] = record[name]
    values["dim"], values["exclude"], values["efc_address"] = (
        int(record[n]) for n in ("dim", "exclude", "row")
    )
    values["mu"] = float(record["friction"][0])
    values["force"] = np.array(record["force"])
    return made


for _alias in named.ALIASES:
    setattr(MjData, _alias, named.method(_alias, False))
