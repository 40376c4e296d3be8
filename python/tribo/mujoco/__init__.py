"""MuJoCo's names over Tribo's models and worlds.

A script moves by its import:

>>> import tribo.mujoco as mujoco
>>> m = mujoco.MjModel.from_xml_path("scenes/stack.xml")
>>> m.opt.law = "ncp"                                        # the second line; the default is "soft"
>>> d = mujoco.MjData(m)
>>> mujoco.mj_step(m, d)

`tribo.mujoco.install()` puts it in place of the package `mujoco` for what imports that. What Tribo does not
have raises, naming it and what to use (docs/manual/python-mujoco.md).
"""

import importlib
from typing import Any

from . import (
    callbacks,
    constants,
    data,
    derivatives,
    enums,
    errors,
    files,
    functions,
    linalg,
    math,
    model,
    option,
    queries,
    scene,
    schema,
    state,
    structs,
    unsupported,
    visual,
)
from ._install import install, uninstall

__version__ = "4.0.0"

_PARTS = (
    callbacks,
    constants,
    data,
    derivatives,
    enums,
    errors,
    files,
    functions,
    linalg,
    math,
    model,
    option,
    queries,
    scene,
    schema,
    state,
    structs,
    visual,
)
for _part in _PARTS:
    for _name in _part.__all__:
        globals()[_name] = getattr(_part, _name)

# Parts that are loaded when they are asked for: name, module.
_LATER = {
    "MjSpec": "spec",
    "Renderer": "renderer",
    "rollout": "",
    "batch": "",
    "viewer": "",
    "renderer": "",
    "spec": "",
    "MjStruct": "spec",
}

__all__ = ["install", "uninstall", *[name for part in _PARTS for name in part.__all__]]


def __getattr__(name: str) -> Any:
    if name in _LATER or name.startswith("Mjs"):
        part = importlib.import_module(f"{__name__}.{_LATER.get(name, 'spec') or name}")
        if not _LATER.get(name, "spec"):
            return part
        if hasattr(part, name):
            return getattr(part, name)
    missing = unsupported.absent(name)
    if missing is not None:
        return missing
    raise AttributeError(f"module 'mujoco' has no attribute {name!r}")
