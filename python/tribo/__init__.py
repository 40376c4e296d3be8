"""Tribo: contact physics for robots.

>>> import tribo
>>> m = tribo.Model.from_xml_path(tribo.scene("stack"))
>>> d = tribo.Data(m)
>>> tribo.step(m, d, 100)
"""

import importlib
from typing import TYPE_CHECKING, Any

from . import _core, _derivatives, _enums, _from_mujoco, _problem, _world, fclib
from ._batch import Batch
from ._core import *  # noqa: F403
from ._derivatives import DerivativeInfo, derivatives
from ._enums import *  # noqa: F403
from ._errors import (
    ArgumentError,
    ConvergenceWarning,
    Error,
    FileError,
    ModelError,
    NumericError,
    OutOfMemoryError,
    ParseError,
    UnsupportedError,
)
from ._from_mujoco import from_mujoco_data, to_mujoco_data
from ._gradients import NotDifferentiableError, NotDifferentiableWarning, Trajectories, Trajectory
from ._manual import manual
from ._problem import Block, Solution, problem, solve, solvers
from ._render import Camera, Renderer, write_png
from ._rollout import rollout, state_size
from ._scene import scene
from ._step import InverseResult, inverse, reset_to_key
from ._world import Offender, Residual, SolveInfo

if TYPE_CHECKING:
    from ._fit import Fit, IdentifiabilityWarning, Log, Parameter, fit

__version__: str = _core.version

_world.install()
_derivatives.install()
_problem.install()
_from_mujoco.install()

__all__ = [
    "ArgumentError",
    "Batch",
    "Block",
    "Camera",
    "ConvergenceWarning",
    "DerivativeInfo",
    "Error",
    "FileError",
    "Fit",
    "IdentifiabilityWarning",
    "InverseResult",
    "Log",
    "ModelError",
    "NotDifferentiableError",
    "NotDifferentiableWarning",
    "NumericError",
    "Offender",
    "OutOfMemoryError",
    "Parameter",
    "ParseError",
    "Renderer",
    "Residual",
    "Solution",
    "SolveInfo",
    "Trajectories",
    "Trajectory",
    "UnsupportedError",
    "derivatives",
    "fclib",
    "fit",
    "from_mujoco_data",
    "inverse",
    "manual",
    "problem",
    "reset_to_key",
    "rollout",
    "scene",
    "solve",
    "solvers",
    "state_size",
    "to_mujoco_data",
    "write_png",
]
__all__ += _enums.__all__
__all__ += _core.__all__


def __getattr__(name: str) -> Any:
    """Fits and back ends load when they are asked for."""
    if name in ("jax", "torch"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in ("Fit", "IdentifiabilityWarning", "Log", "Parameter", "fit"):
        value = getattr(importlib.import_module(f"{__name__}._fit"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
