"""Compiled models and states of MuJoCo: what ends in a mujoco.MjModel gets every law by one line.

>>> m = tribo.Model.from_mujoco(mjmodel)
>>> d = tribo.from_mujoco_data(mjdata, m)

The package mujoco is not needed to import this: only the fields of what is given are read.
"""

import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np

from . import _core
from ._errors import UnsupportedError
from ._mujoco_objects import Writer

__all__ = ["from_mujoco", "from_mujoco_data", "to_mujoco_data"]

# Fields of MjModel that steps of MuJoCo may use and Tribo lacks.
# A model that uses one is refused by the name given here.
_ABSENT_SIZES = {"nflex": "flex (deformable bodies)", "nplugin": "plugins", "nplastic": "plastic springs"}
_ABSENT_VALUES = {
    "jnt_stiffnesspoly": "polynomial stiffness of joints",
    "dof_dampingpoly": "polynomial damping of joints",
    "tendon_stiffnesspoly": "polynomial stiffness of tendons",
    "tendon_dampingpoly": "polynomial damping of tendons",
    "geom_surfacevel": "surface velocities of geoms",
    "geom_adhesion": "adhesion of geoms",
    "pair_adhesion": "adhesion of pairs",
    "actuator_delay": "delays of actuators",
    "sensor_delay": "delays of sensors",
    "actuator_damping": "damping of actuators",
    "actuator_armature": "armature of actuators",
    "actuator_dampingpoly": "damping of actuators",
}
# Fields that follow from others: taken over after set_constants.
_DERIVED = (
    "body_subtreemass",
    "body_invweight0",
    "dof_invweight0",
    "dof_M0",
    "tendon_length0",
    "tendon_invweight0",
    "actuator_acc0",
    "actuator_length0",
    "actuator_lengthrange",
    "geom_rbound",
    "geom_aabb",
    "cam_pos0",
    "cam_poscom0",
    "cam_mat0",
)
# Fields that have another meaning in Tribo, or another shape.
_SKIPPED = {
    "geom_fluid",
    "names",
    "text_data",
    "mesh_pos",
    "mesh_quat",
    "mesh_scale",
    "eq_data",
    "geom_rgba",
    "cam_intrinsic",
}
_OPTIONS = {row[0] for row in _core.option_fields} - {
    "solver",
    "mjsolver",
    "enableflags",
    "disableflags",
    "integrator",
}


def _refuse(mj: Any) -> None:
    """Raise for what Tribo cannot hold, by name."""
    for field, what in _ABSENT_SIZES.items():
        if getattr(mj, field, 0):
            raise UnsupportedError(
                f"the model has {what}, which Tribo does not have ({field} = {getattr(mj, field)})"
            )
    for field, what in _ABSENT_VALUES.items():
        if np.any(getattr(mj, field, 0)):
            raise UnsupportedError(f"the model has {what}, which Tribo does not have ({field})")


def from_mujoco(mjmodel: Any) -> Any:
    """A model from a compiled mujoco.MjModel, field by field.

    Parameters
    ----------
    mjmodel : mujoco.MjModel
        The model, as compiled or changed since.

    Returns
    -------
    Model
        The same bodies, joints, geoms, ... under Tribo's default law; `m.opt.law = "soft"` is MuJoCo's.

    Raises
    ------
    UnsupportedError
        What Tribo cannot hold (flex, plugins, ...), by name.
    """
    _refuse(mjmodel)
    model = _compiled(mjmodel, {})
    limits = _hull_limits(mjmodel, model)
    if limits:
        model = _compiled(mjmodel, limits)
    _copy_fields(mjmodel, model)
    _copy_options(mjmodel, model)
    return model


