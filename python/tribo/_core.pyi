"""Written by python/stubs.py."""

import typing
import os
from typing import Any
from tribo._derivatives import DerivativeInfo
from tribo._parts import ModelBody, DataBody, ModelJoint, DataJoint, ModelGeom, DataGeom, ModelSite, DataSite, ModelCamera, DataCamera, ModelLight, ModelMesh, ModelHfield, ModelPair, ModelExclude, ModelEquality, DataEquality, ModelTendon, DataTendon, ModelActuator, DataActuator, ModelSensor, DataSensor, ModelNumeric, ModelText, ModelTuple, ModelKey
from tribo._problem import Block, Solution
from tribo._world import Offender, Residual, SolveInfo
from tribo._enums import ContactState
from collections.abc import Sequence
import tribo
import numpy
import numpy.typing

__all__ = ["Contact", "Contacts", "Data", "Derivatives", "Element", "Fclib", "Model", "Option", "Problem", "Spec", "aba", "apply_wrench", "body_accelerations", "body_contact_wrench", "body_forces", "com_position", "com_velocity", "compute_position", "compute_velocity", "crb", "differentiate_pos", "energy_position", "energy_velocity", "factor_m", "find_contacts", "force_scale", "forward", "forward_derivatives", "full_m", "full_moment", "full_ten_J", "geom_contact_wrench", "geom_distance", "inertial_get", "inertial_set", "integrate_pos", "jac", "jac_body", "jac_body_com", "jac_dot", "jac_geom", "jac_site", "jac_subtree_com", "kinematics", "mul_m", "normalize_quat", "object_acceleration", "object_velocity", "pair_contact_wrench", "pairs", "ray", "reset", "rne", "rne_derivatives", "rne_post_constraint", "rne_regressor", "solve_m", "step", "step1", "step2", "step_differences", "step_problem", "subtree_velocity", "tendon", "transmission", "tree_asleep"]


import tribo
_dropin: Any


version: str = '0.1.0'

model_fields: list[Any]

data_fields: list[Any]

model_sizes: list[Any]

option_fields: list[Any]

data_state_count: int = 10

data_input_count: int = 3

enums: dict[str, Any]

