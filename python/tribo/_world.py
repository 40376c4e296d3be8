"""What Model and Data have beyond the compiled part: certificate, copies, pickling, callbacks."""

import os
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np

from . import _core, _named
from ._attach import attach
from ._core import Contacts, Data, Model
from ._enums import ContactState, ObjType, Offence, SolveStatus


@dataclass(frozen=True)
class Residual:
    """Violation of a law by impulses: the largest over all blocks.

    Attributes
    ----------
    primal : float
        Distance of the impulses from the cone, N s.
    dual : float
        Distance of the velocities from the dual cone, m/s.
    complementarity : float
        Power of impulse and velocity, J.
    relative : float
        The largest of the three after division by the size of the problem.
    """

    primal: float
    dual: float
    complementarity: float
    relative: float


@dataclass(frozen=True)
class SolveInfo:
    """How the contact problem of a step, or one of your own, was solved.

    Attributes
    ----------
    status : SolveStatus
        `CONVERGED`, or why the solver stopped.
    law, solver : str
        What was solved, and by which solver.
    iterations, factorizations : int
        Work of the solver.
    seconds : float
        Wall-clock time, s.
    residual : Residual
        Of the law that was solved.
    residual_exact : Residual
        Of the exact law: the certificate. NaN where it was not computed.
    """

    status: Any
    law: str
    solver: str
    iterations: int
    factorizations: int
    seconds: float
    residual: Residual
    residual_exact: Residual

    @property
    def converged(self) -> bool:
        """Whether the solver reached its tolerance."""
        return bool(self.status == SolveStatus.CONVERGED)


def solve_info(row: tuple[Any, ...]) -> SolveInfo:
    """The info of a tuple of the compiled part."""
    return SolveInfo(
        SolveStatus(row[0]), row[1], row[2], row[3], row[4], row[5], Residual(**row[6]), Residual(**row[7])
    )


class Offender(NamedTuple):
    """The constraint responsible where a step failed or did not converge."""

    reason: Any
    geom1: int
    geom2: int
    body: int


def solve(self: Any) -> SolveInfo:
    """Iterations, status and residuals of the last step; `residual_exact` is the certificate."""
    return solve_info(self._solve)


def offender(self: Any) -> Offender:
    """The constraint responsible where the last step failed or did not converge."""
    reason, geom1, geom2, body = self._offender
    return Offender(Offence(reason), geom1, geom2, body)


def contact(self: Any) -> Contacts:
    """The contacts of the last step: `d.contact[i].frame`, or of all at once: `d.contact.dist`."""
    return _core._contacts(self)


def contact_state(self: Any) -> ContactState:
    """Open, sticking, sliding or rolling."""
    return ContactState(self._state)


def _restore_model(data: bytes, callbacks: tuple[Any, ...]) -> Any:
    model = _core.Model.from_binary(data)
    for i, function in enumerate(callbacks):
        _core._set_callback(model, i, function)
    return model


def _callbacks(model: Any) -> tuple[Any, ...]:
    return tuple(_core._get_callback(model, i) for i in range(len(CALLBACKS)))


def to_binary(self: Any) -> bytes:
    """The compiled model as bytes: what `save` writes."""
    import tempfile  # loads a dozen modules

    handle, path = tempfile.mkstemp(suffix=".tbm")
    os.close(handle)
    try:
        self.save(path)
        with open(path, "rb") as file:
            return file.read()
    finally:
        os.unlink(path)


def model_copy(self: Any, memo: Any = None) -> Model:
    """A deep copy; callbacks are the same functions."""
    copy: Model = self._copy()
    for i, function in enumerate(_callbacks(self)):
        _core._set_callback(copy, i, function)
    return copy


def model_reduce(self: Any) -> Any:
    """Pickle: the binary model and the callbacks, which pickle by their own rules."""
    return _restore_model, (to_binary(self), _callbacks(self))


def _restore_data(model: Any, arrays: bytes, snapshot: bytes, energy: Any) -> Any:
    data = _core.Data(model)
    data._set_arrays(arrays)
    data.load_snapshot(snapshot)
    data.energy[...] = energy
    return data


def data_reduce(self: Any) -> Any:
    """Pickle: the model, all arrays and the memory of solvers."""
    return _restore_data, (self.model, self._arrays(), self.snapshot(), self.energy.copy())


def data_copy(self: Any) -> Data:
    """A world of the same model that continues with the same bits."""
    copy: Data = self._copy()
    copy.load_snapshot(self.snapshot())
    return copy


def data_deepcopy(self: Any, memo: Any) -> Data:
    """As copy: worlds share their constant model."""
    return data_copy(self)


