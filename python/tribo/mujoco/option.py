"""Options of a model under MuJoCo's names and numbers, Tribo's beside them."""

import copy
from typing import Any

import numpy as np

from .. import _core
from .._errors import UnsupportedError
from .enums import ENABLE_OF_TRIBO, mjtIntegrator  # type: ignore[attr-defined]

__all__ = ["MjOption"]

_TRIBO = [row[0] for row in _core.option_fields]
_INTEGERS = {row[0] for row in _core.option_fields if row[1] == "int"}
_RENAMED = {"solver": "mjsolver"}
MUJOCO = sorted(
    (set(_TRIBO) - {"mjsolver"})
    & {
        "ccd_iterations",
        "ccd_tolerance",
        "cone",
        "density",
        "disableactuator",
        "disableflags",
        "enableflags",
        "gravity",
        "impratio",
        "integrator",
        "iterations",
        "jacobian",
        "ls_iterations",
        "ls_tolerance",
        "magnetic",
        "noslip_iterations",
        "noslip_tolerance",
        "o_friction",
        "o_margin",
        "o_solimp",
        "o_solref",
        "sdf_initpoints",
        "sdf_iterations",
        "solver",
        "timestep",
        "tolerance",
        "viscosity",
        "wind",
    }
)
SLEEP = 32  # Tribo's bit of enableflags
FIELDS = sorted(set(MUJOCO) | set(_TRIBO))


def _empty() -> Any:
    model = _core.Model.from_xml_string("<mujoco/>")
    model.opt.law = "soft"
    return model.opt


class MjOption:
    """Options; numbers are MuJoCo's, words may be Tribo's: ``m.opt.law = "ncp"``.

    `solver` is MuJoCo's (of the soft law) where it is a number; a word selects the solver of the law that is
    set. All options of `tribo.Option` are here; `tribo` is that object.
    """

    __slots__ = ("tribo",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tribo: Any = None) -> None:
        object.__setattr__(self, "tribo", _empty() if tribo is None else tribo)

    def __getattr__(self, name: str) -> Any:
        if name not in FIELDS:
            raise AttributeError(f"MjOption has no {name!r}")
        value = getattr(self.tribo, _RENAMED.get(name, name))
        if name == "enableflags":
            return sum(theirs for ours, theirs in ENABLE_OF_TRIBO.items() if value & ours)
        # MuJoCo's are plain numbers.
        return int(value) if name in MUJOCO and isinstance(value, int) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in FIELDS:
            raise AttributeError(f"MjOption has no {name!r}")
        if isinstance(value, str):
            setattr(self.tribo, name, value)
            return
        if name == "enableflags":
            value = _enable_flags(int(value))
            self.tribo.sleep = int(bool(value & SLEEP))
        if name == "integrator" and value == mjtIntegrator.mjINT_DISCRETE:
            raise UnsupportedError("integrator 'discrete' of MuJoCo 4: use 'implicitfast', or a rigid law")
        name = _RENAMED.get(name, name)
        if name in _INTEGERS:
            self.tribo._put(name, int(value))
        else:
            setattr(self.tribo, name, value)

    def __dir__(self) -> list[str]:
        return [*FIELDS, "tribo"]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MjOption):
            return NotImplemented
        return all(np.array_equal(getattr(self.tribo, n), getattr(other.tribo, n)) for n in _TRIBO)

    def __repr__(self) -> str:
        return "<MjOption\n" + "".join(f"  {n}: {getattr(self, n)!r}\n" for n in FIELDS) + ">"

    def assign(self, other: "MjOption") -> None:
        """Copy all options of another one."""
        for name in _TRIBO:
            setattr(self.tribo, name, getattr(other.tribo, name))

    def __copy__(self) -> "MjOption":
        made = MjOption()
        made.assign(self)
        return made

    def __deepcopy__(self, memo: Any) -> "MjOption":
        return copy.copy(self)

    def __reduce__(self) -> Any:
        return _restored, ({n: np.copy(getattr(self.tribo, n)) for n in _TRIBO},)


def _restored(values: dict[str, Any]) -> MjOption:
    made = MjOption()
    for name, value in values.items():
        setattr(made.tribo, name, value if value.ndim else value.item())
    return made


def _enable_flags(flags: int) -> int:
    """Tribo's bits; a feature that it does not have raises."""
    ours = {theirs: mine for mine, theirs in ENABLE_OF_TRIBO.items()}
    result = 0
    for bit in (1 << i for i in range(8)):
        if not flags & bit:
            continue
        if bit not in ours:
            raise UnsupportedError(f"enableflags {bit}: Tribo does not have this feature of MuJoCo 4")
        result |= ours[bit]
    return result
