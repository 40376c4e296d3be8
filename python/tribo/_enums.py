"""Enumerations of the engine, by the names of its headers without their prefix."""

import enum
from typing import Any

from . import _core

__all__ = list(_core.enums)


class _Word:
    """Members print as the words of files and options."""

    name: str

    def __str__(self) -> str:
        return self.name.lower()


for _name, _members in _core.enums.items():
    _flags = _name.endswith("Bit")
    _base: Any = enum.IntFlag if _flags else enum.IntEnum
    _values = [(member, value) for member, value, _ in _members]
    _class = _base(_name, _values, module="tribo", type=None if _flags else _Word)
    _class.__doc__ = "; ".join(f"{m}: {text}" if text else m for m, _, text in _members)
    globals()[_name] = _class
