"""Puts tribo.mujoco in place of the package `mujoco`."""

import importlib
import sys

_PARTS = ("rollout", "batch", "viewer", "renderer")
_before: dict[str, object] = {}


def install() -> None:
    """From now on `import mujoco` gives tribo.mujoco, also in packages that are imported later.

    A `mujoco` that was imported before stays with those that have it.
    """
    package = importlib.import_module("tribo.mujoco")
    for name in [n for n in sys.modules if n == "mujoco" or n.startswith("mujoco.")]:
        if sys.modules[name] is not package:
            _before.setdefault(name, sys.modules[name])
        del sys.modules[name]
    sys.modules["mujoco"] = package
    for part in _PARTS:
        sys.modules[f"mujoco.{part}"] = importlib.import_module(f"tribo.mujoco.{part}")


def uninstall() -> None:
    """Undo install()."""
    for name in [n for n in sys.modules if n == "mujoco" or n.startswith("mujoco.")]:
        del sys.modules[name]
    sys.modules.update(_before)  # type: ignore[arg-type]
    _before.clear()
