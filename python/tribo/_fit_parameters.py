"""Unknowns of a fit: what a path stands for in a model."""

import fnmatch
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _named

# Kinds of terms of the compiled part (TermKind in gradients.cpp).
_INERTIAL, _GEOM, _PAIR, _SCALE, _ARMATURE, _DAMPING, _STIFFNESS, _GAIN, _CTRL = range(9)


@dataclass
class Parameter:
    """One unknown of a fit.

    Parameters
    ----------
    path : str
        What it is: "body.link.mass", "geom.ball.friction", "joint.*.damping" (one value for all that match),
        "actuator.knee.kp", "delay", "opt.comfree_stiffness", "field.geom_solref[3,0]"; see the manual.
    bounds : tuple of float, optional
        Smallest and largest value. Default: 0 and infinity for what cannot be negative.
    start : float or array_like, optional
        First value; default: the model's. With `basis` one value per function, needed.
    basis : callable, optional
        `basis(qpos, qvel)` gives functions of the state, shape (nb,): the quantity is their sum with the
        coefficients as unknowns, evaluated where an interval starts.
    scale : float, optional
        Typical size; default: the first value, or one where that is zero.
    """

    path: str
    bounds: tuple[float, float] | None = None
    start: Any = None
    basis: Callable[[Any, Any], Any] | None = None
    scale: float | None = None


# quantity: (field, column, may be negative), by kind of object.
_QUANTITIES: dict[str, dict[str, tuple[str, int, bool]]] = {
    "body": {
        "mass": ("body_mass", 0, False),
        "gravcomp": ("body_gravcomp", 0, False),
        **{f"inertia[{i}]": ("body_inertia", i, False) for i in range(3)},
        **{f"com[{i}]": ("body_ipos", i, True) for i in range(3)},
    },
    "joint": {
        "damping": ("dof_damping", 0, False),
        "armature": ("dof_armature", 0, False),
        "frictionloss": ("dof_frictionloss", 0, False),
        "stiffness": ("jnt_stiffness", 0, False),
    },
    "geom": {
        "friction": ("geom_friction", 0, False),
        "torsional": ("geom_friction", 1, False),
        "rolling": ("geom_friction", 2, False),
        "compliance": ("geom_compliance", 0, False),
        "tangentcompliance": ("geom_tangentcompliance", 0, False),
        "contactdamping": ("geom_contactdamping", 0, False),
        "restitution": ("geom_restitution", 0, False),
    },
    "pair": {
        "friction": ("pair_friction", 0, False),
        "compliance": ("pair_compliance", 0, False),
        "contactdamping": ("pair_contactdamping", 0, False),
        "restitution": ("pair_restitution", 0, False),
        "comfree_k": ("pair_comfree", 0, False),
        "comfree_d": ("pair_comfree", 1, False),
    },
    "tendon": {
        "stiffness": ("tendon_stiffness", 0, False),
        "damping": ("tendon_damping", 0, False),
        "armature": ("tendon_armature", 0, False),
        "frictionloss": ("tendon_frictionloss", 0, False),
    },
    "actuator": {
        "kp": ("actuator_gainprm", 0, False),
        "kv": ("actuator_biasprm", 2, False),
        "gain": ("actuator_gainprm", 0, True),
        "bias": ("actuator_biasprm", 0, True),
        "gear": ("actuator_gear", 0, True),
    },
}
_COUNTS = {
    "body": "nbody",
    "joint": "njnt",
    "geom": "ngeom",
    "pair": "npair",
    "tendon": "ntendon",
    "actuator": "nu",
}


@dataclass
class _Quantity:
    """An unknown as entries of the model's fields."""

    name: str
    entries: list[tuple[str, tuple[int, ...], float]]  # field or option, index, factor
    delays: list[int]  # actuators whose control it delays
    bounds: tuple[float, float]
    start: float
    scale: float
    terms: list[tuple[int, int]] = field(default_factory=list)  # kind, index
    basis: Callable[[Any, Any], Any] | None = None
    function: int = 0  # of the basis


