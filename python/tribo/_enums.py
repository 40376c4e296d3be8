"""Enumerations of the engine, by the names of its headers without their prefix."""

import enum
from typing import Any

from . import _core

__all__ = list(_core.enums)


# Their words are written with hyphens: "pgs-exact".
_HYPHENS = ("Integrator", "SolverKind")


class _Word:
    """Members print as the words of files and options, and equal them."""

    name: str

    def __str__(self) -> str:
        word = self.name.lower()
        return word.replace("_", "-") if type(self).__name__ in _HYPHENS else word

    def __format__(self, spec: str) -> str:
        return int.__format__(self, spec) if spec[-1:] in tuple("bcdoxXn") else format(str(self), spec)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str(self) == other.lower()
        return int(self) == other  # type: ignore[call-overload,no-any-return]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(int(self))  # type: ignore[call-overload]


for _name, _members in _core.enums.items():
    _flags = _name.endswith("Bit")
    _base: Any = enum.IntFlag if _flags else enum.IntEnum
    _values = [(member, value) for member, value, _ in _members]
    _class = _base(_name, _values, module="tribo", type=None if _flags else _Word)
    _class.__doc__ = "; ".join(f"{m}: {text}" if text else m for m, _, text in _members)
    globals()[_name] = _class