def _compiled(mj: Any, hull_limits: dict[int, int]) -> Any:
    root = Writer(mj, hull_limits).root()
    try:
        return _core.Model.from_xml_string(ElementTree.tostring(root, encoding="unicode"))
    except (ValueError, ArithmeticError):
        # A surface that is not closed has no volume; masses are explicit anyway.
        meshes = list(root.iter("mesh"))
        if not meshes:
            raise
        for mesh in meshes:
            mesh.set("inertia", "shell")
        return _core.Model.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def _hull_limits(mj: Any, model: Any) -> dict[int, int]:
    """Meshes whose hull MuJoCo made with fewer vertices (maxhullvert)."""
    limits = {}
    for i in range(model.nmesh):
        address = int(mj.mesh_graphadr[i])
        if address < 0 or model.mesh_hullvertadr[i] < 0:
            continue
        count = int(mj.mesh_graph[address])
        if model.mesh_hullvertnum[i] > count >= 4:
            limits[i] = count
    return limits


def _copy_fields(mj: Any, model: Any) -> None:
    """Take over all numbers, so that they have the same bits."""
    real = [row[0] for row in _core.model_fields if row[1] in ("tbReal", "float")]
    shared = [
        name for name in real if name not in _SKIPPED and isinstance(getattr(mj, name, None), np.ndarray)
    ]
    for name in shared:
        if name not in _DERIVED:
            _take(mj, model, name)
    model.set_constants()
    for name in shared:
        if name in _DERIVED:
            _take(mj, model, name)
    stat = getattr(mj, "stat", None)
    if stat is not None:
        model.extent, model.mean_inertia = float(stat.extent), float(stat.meaninertia)


def _take(mj: Any, model: Any, name: str) -> None:
    values, target = np.asarray(getattr(mj, name)), getattr(model, name)
    if values.shape == target.shape:
        target[...] = values


def _copy_options(mj: Any, model: Any) -> None:
    opt = mj.opt
    for name in _OPTIONS:
        value = getattr(opt, name, None)
        if value is not None:
            setattr(
                model.opt,
                name,
                value
                if isinstance(value, np.ndarray)
                else float(value)
                if isinstance(value, float)
                else int(value),
            )
    if int(opt.integrator) > 3:
        raise UnsupportedError("integrator 'discrete': set mjmodel.opt.integrator to 'implicitfast' first")
    model.opt.integrator = int(opt.integrator)
    model.opt.mjsolver = int(opt.solver)
    model.opt.disableflags = int(opt.disableflags) & ((1 << 19) - 1)
    flags = int(opt.enableflags)
    for bit, what in ((32, "diagexact"), (64, "ipc"), (128, "speculative")):
        if flags & bit:
            raise UnsupportedError(f"enableflags {what!r}, which Tribo does not have")
    model.opt.enableflags = (flags & 15) | (32 if flags & 16 else 0)


# ---- states ---------------------------------------------------------------------------------------

_STATE = (
    "qpos",
    "qvel",
    "act",
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "mocap_pos",
    "mocap_quat",
    "qacc_warmstart",
    "userdata",
)


def from_mujoco_data(mjdata: Any, model: Any, data: Any = None) -> Any:
    """A world with the state and the inputs of a mujoco.MjData.

    Parameters
    ----------
    mjdata : mujoco.MjData
        The state.
    model : Model
        The same model in Tribo.
    data : Data, optional
        The world to write into; default: a new one.

    Returns
    -------
    Data
        That world; forces and contacts come with the next step.
    """
    made = _core.Data(model) if data is None else data
    made.time = float(mjdata.time)
    for name in _STATE:
        getattr(made, name)[...] = getattr(mjdata, name)
    _core.Data.eq_active.__get__(made)[...] = np.asarray(mjdata.eq_active, bool)
    return made


def to_mujoco_data(data: Any, mjdata: Any) -> Any:
    """Write the state and the inputs of a world into a mujoco.MjData of the same model; returns it.

    Parameters
    ----------
    data : Data
        The world.
    mjdata : mujoco.MjData
        What is written; call mj_forward for what follows from the state.
    """
    mjdata.time = data.time
    for name in _STATE:
        getattr(mjdata, name)[...] = getattr(data, name)
    mjdata.eq_active[...] = _core.Data.eq_active.__get__(data) != 0
    return mjdata


def install() -> None:
    """Give Model its `from_mujoco`."""
    _core.Model.from_mujoco = staticmethod(from_mujoco)  # type: ignore[attr-defined]