def _matches(m: Any, kind: str, pattern: str) -> list[int]:
    count = int(getattr(m, _COUNTS[kind]))
    if pattern.isdigit() and int(pattern) < count:
        return [int(pattern)]
    if not any(c in pattern for c in "*?["):
        return [int(_named.index(m, kind, pattern))]
    found = [i for i in range(count) if fnmatch.fnmatchcase(_name(m, kind, i), pattern)]
    if not found:
        raise KeyError(f"no {kind} matches {pattern!r}")
    return found


def _name(m: Any, kind: str, i: int) -> str:
    return str(getattr(m, kind)(i).name or i)


def _entries(m: Any, kind: str, quantity: str, ids: list[int]) -> tuple[list[Any], list[Any], bool]:
    """Entries of fields, terms of derivatives, and whether values may be negative."""
    if kind == "body" and quantity == "density":
        scaled: list[Any] = [("body_mass", (i,), float(m.body_mass[i])) for i in ids]
        scaled += [("body_inertia", (i, k), float(m.body_inertia[i, k])) for i in ids for k in range(3)]
        return scaled, [(_INERTIAL, i) for i in ids], False
    known = _QUANTITIES[kind]
    if quantity not in known:
        raise KeyError(
            f"{kind}: no quantity {quantity!r}; there are {', '.join(known)}"
            + (", density" if kind == "body" else ", delay" if kind == "actuator" else "")
        )
    name, column, negative = known[quantity]
    entries: list[Any] = []
    terms: list[Any] = []
    wide = getattr(m, name).ndim == 2
    for i in ids:
        rows = [i]
        if name.startswith("dof_"):
            first = int(m.jnt_dofadr[i])
            rows = list(range(first, first + {0: 6, 1: 3}.get(int(m.jnt_type[i]), 1)))
        entries += [(name, (r, column) if wide else (r,), 1.0) for r in rows]
        if kind == "pair" and quantity == "friction":
            entries.append((name, (i, 1), 1.0))
        if kind == "actuator" and quantity == "kp":
            entries.append(("actuator_biasprm", (i, 1), -1.0))
        if kind == "actuator" and quantity == "kv":
            entries[-1] = (name, (i, 2), -1.0)
        term = {
            ("body", "mass"): _INERTIAL,
            ("geom", "friction"): _GEOM,
            ("pair", "friction"): _PAIR,
            ("joint", "stiffness"): _STIFFNESS,
        }.get((kind, quantity))
        if kind == "body" and quantity[:3] in ("ine", "com"):
            term = _INERTIAL
        if kind == "actuator" and quantity in ("kp", "kv", "gain", "bias"):
            term = _GAIN
        if name in ("dof_armature", "dof_damping"):
            terms += [(_ARMATURE if name == "dof_armature" else _DAMPING, r) for r in rows]
        elif term is not None and not (term == _STIFFNESS and int(m.jnt_type[i]) < 2):
            terms.append((term, i))
    return entries, terms, negative


