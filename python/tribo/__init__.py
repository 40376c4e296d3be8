"""Tribo: contact physics for robots.

>>> import tribo
>>> m = tribo.Model.from_xml_path("scenes/stack.xml")
>>> d = tribo.Data(m)
>>> tribo.step(m, d, 100)
"""

from . import _core, _enums, _world
from ._batch import Batch
from ._core import (
    Contact,
    Contacts,
    Data,
    Model,
    Option,
    forward,
    reset,
    step,
    step1,
    step2,
    tree_asleep,
)
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
from ._step import inverse, reset_to_key
from ._world import Offender, Residual, SolveInfo

__version__: str = _core.version

_world.install()

__all__ = [
    "ArgumentError",
    "Batch",
    "Contact",
    "Contacts",
    "ConvergenceWarning",
    "Data",
    "Error",
    "FileError",
    "Model",
    "ModelError",
    "NumericError",
    "Offender",
    "Option",
    "OutOfMemoryError",
    "ParseError",
    "Residual",
    "SolveInfo",
    "UnsupportedError",
    "forward",
    "inverse",
    "reset",
    "reset_to_key",
    "step",
    "step1",
    "step2",
    "tree_asleep",
    *_enums.__all__,
]