class Model:
    """
    The constant description of a robot and its world.

    Arrays are live views, made once. Integers that steps follow (addresses, ids,
    types) are read-only in place; assigning a whole array checks the model.
    """

    def __init__(self, other: Model) -> None:
        """The model of another object: both show the same memory."""

    @staticmethod
    def from_xml_path(path: str | os.PathLike[str], *, search_paths: Sequence[str | os.PathLike[str]] = []) -> Model:
        """Load MJCF, URDF or a compiled model (.tbm) from a file."""

    @staticmethod
    def from_xml_string(xml: str, directory: str | os.PathLike[str] | None = None, *, search_paths: Sequence[str | os.PathLike[str]] = [], name: str = '<string>') -> Model:
        """
        Load MJCF or URDF text; relative file names are against `directory`, errors call the
        text by `name`.
        """

    @staticmethod
    def from_urdf(path: str | os.PathLike[str], *, floating_base: bool = False, keep_fixed: bool = False, keep_visual: bool = False, srdf: str | os.PathLike[str] | None = None, search_paths: Sequence[str | os.PathLike[str]] = []) -> Model:
        """
        Load a URDF.

        `floating_base` gives the root link a free joint; `keep_fixed` keeps fixed joints as bodies;
        `keep_visual` keeps visual geometry; group states of the file `srdf` become keyframes.
        """

    @staticmethod
    def from_binary(bytes: bytes) -> Model:
        """A model from the bytes of a compiled model (.tbm)."""

    def name2id(self, type: int, name: str) -> int:
        """Id of a named object of a tribo.ObjType, or -1."""

    def id2name(self, type: int, id: int) -> str:
        """Name of an object, "" where it has none."""

    @property
    def names(self) -> bytes:
        """All names, each ended by a zero; the model's own is first."""

    @property
    def name(self) -> str:
        """The model's own name."""

    @property
    def notes(self) -> str:
        """What loading skipped, a line each: "file:line: what"."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the compiled model as one binary file (.tbm)."""

    def save_urdf(self, path: str | os.PathLike[str]) -> str:
        """Write a URDF; returns what it has no words for, a line each."""

    def check(self) -> None:
        """Check every index, size and number; raises ModelError."""

    def set_constants(self) -> None:
        """Recompute what follows from masses, inertias and frames (mj_setConst)."""

    def _copy(self) -> Model:
        """A deep copy without callbacks."""

    @property
    def nq(self) -> int:
        """configuration coordinates, length of qpos"""

    @property
    def nv(self) -> int:
        """degrees of freedom, length of qvel"""

    @property
    def nu(self) -> int:
        """actuators, length of ctrl"""

    @property
    def na(self) -> int:
        """activation states, length of act"""

    @property
    def nbody(self) -> int:
        """bodies, the world included"""

    @property
    def njnt(self) -> int:
        """joints"""

    @property
    def ntree(self) -> int:
        """kinematic trees under the world"""

    @property
    def nM(self) -> int:
        """entries of the lower triangle of M by tree sparsity"""

    @property
    def ngeom(self) -> int:
        """geoms"""

    @property
    def nsite(self) -> int:
        """sites"""

    @property
    def ncam(self) -> int:
        """cameras"""

    @property
    def nlight(self) -> int:
        """lights"""

    @property
    def nmesh(self) -> int:
        """meshes"""

    @property
    def nmeshvert(self) -> int:
        """vertices of all meshes"""

    @property
    def nmeshface(self) -> int:
        """triangles of all meshes"""

    @property
    def nhullvert(self) -> int:
        """vertices of all convex hulls"""

    @property
    def nhulladr(self) -> int:
        """entries of hull_vertadr: one more than vertices, per hull"""

    @property
    def nhulledge(self) -> int:
        """directed edges of all hulls' vertex graphs"""

    @property
    def nhullface(self) -> int:
        """polygonal faces of all hulls"""

    @property
    def nhullfaceadr(self) -> int:
        """entries of hull_faceadr: one more than faces, per hull"""

    @property
    def nhullpoly(self) -> int:
        """vertex indices of all hull faces"""

    @property
    def nhullcell(self) -> int:
        """vertex indices of all hulls' cells of directions"""

    @property
    def nhfield(self) -> int:
        """height fields"""

    @property
    def nhfielddata(self) -> int:
        """samples of all height fields"""

    @property
    def npair(self) -> int:
        """explicit contact pairs"""

    @property
    def nexclude(self) -> int:
        """excluded body pairs"""

    @property
    def neq(self) -> int:
        """equality constraints"""

    @property
    def ntendon(self) -> int:
        """tendons"""

    @property
    def nwrap(self) -> int:
        """path elements of all tendons"""

    @property
    def nJten(self) -> int:
        """entries of the tendon Jacobian's sparsity pattern"""

    @property
    def nJmom(self) -> int:
        """entries of the actuator moments' sparsity pattern"""

    @property
    def nsensor(self) -> int:
        """sensors"""

    @property
    def nsensordata(self) -> int:
        """length of sensordata"""

    @property
    def nnumeric(self) -> int:
        """custom numeric fields"""

    @property
    def nnumericdata(self) -> int:
        """values of all numeric fields"""

    @property
    def ntext(self) -> int:
        """custom text fields"""

    @property
    def ntextdata(self) -> int:
        """characters of all text fields, zeros included"""

    @property
    def ntuple(self) -> int:
        """custom tuples"""

    @property
    def ntupledata(self) -> int:
        """objects of all tuples"""

    @property
    def nkey(self) -> int:
        """keyframes"""

    @property
    def nmocap(self) -> int:
        """mocap bodies"""

    @property
    def nuserdata(self) -> int:
        """user values per world"""

    @property
    def nuser_body(self) -> int:
        """user values per body"""

    @property
    def nuser_jnt(self) -> int:
        """user values per joint"""

    @property
    def nuser_geom(self) -> int:
        """user values per geom"""

    @property
    def nuser_site(self) -> int:
        """user values per site"""

    @property
    def nuser_tendon(self) -> int:
        """user values per tendon"""

    @property
    def nuser_actuator(self) -> int:
        """user values per actuator"""

    @property
    def nuser_sensor(self) -> int:
        """user values per sensor"""

    @property
    def nnames(self) -> int:
        """characters of all names, zeros included"""

    @property
    def nnotes(self) -> int:
        """characters of the notes on what was skipped at load"""

    @property
    def total_mass(self) -> float:
        """Mass of all bodies, kg."""

    @total_mass.setter
    def total_mass(self, arg: float, /) -> None: ...

    @property
    def extent(self) -> float:
        """Size of the scene at qpos0, m."""

    @extent.setter
    def extent(self, arg: float, /) -> None: ...

    @property
    def mean_inertia(self) -> float:
        """Mean diagonal of M at qpos0."""

    @mean_inertia.setter
    def mean_inertia(self, arg: float, /) -> None: ...

    @property
    def qpos0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration of the file's pose; shape (nq,)."""

    @qpos0.setter
    def qpos0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qpos_spring(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration where joint springs rest; shape (nq,)."""

    @qpos_spring.setter
    def qpos_spring(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_parentid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Parent; the world is its own; shape (nbody,)."""

    @body_parentid.setter
    def body_parentid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_rootid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Ancestor that is a child of the world; shape (nbody,)."""

    @body_rootid.setter
    def body_rootid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_weldid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Nearest ancestor (or self) with a joint, or the world; shape (nbody,)."""

    @body_weldid.setter
    def body_weldid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_mocapid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Index of mocap pose, or -1; shape (nbody,)."""

    @body_mocapid.setter
    def body_mocapid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_jntnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joints of this body; shape (nbody,)."""

    @body_jntnum.setter
    def body_jntnum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_jntadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First joint; shape (nbody,)."""

    @body_jntadr.setter
    def body_jntadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_dofnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Degrees of freedom of this body; shape (nbody,)."""

    @body_dofnum.setter
    def body_dofnum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_dofadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First degree of freedom; shape (nbody,)."""

    @body_dofadr.setter
    def body_dofadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_treeid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Tree, or -1 if the body cannot move; shape (nbody,)."""

    @body_treeid.setter
    def body_treeid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_geomnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Geoms of this body; shape (nbody,)."""

    @body_geomnum.setter
    def body_geomnum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_geomadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First geom; shape (nbody,)."""

    @body_geomadr.setter
    def body_geomadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_lastdof(self) -> numpy.typing.NDArray[numpy.int32]:
        """Last dof on the path from the world, or -1; shape (nbody,)."""

    @body_lastdof.setter
    def body_lastdof(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_subtreenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Bodies of the subtree; they follow this one; shape (nbody,)."""

    @body_subtreenum.setter
    def body_subtreenum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_sameframe(self) -> numpy.typing.NDArray[numpy.int32]:
        """1: the inertial frame is the body's; 3: its axes are; shape (nbody,)."""

    @body_sameframe.setter
    def body_sameframe(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the parent; shape (nbody, 3), m."""

    @body_pos.setter
    def body_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the parent; shape (nbody, 4)."""

    @body_quat.setter
    def body_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_ipos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass in the body; shape (nbody, 3), m."""

    @body_ipos.setter
    def body_ipos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_iquat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Principal axes in the body; shape (nbody, 4)."""

    @body_iquat.setter
    def body_iquat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_imat(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same as a matrix; set by tb_set_constants; shape (nbody, 9)."""

    @body_imat.setter
    def body_imat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_mass(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mass; shape (nbody,), kg."""

    @body_mass.setter
    def body_mass(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_subtreemass(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mass of the subtree; shape (nbody,), kg."""

    @body_subtreemass.setter
    def body_subtreemass(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_inertia(self) -> numpy.typing.NDArray[numpy.float64]:
        """Principal moments; shape (nbody, 3), kg m2."""

    @body_inertia.setter
    def body_inertia(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_invweight0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mean inverse weight at qpos0: linear, angular; shape (nbody, 2), 1/kg."""

    @body_invweight0.setter
    def body_invweight0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_gravcomp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Share of gravity that is compensated; shape (nbody,)."""

    @body_gravcomp.setter
    def body_gravcomp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """Largest margin of its geoms; shape (nbody,), m."""

    @body_margin.setter
    def body_margin(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def body_user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (nbody, nuser_body)."""

    @body_user.setter
    def body_user(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbJointType; shape (njnt,)."""

    @jnt_type.setter
    def jnt_type(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_qposadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First coordinate; shape (njnt,)."""

    @jnt_qposadr.setter
    def jnt_qposadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_dofadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First degree of freedom; shape (njnt,)."""

    @jnt_dofadr.setter
    def jnt_dofadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (njnt,)."""

    @jnt_bodyid.setter
    def jnt_bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group; shape (njnt,)."""

    @jnt_group.setter
    def jnt_group(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_limited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the range is a limit; shape (njnt,)."""

    @jnt_limited.setter
    def jnt_limited(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_actfrclimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the total actuator force is clamped; shape (njnt,)."""

    @jnt_actfrclimited.setter
    def jnt_actfrclimited(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_actgravcomp(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if gravity compensation counts as actuator force; shape (njnt,)."""

    @jnt_actgravcomp.setter
    def jnt_actgravcomp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: reference; shape (njnt, 2)."""

    @jnt_solref.setter
    def jnt_solref(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: impedance; shape (njnt, 5)."""

    @jnt_solimp.setter
    def jnt_solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Anchor in the body; shape (njnt, 3), m."""

    @jnt_pos.setter
    def jnt_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_axis(self) -> numpy.typing.NDArray[numpy.float64]:
        """Unit axis in the body; shape (njnt, 3)."""

    @jnt_axis.setter
    def jnt_axis(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_anchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Anchor in the parent, were it the body's only joint; shape (njnt, 3), m.
        """

    @jnt_anchor.setter
    def jnt_anchor(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_turn(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body_quat times the axis as a quaternion (0, axis); shape (njnt, 4)."""

    @jnt_turn.setter
    def jnt_turn(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_stiffness(self) -> numpy.typing.NDArray[numpy.float64]:
        """Spring towards qpos_spring; shape (njnt,), N/m or N m/rad."""

    @jnt_stiffness.setter
    def jnt_stiffness(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_range(self) -> numpy.typing.NDArray[numpy.float64]:
        """Limits; ball: (0, largest angle); shape (njnt, 2), m or rad."""

    @jnt_range.setter
    def jnt_range(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_actfrcrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the total actuator force; shape (njnt, 2), N or N m."""

    @jnt_actfrcrange.setter
    def jnt_actfrcrange(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """Distance at which the limit becomes active; shape (njnt,), m or rad."""

    @jnt_margin.setter
    def jnt_margin(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def jnt_user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (njnt, nuser_jnt)."""

    @jnt_user.setter
    def jnt_user(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (nv,)."""

    @dof_bodyid.setter
    def dof_bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_jntid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joint; shape (nv,)."""

    @dof_jntid.setter
    def dof_jntid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_parentid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Previous dof on the path to the world, or -1; shape (nv,)."""

    @dof_parentid.setter
    def dof_parentid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_treeid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Tree; shape (nv,)."""

    @dof_treeid.setter
    def dof_treeid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_subtreenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Dofs that move when this one does, itself included; shape (nv,)."""

    @dof_subtreenum.setter
    def dof_subtreenum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft dry friction: reference; shape (nv, 2)."""

    @dof_solref.setter
    def dof_solref(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft dry friction: impedance; shape (nv, 5)."""

    @dof_solimp.setter
    def dof_solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_frictionloss(self) -> numpy.typing.NDArray[numpy.float64]:
        """Dry friction; shape (nv,), N or N m."""

    @dof_frictionloss.setter
    def dof_frictionloss(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_armature(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rotor inertia added to M; shape (nv,), kg or kg m2."""

    @dof_armature.setter
    def dof_armature(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_damping(self) -> numpy.typing.NDArray[numpy.float64]:
        """Viscous friction; shape (nv,), N s/m or N m s/rad."""

    @dof_damping.setter
    def dof_damping(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_invweight0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mean diagonal of M^-1 at qpos0, over the joint; shape (nv,)."""

    @dof_invweight0.setter
    def dof_invweight0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dof_M0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Diagonal of M at qpos0; shape (nv,)."""

    @dof_M0.setter
    def dof_M0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tree_bodyadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First body; shape (ntree,)."""

    @tree_bodyadr.setter
    def tree_bodyadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tree_bodynum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Bodies; shape (ntree,)."""

    @tree_bodynum.setter
    def tree_bodynum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tree_dofadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First dof; shape (ntree,)."""

    @tree_dofadr.setter
    def tree_dofadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tree_dofnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Dofs; shape (ntree,)."""

    @tree_dofnum.setter
    def tree_dofnum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def M_rowadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry of the row; shape (nv,)."""

    @M_rowadr.setter
    def M_rowadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def M_rownnz(self) -> numpy.typing.NDArray[numpy.int32]:
        """Entries of the row; shape (nv,)."""

    @M_rownnz.setter
    def M_rownnz(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def M_colind(self) -> numpy.typing.NDArray[numpy.int32]:
        """Columns; shape (nM,)."""

    @M_colind.setter
    def M_colind(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def M_rowrun(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        First dof of the chain of successive parents that ends here; shape (nv,).
        """

    @M_rowrun.setter
    def M_rowrun(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbGeomType; shape (ngeom,)."""

    @geom_type.setter
    def geom_type(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_contype(self) -> numpy.typing.NDArray[numpy.int32]:
        """Collision bits; shape (ngeom,)."""

    @geom_contype.setter
    def geom_contype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_conaffinity(self) -> numpy.typing.NDArray[numpy.int32]:
        """Bits it collides with; shape (ngeom,)."""

    @geom_conaffinity.setter
    def geom_conaffinity(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_condim(self) -> numpy.typing.NDArray[numpy.int32]:
        """1, 3, 4 or 6; shape (ngeom,)."""

    @geom_condim.setter
    def geom_condim(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (ngeom,)."""

    @geom_bodyid.setter
    def geom_bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_dataid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Mesh or height field, or -1; shape (ngeom,)."""

    @geom_dataid.setter
    def geom_dataid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group; shape (ngeom,)."""

    @geom_group.setter
    def geom_group(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_priority(self) -> numpy.typing.NDArray[numpy.int32]:
        """The higher priority decides the contact's parameters; shape (ngeom,)."""

    @geom_priority.setter
    def geom_priority(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_fluid(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the ellipsoid fluid model applies; shape (ngeom,)."""

    @geom_fluid.setter
    def geom_fluid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_sameframe(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        1: the body's frame; 2: its inertial frame; 3: its axes; shape (ngeom,).
        """

    @geom_sameframe.setter
    def geom_sameframe(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_size(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sizes, see tbGeomType; shape (ngeom, 3), m."""

    @geom_size.setter
    def geom_size(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_aabb(self) -> numpy.typing.NDArray[numpy.float64]:
        """Box in the geom's frame: centre, half sizes; shape (ngeom, 6), m."""

    @geom_aabb.setter
    def geom_aabb(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_rbound(self) -> numpy.typing.NDArray[numpy.float64]:
        """Bounding radius; 0 for planes; shape (ngeom,), m."""

    @geom_rbound.setter
    def geom_rbound(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body; shape (ngeom, 3), m."""

    @geom_pos.setter
    def geom_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the body; shape (ngeom, 4)."""

    @geom_quat.setter
    def geom_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_mat(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same as a matrix; set by tb_set_constants; shape (ngeom, 9)."""

    @geom_mat.setter
    def geom_mat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_friction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sliding, torsional, rolling; shape (ngeom, 3), -, m, m."""

    @geom_friction.setter
    def geom_friction(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_solmix(self) -> numpy.typing.NDArray[numpy.float64]:
        """Weight when soft parameters are mixed; shape (ngeom,)."""

    @geom_solmix.setter
    def geom_solmix(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft contact: reference; shape (ngeom, 2)."""

    @geom_solref.setter
    def geom_solref(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft contact: impedance; shape (ngeom, 5)."""

    @geom_solimp.setter
    def geom_solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """The contact force acts below this distance; shape (ngeom,), m."""

    @geom_margin.setter
    def geom_margin(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_gap(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Detection distance beyond the margin; no force there; shape (ngeom,), m.
        """

    @geom_gap.setter
    def geom_gap(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_restitution(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rigid laws: coefficient of restitution; shape (ngeom,)."""

    @geom_restitution.setter
    def geom_restitution(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_compliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rigid laws: compliance of a contact, 0 = rigid; shape (ngeom,), m/N."""

    @geom_compliance.setter
    def geom_compliance(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_tangentcompliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same along the tangents, for friction; shape (ngeom,), m/N."""

    @geom_tangentcompliance.setter
    def geom_tangentcompliance(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_contactdamping(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rigid laws: damping of a compliant contact; shape (ngeom,), N s/m."""

    @geom_contactdamping.setter
    def geom_contactdamping(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_fluidcoef(self) -> numpy.typing.NDArray[numpy.float64]:
        """Ellipsoid fluid model coefficients; shape (ngeom, 5)."""

    @geom_fluidcoef.setter
    def geom_fluidcoef(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_rgba(self) -> numpy.typing.NDArray[numpy.float32]:
        """Colour; shape (ngeom, 4)."""

    @geom_rgba.setter
    def geom_rgba(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (ngeom, nuser_geom)."""

    @geom_user.setter
    def geom_user(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbGeomType; shape (nsite,)."""

    @site_type.setter
    def site_type(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (nsite,)."""

    @site_bodyid.setter
    def site_bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group; shape (nsite,)."""

    @site_group.setter
    def site_group(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_sameframe(self) -> numpy.typing.NDArray[numpy.int32]:
        """As geom_sameframe; shape (nsite,)."""

    @site_sameframe.setter
    def site_sameframe(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_size(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sizes; shape (nsite, 3), m."""

    @site_size.setter
    def site_size(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body; shape (nsite, 3), m."""

    @site_pos.setter
    def site_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the body; shape (nsite, 4)."""

    @site_quat.setter
    def site_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_mat(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same as a matrix; set by tb_set_constants; shape (nsite, 9)."""

    @site_mat.setter
    def site_mat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_rgba(self) -> numpy.typing.NDArray[numpy.float32]:
        """Colour; shape (nsite, 4)."""

    @site_rgba.setter
    def site_rgba(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (nsite, nuser_site)."""

    @site_user.setter
    def site_user(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (ncam,)."""

    @cam_bodyid.setter
    def cam_bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body; shape (ncam, 3), m."""

    @cam_pos.setter
    def cam_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the body, looking along -z; shape (ncam, 4)."""

    @cam_quat.setter
    def cam_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_fovy(self) -> numpy.typing.NDArray[numpy.float64]:
        """Vertical field of view; shape (ncam,), deg."""

    @cam_fovy.setter
    def cam_fovy(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_mode(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbCamMode; shape (ncam,)."""

    @cam_mode.setter
    def cam_mode(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_targetbodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body it looks at, or -1; shape (ncam,)."""

    @cam_targetbodyid.setter
    def cam_targetbodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_pos0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position less the body's, at qpos0; shape (ncam, 3), m."""

    @cam_pos0.setter
    def cam_pos0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_poscom0(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Position less the tracked centre of mass, at qpos0; shape (ncam, 3), m.
        """

    @cam_poscom0.setter
    def cam_poscom0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_mat0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation at qpos0; shape (ncam, 9)."""

    @cam_mat0.setter
    def cam_mat0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_resolution(self) -> numpy.typing.NDArray[numpy.int32]:
        """Pixels; shape (ncam, 2)."""

    @cam_resolution.setter
    def cam_resolution(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_sensorsize(self) -> numpy.typing.NDArray[numpy.float64]:
        """Size of the sensor chip; 0: fovy is used; shape (ncam, 2), m."""

    @cam_sensorsize.setter
    def cam_sensorsize(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_intrinsic(self) -> numpy.typing.NDArray[numpy.float64]:
        """Focal lengths and principal point; shape (ncam, 4), m."""

    @cam_intrinsic.setter
    def cam_intrinsic(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def light_bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (nlight,)."""

    @light_bodyid.setter
    def light_bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def light_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body; shape (nlight, 3), m."""

    @light_pos.setter
    def light_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def light_dir(self) -> numpy.typing.NDArray[numpy.float64]:
        """Direction in the body; shape (nlight, 3)."""

    @light_dir.setter
    def light_dir(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_vertadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First vertex; shape (nmesh,)."""

    @mesh_vertadr.setter
    def mesh_vertadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_vertnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Vertices; shape (nmesh,)."""

    @mesh_vertnum.setter
    def mesh_vertnum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_faceadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First triangle; shape (nmesh,)."""

    @mesh_faceadr.setter
    def mesh_faceadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_facenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Triangles; shape (nmesh,)."""

    @mesh_facenum.setter
    def mesh_facenum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullvertadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First hull vertex, or -1 if no geom needs the hull; shape (nmesh,)."""

    @mesh_hullvertadr.setter
    def mesh_hullvertadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullvertnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Hull vertices; shape (nmesh,)."""

    @mesh_hullvertnum.setter
    def mesh_hullvertnum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hulladradr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_vertadr; shape (nmesh,)."""

    @mesh_hulladradr.setter
    def mesh_hulladradr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hulledgeadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_edge; shape (nmesh,)."""

    @mesh_hulledgeadr.setter
    def mesh_hulledgeadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullfaceadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First hull face; shape (nmesh,)."""

    @mesh_hullfaceadr.setter
    def mesh_hullfaceadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullfacenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Hull faces; shape (nmesh,)."""

    @mesh_hullfacenum.setter
    def mesh_hullfacenum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullfaceadradr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_faceadr; shape (nmesh,)."""

    @mesh_hullfaceadradr.setter
    def mesh_hullfaceadradr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullpolyadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_poly and hull_polyadj; shape (nmesh,)."""

    @mesh_hullpolyadr.setter
    def mesh_hullpolyadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullcenter(self) -> numpy.typing.NDArray[numpy.float64]:
        """A point inside the hull; shape (nmesh, 3), m."""

    @mesh_hullcenter.setter
    def mesh_hullcenter(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullradius(self) -> numpy.typing.NDArray[numpy.float64]:
        """Radius about it that holds every vertex; shape (nmesh,), m."""

    @mesh_hullradius.setter
    def mesh_hullradius(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullside(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        Cells along each side of a cube's face, 0 if there are none; shape (nmesh,).
        """

    @mesh_hullside.setter
    def mesh_hullside(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullcelladr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_cell; shape (nmesh,)."""

    @mesh_hullcelladr.setter
    def mesh_hullcelladr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_hullguess(self) -> numpy.typing.NDArray[numpy.int32]:
        """Hull vertices where a support search starts; shape (nmesh, 96)."""

    @mesh_hullguess.setter
    def mesh_hullguess(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Translation subtracted from the file's vertices; shape (nmesh, 3), m."""

    @mesh_pos.setter
    def mesh_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rotation applied to the file's vertices; shape (nmesh, 4)."""

    @mesh_quat.setter
    def mesh_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_scale(self) -> numpy.typing.NDArray[numpy.float64]:
        """Scale applied to the file's vertices; shape (nmesh, 3)."""

    @mesh_scale.setter
    def mesh_scale(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_vert(self) -> numpy.typing.NDArray[numpy.float64]:
        """Vertices; shape (nmeshvert, 3), m."""

    @mesh_vert.setter
    def mesh_vert(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mesh_face(self) -> numpy.typing.NDArray[numpy.int32]:
        """Triangles, indices within the mesh; shape (nmeshface, 3)."""

    @mesh_face.setter
    def mesh_face(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_vert(self) -> numpy.typing.NDArray[numpy.float64]:
        """Hull vertices; shape (nhullvert, 3), m."""

    @hull_vert.setter
    def hull_vert(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_vertadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Per hull: where each vertex' neighbours start; shape (nhulladr,)."""

    @hull_vertadr.setter
    def hull_vertadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_edge(self) -> numpy.typing.NDArray[numpy.int32]:
        """Neighbours, indices within the hull; shape (nhulledge,)."""

    @hull_edge.setter
    def hull_edge(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_vertface(self) -> numpy.typing.NDArray[numpy.int32]:
        """A face at each vertex, within the hull; shape (nhullvert,)."""

    @hull_vertface.setter
    def hull_vertface(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_plane(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Per face: outward unit normal n and offset, n.x = d; shape (nhullface, 4).
        """

    @hull_plane.setter
    def hull_plane(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_faceadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Per hull: where each face's polygon starts; shape (nhullfaceadr,)."""

    @hull_faceadr.setter
    def hull_faceadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_poly(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        Polygons, counter-clockwise, indices within the hull; shape (nhullpoly,).
        """

    @hull_poly.setter
    def hull_poly(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_polyadj(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        The face across the edge from this vertex to the next; shape (nhullpoly,).
        """

    @hull_polyadj.setter
    def hull_polyadj(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hull_cell(self) -> numpy.typing.NDArray[numpy.uint16]:
        """Candidate support vertices of each direction cell; shape (nhullcell,)."""

    @hull_cell.setter
    def hull_cell(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hfield_size(self) -> numpy.typing.NDArray[numpy.float64]:
        """X half, y half, top, base below zero; shape (nhfield, 4), m."""

    @hfield_size.setter
    def hfield_size(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hfield_nrow(self) -> numpy.typing.NDArray[numpy.int32]:
        """Rows; shape (nhfield,)."""

    @hfield_nrow.setter
    def hfield_nrow(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hfield_ncol(self) -> numpy.typing.NDArray[numpy.int32]:
        """Columns; shape (nhfield,)."""

    @hfield_ncol.setter
    def hfield_ncol(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hfield_adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First sample; shape (nhfield,)."""

    @hfield_adr.setter
    def hfield_adr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def hfield_data(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Samples in [0, 1], rows along y, columns along x; shape (nhfielddata,).
        """

    @hfield_data.setter
    def hfield_data(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_dim(self) -> numpy.typing.NDArray[numpy.int32]:
        """Contact dimension; shape (npair,)."""

    @pair_dim.setter
    def pair_dim(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_geom1(self) -> numpy.typing.NDArray[numpy.int32]:
        """Geom; shape (npair,)."""

    @pair_geom1.setter
    def pair_geom1(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_geom2(self) -> numpy.typing.NDArray[numpy.int32]:
        """Geom; shape (npair,)."""

    @pair_geom2.setter
    def pair_geom2(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Reference; shape (npair, 2)."""

    @pair_solref.setter
    def pair_solref(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_solreffriction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Reference of friction rows; 0: as solref; shape (npair, 2)."""

    @pair_solreffriction.setter
    def pair_solreffriction(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Impedance; shape (npair, 5)."""

    @pair_solimp.setter
    def pair_solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """The contact force acts below this distance; shape (npair,), m."""

    @pair_margin.setter
    def pair_margin(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_gap(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Detection distance beyond the margin; no force there; shape (npair,), m.
        """

    @pair_gap.setter
    def pair_gap(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_friction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Two sliding, torsional, two rolling; shape (npair, 5), -, -, m, m, m."""

    @pair_friction.setter
    def pair_friction(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_restitution(self) -> numpy.typing.NDArray[numpy.float64]:
        """As geom_restitution; -1: from the geoms; shape (npair,)."""

    @pair_restitution.setter
    def pair_restitution(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_compliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """As geom_compliance; -1: from the geoms; shape (npair,), m/N."""

    @pair_compliance.setter
    def pair_compliance(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_tangentcompliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same along the tangents; shape (npair,), m/N."""

    @pair_tangentcompliance.setter
    def pair_tangentcompliance(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_contactdamping(self) -> numpy.typing.NDArray[numpy.float64]:
        """As the geoms'; -1: from the geoms; shape (npair,), N s/m."""

    @pair_contactdamping.setter
    def pair_contactdamping(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pair_comfree(self) -> numpy.typing.NDArray[numpy.float64]:
        """Comfree: k_user, d_user; -1: the options'; shape (npair, 2), 1/s, -."""

    @pair_comfree.setter
    def pair_comfree(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def exclude_body1(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (nexclude,)."""

    @exclude_body1.setter
    def exclude_body1(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def exclude_body2(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body; shape (nexclude,)."""

    @exclude_body2.setter
    def exclude_body2(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbEqualityType; shape (neq,)."""

    @eq_type.setter
    def eq_type(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_obj1id(self) -> numpy.typing.NDArray[numpy.int32]:
        """First body, site, joint or tendon; shape (neq,)."""

    @eq_obj1id.setter
    def eq_obj1id(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_obj2id(self) -> numpy.typing.NDArray[numpy.int32]:
        """Second, or -1; shape (neq,)."""

    @eq_obj2id.setter
    def eq_obj2id(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_objtype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType of the two; shape (neq,)."""

    @eq_objtype.setter
    def eq_objtype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_active0(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if active at the start; shape (neq,)."""

    @eq_active0.setter
    def eq_active0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Reference; shape (neq, 2)."""

    @eq_solref.setter
    def eq_solref(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Impedance; shape (neq, 5)."""

    @eq_solimp.setter
    def eq_solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_data(self) -> numpy.typing.NDArray[numpy.float64]:
        """Anchors, relative pose or polynomial; shape (neq, 11)."""

    @eq_data.setter
    def eq_data(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_hold(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Welds: from the anchor to the point that rigid laws constrain; shape (neq, 3), m.
        """

    @eq_hold.setter
    def eq_hold(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First path element; shape (ntendon,)."""

    @tendon_adr.setter
    def tendon_adr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_num(self) -> numpy.typing.NDArray[numpy.int32]:
        """Path elements; shape (ntendon,)."""

    @tendon_num.setter
    def tendon_num(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group; shape (ntendon,)."""

    @tendon_group.setter
    def tendon_group(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_limited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the range is a limit; shape (ntendon,)."""

    @tendon_limited.setter
    def tendon_limited(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_actfrclimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the total actuator force is clamped; shape (ntendon,)."""

    @tendon_actfrclimited.setter
    def tendon_actfrclimited(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_solref_lim(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: reference; shape (ntendon, 2)."""

    @tendon_solref_lim.setter
    def tendon_solref_lim(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_solimp_lim(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: impedance; shape (ntendon, 5)."""

    @tendon_solimp_lim.setter
    def tendon_solimp_lim(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_solref_fri(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft dry friction: reference; shape (ntendon, 2)."""

    @tendon_solref_fri.setter
    def tendon_solref_fri(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_solimp_fri(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft dry friction: impedance; shape (ntendon, 5)."""

    @tendon_solimp_fri.setter
    def tendon_solimp_fri(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_range(self) -> numpy.typing.NDArray[numpy.float64]:
        """Length limits; shape (ntendon, 2), m."""

    @tendon_range.setter
    def tendon_range(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_actfrcrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the total actuator force; shape (ntendon, 2), N."""

    @tendon_actfrcrange.setter
    def tendon_actfrcrange(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """Distance at which a limit becomes active; shape (ntendon,), m."""

    @tendon_margin.setter
    def tendon_margin(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_stiffness(self) -> numpy.typing.NDArray[numpy.float64]:
        """Spring; shape (ntendon,), N/m."""

    @tendon_stiffness.setter
    def tendon_stiffness(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_damping(self) -> numpy.typing.NDArray[numpy.float64]:
        """Damping; shape (ntendon,), N s/m."""

    @tendon_damping.setter
    def tendon_damping(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_armature(self) -> numpy.typing.NDArray[numpy.float64]:
        """Inertia along the tendon; shape (ntendon,), kg."""

    @tendon_armature.setter
    def tendon_armature(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_frictionloss(self) -> numpy.typing.NDArray[numpy.float64]:
        """Dry friction; shape (ntendon,), N."""

    @tendon_frictionloss.setter
    def tendon_frictionloss(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_lengthspring(self) -> numpy.typing.NDArray[numpy.float64]:
        """Spring's dead band; shape (ntendon, 2), m."""

    @tendon_lengthspring.setter
    def tendon_lengthspring(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_length0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Length at qpos0; shape (ntendon,), m."""

    @tendon_length0.setter
    def tendon_length0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_invweight0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Inverse weight at qpos0; shape (ntendon,), 1/kg."""

    @tendon_invweight0.setter
    def tendon_invweight0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_rgba(self) -> numpy.typing.NDArray[numpy.float32]:
        """Colour; shape (ntendon, 4)."""

    @tendon_rgba.setter
    def tendon_rgba(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (ntendon, nuser_tendon)."""

    @tendon_user.setter
    def tendon_user(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_Jadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        First entry of its Jacobian row in ten_J and Jten_colind; shape (ntendon,).
        """

    @tendon_Jadr.setter
    def tendon_Jadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tendon_Jnnz(self) -> numpy.typing.NDArray[numpy.int32]:
        """Entries of its Jacobian row; shape (ntendon,)."""

    @tendon_Jnnz.setter
    def tendon_Jnnz(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def Jten_colind(self) -> numpy.typing.NDArray[numpy.int32]:
        """Dofs that can change each tendon's length, ascending; shape (nJten,)."""

    @Jten_colind.setter
    def Jten_colind(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def wrap_type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbWrapType; shape (nwrap,)."""

    @wrap_type.setter
    def wrap_type(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def wrap_objid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joint, site or geom; shape (nwrap,)."""

    @wrap_objid.setter
    def wrap_objid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def wrap_prm(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Joint coefficient, pulley divisor, or side site id (-1); shape (nwrap,).
        """

    @wrap_prm.setter
    def wrap_prm(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_trntype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbTransmission; shape (nu,)."""

    @actuator_trntype.setter
    def actuator_trntype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_dyntype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbDynType; shape (nu,)."""

    @actuator_dyntype.setter
    def actuator_dyntype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_gaintype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbGainType; shape (nu,)."""

    @actuator_gaintype.setter
    def actuator_gaintype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_biastype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbBiasType; shape (nu,)."""

    @actuator_biastype.setter
    def actuator_biastype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_trnid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joint, tendon, site or body; second site or -1; shape (nu, 2)."""

    @actuator_trnid.setter
    def actuator_trnid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_actadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First activation state, or -1; shape (nu,)."""

    @actuator_actadr.setter
    def actuator_actadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_actnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Activation states; shape (nu,)."""

    @actuator_actnum.setter
    def actuator_actnum(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group; shape (nu,)."""

    @actuator_group.setter
    def actuator_group(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_ctrllimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if ctrl is clamped; shape (nu,)."""

    @actuator_ctrllimited.setter
    def actuator_ctrllimited(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_forcelimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the force is clamped; shape (nu,)."""

    @actuator_forcelimited.setter
    def actuator_forcelimited(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_actlimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the activation is clamped; shape (nu,)."""

    @actuator_actlimited.setter
    def actuator_actlimited(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_actearly(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if force uses the next activation; shape (nu,)."""

    @actuator_actearly.setter
    def actuator_actearly(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_Jadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        First entry of its row in actuator_moment and Jmom_colind; shape (nu,).
        """

    @actuator_Jadr.setter
    def actuator_Jadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_Jnnz(self) -> numpy.typing.NDArray[numpy.int32]:
        """Entries of its row; shape (nu,)."""

    @actuator_Jnnz.setter
    def actuator_Jnnz(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def Jmom_colind(self) -> numpy.typing.NDArray[numpy.int32]:
        """Dofs that each actuator can push, ascending; shape (nJmom,)."""

    @Jmom_colind.setter
    def Jmom_colind(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_dynprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Activation dynamics; shape (nu, 10)."""

    @actuator_dynprm.setter
    def actuator_dynprm(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_gainprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Gain; shape (nu, 10)."""

    @actuator_gainprm.setter
    def actuator_gainprm(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_biasprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Bias; shape (nu, 10)."""

    @actuator_biasprm.setter
    def actuator_biasprm(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_ctrlrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of ctrl; shape (nu, 2)."""

    @actuator_ctrlrange.setter
    def actuator_ctrlrange(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_forcerange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the force; shape (nu, 2), N or N m."""

    @actuator_forcerange.setter
    def actuator_forcerange(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_actrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the activation; shape (nu, 2)."""

    @actuator_actrange.setter
    def actuator_actrange(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_gear(self) -> numpy.typing.NDArray[numpy.float64]:
        """Scales of length and force; shape (nu, 6)."""

    @actuator_gear.setter
    def actuator_gear(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_cranklength(self) -> numpy.typing.NDArray[numpy.float64]:
        """Slider-crank rod; shape (nu,), m."""

    @actuator_cranklength.setter
    def actuator_cranklength(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_acc0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Acceleration from unit force at qpos0; shape (nu,)."""

    @actuator_acc0.setter
    def actuator_acc0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_length0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Length at qpos0; shape (nu,)."""

    @actuator_length0.setter
    def actuator_length0(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_lengthrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Feasible lengths; shape (nu, 2)."""

    @actuator_lengthrange.setter
    def actuator_lengthrange(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (nu, nuser_actuator)."""

    @actuator_user.setter
    def actuator_user(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbSensorType; shape (nsensor,)."""

    @sensor_type.setter
    def sensor_type(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_objtype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType; shape (nsensor,)."""

    @sensor_objtype.setter
    def sensor_objtype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_objid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Object; shape (nsensor,)."""

    @sensor_objid.setter
    def sensor_objid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_reftype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType of the reference frame; shape (nsensor,)."""

    @sensor_reftype.setter
    def sensor_reftype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_refid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Reference frame, or -1 for the world; shape (nsensor,)."""

    @sensor_refid.setter
    def sensor_refid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_dim(self) -> numpy.typing.NDArray[numpy.int32]:
        """Values; shape (nsensor,)."""

    @sensor_dim.setter
    def sensor_dim(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First value in sensordata; shape (nsensor,)."""

    @sensor_adr.setter
    def sensor_adr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_intprm(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        Contact: tbContactDataBit, tbContactReduce, contacts; shape (nsensor, 3).
        """

    @sensor_intprm.setter
    def sensor_intprm(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_cutoff(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp; 0: none; shape (nsensor,)."""

    @sensor_cutoff.setter
    def sensor_cutoff(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_noise(self) -> numpy.typing.NDArray[numpy.float64]:
        """Standard deviation, for the user; shape (nsensor,)."""

    @sensor_noise.setter
    def sensor_noise(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensor_user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (nsensor, nuser_sensor)."""

    @sensor_user.setter
    def sensor_user(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def numeric_adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First value; shape (nnumeric,)."""

    @numeric_adr.setter
    def numeric_adr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def numeric_size(self) -> numpy.typing.NDArray[numpy.int32]:
        """Values; shape (nnumeric,)."""

    @numeric_size.setter
    def numeric_size(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def numeric_data(self) -> numpy.typing.NDArray[numpy.float64]:
        """Values; shape (nnumericdata,)."""

    @numeric_data.setter
    def numeric_data(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def text_adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First character; shape (ntext,)."""

    @text_adr.setter
    def text_adr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def text_size(self) -> numpy.typing.NDArray[numpy.int32]:
        """Characters, the zero included; shape (ntext,)."""

    @text_size.setter
    def text_size(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tuple_adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First object; shape (ntuple,)."""

    @tuple_adr.setter
    def tuple_adr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tuple_size(self) -> numpy.typing.NDArray[numpy.int32]:
        """Objects; shape (ntuple,)."""

    @tuple_size.setter
    def tuple_size(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tuple_objtype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType; shape (ntupledata,)."""

    @tuple_objtype.setter
    def tuple_objtype(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tuple_objid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Object; shape (ntupledata,)."""

    @tuple_objid.setter
    def tuple_objid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tuple_objprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Value per object; shape (ntupledata,)."""

    @tuple_objprm.setter
    def tuple_objprm(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def key_time(self) -> numpy.typing.NDArray[numpy.float64]:
        """Time; shape (nkey,), s."""

    @key_time.setter
    def key_time(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def key_qpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration; shape (nkey, nq)."""

    @key_qpos.setter
    def key_qpos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def key_qvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity; shape (nkey, nv)."""

    @key_qvel.setter
    def key_qvel(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def key_act(self) -> numpy.typing.NDArray[numpy.float64]:
        """Activation; shape (nkey, na)."""

    @key_act.setter
    def key_act(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def key_ctrl(self) -> numpy.typing.NDArray[numpy.float64]:
        """Control; shape (nkey, nu)."""

    @key_ctrl.setter
    def key_ctrl(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def key_mpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap positions; shape (nkey, nmocap * 3), m."""

    @key_mpos.setter
    def key_mpos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def key_mquat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap orientations; shape (nkey, nmocap * 4)."""

    @key_mquat.setter
    def key_mquat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_bodyadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body names; shape (nbody,)."""

    @name_bodyadr.setter
    def name_bodyadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_jntadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joint names; shape (njnt,)."""

    @name_jntadr.setter
    def name_jntadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_geomadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Geom names; shape (ngeom,)."""

    @name_geomadr.setter
    def name_geomadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_siteadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Site names; shape (nsite,)."""

    @name_siteadr.setter
    def name_siteadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_camadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Camera names; shape (ncam,)."""

    @name_camadr.setter
    def name_camadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_lightadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Light names; shape (nlight,)."""

    @name_lightadr.setter
    def name_lightadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_meshadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Mesh names; shape (nmesh,)."""

    @name_meshadr.setter
    def name_meshadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_hfieldadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Height field names; shape (nhfield,)."""

    @name_hfieldadr.setter
    def name_hfieldadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_pairadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Pair names; shape (npair,)."""

    @name_pairadr.setter
    def name_pairadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_excludeadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Exclude names; shape (nexclude,)."""

    @name_excludeadr.setter
    def name_excludeadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_eqadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Equality names; shape (neq,)."""

    @name_eqadr.setter
    def name_eqadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_tendonadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Tendon names; shape (ntendon,)."""

    @name_tendonadr.setter
    def name_tendonadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_actuatoradr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Actuator names; shape (nu,)."""

    @name_actuatoradr.setter
    def name_actuatoradr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_sensoradr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Sensor names; shape (nsensor,)."""

    @name_sensoradr.setter
    def name_sensoradr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_numericadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Numeric names; shape (nnumeric,)."""

    @name_numericadr.setter
    def name_numericadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_textadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Text names; shape (ntext,)."""

    @name_textadr.setter
    def name_textadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_tupleadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Tuple names; shape (ntuple,)."""

    @name_tupleadr.setter
    def name_tupleadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def name_keyadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """Keyframe names; shape (nkey,)."""

    @name_keyadr.setter
    def name_keyadr(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def opt(self) -> Option:
        """The options, live: `m.opt.timestep = 0.001`."""

    def to_binary(self) -> bytes:
        """The compiled model as bytes: what `save` writes."""

    def __copy__(self, memo: Any = None) -> Model:
        """A deep copy; callbacks are the same functions."""

    def __deepcopy__(self, memo: Any = None) -> Model:
        """A deep copy; callbacks are the same functions."""

    def __reduce__(self) -> Any:
        """Pickle: the binary model and the callbacks, which pickle by their own rules."""

    def __repr__(self) -> str:
        """One line."""

    @property
    def control_callback(self) -> Any:
        """Function (m, d) that sets d.ctrl and applied forces in a step, or None."""
    @control_callback.setter
    def control_callback(self, value: Any, /) -> None: ...

    @property
    def passive_callback(self) -> Any:
        """Function (m, d) that adds further forces to d.qfrc_passive, or None."""
    @passive_callback.setter
    def passive_callback(self, value: Any, /) -> None: ...

    @property
    def contact_filter(self) -> Any:
        """Function (m, d, geom1, geom2): true where the two geoms do not collide now, or None."""
    @contact_filter.setter
    def contact_filter(self, value: Any, /) -> None: ...

    @property
    def contact_callback(self) -> Any:
        """Function (m, d, contact) that may change parameters of a contact, or None."""
    @contact_callback.setter
    def contact_callback(self, value: Any, /) -> None: ...

    def body(self, which: int | str) -> ModelBody:
        """The body of that name or number (0 to nbody - 1), as live rows of its arrays."""

    def joint(self, which: int | str) -> ModelJoint:
        """The joint of that name or number (0 to njnt - 1), as live rows of its arrays."""

    def geom(self, which: int | str) -> ModelGeom:
        """The geom of that name or number (0 to ngeom - 1), as live rows of its arrays."""

    def site(self, which: int | str) -> ModelSite:
        """The site of that name or number (0 to nsite - 1), as live rows of its arrays."""

    def camera(self, which: int | str) -> ModelCamera:
        """The camera of that name or number (0 to ncam - 1), as live rows of its arrays."""

    def light(self, which: int | str) -> ModelLight:
        """The light of that name or number (0 to nlight - 1), as live rows of its arrays."""

    def mesh(self, which: int | str) -> ModelMesh:
        """The mesh of that name or number (0 to nmesh - 1), as live rows of its arrays."""

    def hfield(self, which: int | str) -> ModelHfield:
        """The hfield of that name or number (0 to nhfield - 1), as live rows of its arrays."""

    def pair(self, which: int | str) -> ModelPair:
        """The pair of that name or number (0 to npair - 1), as live rows of its arrays."""

    def exclude(self, which: int | str) -> ModelExclude:
        """The exclude of that name or number (0 to nexclude - 1), as live rows of its arrays."""

    def equality(self, which: int | str) -> ModelEquality:
        """The equality of that name or number (0 to neq - 1), as live rows of its arrays."""

    def tendon(self, which: int | str) -> ModelTendon:
        """The tendon of that name or number (0 to ntendon - 1), as live rows of its arrays."""

    def actuator(self, which: int | str) -> ModelActuator:
        """The actuator of that name or number (0 to nu - 1), as live rows of its arrays."""

    def sensor(self, which: int | str) -> ModelSensor:
        """The sensor of that name or number (0 to nsensor - 1), as live rows of its arrays."""

    def numeric(self, which: int | str) -> ModelNumeric:
        """The numeric of that name or number (0 to nnumeric - 1), as live rows of its arrays."""

    def text(self, which: int | str) -> ModelText:
        """The text of that name or number (0 to ntext - 1), as live rows of its arrays."""

    def tuple(self, which: int | str) -> ModelTuple:
        """The tuple of that name or number (0 to ntuple - 1), as live rows of its arrays."""

    def key(self, which: int | str) -> ModelKey:
        """The key of that name or number (0 to nkey - 1), as live rows of its arrays."""

    @staticmethod
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
            What Tribo cannot hold (flex, plugins, ...), by name."""


class Option:
    """
    Options of a simulation. An enumeration takes its member, its number or its
    word (`m.opt.law = "ccp"`) and reads back as the member.
    """

    @property
    def timestep(self) -> float:
        """Time step, s."""

    @timestep.setter
    def timestep(self, value: float | str, /) -> None: ...

    @property
    def gravity(self) -> numpy.typing.NDArray[numpy.float64]:
        """Gravity, m/s2."""

    @gravity.setter
    def gravity(self, value: numpy.typing.ArrayLike | str, /) -> None: ...

    @property
    def wind(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity of the medium, m/s."""

    @wind.setter
    def wind(self, value: numpy.typing.ArrayLike | str, /) -> None: ...

    @property
    def magnetic(self) -> numpy.typing.NDArray[numpy.float64]:
        """Magnetic flux, for magnetometers."""

    @magnetic.setter
    def magnetic(self, value: numpy.typing.ArrayLike | str, /) -> None: ...

    @property
    def density(self) -> float:
        """Density of the medium, kg/m3."""

    @density.setter
    def density(self, value: float | str, /) -> None: ...

    @property
    def viscosity(self) -> float:
        """Viscosity of the medium, Pa s."""

    @viscosity.setter
    def viscosity(self, value: float | str, /) -> None: ...

    @property
    def impratio(self) -> float:
        """Soft law: frictional over normal impedance."""

    @impratio.setter
    def impratio(self, value: float | str, /) -> None: ...

    @property
    def tolerance(self) -> float:
        """
        Soft law: solver tolerance, as MuJoCo's. It acts under the law `soft` only; that of the solvers of all other laws is `solve_tolerance`.
        """

    @tolerance.setter
    def tolerance(self, value: float | str, /) -> None: ...

    @property
    def ls_tolerance(self) -> float:
        """Parsed from the file, for reference: the line search is exact."""

    @ls_tolerance.setter
    def ls_tolerance(self, value: float | str, /) -> None: ...

    @property
    def noslip_tolerance(self) -> float:
        """Soft law: noslip tolerance."""

    @noslip_tolerance.setter
    def noslip_tolerance(self, value: float | str, /) -> None: ...

    @property
    def ccd_tolerance(self) -> float:
        """Parsed from the file, for reference."""

    @ccd_tolerance.setter
    def ccd_tolerance(self, value: float | str, /) -> None: ...

    @property
    def o_margin(self) -> float:
        """Overrides all margins when the override flag is set, m."""

    @o_margin.setter
    def o_margin(self, value: float | str, /) -> None: ...

    @property
    def o_solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Overrides all solref."""

    @o_solref.setter
    def o_solref(self, value: numpy.typing.ArrayLike | str, /) -> None: ...

    @property
    def o_solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Overrides all solimp."""

    @o_solimp.setter
    def o_solimp(self, value: numpy.typing.ArrayLike | str, /) -> None: ...

    @property
    def o_friction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Overrides all friction."""

    @o_friction.setter
    def o_friction(self, value: numpy.typing.ArrayLike | str, /) -> None: ...

    @property
    def integrator(self) -> tribo.Integrator:
        """
        Euler, rk4, implicit, implicitfast, or the viscoelastic law's (tbIntegrator).
        """

    @integrator.setter
    def integrator(self, value: int | str, /) -> None: ...

    @property
    def cone(self) -> tribo.Cone:
        """Soft law: pyramidal or elliptic (tbCone)."""

    @cone.setter
    def cone(self, value: int | str, /) -> None: ...

    @property
    def jacobian(self) -> tribo.Jacobian:
        """Parsed from the file, for reference."""

    @jacobian.setter
    def jacobian(self, value: int | str, /) -> None: ...

    @property
    def mjsolver(self) -> tribo.MjSolver:
        """Soft law: newton, cg or pgs (tbMjSolver)."""

    @mjsolver.setter
    def mjsolver(self, value: int | str, /) -> None: ...

    @property
    def iterations(self) -> int:
        """Soft law: solver iterations."""

    @iterations.setter
    def iterations(self, value: int | str, /) -> None: ...

    @property
    def ls_iterations(self) -> int:
        """Parsed from the file, for reference: the line search is exact."""

    @ls_iterations.setter
    def ls_iterations(self, value: int | str, /) -> None: ...

    @property
    def noslip_iterations(self) -> int:
        """Soft law: noslip iterations."""

    @noslip_iterations.setter
    def noslip_iterations(self, value: int | str, /) -> None: ...

    @property
    def ccd_iterations(self) -> int:
        """Parsed from the file, for reference."""

    @ccd_iterations.setter
    def ccd_iterations(self, value: int | str, /) -> None: ...

    @property
    def sdf_iterations(self) -> int:
        """Parsed from the file, for reference."""

    @sdf_iterations.setter
    def sdf_iterations(self, value: int | str, /) -> None: ...

    @property
    def sdf_initpoints(self) -> int:
        """Parsed from the file, for reference."""

    @sdf_initpoints.setter
    def sdf_initpoints(self, value: int | str, /) -> None: ...

    @property
    def disableflags(self) -> tribo.DisableBit:
        """Bits of features that are off (tbDisableBit)."""

    @disableflags.setter
    def disableflags(self, value: int | str, /) -> None: ...

    @property
    def enableflags(self) -> tribo.EnableBit:
        """Bits of extra features that are on (tbEnableBit)."""

    @enableflags.setter
    def enableflags(self, value: int | str, /) -> None: ...

    @property
    def disableactuator(self) -> int:
        """Bits of actuator groups that are off."""

    @disableactuator.setter
    def disableactuator(self, value: int | str, /) -> None: ...

    @property
    def law(self) -> tribo.Law:
        """Contact law of a step: ncp, ... (tbLaw, TB_LAW_SOFT, ...)."""

    @law.setter
    def law(self, value: int | str, /) -> None: ...

    @property
    def solver(self) -> tribo.SolverKind:
        """Auto, the law's choice, or a solver that it has (tbSolverKind)."""

    @solver.setter
    def solver(self, value: int | str, /) -> None: ...

    @property
    def solve_tolerance(self) -> float:
        """
        Relative residual at which a solver stops. It acts under all laws but `soft`, whose own, by the name that MuJoCo gives it, is `tolerance`.
        """

    @solve_tolerance.setter
    def solve_tolerance(self, value: float | str, /) -> None: ...

    @property
    def solve_absolute(self) -> float:
        """Absolute residual at which a solver stops; 0: relative."""

    @solve_absolute.setter
    def solve_absolute(self, value: float | str, /) -> None: ...

    @property
    def solve_iterations(self) -> int:
        """Iterations of a solver."""

    @solve_iterations.setter
    def solve_iterations(self, value: int | str, /) -> None: ...

    @property
    def baumgarte(self) -> float:
        """Rigid laws: share of an overlap corrected per step."""

    @baumgarte.setter
    def baumgarte(self, value: float | str, /) -> None: ...

    @property
    def correction_speed(self) -> float:
        """Rigid laws, comfree: cap of the correction's speed, m/s."""

    @correction_speed.setter
    def correction_speed(self, value: float | str, /) -> None: ...

    @property
    def correction_softness(self) -> float:
        """Rigid laws: compliance of overlaps over 1/mass."""

    @correction_softness.setter
    def correction_softness(self, value: float | str, /) -> None: ...

    @property
    def overlap_allowed(self) -> float:
        """Rigid laws: overlap that is not corrected, m."""

    @overlap_allowed.setter
    def overlap_allowed(self, value: float | str, /) -> None: ...

    @property
    def gap_allowed(self) -> float:
        """Rigid laws: gap of a resting contact that is closed, m."""

    @gap_allowed.setter
    def gap_allowed(self, value: float | str, /) -> None: ...

    @property
    def equality_softness(self) -> float:
        """Rigid laws: compliance of equalities over diag G."""

    @equality_softness.setter
    def equality_softness(self, value: float | str, /) -> None: ...

    @property
    def restitution_speed(self) -> float:
        """Rigid laws: no restitution below this impact speed, m/s."""

    @restitution_speed.setter
    def restitution_speed(self, value: float | str, /) -> None: ...

    @property
    def contact_margin(self) -> float:
        """Rigid laws: detection distance of contacts; less for small grains, m."""

    @contact_margin.setter
    def contact_margin(self, value: float | str, /) -> None: ...

    @property
    def friction_scale(self) -> float:
        """Times every friction coefficient of a contact."""

    @friction_scale.setter
    def friction_scale(self, value: float | str, /) -> None: ...

    @property
    def comfree_stiffness(self) -> float:
        """Comfree: k_user, 1/s."""

    @comfree_stiffness.setter
    def comfree_stiffness(self, value: float | str, /) -> None: ...

    @property
    def comfree_damping(self) -> float:
        """Comfree: d_user."""

    @comfree_damping.setter
    def comfree_damping(self, value: float | str, /) -> None: ...

    @property
    def comfree_facets(self) -> int:
        """Comfree: facets of the sliding and of the rolling cone."""

    @comfree_facets.setter
    def comfree_facets(self, value: int | str, /) -> None: ...

    @property
    def comfree_exact(self) -> int:
        """Comfree: 1: gains from the diagonal of G instead of k, d."""

    @comfree_exact.setter
    def comfree_exact(self, value: int | str, /) -> None: ...

    @property
    def contact_stiffness(self) -> float:
        """Viscoelastic: stiffness of contacts without compliance, N/m."""

    @contact_stiffness.setter
    def contact_stiffness(self, value: float | str, /) -> None: ...

    @property
    def contact_damping(self) -> float:
        """Viscoelastic: damping of contacts without their own, N s/m."""

    @contact_damping.setter
    def contact_damping(self, value: float | str, /) -> None: ...

    @property
    def contact_bilateral(self) -> int:
        """Viscoelastic: 1: contacts are bilateral (also pull)."""

    @contact_bilateral.setter
    def contact_bilateral(self, value: int | str, /) -> None: ...

    @property
    def contact_anchor_normal(self) -> int:
        """
        Viscoelastic: 1: the normal spring starts where the contact was first detected (EXP), 0: overlap.
        """

    @contact_anchor_normal.setter
    def contact_anchor_normal(self, value: int | str, /) -> None: ...

    @property
    def expm_order(self) -> int:
        """Expo: Padé order 1, 2, 3, 5, 7, 13; 0: from the accuracy."""

    @expm_order.setter
    def expm_order(self, value: int | str, /) -> None: ...

    @property
    def expm_accuracy(self) -> float:
        """Expo: relative error of the matrix exponential."""

    @expm_accuracy.setter
    def expm_accuracy(self, value: float | str, /) -> None: ...

    @property
    def warmstart(self) -> int:
        """1: start from the last step's impulses."""

    @warmstart.setter
    def warmstart(self, value: int | str, /) -> None: ...

    @property
    def sleep(self) -> int:
        """1: islands at rest are skipped."""

    @sleep.setter
    def sleep(self, value: int | str, /) -> None: ...

    @property
    def threads(self) -> int:
        """Threads over islands; results do not depend on it."""

    @threads.setter
    def threads(self, value: int | str, /) -> None: ...

    def set(self, name: str, value: str) -> None:
        """Set an option by name from text, as the command line's --option."""

    def _put(self, arg0: str, arg1: int, /) -> None: ...

    def __repr__(self) -> str:
        """The most important options and those that differ from the default."""


def _set_callback(m: Model, which: int, function: object | None) -> None: ...

def _get_callback(arg0: Model, arg1: int, /) -> object: ...

class Data:
    """
    One world: its state, everything derived from it, and its memory.

    Arrays are live views, made once (`d.qpos is d.qpos`); assigning copies into
    them. They keep their memory alive after the Data is gone.
    """

    def __init__(self, model: Model) -> None:
        """A world at the model's reference pose."""

    @property
    def model(self) -> Model:
        """The model that it was made from."""

    def snapshot(self) -> bytes:
        """
        Everything that the further simulation depends on, as bytes: a world that loads them
        continues with the same bits.
        """

    def load_snapshot(self, bytes: bytes) -> None:
        """Continue from a snapshot."""

    @property
    def state(self) -> numpy.typing.NDArray[numpy.float64]:
        """Time and all state arrays as one new vector; assigning restores them."""

    @state.setter
    def state(self, value: numpy.typing.ArrayLike, /) -> None: ...

    def _copy(self) -> Data:
        """A copy of all arrays."""

    def _arrays(self) -> bytes: ...

    def _set_arrays(self, arg: bytes, /) -> None: ...

    @property
    def time(self) -> float:
        """Time, s."""

    @time.setter
    def time(self, arg: float, /) -> None: ...

    @property
    def ncon(self) -> int:
        """Contacts of the last step."""

    @property
    def energy(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Potential and kinetic energy at the start of the last step, J; shape (2,). Zero unless
        `m.opt.enableflags` has EnableBit.ENERGY.
        """

    @property
    def status(self) -> int:
        """Result of the last step: 0, or why it failed and the state was kept."""

    @property
    def message(self) -> str:
        """Which quantity of which body failed, when status is not 0."""

    @property
    def _solve(self) -> tuple[Any, ...]: ...

    @property
    def _offender(self) -> tuple[Any, ...]: ...

    @property
    def seconds(self) -> dict[str, float]:
        """Wall-clock seconds of the last step by phase."""

    @property
    def allocations(self) -> int:
        """Calls to malloc by steps of this world so far."""

    @property
    def memory_bytes(self) -> int:
        """Bytes that this world holds."""

    @property
    def qpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration; shape (nq,)."""

    @qpos.setter
    def qpos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity; shape (nv,)."""

    @qvel.setter
    def qvel(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def act(self) -> numpy.typing.NDArray[numpy.float64]:
        """Activation; shape (na,)."""

    @act.setter
    def act(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mocap_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap positions; shape (nmocap, 3), m."""

    @mocap_pos.setter
    def mocap_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def mocap_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap orientations; shape (nmocap, 4)."""

    @mocap_quat.setter
    def mocap_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qacc_warmstart(self) -> numpy.typing.NDArray[numpy.float64]:
        """Last acceleration, where soft solvers start; shape (nv,)."""

    @qacc_warmstart.setter
    def qacc_warmstart(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_active(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the equality constraint is active; shape (neq,)."""

    @eq_active.setter
    def eq_active(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def eq_load(self) -> numpy.typing.NDArray[numpy.float64]:
        """Pull on its two bodies, where it counts as tension; shape (neq, 6), N."""

    @eq_load.setter
    def eq_load(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def ten_load(self) -> numpy.typing.NDArray[numpy.float64]:
        """Force along it, where it counts as tension; shape (ntendon,), N."""

    @ten_load.setter
    def ten_load(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def userdata(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values; shape (nuserdata,)."""

    @userdata.setter
    def userdata(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def ctrl(self) -> numpy.typing.NDArray[numpy.float64]:
        """Control; shape (nu,)."""

    @ctrl.setter
    def ctrl(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_applied(self) -> numpy.typing.NDArray[numpy.float64]:
        """Applied generalised force; shape (nv,), N or N m."""

    @qfrc_applied.setter
    def qfrc_applied(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def xfrc_applied(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Applied force, torque at the body's centre of mass, world axes; shape (nbody, 6), N, N m.
        """

    @xfrc_applied.setter
    def xfrc_applied(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body frame; shape (nbody, 3), m."""

    @xpos.setter
    def xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def xquat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body frame; shape (nbody, 4)."""

    @xquat.setter
    def xquat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body frame; shape (nbody, 9)."""

    @xmat.setter
    def xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def xipos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass; shape (nbody, 3), m."""

    @xipos.setter
    def xipos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def ximat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Principal axes; shape (nbody, 9)."""

    @ximat.setter
    def ximat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def xanchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint anchor; shape (njnt, 3), m."""

    @xanchor.setter
    def xanchor(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def xaxis(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint axis; shape (njnt, 3)."""

    @xaxis.setter
    def xaxis(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Geom frame; shape (ngeom, 3), m."""

    @geom_xpos.setter
    def geom_xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom_xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Geom frame; shape (ngeom, 9)."""

    @geom_xmat.setter
    def geom_xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Site frame; shape (nsite, 3), m."""

    @site_xpos.setter
    def site_xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def site_xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Site frame; shape (nsite, 9)."""

    @site_xmat.setter
    def site_xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Camera positions; shape (ncam, 3), m."""

    @cam_xpos.setter
    def cam_xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cam_xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Camera frame; shape (ncam, 9)."""

    @cam_xmat.setter
    def cam_xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def subtree_com(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass of the subtree; shape (nbody, 3), m."""

    @subtree_com.setter
    def subtree_com(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cdof(self) -> numpy.typing.NDArray[numpy.float64]:
        """Motion axis of each dof: angular, linear; shape (nv, 6)."""

    @cdof.setter
    def cdof(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cinert(self) -> numpy.typing.NDArray[numpy.float64]:
        """Inertia: xx yy zz xy xz yz, mass * offset, mass; shape (nbody, 10)."""

    @cinert.setter
    def cinert(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def crb(self) -> numpy.typing.NDArray[numpy.float64]:
        """Composite inertia of the subtree; shape (nbody, 10)."""

    @crb.setter
    def crb(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qM(self) -> numpy.typing.NDArray[numpy.float64]:
        """M by rows of the lower triangle, see M_rowadr; shape (nM,)."""

    @qM.setter
    def qM(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qLD(self) -> numpy.typing.NDArray[numpy.float64]:
        """L^T D L of M; after a whole step see tb_factor_m; shape (nM,)."""

    @qLD.setter
    def qLD(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qLDiagInv(self) -> numpy.typing.NDArray[numpy.float64]:
        """1/D; shape (nv,)."""

    @qLDiagInv.setter
    def qLDiagInv(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def ten_length(self) -> numpy.typing.NDArray[numpy.float64]:
        """Tendon length; shape (ntendon,), m."""

    @ten_length.setter
    def ten_length(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def ten_J(self) -> numpy.typing.NDArray[numpy.float64]:
        """Tendon Jacobian, rows by Jten_colind; shape (nJten,)."""

    @ten_J.setter
    def ten_J(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def ten_velocity(self) -> numpy.typing.NDArray[numpy.float64]:
        """Tendon velocity; shape (ntendon,), m/s."""

    @ten_velocity.setter
    def ten_velocity(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_length(self) -> numpy.typing.NDArray[numpy.float64]:
        """Actuator length; shape (nu,)."""

    @actuator_length.setter
    def actuator_length(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_moment(self) -> numpy.typing.NDArray[numpy.float64]:
        """Actuator moment arms, rows by Jmom_colind; shape (nJmom,)."""

    @actuator_moment.setter
    def actuator_moment(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_velocity(self) -> numpy.typing.NDArray[numpy.float64]:
        """Actuator velocity; shape (nu,)."""

    @actuator_velocity.setter
    def actuator_velocity(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def actuator_force(self) -> numpy.typing.NDArray[numpy.float64]:
        """Scalar actuator force; shape (nu,)."""

    @actuator_force.setter
    def actuator_force(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def act_dot(self) -> numpy.typing.NDArray[numpy.float64]:
        """Derivative of the activation; shape (na,)."""

    @act_dot.setter
    def act_dot(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Body velocity: angular, linear, about the same point; shape (nbody, 6).
        """

    @cvel.setter
    def cvel(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cdof_dot(self) -> numpy.typing.NDArray[numpy.float64]:
        """Derivative of cdof; shape (nv, 6)."""

    @cdof_dot.setter
    def cdof_dot(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def subtree_linvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity of the subtree's centre of mass; shape (nbody, 3), m/s."""

    @subtree_linvel.setter
    def subtree_linvel(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def subtree_angmom(self) -> numpy.typing.NDArray[numpy.float64]:
        """Angular momentum about it; shape (nbody, 3), N m s."""

    @subtree_angmom.setter
    def subtree_angmom(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_bias(self) -> numpy.typing.NDArray[numpy.float64]:
        """Gravity, Coriolis and centrifugal: b; shape (nv,)."""

    @qfrc_bias.setter
    def qfrc_bias(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_spring(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint and tendon springs; shape (nv,)."""

    @qfrc_spring.setter
    def qfrc_spring(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_damper(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint and tendon dampers; shape (nv,)."""

    @qfrc_damper.setter
    def qfrc_damper(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_gravcomp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Gravity compensation; shape (nv,)."""

    @qfrc_gravcomp.setter
    def qfrc_gravcomp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_fluid(self) -> numpy.typing.NDArray[numpy.float64]:
        """Fluid forces; shape (nv,)."""

    @qfrc_fluid.setter
    def qfrc_fluid(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_passive(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sum of the passive forces; shape (nv,)."""

    @qfrc_passive.setter
    def qfrc_passive(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_actuator(self) -> numpy.typing.NDArray[numpy.float64]:
        """Actuators; shape (nv,)."""

    @qfrc_actuator.setter
    def qfrc_actuator(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_smooth(self) -> numpy.typing.NDArray[numpy.float64]:
        """Everything but constraints; shape (nv,)."""

    @qfrc_smooth.setter
    def qfrc_smooth(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qacc_smooth(self) -> numpy.typing.NDArray[numpy.float64]:
        """Acceleration without constraints; shape (nv,)."""

    @qacc_smooth.setter
    def qacc_smooth(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qfrc_constraint(self) -> numpy.typing.NDArray[numpy.float64]:
        """Constraint forces J^T lambda / dt; shape (nv,)."""

    @qfrc_constraint.setter
    def qfrc_constraint(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def qacc(self) -> numpy.typing.NDArray[numpy.float64]:
        """Acceleration; shape (nv,)."""

    @qacc.setter
    def qacc(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cacc(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body acceleration, gravity included; shape (nbody, 6)."""

    @cacc.setter
    def cacc(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cfrc_int(self) -> numpy.typing.NDArray[numpy.float64]:
        """Force between a body and its parent; shape (nbody, 6)."""

    @cfrc_int.setter
    def cfrc_int(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def cfrc_ext(self) -> numpy.typing.NDArray[numpy.float64]:
        """External force on a body; shape (nbody, 6)."""

    @cfrc_ext.setter
    def cfrc_ext(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def sensordata(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sensor values; shape (nsensordata,)."""

    @sensordata.setter
    def sensordata(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def solve(self) -> SolveInfo:
        """Iterations, status and residuals of the last step; `residual_exact` is the certificate."""

    @property
    def offender(self) -> Offender:
        """The constraint responsible where the last step failed or did not converge."""

    @property
    def contact(self) -> Contacts:
        """The contacts of the last step: `d.contact[i].frame`, or of all at once: `d.contact.dist`."""

    def __copy__(self) -> Data:
        """A world of the same model that continues with the same bits."""

    def __deepcopy__(self, memo: Any) -> Data:
        """As copy: worlds share their constant model."""

    def __reduce__(self) -> Any:
        """Pickle: the model, all arrays and the memory of solvers."""

    def __repr__(self) -> str:
        """One line."""

    def body(self, which: int | str) -> DataBody:
        """The body of that name or number, as live rows of the world's arrays."""

    def joint(self, which: int | str) -> DataJoint:
        """The joint of that name or number, as live rows of the world's arrays."""

    def geom(self, which: int | str) -> DataGeom:
        """The geom of that name or number, as live rows of the world's arrays."""

    def site(self, which: int | str) -> DataSite:
        """The site of that name or number, as live rows of the world's arrays."""

    def camera(self, which: int | str) -> DataCamera:
        """The camera of that name or number, as live rows of the world's arrays."""

    def equality(self, which: int | str) -> DataEquality:
        """The equality of that name or number, as live rows of the world's arrays."""

    def tendon(self, which: int | str) -> DataTendon:
        """The tendon of that name or number, as live rows of the world's arrays."""

    def actuator(self, which: int | str) -> DataActuator:
        """The actuator of that name or number, as live rows of the world's arrays."""

    def sensor(self, which: int | str) -> DataSensor:
        """The sensor of that name or number, as live rows of the world's arrays."""


class Contact:
    """
    A contact as the last step saw it: a copy, which later steps do not change.
    """

    @property
    def dist(self) -> float:
        """Distance, m; negative when overlapping."""

    @dist.setter
    def dist(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position midway between the surfaces, m; shape (3,)."""

    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def frame(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rows: normal from geom 1 to geom 2, two tangents; shape (9,)."""

    @frame.setter
    def frame(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def includemargin(self) -> float:
        """Force acts only where dist is below this, m."""

    @includemargin.setter
    def includemargin(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def friction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Two sliding, torsional, two rolling; shape (5,)."""

    @friction.setter
    def friction(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft law: reference; shape (2,)."""

    @solref.setter
    def solref(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def solreffriction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft law: reference of friction; shape (2,)."""

    @solreffriction.setter
    def solreffriction(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft law: impedance; shape (5,)."""

    @solimp.setter
    def solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def restitution(self) -> float:
        """Rigid laws: coefficient of restitution."""

    @restitution.setter
    def restitution(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def compliance(self) -> float:
        """Compliance along the normal, m/N."""

    @compliance.setter
    def compliance(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def tangentcompliance(self) -> float:
        """Compliance along the tangents, m/N."""

    @tangentcompliance.setter
    def tangentcompliance(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def damping(self) -> float:
        """Damping, N s/m."""

    @damping.setter
    def damping(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def comfree(self) -> numpy.typing.NDArray[numpy.float64]:
        """Comfree law: stiffness and damping of a pair, or -1; shape (2,)."""

    @comfree.setter
    def comfree(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def force(self) -> numpy.typing.NDArray[numpy.float64]:
        """Force and torque of the last step in `frame`, N and N m; shape (6,)."""

    @force.setter
    def force(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def dim(self) -> int:
        """1, 3, 4 or 6."""

    @dim.setter
    def dim(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def geom(self) -> numpy.typing.NDArray[numpy.int32]:
        """The two geoms; shape (2,)."""

    @geom.setter
    def geom(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def exclude(self) -> int:
        """1: detected, but in the gap, so without force."""

    @exclude.setter
    def exclude(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def row(self) -> int:
        """First row in the problem, or -1."""

    @row.setter
    def row(self, value: numpy.typing.ArrayLike, /) -> None: ...

    @property
    def _state(self) -> int: ...

    @property
    def _data(self) -> Data | None: ...

    @property
    def key(self) -> int:
        """
        Geom pair and feature: the same contact has the same key in the next step.
        """

    @property
    def velocity(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Velocity of geom 2 relative to geom 1 in the contact's frame: along the normal and
        tangents, m/s; about them, rad/s; shape (6,).
        """

    @property
    def slip(self) -> numpy.typing.NDArray[numpy.float64]:
        """Slip velocity in world axes, m/s; shape (3,)."""

    def wrench(self, on_geom: int | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """
        Force, N, and torque, N m, about `pos` in world axes, on one of its geoms (geom 2 unless
        told); shape (6,).
        """

    @property
    def state(self) -> ContactState:
        """Open, sticking, sliding or rolling."""

    def __repr__(self) -> str:
        """One line."""


class Contacts:
    """
    The contacts of the last step: a sequence of Contact. Its attributes are
    new arrays over all contacts.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Contact:
        """Contact number `index`."""

    @property
    def _data(self) -> Data: ...

    @property
    def dist(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Distance, m; negative when overlapping."""

    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Position midway between the surfaces, m; shape (3,)."""

    @property
    def frame(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Of each contact: Rows: normal from geom 1 to geom 2, two tangents; shape (9,).
        """

    @property
    def includemargin(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Force acts only where dist is below this, m."""

    @property
    def friction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Two sliding, torsional, two rolling; shape (5,)."""

    @property
    def solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Soft law: reference; shape (2,)."""

    @property
    def solreffriction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Soft law: reference of friction; shape (2,)."""

    @property
    def solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Soft law: impedance; shape (5,)."""

    @property
    def restitution(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Rigid laws: coefficient of restitution."""

    @property
    def compliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Compliance along the normal, m/N."""

    @property
    def tangentcompliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Compliance along the tangents, m/N."""

    @property
    def damping(self) -> numpy.typing.NDArray[numpy.float64]:
        """Of each contact: Damping, N s/m."""

    @property
    def comfree(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Of each contact: Comfree law: stiffness and damping of a pair, or -1; shape (2,).
        """

    @property
    def force(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Of each contact: Force and torque of the last step in `frame`, N and N m; shape (6,).
        """

    @property
    def dim(self) -> numpy.typing.NDArray[numpy.int32]:
        """Of each contact: 1, 3, 4 or 6."""

    @property
    def geom(self) -> numpy.typing.NDArray[numpy.int32]:
        """Of each contact: The two geoms; shape (2,)."""

    @property
    def exclude(self) -> numpy.typing.NDArray[numpy.int32]:
        """Of each contact: 1: detected, but in the gap, so without force."""

    @property
    def row(self) -> numpy.typing.NDArray[numpy.int32]:
        """Of each contact: First row in the problem, or -1."""

    @property
    def state(self) -> numpy.typing.NDArray[numpy.int32]:
        """ContactState of each contact; shape (ncon,)."""

    @property
    def velocity(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity of geom 2 relative to geom 1 in each frame; shape (ncon, 6)."""

    @property
    def slip(self) -> numpy.typing.NDArray[numpy.float64]:
        """Slip velocities, world axes, m/s; shape (ncon, 3)."""

    @property
    def wrench(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        Force and torque on geom 2 of each contact, world axes; shape (ncon, 6).
        """

    def __repr__(self) -> str:
        """A row for each contact, up to ten."""


def _contacts(arg: Data, /) -> Contacts: ...

def step(m: Model, d: Data, n: int = 1) -> None:
    """
    Advance by `n` time steps.

    A step that gives a non-finite number raises NumericError, and the state stays as it was
    before. A solver that did not converge warns once per Data (ConvergenceWarning).
    """

def step1(m: Model, d: Data) -> None:
    """First half of a step: everything that depends on qpos and qvel."""

def step2(m: Model, d: Data) -> None:
    """Second half of a step, after controls and forces were set."""

def forward(m: Model, d: Data) -> None:
    """Everything that a step computes, without moving the state."""

def _inverse(m: Model, d: Data, qacc: object, guess: object | None, actuated: object | None, max_iter: int, tolerance: float, keep_base: bool) -> tuple[Any, ...]: ...

def reset(m: Model, d: Data) -> None:
    """Return to the reference pose."""

def _reset_keyframe(m: Model, d: Data, key: int) -> None: ...

def tree_asleep(m: Model, d: Data, tree: int) -> bool:
    """Whether a kinematic tree sleeps."""

def compute_position(m: Model, d: Data) -> None:
    """Everything that depends on qpos: frames, tendons, M and its factor."""

def compute_velocity(m: Model, d: Data) -> None:
    """Everything that depends on qvel too; after compute_position."""

def kinematics(m: Model, d: Data) -> None:
    """Frames of bodies, joints, geoms and sites."""

def com_position(m: Model, d: Data) -> None:
    """subtree_com, cinert, cdof; after kinematics."""

def com_velocity(m: Model, d: Data) -> None:
    """cvel, cdof_dot; after com_position."""

def subtree_velocity(m: Model, d: Data) -> None:
    """subtree_linvel, subtree_angmom; after com_velocity."""

def energy_position(m: Model, d: Data) -> None:
    """energy[0]: gravity and springs; after com_position."""

def energy_velocity(m: Model, d: Data) -> None:
    """energy[1]: v' M v / 2; after crb."""

def tendon(m: Model, d: Data) -> None:
    """ten_length, ten_J; after com_position."""

def transmission(m: Model, d: Data) -> None:
    """actuator_length, actuator_moment; after tendon."""

def crb(m: Model, d: Data) -> None:
    """crb, qM by the composite-rigid-body algorithm; after com_position."""

def body_accelerations(m: Model, d: Data) -> None:
    """cacc from qacc; after com_velocity."""

def body_forces(m: Model, d: Data) -> None:
    """cacc, and cfrc_int with cfrc_ext; after com_velocity."""

def factor_m(m: Model, d: Data) -> None:
    """qLD, qLDiagInv: M = L^T D L; after crb."""

def rne_post_constraint(m: Model, d: Data) -> None:
    """
    Accelerations and forces of all bodies with contacts: cacc, cfrc_int, cfrc_ext.
    """

def full_m(m: Model, d: Data) -> numpy.typing.NDArray[numpy.float64]:
    """M as a dense matrix, shape (nv, nv); after crb or a step."""

def mul_m(m: Model, d: Data, v: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
    """M v, shape (nv,)."""

def solve_m(m: Model, d: Data, y: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
    """
    M^-1 y for one or more rows, shape (nv,) or (n, nv); after factor_m or a step.
    """

def rne(m: Model, d: Data, qacc: numpy.typing.ArrayLike | None = None, xfrc: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
    """
    M qacc + b - J^T xfrc by recursive Newton-Euler, shape (nv,); after com_velocity.
    """

def aba(m: Model, d: Data, tau: numpy.typing.ArrayLike, xfrc: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
    """
    qacc by the articulated-body algorithm, without M, shape (nv,); after com_velocity.
    """

def full_moment(m: Model, d: Data) -> numpy.typing.NDArray[numpy.float64]:
    """Actuator moments as a dense matrix, shape (nu, nv)."""

def full_ten_J(m: Model, d: Data) -> numpy.typing.NDArray[numpy.float64]:
    """Jacobian of the tendons as a dense matrix, shape (ntendon, nv)."""

def apply_wrench(m: Model, d: Data, body: int | str, point: numpy.typing.ArrayLike, force: numpy.typing.ArrayLike | None = None, torque: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
    """J^T (force, torque) at a world point of a body, shape (nv,)."""

def jac(m: Model, d: Data, body: int | str, point: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Linear and angular Jacobian of a world point fixed to a body, each of shape (3, nv).
    """

def jac_dot(m: Model, d: Data, body: int | str, point: numpy.typing.ArrayLike) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """Time derivatives of jac, each of shape (3, nv)."""

def jac_body(m: Model, d: Data, body: int | str) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """Linear and angular Jacobian of a body's frame, each of shape (3, nv)."""

def jac_body_com(m: Model, d: Data, body: int | str) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Linear and angular Jacobian of a body's centre of mass, each of shape (3, nv).
    """

def jac_geom(m: Model, d: Data, geom: int | str) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """Linear and angular Jacobian of a geom, each of shape (3, nv)."""

def jac_site(m: Model, d: Data, site: int | str) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """Linear and angular Jacobian of a site, each of shape (3, nv)."""

def jac_subtree_com(m: Model, d: Data, body: int | str) -> numpy.typing.NDArray[numpy.float64]:
    """Jacobian of the centre of mass of a subtree, shape (3, nv)."""

def object_velocity(m: Model, d: Data, type: int, id: int, local: bool = False) -> numpy.typing.NDArray[numpy.float64]:
    """
    Angular and linear velocity of a body, geom or site (ObjType), shape (6,).
    """

def object_acceleration(m: Model, d: Data, type: int, id: int, local: bool = False) -> numpy.typing.NDArray[numpy.float64]:
    """
    Angular and linear acceleration less gravity, shape (6,); after body_accelerations.
    """

def integrate_pos(m: Model, qpos: numpy.typing.ArrayLike, qvel: numpy.typing.ArrayLike, dt: float) -> numpy.typing.NDArray[numpy.float64]:
    """qpos moved by dt qvel on the manifold, a new array of shape (nq,)."""

def differentiate_pos(m: Model, dt: float, qpos1: numpy.typing.ArrayLike, qpos2: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
    """The qvel that moves qpos1 to qpos2 in time dt, shape (nv,)."""

def normalize_quat(m: Model, qpos: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
    """qpos with every quaternion of unit length, a new array of shape (nq,)."""

def ray(m: Model, d: Data, pnt: numpy.typing.ArrayLike, vec: numpy.typing.ArrayLike, geomgroup: numpy.typing.ArrayLike | None = None, flg_static: bool = True, bodyexclude: int = -1) -> tuple[float, int, numpy.typing.NDArray[numpy.float64]]:
    """
    Smallest x >= 0 with pnt + x vec on a geom or -1, the geom or -1, and its normal.
    """

def geom_distance(m: Model, d: Data, geom1: int | str, geom2: int | str, distmax: float = 1e10) -> tuple[float, numpy.typing.NDArray[numpy.float64]]:
    """
    Signed distance of two geoms, m, at most distmax, and the nearest points, shape (6,).
    """

def pairs(m: Model, d: Data, margin: float = 0.0) -> numpy.typing.NDArray[numpy.int32]:
    """
    Pairs of geoms that may touch and whose boxes are within `margin`, shape (n, 2).
    """

def find_contacts(m: Model, d: Data) -> None:
    """All contacts of the pose in d.contact, without forces."""

def geom_contact_wrench(m: Model, d: Data, geom: int | str, about: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
    """
    Force and torque of all contacts on a geom about a world point (its position), shape (6,).
    """

def body_contact_wrench(m: Model, d: Data, body: int | str, about: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
    """
    Force and torque of all contacts on a body about a world point (its centre of mass).
    """

def pair_contact_wrench(m: Model, d: Data, on_body: int | str, by_body: int | str, about: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
    """
    Force and torque of the contacts between two bodies, on the first, shape (6,).
    """

class Derivatives:
    """
    A step linearised at a state: dx+ = A dx + B du with x = (q, v, act) on
    the manifold, nx = 2 nv + na.
    """

    @property
    def A(self) -> numpy.typing.NDArray[numpy.float64]:
        """Derivative by the state, shape (nx, nx)."""

    @property
    def B(self) -> numpy.typing.NDArray[numpy.float64]:
        """Derivative by the controls, shape (nx, nu)."""

    @property
    def _info(self) -> tuple[Any, ...]: ...

    @property
    def _sizes(self) -> tuple[Any, ...]: ...

    def apply(self, dx: numpy.typing.ArrayLike | None = None, du: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """A dx + B du without the matrices, shape (nx,)."""

    def apply_transposed(self, y: numpy.typing.ArrayLike) -> dict[str, numpy.typing.NDArray[numpy.float64]]:
        """
        dx = A^T y, du = B^T y, and the adjoints dforce (nv,) and dfriction (ncon,).
        """

    def force(self, dforce: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
        """Change of the next state by a generalised force, shape (nx,)."""

    def acceleration(self) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
        """
        Partials of qacc by q, v and the generalised force, each of shape (nv, nv).
        """

    def friction(self, contact: int) -> numpy.typing.NDArray[numpy.float64]:
        """
        Change of the next state by the sliding coefficients of a contact, shape (nx,).
        """

    def inertial(self, body: int) -> numpy.typing.NDArray[numpy.float64]:
        """Derivative by the ten inertial parameters of a body, shape (nx, 10)."""

    @property
    def info(self) -> DerivativeInfo:
        """Whether the step is differentiable there, and its contacts by mode."""

    def __repr__(self) -> str:
        """One line."""


def _linearize(m: Model, d: Data, relaxation: float, samples: int, spread: float, seed: int, proximal: float, mode_tolerance: float, hold_contacts: bool) -> Derivatives: ...

def step_differences(m: Model, d: Data, eps: float = 1e-6, centred: bool = True) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """A and B by differences of whole steps: slow, for tests."""

class _Tape:
    def backward(self, qpos: Any, qvel: Any, act: Any, friction_scale: bool, settings: dict[str, Any]) -> dict[str, Any]: ...

    @property
    def memory_bytes(self) -> int: ...

def _tape(batch: object, qpos: object, qvel: object, act: object | None, ctrl: object | None, qfrc_applied: object | None, nstep: int, checkpoint: int) -> tuple[Any, ...]: ...

def _sensitivities(batch: Any, qpos: Any, qvel: Any, act: Any, ctrl: Any, nstep: int, count: int, terms: list[Any], by_ctrl: Any, states: bool, settings: dict[str, Any]) -> dict[str, Any]: ...

def rne_derivatives(m: Model, d: Data, qacc: numpy.typing.ArrayLike | None = None, xfrc: numpy.typing.ArrayLike | None = None) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Partials of rne by q and v, each (nv, nv); by qacc it is M. After compute_velocity.
    """

def forward_derivatives(m: Model, d: Data, qacc: numpy.typing.ArrayLike, xfrc: numpy.typing.ArrayLike | None = None) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Partials of the acceleration without contacts by q, v and the generalised force, each
    (nv, nv), at that acceleration. After compute_velocity.
    """

def rne_regressor(m: Model, d: Data, qacc: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.float64]:
    """
    Y, shape (nv, 10 nbody): rne is Y times the inertial parameters of all bodies, plus
    armature. After com_velocity.
    """

def inertial_get(m: Model, body: int) -> numpy.typing.NDArray[numpy.float64]:
    """
    Mass, mass times centre of mass (x, y, z), inertia about the body frame's origin (xx, xy,
    yy, xz, yz, zz), shape (10,).
    """

def inertial_set(m: Model, body: int, parameters: numpy.typing.ArrayLike) -> None:
    """Set what inertial_get gives; call m.set_constants() afterwards."""

class _Batch:
    def __init__(self, model: Model, n: int, threads: int = 0, memory_limit: int = 0) -> None: ...

    @property
    def model(self) -> Model:
        """The model of all worlds."""

    @property
    def n(self) -> int:
        """Worlds."""

    @property
    def threads(self) -> int:
        """Threads."""

    @property
    def certify_every(self) -> int:
        """
        The certificate is computed at every such step of a call, and at its last; 0: last only.
        """

    @certify_every.setter
    def certify_every(self, arg: int, /) -> None: ...

    @property
    def memory_bytes(self) -> int:
        """Bytes that the batch holds now."""

    def error(self, world: int) -> str:
        """Error of the world's last call, "" if it had none."""

    def field(self, name: str) -> numpy.typing.NDArray[Any]:
        """
        The live array of that name: state, input, expanded or requested field.
        """

    def expand(self, name: str) -> numpy.typing.NDArray[Any]:
        """
        Give each world its own values of a field of the model ("geom_friction") or of an option
        ("opt.gravity"): a live array with a row per world.
        """

    def request(self, name: str) -> numpy.typing.NDArray[Any]:
        """
        Have a field of the data ("xpos", "qacc", ...) copied at the end of every call: a live
        array with a row per world. Also "energy", "residual", "body_contact_wrench".
        """

    def step(self, n: int = 1, ids: object | None = None, *, mask: object | None = None) -> None:
        """Advance worlds by `n` steps with their inputs held."""

    def forward(self, ids: object | None = None, *, mask: object | None = None, velocity_only: bool = False) -> None:
        """
        Sensors and requested fields at the present states, without moving them.
        """

    def reset(self, ids: object | None = None, *, mask: object | None = None, key: object | None = None) -> None:
        """
        Worlds return to the reference pose, or to a keyframe: one for all, or one for each.
        """

    def _rollout(self, nstep: int, inputs: dict[str, Any], record: Sequence[str], every: int, ids: object | None, mask: object | None, out: object | None) -> dict[str, Any]: ...

    @property
    def _report(self) -> numpy.typing.NDArray[Any]: ...

    def clone(self, source: int, target: int) -> None:
        """World `target` becomes a copy of world `source` in everything."""

    def gather(self, index: object) -> None:
        """Every world w becomes a copy of the world that index[w] was."""

    def get_data(self, world: int, d: Data) -> None:
        """Copy a world's state, inputs and memory to a Data."""

    def set_data(self, world: int, d: Data) -> None:
        """Copy a Data's state, inputs and memory to a world."""

    def get_model(self, world: int) -> Model:
        """The model of a world as a new Model."""

    def set_model(self, world: int, model: Model) -> None:
        """
        Give a world the values of a model, expanding arrays and options where it differs.
        """

    def set_constants(self, ids: object | None = None, *, mask: object | None = None) -> None:
        """Check the models of worlds and recompute their derived constants now."""

    def state_get(self, ids: numpy.typing.ArrayLike | None = None, *, mask: numpy.typing.ArrayLike | None = None) -> numpy.typing.NDArray[numpy.uint8]:
        """Everything that worlds remember, a row of bytes per world."""

    def state_set(self, rows: object, ids: object | None = None, *, mask: object | None = None) -> None:
        """Continue from the rows of state_get."""

report_members: tuple[Any, ...]

class Element:
    """
    An element of a spec, with the tag and the attributes of MJCF.

    `e["pos"]` is the attribute's text as given, or None; assigning takes text,
    numbers or None, which removes it.
    """

    @property
    def tag(self) -> str:
        """"body", "geom", ..."""

    @property
    def name(self) -> str:
        """Its name, "" without one."""

    @property
    def parent(self) -> Element | None:
        """The element around it."""

    @property
    def children(self) -> list[Element]:
        """The elements in it."""

    def __getitem__(self, attribute: str) -> str | None:
        """The attribute's text."""

    def __setitem__(self, attribute: str, value: numpy.typing.ArrayLike | str | None) -> None:
        """Set an attribute."""

    def reals(self, attribute: str) -> numpy.typing.NDArray[numpy.float64] | None:
        """
        The attribute's numbers; None if it is not given or not a list of numbers.
        """

    def set(self, **attributes: Any) -> None:
        """Set attributes: `e.set(size=[0.1], rgba="1 0 0 1")`."""

    def add(self, tag: str, name: str | None = None, **attributes: Any) -> Element:
        """Append an element: `world.add("body", "arm", pos=[0, 0, 1])`."""

    def add_xml(self, xml: str) -> Element:
        """Append one element written in XML, with its contents."""

    def attach(self, child: Spec | Element, prefix: str | None = None, suffix: str | None = None) -> Element:
        """
        Attach a copy of a spec, or of one of its bodies, to this body, frame or site.
        """

    def delete(self) -> None:
        """Remove the element with its contents."""

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class Spec:
    """
    A model that can be changed: load or build it, edit it, compile it, write it.
    """

    def __init__(self) -> None:
        """An empty spec."""

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Spec:
        """Load MJCF or URDF without compiling it."""

    @staticmethod
    def from_string(xml: str, directory: str | os.PathLike[str] | None = None, *, name: str = '<string>') -> Spec:
        """
        Load MJCF or URDF text; relative file names are against `directory`, errors call the
        text by `name`.
        """

    @staticmethod
    def from_model(model: Model) -> Spec:
        """The contents of a compiled model."""

    def copy(self) -> Spec:
        """A deep copy."""

    def compile(self) -> Model:
        """A new Model; the spec can be changed and compiled again."""

    def recompile(self, m: Model, d: Data) -> tuple[Model, Data]:
        """
        A new Model and a Data with the state of `d`: parts are recognised by name.
        """

    def to_xml(self) -> str:
        """The spec as MJCF text."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write MJCF."""

    @property
    def root(self) -> Element:
        """The element <mujoco>."""

    @property
    def world(self) -> Element:
        """The world body."""

    def section(self, name: str) -> Element:
        """A section ("asset", "actuator", ...), added where there is none."""

    def find(self, kind: str, name: str) -> Element:
        """
        The element of a kind ("body", "joint", ...) and name; KeyError with the nearest name.
        """

    def __eq__(self, other: object, /) -> bool: ...

class Problem:
    """A contact problem: blocks of impulses, G, R and g."""

    @staticmethod
    def _dense(G: object, g: object, blocks: list[Any], R: object | None) -> Problem: ...

    @staticmethod
    def _csr(G: tuple[Any, ...], g: object, blocks: list[Any], R: object | None) -> Problem: ...

    @staticmethod
    def _mass(M: tuple[Any, ...], J: tuple[Any, ...], v_free: object, blocks: list[Any], R: object | None, gamma: object | None) -> Problem: ...

    def _solve(self, settings: dict[str, Any], guess: object | None, history: int) -> tuple[Any, ...]: ...

    def _residual(self, impulse: object, law: str) -> dict[str, Any]: ...

    def velocity(self, impulse: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]:
        """(G + R) impulse + g, m/s, shape (n,)."""

    @property
    def n(self) -> int:
        """Rows."""

    @property
    def g(self) -> numpy.typing.NDArray[numpy.float64]:
        """Free velocity, m/s, shape (n,); a copy."""

    @property
    def _blocks(self) -> list[Any]: ...

    def solve(self, law: str = 'ncp', solver: str = 'auto', *, guess: Any = None, history: int = 0, **settings: Any) -> Solution:
        """Solve under a law.
        
        Parameters
        ----------
        law : str
            "ncp" (exact), "ccp", "lcp" or "raisim".
        solver : str
            "auto" or a solver of the law (`tribo.solvers`).
        guess : array_like, optional
            First impulses, shape (n,).
        history : int
            Iterations whose residuals are kept.
        **settings
            Any field of the engine's settings: `tol`, `max_iter`, `time_limit`, `admm_rho`, ...
        
        Returns
        -------
        Solution
            Impulses, velocities, status and residuals."""

    def residual(self, impulse: Any, law: str = 'ncp') -> Residual:
        """Violation of a law by impulses, by the one function that all solvers are judged by."""

    @staticmethod
    def from_mass(M: Any, J: Any, v_free: Any, mu: Any = None, *, blocks: Sequence[tribo._problem.Block] | None = None, R: Any = None, gamma: Any = None) -> Problem:
        """G = J M^-1 J^T and g = J v_free + gamma from sparse matrices (scipy.sparse).
        
        Parameters
        ----------
        M : scipy.sparse matrix
            Mass matrix, symmetric positive definite, shape (nv, nv).
        J : scipy.sparse matrix
            Jacobian, shape (n, nv).
        v_free : array_like
            Free velocity of the bodies, shape (nv,).
        mu, blocks, R
            As in `problem`.
        gamma : array_like, optional
            Added to g, shape (n,)."""

    @property
    def blocks(self) -> list[tribo._problem.Block]:
        """Its blocks in row order."""

    def __repr__(self) -> str:
        """One line."""


def step_problem(m: Model, d: Data) -> Problem:
    """
    The contact problem of the state at which forward was last called under a rigid law.
    """

solvers: list[Any]

solve_settings: list[Any]

class Fclib:
    """The contents of an FCLIB file."""

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Fclib:
        """Read the local or global problem of a file."""

    @staticmethod
    def of_problem(problem: Problem) -> Fclib:
        """A problem as a local problem of FCLIB."""

    def write(self, path: str | os.PathLike[str], encoding: int = 1) -> None:
        """Write a new file."""

    def problem(self) -> Problem:
        """The contact problem: a cone per contact, then the equalities."""

    def _solution(self, path: str | os.PathLike[str], guess: int) -> dict[str, Any]: ...

    @property
    def contacts(self) -> int:
        """Contacts."""

    @property
    def spacedim(self) -> int:
        """Rows of a contact."""

    @property
    def is_global(self) -> bool:
        """Whether bodies are unknowns too."""

    @property
    def mu(self) -> numpy.typing.NDArray[numpy.float64]:
        """Friction coefficients, shape (contacts,)."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def description(self) -> str:
        """Its description."""

def _fclib_guess_count(arg: str | os.PathLike[str], /) -> int: ...

class _Picture:
    def __init__(self, width: int, height: int) -> None: ...

    def draw(self, model: Model, worlds: Sequence[Data], labels: Sequence[str], camera: object | None, force_scale: float) -> object: ...

def force_scale(m: Model, d: Data) -> float:
    """
    Length of arrows, m per N, at which the weight of all bodies is half the scene.
    """

def _write_png(path: str, frames: list[Any], delay: int) -> None: ...