def model_repr(self: Any) -> str:
    """One line."""
    return (
        f"<tribo.Model {self.name!r}: {self.nbody - 1} bodies, {self.njnt} joints, {self.nv} dofs, "
        f"{self.nu} actuators, {self.ngeom} geoms>"
    )


def data_repr(self: Any) -> str:
    """One line."""
    return f"<tribo.Data of {self.model.name!r}: t = {self.time:g} s, {self.ncon} contacts>"


def _names(array: Any) -> str:
    return "[" + " ".join(f"{value:.4g}" for value in array) + "]"


def _geom_name(data: Any, geom: int) -> str:
    name = data.model.id2name(ObjType.GEOM, geom) if data is not None and geom >= 0 else ""
    return repr(name) if name else str(geom)


def contact_repr(self: Any) -> str:
    """One line."""
    data = self._data
    pair = " and ".join(_geom_name(data, int(geom)) for geom in self.geom)
    try:
        state = f", {ContactState(self._state)}"
    except RuntimeError:
        state = ""
    return (
        f"<tribo.Contact of geoms {pair}: dist {self.dist:.3g} m, pos {_names(self.pos)}, "
        f"force {_names(self.force[:3])} N{state}>"
    )


def contacts_repr(self: Any) -> str:
    """A row for each contact, up to ten."""
    count = len(self)
    if not count:
        return "<tribo.Contacts: none>"
    data = self._data
    rows = [("", "geoms", "dist m", "normal N", "friction N", "state")]
    for i in range(min(count, 10)):
        of = self[i]
        normal, *tangents = of.force[:3]
        rows.append(
            (
                str(i),
                ", ".join(_geom_name(data, int(geom)) for geom in of.geom),
                f"{of.dist:.3g}",
                f"{normal:.4g}",
                f"{sum(t * t for t in tangents) ** 0.5:.4g}",
                str(ContactState(of._state)),
            )
        )
    width = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = ["  ".join(word.ljust(width[i]) for i, word in enumerate(row)).rstrip() for row in rows]
    if count > 10:
        lines.append(f"... {count - 10} more")
    return f"<tribo.Contacts: {count}\n" + "\n".join(lines) + ">"


_ALWAYS = ("timestep", "law", "solver", "integrator")


def _option_value(value: Any) -> str:
    if isinstance(value, IntFlag):
        return "|".join(str(bit.name).lower() for bit in type(value) if bit & value) or "0"
    return f"{value:g}" if isinstance(value, float) else _names(value) if np.ndim(value) else str(value)


def option_repr(self: Any) -> str:
    """The most important options and those that differ from the default."""
    usual = _core.Model.from_xml_string("<mujoco/>").opt
    words = []
    for name in (*_ALWAYS, *(row[0] for row in _core.option_fields if row[0] not in _ALWAYS)):
        value = getattr(self, name)
        if name in _ALWAYS or not np.array_equal(value, getattr(usual, name)):
            words.append(f"{name} {_option_value(value)}")
    return f"<tribo.Option: {', '.join(words)}; the rest as by default>"


CALLBACKS = ("control_callback", "passive_callback", "contact_filter", "contact_callback")
_MEANING = {
    "control_callback": "Function (m, d) that sets d.ctrl and applied forces in a step, or None.",
    "passive_callback": "Function (m, d) that adds further forces to d.qfrc_passive, or None.",
    "contact_filter": "Function (m, d, geom1, geom2): true where the two geoms do not collide now, or None.",
    "contact_callback": "Function (m, d, contact) that may change parameters of a contact, or None.",
}


def _callback(which: int, doc: str) -> property:
    def get(self: Any) -> Any:
        return _core._get_callback(self, which)

    def put(self: Any, function: Any) -> None:
        _core._set_callback(self, which, function)

    return property(get, put, doc=doc)


def install() -> None:
    """Give Model and Data what is here."""
    callbacks = {name: _callback(which, _MEANING[name]) for which, name in enumerate(CALLBACKS)}
    attach(
        _core.Model,
        to_binary=to_binary,
        __copy__=model_copy,
        __deepcopy__=model_copy,
        __reduce__=model_reduce,
        __repr__=model_repr,
        **callbacks,
    )
    attach(
        _core.Data,
        solve=property(solve),
        offender=property(offender),
        contact=property(contact),
        __copy__=data_copy,
        __deepcopy__=data_deepcopy,
        __reduce__=data_reduce,
        __repr__=data_repr,
    )
    attach(_core.Contact, state=property(contact_state), __repr__=contact_repr)
    attach(_core.Contacts, __repr__=contacts_repr)
    attach(_core.Option, __repr__=option_repr)
    _named.install()
