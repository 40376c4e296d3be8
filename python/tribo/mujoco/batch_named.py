"""One object's slices of the fields of a batch."""

from typing import Any

import numpy as np

from .. import _parts
from . import named
from .batch_fields import DATA_FIELDS, MODEL_FIELDS, STATE_FIELDS, did_you_mean, output_error, structural


class Named:
    """Attributes of MjData's and MjModel's views of an object, with a row per simulation.

    Attributes of the data bind their field. Attributes of the model are read-only until they are expanded;
    assigning expands them.
    """

    def __init__(self, batch: Any, kind: str, key: int | str, data: bool) -> None:
        tribo = named.ALIASES[kind]
        id = named.lookup(batch.model, tribo, key)
        name = batch.model.id2name(_parts.KINDS[tribo][0], id)
        rows = (named.DATA[tribo]._rows if data else {}, named.MODEL[tribo]._rows)
        for slot, value in (
            ("_batch", batch),
            ("_kind", kind),
            ("_tables", rows),
            ("id", id),
            ("name", name),
        ):
            object.__setattr__(self, slot, value)

    def __getattr__(self, attr: str) -> Any:
        return self._slice(attr, False)

    def __setattr__(self, attr: str, value: Any) -> None:
        if attr in ("id", "name") or attr.startswith("_"):
            raise AttributeError(f"{attr} is read-only")
        self._slice(attr, True)[...] = value

    def _cut(self, rows: Any, how: str, matrix: bool) -> Any:
        if how == "id":
            return rows[:, self.id] if matrix else rows[:, self.id : self.id + 1]
        span = _parts._span(self._batch.model, how, self.id)
        part = rows[:, 0:0] if span is None else rows[:, span]
        return part[:, 0] if how == "mocap" and span is not None else part

    def _slice(self, attr: str, write: bool) -> Any:
        batch = self._batch
        of_data, of_model = self._tables
        unheld = False
        if attr in of_data:
            field, how, matrix = of_data[attr]
            if field in DATA_FIELDS:
                if write and field not in STATE_FIELDS:
                    raise output_error(f"{self._kind} {attr}")
                return self._cut(batch.bind(field), how, matrix)
            unheld = True
        if attr in of_model:
            field, how, matrix = of_model[attr]
            if field in MODEL_FIELDS:
                return self._of_model(field, how, matrix, write)
            unheld = True
        if unheld:
            raise AttributeError(
                f"{self._kind} {attr} is not a slice of a field that the batch binds or expands"
            )
        names = set(of_data) | set(of_model)
        raise AttributeError(f"{attr} is not a field of a {self._kind}{did_you_mean(attr, names)}")

    def _of_model(self, field: str, how: str, matrix: bool, write: bool) -> Any:
        batch = self._batch
        if batch.models is not None:
            if write:
                raise ValueError(f"{field} comes from the caller models: edit them and call set_models again")
            rows = np.stack([getattr(batch._model_of(i), field) for i in range(batch.nsim)])
            return _read_only(self._cut(rows, how, matrix))
        if field in batch._expanded:
            return self._cut(batch.expand(field), how, matrix)
        values = getattr(batch.model, field)
        if structural(field, values):
            if write:
                raise ValueError(f"{field} is structural: it cannot differ between simulations")
        elif write and values.size:
            return self._cut(batch.expand(field), how, matrix)
        rows = batch.expanded(field)
        if rows is None:
            rows = np.broadcast_to(values, (batch.nsim, *values.shape))
        return _read_only(self._cut(rows, how, matrix))


def _read_only(array: Any) -> Any:
    view = array.view()
    view.flags.writeable = False
    return view