def _quantities(m: Any, given: Parameter | str) -> list[_Quantity]:
    """The unknowns of a parameter."""
    p = Parameter(given) if isinstance(given, str) else given
    parts = p.path.split(".")
    entries: list[Any] = []
    terms: list[Any] = []
    delays: list[int] = []
    negative = False
    if p.path == "delay":
        delays = list(range(m.nu))
    elif parts[0] == "opt" and len(parts) == 2:
        name, index = _indexed(parts[1])
        if not hasattr(m.opt, name):
            raise KeyError(f"no option {name!r}")
        entries, negative = [(f"opt.{name}", index, 1.0)], name in ("gravity", "wind", "magnetic")
        terms = [(_SCALE, 0)] if name == "friction_scale" else []
    elif parts[0] == "field" and len(parts) == 2:
        name, index = _indexed(parts[1])
        getattr(m, name)[index]  # an IndexError for what is not there
        entries, negative = [(name, index, 1.0)], True
    elif len(parts) >= 3 and parts[0] in _COUNTS:
        ids = _matches(m, parts[0], ".".join(parts[1:-1]))
        if parts[0] == "actuator" and parts[-1] == "delay":
            delays = ids
        elif parts[0] == "body" and parts[-1] in ("inertia", "com"):
            parts_of = [
                Parameter(
                    f"{p.path}[{i}]",
                    p.bounds,
                    None if p.start is None else np.asarray(p.start)[i],
                    None,
                    p.scale,
                )
                for i in range(3)
            ]
            return [q for one in parts_of for q in _quantities(m, one)]
        else:
            entries, terms, negative = _entries(m, parts[0], parts[-1], ids)
    else:
        raise KeyError(
            f"no parameter {p.path!r}: expected kind.name.quantity with a kind of {', '.join(_COUNTS)}, "
            "or opt.name, field.name[row,column], delay"
        )
    bounds = p.bounds if p.bounds is not None else (-math.inf if negative else 0.0, math.inf)
    if p.basis is not None:
        coefficients = np.atleast_1d(np.asarray(p.start, dtype=float))
        if p.start is None:
            raise ValueError(f"{p.path}: a basis needs a start value per function")
        return [
            _Quantity(
                f"{p.path}[{k}]",
                entries,
                [],
                (-math.inf, math.inf),
                float(c),
                p.scale or abs(float(c)) or 1.0,
                [],
                p.basis,
                k,
            )
            for k, c in enumerate(coefficients)
        ]
    start = p.start
    if start is None:
        start = 0.0 if delays else _value(m, *entries[0])
    value = float(start)
    scale = p.scale or abs(value) or (0.01 if delays else 1.0)
    return [
        _Quantity(p.path, entries, delays, (float(bounds[0]), float(bounds[1])), value, float(scale), terms)
    ]


def _indexed(text: str) -> tuple[str, tuple[int, ...]]:
    found = re.fullmatch(r"(\w+)(?:\[([\d, ]+)\])?", text)
    if not found:
        raise KeyError(f"cannot read {text!r}")
    return found[1], tuple(int(i) for i in found[2].split(",")) if found[2] else ()


def _value(m: Any, name: str, index: tuple[int, ...], factor: float) -> float:
    array = np.asarray(getattr(m.opt, name[4:]) if name.startswith("opt.") else getattr(m, name))
    return float(array[index]) / factor if factor else float(array[index])


def _inertial_weights(
    m: Any, quantity: str, body: int, values: dict[tuple[str, tuple[int, ...]], float]
) -> list[float]:
    """Change of a body's ten inertial parameters by one of its quantities."""

    def now(name: str, *index: int) -> float:
        return values.get((name, index), float(getattr(m, name)[index]))

    mass = now("body_mass", body)
    c = np.array([now("body_ipos", body, k) for k in range(3)])
    turn = np.asarray(m.body_imat[body]).reshape(3, 3)
    d_mass, d_first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    shift = (c @ c) * np.eye(3) - np.outer(c, c)
    if quantity == "mass":
        d_mass, d_first, second = 1.0, c, shift
    elif quantity == "density":
        m0 = float(m.body_mass[body])
        second = turn @ np.diag(np.asarray(m.body_inertia[body])) @ turn.T + m0 * shift
        d_mass, d_first = m0, m0 * c
    elif quantity.startswith("inertia"):
        e = turn[:, int(quantity[8])]
        second = np.outer(e, e)
    else:
        e = np.eye(3)[int(quantity[4])]
        d_first = mass * e
        second = mass * (2 * (c @ e) * np.eye(3) - np.outer(c, e) - np.outer(e, c))
    return [
        d_mass,
        *d_first,
        second[0, 0],
        second[0, 1],
        second[1, 1],
        second[0, 2],
        second[1, 2],
        second[2, 2],
    ]
