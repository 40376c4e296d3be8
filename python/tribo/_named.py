"""Methods of Model and Data that find a part by its name or number."""

import difflib
from typing import Any

from . import _core, _parts
from ._parts import KINDS

__all__ = ["index", "install", "names"]


def names(model: Any, kind: str) -> list[str]:
    """Names of all objects of a kind, "" where one has none."""
    type_, size, _, _ = KINDS[kind]
    return [model.id2name(type_, i) for i in range(getattr(model, size))]


def index(model: Any, kind: str, which: int | str) -> int:
    """Id of a part by name or number; KeyError with the nearest name, IndexError."""
    type_, size, _, _ = KINDS[kind]
    if isinstance(which, str):
        id = int(model.name2id(type_, which))
        if id < 0:
            known = [name for name in names(model, kind) if name]
            near = difflib.get_close_matches(which, known, 1, 0.5)
            hint = f", did you mean {near[0]!r}?" if near else f"; there are {len(known)} with a name"
            raise KeyError(f"no {kind} {which!r}{hint}")
        return id
    count = getattr(model, size)
    id = which + count if which < 0 else which
    if not 0 <= id < count:
        raise IndexError(f"{kind} {which}: there are {count}")
    return id


def install() -> None:
    """Give Model and Data their methods `body`, `joint`, ... ."""
    for kind, (_, size, _, _) in KINDS.items():
        _install(kind, size)


def _install(kind: str, size: str) -> None:
    part = getattr(_parts, "Model" + kind.capitalize())

    def of_model(self: Any, which: int | str) -> Any:
        id = index(self, kind, which)
        return part(self, id, self.id2name(KINDS[kind][0], id))

    of_model.__name__ = kind
    of_model.__doc__ = f"The {kind} of that name or number (0 to {size} - 1), as live rows of its arrays."
    of_model.__annotations__["return"] = "Model" + kind.capitalize()
    setattr(_core.Model, kind, of_model)
    world_part = getattr(_parts, "Data" + kind.capitalize(), None)
    if world_part is None:
        return

    def of_data(self: Any, which: int | str) -> Any:
        model = self.model
        id = index(model, kind, which)
        return world_part(self, id, model.id2name(KINDS[kind][0], id))

    of_data.__name__ = kind
    of_data.__doc__ = f"The {kind} of that name or number, as live rows of the world's arrays."
    of_data.__annotations__["return"] = "Data" + kind.capitalize()
    setattr(_core.Data, kind, of_data)
