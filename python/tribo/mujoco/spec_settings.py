"""Options and settings of a spec: what is given, and how those of an attached spec are merged."""

from typing import Any

import numpy as np

from .enums import mjtDisableBit, mjtEnableBit  # type: ignore[attr-defined]
from .option import FIELDS as OPTIONS
from .visual import MjVisual

__all__ = ["COMPILER", "Authored", "given_bits", "merge_options"]

COMPILER = ("autolimits", "boundmass", "boundinertia", "settotalmass", "balanceinertia", "strippath", "angle",
             "fitaabb", "eulerseq", "meshdir", "texturedir", "assetdir", "discardvisual", "fusestatic",
             "inertiafromgeom", "inertiagrouprange", "saveinertial", "alignfree", "conflict")  # fmt: skip
# Of two specs the smaller or the larger one is taken.
_SMALLER = ("timestep", "tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance")
_LARGER = ("iterations", "ls_iterations", "noslip_iterations", "ccd_iterations", "sdf_iterations",
           "sdf_initpoints", "impratio")  # fmt: skip


def _sections(spec: Any, tag: str) -> list[Any]:
    return [child for child in spec._spec.root.children if child.tag == tag]


def _get(element: Any, attribute: str) -> Any:
    try:
        return element[attribute]
    except (ValueError, RuntimeError):
        return None


def given_bits(spec: Any, tag: str, attributes: Any) -> int:
    """A bit for each attribute that a section gives."""
    return sum(1 << i for i, attribute in enumerate(attributes)
               if any(_get(section, attribute) is not None for section in _sections(spec, tag)))  # fmt: skip


class Authored:
    """Bits of what a spec itself says, by section."""

    def __init__(self, spec: Any) -> None:
        self._spec_of = spec

    @property
    def option(self) -> int:
        """Options that are given."""
        return given_bits(self._spec_of, "option", OPTIONS)

    def _flags(self, bits: Any, prefix: str) -> int:
        found = 0
        for option in _sections(self._spec_of, "option"):
            for flag in option.children:
                words = ((bit, bit.name.removeprefix(prefix).lower()) for bit in bits)
                found |= sum(int(bit) for bit, word in words
                             if bit.name.startswith(prefix) and _get(flag, word) is not None)  # fmt: skip
        return found

    @property
    def disableflags(self) -> int:
        """Flags of mjtDisableBit that are given."""
        return self._flags(mjtDisableBit, "mjDSBL_")

    @property
    def enableflags(self) -> int:
        """Flags of mjtEnableBit that are given."""
        return self._flags(mjtEnableBit, "mjENBL_")

    @property
    def disableactuator(self) -> int:
        """Whether groups of actuators are disabled."""
        return given_bits(self._spec_of, "option", ("actuatorgroupdisable",))

    def __getattr__(self, name: str) -> int:
        part = name.removeprefix("visual_")
        part = "global_" if part == "global" else part
        if not name.startswith("visual_") or part not in MjVisual._fields:
            raise AttributeError(name)
        given, initial = getattr(self._spec_of.visual, part), MjVisual._fields[part]
        names = enumerate(given._fields)
        return sum(1 << i for i, f in names if not np.array_equal(getattr(given, f), getattr(initial, f)))


def merge_options(parent: Any, child: Any) -> None:
    """Merge the options of an attached spec, where the parent says so; ValueError if that fails."""
    policy = parent.compiler.conflict
    if policy not in ("merge", "error"):
        return
    target = parent._spec.section("option")
    changes: dict[str, Any] = {}
    for section in child.root.children:
        if section.tag != "option":
            continue
        for name in OPTIONS:
            value, mine = _get(section, name), _get(target, name)
            if value is None or value == mine:
                continue
            if name in (*_SMALLER, *_LARGER) and policy == "merge":
                choose = min if name in _SMALLER else max
                changes[name] = value if mine is None else repr(choose(float(value), float(mine)))
                if name.endswith("iterations") and mine is not None:
                    changes[name] = str(int(float(changes[name])))
            elif mine is not None:
                raise ValueError(f"attach: the specs have different options {name!r}: {mine} and {value}")
            else:
                changes[name] = value
    for name, value in changes.items():
        target[name] = value
