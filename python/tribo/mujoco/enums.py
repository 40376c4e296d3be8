"""MuJoCo's enumerations: whole numbers with MuJoCo's names."""

import enum
from typing import Any

from ._enum_table import TABLE

__all__ = list(TABLE)


def _members(words: str) -> list[tuple[str, int]]:
    """Names and numbers of one line of the table."""
    members, following = [], 0
    for word in words.split():
        name, _, number = word.partition("=")
        value = int(number) if number else following
        members.append((name, value))
        following = value + 1
    return members


class _Base(enum.IntEnum):
    """Members print as MuJoCo's."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


for _name, _words in TABLE.items():
    _made: Any = _Base(_name, _members(_words), module=__name__)  # type: ignore[arg-type,call-arg]
    _made.__doc__ = f"MuJoCo's `{_name}`."
    globals()[_name] = _made

# The kinds of objects that Tribo numbers differently: mjtObj by tribo.ObjType.
OBJECT_OF_TRIBO = {
    0: 0,
    1: 1,
    2: 2,
    3: 3,
    4: 4,
    5: 5,
    6: 6,
    7: 7,
    8: 8,
    9: 10,
    10: 12,
    11: 15,
    12: 16,
    13: 17,
    14: 18,
    15: 19,
    16: 20,
    17: 21,
    18: 22,
    19: 23,
    20: 24,
}
OBJECT_TO_TRIBO = {theirs: ours for ours, theirs in OBJECT_OF_TRIBO.items()}
# Bits of enableflags: MuJoCo's by Tribo's.
ENABLE_OF_TRIBO = {1: 1, 2: 2, 4: 4, 8: 8, 32: 16}
