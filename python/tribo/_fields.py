"""The arrays of a batch as properties, by the lists of fields."""

from typing import Any

from . import _core

__all__ = ["FIELDS", "BatchFields"]

_COUNT = _core.data_state_count + _core.data_input_count
_WHAT = {
    **{row[0]: row[5] for row in _core.data_fields[:_COUNT]},
    "time": "time, s",
    "sensordata": "sensor values",
    "status": "result of the last step: 0, or why it failed and the state was kept",
    "ncon": "contacts of the last step",
    "residual_exact": "relative residual of the exact law; NaN: not computed",
}
FIELDS = tuple(_WHAT)


class BatchFields(_core._Batch):
    """The compiled batch with live arrays, a row per world."""


def _property(name: str) -> property:
    def get(self: Any) -> Any:
        return self.field(name)

    def put(self: Any, value: Any) -> None:
        self.field(name)[...] = value

    what = _WHAT[name]
    return property(get, put, doc=f"{what[:1].upper()}{what[1:]}: a row per world, live.")


for _name in FIELDS:
    setattr(BatchFields, _name, _property(_name))
