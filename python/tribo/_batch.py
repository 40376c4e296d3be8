"""Many worlds of one model, stepped on all cores."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _core, _named
from ._core import Model
from ._fields import BatchFields

__all__ = ["Batch"]

_REPORT: np.dtype[Any] | None = None


def _report_type() -> np.dtype[Any]:
    """The structured type of a report, made at first use."""
    global _REPORT
    if _REPORT is None:
        members, size = _core.report_members
        _REPORT = np.dtype(
            {
                "names": [m[0] for m in members],
                "formats": [m[1] for m in members],
                "offsets": [m[2] for m in members],
                "itemsize": size,
            }
        )
    return _REPORT


class Batch(BatchFields):
    """`n` worlds of one model; states and inputs are arrays with a row per world.

    Every world gets the same bits as when it is stepped alone, whatever the number of threads.
    `batch.qpos`, `batch.ctrl`, ... are live views, shape (n, ...); assigning copies into them. Fields of
    the model that `expand` gave to each world are under `batch["geom_friction"]`, recorded fields of the
    data under `batch["xpos"]`.

    Parameters
    ----------
    model : Model
        The model; its arrays must not change while the batch is used (`expand` them).
    n : int
        Worlds.
    threads : int
        Threads; 0: one per core.
    device : str
        Where the worlds live; only "cpu" so far.
    memory_limit : int
        Bytes that the batch may need; 0: no limit.
    """

    def __init__(
        self, model: Model, n: int, threads: int = 0, *, device: str = "cpu", memory_limit: int = 0
    ) -> None:
        if device != "cpu":
            raise NotImplementedError(
                f"device {device!r}: this build has batches on the CPU only (device='cpu')"
            )
        super().__init__(model, n, threads, memory_limit)

    @property
    def device(self) -> str:
        """Where the worlds live."""
        return "cpu"

    def reset(self, ids: Any = None, *, mask: Any = None, key: Any = None) -> None:
        """Worlds return to the reference pose, or to a keyframe.

        Parameters
        ----------
        ids, mask : array_like, optional
            The worlds, by number or by a boolean each. Default: all.
        key : int, str or sequence of int, optional
            A keyframe for all of them, by number or name, or a number for each.
        """
        which = _named.index(self.model, "key", key) if isinstance(key, str) else key
        super().reset(ids, mask=mask, key=which)

    def __getitem__(self, name: str) -> Any:
        """The live array of that name."""
        return self.field(name)

    def __setitem__(self, name: str, value: Any) -> None:
        """Copy into the live array of that name."""
        self.field(name)[...] = value

    def __len__(self) -> int:
        """Worlds."""
        return int(self.n)

    def __repr__(self) -> str:
        """One line."""
        return f"<tribo.Batch: {self.n} worlds of {self.model.name!r}, {self.threads} threads>"

    @property
    def report(self) -> np.ndarray[Any, np.dtype[Any]]:
        """Summary of the last call's steps: a live structured array with a row per world."""
        return self._report.view(_report_type())[:, 0]

    def rollout(
        self,
        nstep: int,
        *,
        record: Iterable[str] = ("qpos", "qvel"),
        every: int = 1,
        ids: Any = None,
        mask: Any = None,
        out: Mapping[str, Any] | None = None,
        qpos: Any = None,
        qvel: Any = None,
        act: Any = None,
        ctrl: Any = None,
        qfrc_applied: Any = None,
        xfrc_applied: Any = None,
    ) -> dict[str, Any]:
        """Many steps in one call, from initial states and inputs to trajectories.

        Parameters
        ----------
        nstep : int
            Steps.
        record : sequence of str
            Fields that are recorded: arrays of the data, "time", "energy", "residual_exact", ...
        every : int
            Record after every such step.
        ids, mask : array_like, optional
            The worlds that move, by number or by a boolean each.
        out : dict, optional
            Contiguous arrays that results are written to, by field.
        qpos, qvel, act : array_like, optional
            Initial states, shape (n, nq), (n, nv), (n, na); if one is given, worlds start without warm-start
            data. Default: continue.
        ctrl, qfrc_applied, xfrc_applied : array_like, optional
            Inputs before each step, shape (n, nstep, nu), (n, nstep, nv), (n, nstep, nbody, 6). Default: the
            batch's own, held.

        Returns
        -------
        dict
            Arrays by field, shape (n, nstep // every, ...).
        """
        inputs = {
            "qpos": qpos,
            "qvel": qvel,
            "act": act,
            "ctrl": ctrl,
            "qfrc_applied": qfrc_applied,
            "xfrc_applied": xfrc_applied,
        }
        return self._rollout(
            nstep, inputs, list(record), every, ids, mask, None if out is None else dict(out)
        )
