"""Written by python/stubs.py."""

from typing import Any

import numpy
import numpy.typing

__all__ = ["KINDS", "Part", "ModelBody", "DataBody", "ModelJoint", "DataJoint", "ModelGeom", "DataGeom", "ModelSite", "DataSite", "ModelCamera", "DataCamera", "ModelLight", "ModelMesh", "ModelHfield", "ModelPair", "ModelExclude", "ModelEquality", "DataEquality", "ModelTendon", "DataTendon", "ModelActuator", "DataActuator", "ModelSensor", "DataSensor", "ModelNumeric", "ModelText", "ModelTuple", "ModelKey"]

KINDS: dict[str, tuple[Any, str, str, tuple[str, ...]]]

class Part:
    """One object of a model or of a world."""

    id: int
    name: str

class ModelBody(Part):
    """A body of a model; attributes are live rows of its arrays."""

    @property
    def parentid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Parent; the world is its own (`body_parentid`)."""
    @parentid.setter
    def parentid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def rootid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Ancestor that is a child of the world (`body_rootid`)."""
    @rootid.setter
    def rootid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def weldid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Nearest ancestor (or self) with a joint, or the world (`body_weldid`)."""
    @weldid.setter
    def weldid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mocapid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Index of mocap pose, or -1 (`body_mocapid`)."""
    @mocapid.setter
    def mocapid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def jntnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joints of this body (`body_jntnum`)."""
    @jntnum.setter
    def jntnum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def jntadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First joint (`body_jntadr`)."""
    @jntadr.setter
    def jntadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dofnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Degrees of freedom of this body (`body_dofnum`)."""
    @dofnum.setter
    def dofnum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dofadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First degree of freedom (`body_dofadr`)."""
    @dofadr.setter
    def dofadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def treeid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Tree, or -1 if the body cannot move (`body_treeid`)."""
    @treeid.setter
    def treeid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def geomnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Geoms of this body (`body_geomnum`)."""
    @geomnum.setter
    def geomnum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def geomadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First geom (`body_geomadr`)."""
    @geomadr.setter
    def geomadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def lastdof(self) -> numpy.typing.NDArray[numpy.int32]:
        """Last dof on the path from the world, or -1 (`body_lastdof`)."""
    @lastdof.setter
    def lastdof(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def subtreenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Bodies of the subtree; they follow this one (`body_subtreenum`)."""
    @subtreenum.setter
    def subtreenum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def sameframe(self) -> numpy.typing.NDArray[numpy.int32]:
        """1: the inertial frame is the body's; 3: its axes are (`body_sameframe`)."""
    @sameframe.setter
    def sameframe(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the parent, m (`body_pos`)."""
    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the parent (`body_quat`)."""
    @quat.setter
    def quat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ipos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass in the body, m (`body_ipos`)."""
    @ipos.setter
    def ipos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def iquat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Principal axes in the body (`body_iquat`)."""
    @iquat.setter
    def iquat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def imat(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same as a matrix; set by tb_set_constants (`body_imat`)."""
    @imat.setter
    def imat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mass(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mass, kg (`body_mass`)."""
    @mass.setter
    def mass(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def subtreemass(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mass of the subtree, kg (`body_subtreemass`)."""
    @subtreemass.setter
    def subtreemass(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def inertia(self) -> numpy.typing.NDArray[numpy.float64]:
        """Principal moments, kg m2 (`body_inertia`)."""
    @inertia.setter
    def inertia(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def invweight0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mean inverse weight at qpos0: linear, angular, 1/kg (`body_invweight0`)."""
    @invweight0.setter
    def invweight0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def gravcomp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Share of gravity that is compensated (`body_gravcomp`)."""
    @gravcomp.setter
    def gravcomp(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """Largest margin of its geoms, m (`body_margin`)."""
    @margin.setter
    def margin(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values (`body_user`)."""
    @user.setter
    def user(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataBody(Part):
    """A body of a world; attributes are live rows of its arrays."""

    @property
    def mocap_pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap positions, m (`mocap_pos`)."""
    @mocap_pos.setter
    def mocap_pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mocap_quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap orientations (`mocap_quat`)."""
    @mocap_quat.setter
    def mocap_quat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xfrc_applied(self) -> numpy.typing.NDArray[numpy.float64]:
        """Applied force, torque at the body's centre of mass, world axes, N, N m (`xfrc_applied`)."""
    @xfrc_applied.setter
    def xfrc_applied(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body frame, m (`xpos`)."""
    @xpos.setter
    def xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xquat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body frame (`xquat`)."""
    @xquat.setter
    def xquat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body frame (`xmat`)."""
    @xmat.setter
    def xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xipos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass, m (`xipos`)."""
    @xipos.setter
    def xipos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ximat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Principal axes (`ximat`)."""
    @ximat.setter
    def ximat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def subtree_com(self) -> numpy.typing.NDArray[numpy.float64]:
        """Centre of mass of the subtree, m (`subtree_com`)."""
    @subtree_com.setter
    def subtree_com(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cinert(self) -> numpy.typing.NDArray[numpy.float64]:
        """Inertia: xx yy zz xy xz yz, mass * offset, mass (`cinert`)."""
    @cinert.setter
    def cinert(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def crb(self) -> numpy.typing.NDArray[numpy.float64]:
        """Composite inertia of the subtree (`crb`)."""
    @crb.setter
    def crb(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body velocity: angular, linear, about the same point (`cvel`)."""
    @cvel.setter
    def cvel(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def subtree_linvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity of the subtree's centre of mass, m/s (`subtree_linvel`)."""
    @subtree_linvel.setter
    def subtree_linvel(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def subtree_angmom(self) -> numpy.typing.NDArray[numpy.float64]:
        """Angular momentum about it, N m s (`subtree_angmom`)."""
    @subtree_angmom.setter
    def subtree_angmom(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cacc(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body acceleration, gravity included (`cacc`)."""
    @cacc.setter
    def cacc(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cfrc_int(self) -> numpy.typing.NDArray[numpy.float64]:
        """Force between a body and its parent (`cfrc_int`)."""
    @cfrc_int.setter
    def cfrc_int(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cfrc_ext(self) -> numpy.typing.NDArray[numpy.float64]:
        """External force on a body (`cfrc_ext`)."""
    @cfrc_ext.setter
    def cfrc_ext(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelJoint(Part):
    """A joint of a model; attributes are live rows of its arrays."""

    @property
    def qpos0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration of the file's pose (`qpos0`)."""
    @qpos0.setter
    def qpos0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qpos_spring(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration where joint springs rest (`qpos_spring`)."""
    @qpos_spring.setter
    def qpos_spring(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbJointType (`jnt_type`)."""
    @type.setter
    def type(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qposadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First coordinate (`jnt_qposadr`)."""
    @qposadr.setter
    def qposadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dofadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First degree of freedom (`jnt_dofadr`)."""
    @dofadr.setter
    def dofadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body (`jnt_bodyid`)."""
    @bodyid.setter
    def bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group (`jnt_group`)."""
    @group.setter
    def group(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def limited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the range is a limit (`jnt_limited`)."""
    @limited.setter
    def limited(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actfrclimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the total actuator force is clamped (`jnt_actfrclimited`)."""
    @actfrclimited.setter
    def actfrclimited(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actgravcomp(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if gravity compensation counts as actuator force (`jnt_actgravcomp`)."""
    @actgravcomp.setter
    def actgravcomp(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: reference (`jnt_solref`)."""
    @solref.setter
    def solref(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: impedance (`jnt_solimp`)."""
    @solimp.setter
    def solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Anchor in the body, m (`jnt_pos`)."""
    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def axis(self) -> numpy.typing.NDArray[numpy.float64]:
        """Unit axis in the body (`jnt_axis`)."""
    @axis.setter
    def axis(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def anchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """Anchor in the parent, were it the body's only joint, m (`jnt_anchor`)."""
    @anchor.setter
    def anchor(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def turn(self) -> numpy.typing.NDArray[numpy.float64]:
        """Body_quat times the axis as a quaternion (0, axis) (`jnt_turn`)."""
    @turn.setter
    def turn(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def stiffness(self) -> numpy.typing.NDArray[numpy.float64]:
        """Spring towards qpos_spring, N/m or N m/rad (`jnt_stiffness`)."""
    @stiffness.setter
    def stiffness(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def range(self) -> numpy.typing.NDArray[numpy.float64]:
        """Limits; ball: (0, largest angle), m or rad (`jnt_range`)."""
    @range.setter
    def range(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actfrcrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the total actuator force, N or N m (`jnt_actfrcrange`)."""
    @actfrcrange.setter
    def actfrcrange(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """Distance at which the limit becomes active, m or rad (`jnt_margin`)."""
    @margin.setter
    def margin(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values (`jnt_user`)."""
    @user.setter
    def user(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def jntid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joint (`dof_jntid`)."""
    @jntid.setter
    def jntid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def parentid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Previous dof on the path to the world, or -1 (`dof_parentid`)."""
    @parentid.setter
    def parentid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def treeid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Tree (`dof_treeid`)."""
    @treeid.setter
    def treeid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def subtreenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Dofs that move when this one does, itself included (`dof_subtreenum`)."""
    @subtreenum.setter
    def subtreenum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def frictionloss(self) -> numpy.typing.NDArray[numpy.float64]:
        """Dry friction, N or N m (`dof_frictionloss`)."""
    @frictionloss.setter
    def frictionloss(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def armature(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rotor inertia added to M, kg or kg m2 (`dof_armature`)."""
    @armature.setter
    def armature(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def damping(self) -> numpy.typing.NDArray[numpy.float64]:
        """Viscous friction, N s/m or N m s/rad (`dof_damping`)."""
    @damping.setter
    def damping(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def invweight0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mean diagonal of M^-1 at qpos0, over the joint (`dof_invweight0`)."""
    @invweight0.setter
    def invweight0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def M0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Diagonal of M at qpos0 (`dof_M0`)."""
    @M0.setter
    def M0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def M_rowadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry of the row (`M_rowadr`)."""
    @M_rowadr.setter
    def M_rowadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def M_rownnz(self) -> numpy.typing.NDArray[numpy.int32]:
        """Entries of the row (`M_rownnz`)."""
    @M_rownnz.setter
    def M_rownnz(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def M_rowrun(self) -> numpy.typing.NDArray[numpy.int32]:
        """First dof of the chain of successive parents that ends here (`M_rowrun`)."""
    @M_rowrun.setter
    def M_rowrun(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataJoint(Part):
    """A joint of a world; attributes are live rows of its arrays."""

    @property
    def qpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration (`qpos`)."""
    @qpos.setter
    def qpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity (`qvel`)."""
    @qvel.setter
    def qvel(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qacc_warmstart(self) -> numpy.typing.NDArray[numpy.float64]:
        """Last acceleration, where soft solvers start (`qacc_warmstart`)."""
    @qacc_warmstart.setter
    def qacc_warmstart(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_applied(self) -> numpy.typing.NDArray[numpy.float64]:
        """Applied generalised force, N or N m (`qfrc_applied`)."""
    @qfrc_applied.setter
    def qfrc_applied(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xanchor(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint anchor, m (`xanchor`)."""
    @xanchor.setter
    def xanchor(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xaxis(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint axis (`xaxis`)."""
    @xaxis.setter
    def xaxis(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cdof(self) -> numpy.typing.NDArray[numpy.float64]:
        """Motion axis of each dof: angular, linear (`cdof`)."""
    @cdof.setter
    def cdof(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qLDiagInv(self) -> numpy.typing.NDArray[numpy.float64]:
        """1/D (`qLDiagInv`)."""
    @qLDiagInv.setter
    def qLDiagInv(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cdof_dot(self) -> numpy.typing.NDArray[numpy.float64]:
        """Derivative of cdof (`cdof_dot`)."""
    @cdof_dot.setter
    def cdof_dot(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_bias(self) -> numpy.typing.NDArray[numpy.float64]:
        """Gravity, Coriolis and centrifugal: b (`qfrc_bias`)."""
    @qfrc_bias.setter
    def qfrc_bias(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_spring(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint and tendon springs (`qfrc_spring`)."""
    @qfrc_spring.setter
    def qfrc_spring(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_damper(self) -> numpy.typing.NDArray[numpy.float64]:
        """Joint and tendon dampers (`qfrc_damper`)."""
    @qfrc_damper.setter
    def qfrc_damper(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_gravcomp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Gravity compensation (`qfrc_gravcomp`)."""
    @qfrc_gravcomp.setter
    def qfrc_gravcomp(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_fluid(self) -> numpy.typing.NDArray[numpy.float64]:
        """Fluid forces (`qfrc_fluid`)."""
    @qfrc_fluid.setter
    def qfrc_fluid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_passive(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sum of the passive forces (`qfrc_passive`)."""
    @qfrc_passive.setter
    def qfrc_passive(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_actuator(self) -> numpy.typing.NDArray[numpy.float64]:
        """Actuators (`qfrc_actuator`)."""
    @qfrc_actuator.setter
    def qfrc_actuator(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_smooth(self) -> numpy.typing.NDArray[numpy.float64]:
        """Everything but constraints (`qfrc_smooth`)."""
    @qfrc_smooth.setter
    def qfrc_smooth(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qacc_smooth(self) -> numpy.typing.NDArray[numpy.float64]:
        """Acceleration without constraints (`qacc_smooth`)."""
    @qacc_smooth.setter
    def qacc_smooth(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qfrc_constraint(self) -> numpy.typing.NDArray[numpy.float64]:
        """Constraint forces J^T lambda / dt (`qfrc_constraint`)."""
    @qfrc_constraint.setter
    def qfrc_constraint(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qacc(self) -> numpy.typing.NDArray[numpy.float64]:
        """Acceleration (`qacc`)."""
    @qacc.setter
    def qacc(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelGeom(Part):
    """A geom of a model; attributes are live rows of its arrays."""

    @property
    def type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbGeomType (`geom_type`)."""
    @type.setter
    def type(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def contype(self) -> numpy.typing.NDArray[numpy.int32]:
        """Collision bits (`geom_contype`)."""
    @contype.setter
    def contype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def conaffinity(self) -> numpy.typing.NDArray[numpy.int32]:
        """Bits it collides with (`geom_conaffinity`)."""
    @conaffinity.setter
    def conaffinity(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def condim(self) -> numpy.typing.NDArray[numpy.int32]:
        """1, 3, 4 or 6 (`geom_condim`)."""
    @condim.setter
    def condim(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body (`geom_bodyid`)."""
    @bodyid.setter
    def bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dataid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Mesh or height field, or -1 (`geom_dataid`)."""
    @dataid.setter
    def dataid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group (`geom_group`)."""
    @group.setter
    def group(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def priority(self) -> numpy.typing.NDArray[numpy.int32]:
        """The higher priority decides the contact's parameters (`geom_priority`)."""
    @priority.setter
    def priority(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def fluid(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the ellipsoid fluid model applies (`geom_fluid`)."""
    @fluid.setter
    def fluid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def sameframe(self) -> numpy.typing.NDArray[numpy.int32]:
        """1: the body's frame; 2: its inertial frame; 3: its axes (`geom_sameframe`)."""
    @sameframe.setter
    def sameframe(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def size(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sizes, see tbGeomType, m (`geom_size`)."""
    @size.setter
    def size(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def aabb(self) -> numpy.typing.NDArray[numpy.float64]:
        """Box in the geom's frame: centre, half sizes, m (`geom_aabb`)."""
    @aabb.setter
    def aabb(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def rbound(self) -> numpy.typing.NDArray[numpy.float64]:
        """Bounding radius; 0 for planes, m (`geom_rbound`)."""
    @rbound.setter
    def rbound(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body, m (`geom_pos`)."""
    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the body (`geom_quat`)."""
    @quat.setter
    def quat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mat(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same as a matrix; set by tb_set_constants (`geom_mat`)."""
    @mat.setter
    def mat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def friction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sliding, torsional, rolling, -, m, m (`geom_friction`)."""
    @friction.setter
    def friction(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solmix(self) -> numpy.typing.NDArray[numpy.float64]:
        """Weight when soft parameters are mixed (`geom_solmix`)."""
    @solmix.setter
    def solmix(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft contact: reference (`geom_solref`)."""
    @solref.setter
    def solref(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft contact: impedance (`geom_solimp`)."""
    @solimp.setter
    def solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """The contact force acts below this distance, m (`geom_margin`)."""
    @margin.setter
    def margin(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def gap(self) -> numpy.typing.NDArray[numpy.float64]:
        """Detection distance beyond the margin; no force there, m (`geom_gap`)."""
    @gap.setter
    def gap(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def restitution(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rigid laws: coefficient of restitution (`geom_restitution`)."""
    @restitution.setter
    def restitution(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def compliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rigid laws: compliance of a contact, 0 = rigid, m/N (`geom_compliance`)."""
    @compliance.setter
    def compliance(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def tangentcompliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same along the tangents, for friction, m/N (`geom_tangentcompliance`)."""
    @tangentcompliance.setter
    def tangentcompliance(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def contactdamping(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rigid laws: damping of a compliant contact, N s/m (`geom_contactdamping`)."""
    @contactdamping.setter
    def contactdamping(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def fluidcoef(self) -> numpy.typing.NDArray[numpy.float64]:
        """Ellipsoid fluid model coefficients (`geom_fluidcoef`)."""
    @fluidcoef.setter
    def fluidcoef(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def rgba(self) -> numpy.typing.NDArray[numpy.float32]:
        """Colour (`geom_rgba`)."""
    @rgba.setter
    def rgba(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values (`geom_user`)."""
    @user.setter
    def user(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataGeom(Part):
    """A geom of a world; attributes are live rows of its arrays."""

    @property
    def xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Geom frame, m (`geom_xpos`)."""
    @xpos.setter
    def xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Geom frame (`geom_xmat`)."""
    @xmat.setter
    def xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelSite(Part):
    """A site of a model; attributes are live rows of its arrays."""

    @property
    def type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbGeomType (`site_type`)."""
    @type.setter
    def type(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body (`site_bodyid`)."""
    @bodyid.setter
    def bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group (`site_group`)."""
    @group.setter
    def group(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def sameframe(self) -> numpy.typing.NDArray[numpy.int32]:
        """As geom_sameframe (`site_sameframe`)."""
    @sameframe.setter
    def sameframe(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def size(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sizes, m (`site_size`)."""
    @size.setter
    def size(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body, m (`site_pos`)."""
    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the body (`site_quat`)."""
    @quat.setter
    def quat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mat(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same as a matrix; set by tb_set_constants (`site_mat`)."""
    @mat.setter
    def mat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def rgba(self) -> numpy.typing.NDArray[numpy.float32]:
        """Colour (`site_rgba`)."""
    @rgba.setter
    def rgba(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values (`site_user`)."""
    @user.setter
    def user(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataSite(Part):
    """A site of a world; attributes are live rows of its arrays."""

    @property
    def xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Site frame, m (`site_xpos`)."""
    @xpos.setter
    def xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Site frame (`site_xmat`)."""
    @xmat.setter
    def xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelCamera(Part):
    """A camera of a model; attributes are live rows of its arrays."""

    @property
    def bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body (`cam_bodyid`)."""
    @bodyid.setter
    def bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body, m (`cam_pos`)."""
    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation in the body, looking along -z (`cam_quat`)."""
    @quat.setter
    def quat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def fovy(self) -> numpy.typing.NDArray[numpy.float64]:
        """Vertical field of view, deg (`cam_fovy`)."""
    @fovy.setter
    def fovy(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mode(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbCamMode (`cam_mode`)."""
    @mode.setter
    def mode(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def targetbodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body it looks at, or -1 (`cam_targetbodyid`)."""
    @targetbodyid.setter
    def targetbodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position less the body's, at qpos0, m (`cam_pos0`)."""
    @pos0.setter
    def pos0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def poscom0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position less the tracked centre of mass, at qpos0, m (`cam_poscom0`)."""
    @poscom0.setter
    def poscom0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mat0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Orientation at qpos0 (`cam_mat0`)."""
    @mat0.setter
    def mat0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def resolution(self) -> numpy.typing.NDArray[numpy.int32]:
        """Pixels (`cam_resolution`)."""
    @resolution.setter
    def resolution(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def sensorsize(self) -> numpy.typing.NDArray[numpy.float64]:
        """Size of the sensor chip; 0: fovy is used, m (`cam_sensorsize`)."""
    @sensorsize.setter
    def sensorsize(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def intrinsic(self) -> numpy.typing.NDArray[numpy.float64]:
        """Focal lengths and principal point, m (`cam_intrinsic`)."""
    @intrinsic.setter
    def intrinsic(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataCamera(Part):
    """A camera of a world; attributes are live rows of its arrays."""

    @property
    def xpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Camera positions, m (`cam_xpos`)."""
    @xpos.setter
    def xpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def xmat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Camera frame (`cam_xmat`)."""
    @xmat.setter
    def xmat(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelLight(Part):
    """A light of a model; attributes are live rows of its arrays."""

    @property
    def bodyid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body (`light_bodyid`)."""
    @bodyid.setter
    def bodyid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Position in the body, m (`light_pos`)."""
    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dir(self) -> numpy.typing.NDArray[numpy.float64]:
        """Direction in the body (`light_dir`)."""
    @dir.setter
    def dir(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelMesh(Part):
    """A mesh of a model; attributes are live rows of its arrays."""

    @property
    def vertadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First vertex (`mesh_vertadr`)."""
    @vertadr.setter
    def vertadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def vertnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Vertices (`mesh_vertnum`)."""
    @vertnum.setter
    def vertnum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def faceadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First triangle (`mesh_faceadr`)."""
    @faceadr.setter
    def faceadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def facenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Triangles (`mesh_facenum`)."""
    @facenum.setter
    def facenum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullvertadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First hull vertex, or -1 if no geom needs the hull (`mesh_hullvertadr`)."""
    @hullvertadr.setter
    def hullvertadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullvertnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Hull vertices (`mesh_hullvertnum`)."""
    @hullvertnum.setter
    def hullvertnum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hulladradr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_vertadr (`mesh_hulladradr`)."""
    @hulladradr.setter
    def hulladradr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hulledgeadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_edge (`mesh_hulledgeadr`)."""
    @hulledgeadr.setter
    def hulledgeadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullfaceadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First hull face (`mesh_hullfaceadr`)."""
    @hullfaceadr.setter
    def hullfaceadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullfacenum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Hull faces (`mesh_hullfacenum`)."""
    @hullfacenum.setter
    def hullfacenum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullfaceadradr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_faceadr (`mesh_hullfaceadradr`)."""
    @hullfaceadradr.setter
    def hullfaceadradr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullpolyadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_poly and hull_polyadj (`mesh_hullpolyadr`)."""
    @hullpolyadr.setter
    def hullpolyadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullcenter(self) -> numpy.typing.NDArray[numpy.float64]:
        """A point inside the hull, m (`mesh_hullcenter`)."""
    @hullcenter.setter
    def hullcenter(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullradius(self) -> numpy.typing.NDArray[numpy.float64]:
        """Radius about it that holds every vertex, m (`mesh_hullradius`)."""
    @hullradius.setter
    def hullradius(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullside(self) -> numpy.typing.NDArray[numpy.int32]:
        """Cells along each side of a cube's face, 0 if there are none (`mesh_hullside`)."""
    @hullside.setter
    def hullside(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullcelladr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry in hull_cell (`mesh_hullcelladr`)."""
    @hullcelladr.setter
    def hullcelladr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hullguess(self) -> numpy.typing.NDArray[numpy.int32]:
        """Hull vertices where a support search starts (`mesh_hullguess`)."""
    @hullguess.setter
    def hullguess(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def pos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Translation subtracted from the file's vertices, m (`mesh_pos`)."""
    @pos.setter
    def pos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def quat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Rotation applied to the file's vertices (`mesh_quat`)."""
    @quat.setter
    def quat(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def scale(self) -> numpy.typing.NDArray[numpy.float64]:
        """Scale applied to the file's vertices (`mesh_scale`)."""
    @scale.setter
    def scale(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelHfield(Part):
    """A hfield of a model; attributes are live rows of its arrays."""

    @property
    def size(self) -> numpy.typing.NDArray[numpy.float64]:
        """X half, y half, top, base below zero, m (`hfield_size`)."""
    @size.setter
    def size(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def nrow(self) -> numpy.typing.NDArray[numpy.int32]:
        """Rows (`hfield_nrow`)."""
    @nrow.setter
    def nrow(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ncol(self) -> numpy.typing.NDArray[numpy.int32]:
        """Columns (`hfield_ncol`)."""
    @ncol.setter
    def ncol(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First sample (`hfield_adr`)."""
    @adr.setter
    def adr(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelPair(Part):
    """A pair of a model; attributes are live rows of its arrays."""

    @property
    def dim(self) -> numpy.typing.NDArray[numpy.int32]:
        """Contact dimension (`pair_dim`)."""
    @dim.setter
    def dim(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def geom1(self) -> numpy.typing.NDArray[numpy.int32]:
        """Geom (`pair_geom1`)."""
    @geom1.setter
    def geom1(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def geom2(self) -> numpy.typing.NDArray[numpy.int32]:
        """Geom (`pair_geom2`)."""
    @geom2.setter
    def geom2(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Reference (`pair_solref`)."""
    @solref.setter
    def solref(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solreffriction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Reference of friction rows; 0: as solref (`pair_solreffriction`)."""
    @solreffriction.setter
    def solreffriction(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Impedance (`pair_solimp`)."""
    @solimp.setter
    def solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """The contact force acts below this distance, m (`pair_margin`)."""
    @margin.setter
    def margin(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def gap(self) -> numpy.typing.NDArray[numpy.float64]:
        """Detection distance beyond the margin; no force there, m (`pair_gap`)."""
    @gap.setter
    def gap(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def friction(self) -> numpy.typing.NDArray[numpy.float64]:
        """Two sliding, torsional, two rolling, -, -, m, m, m (`pair_friction`)."""
    @friction.setter
    def friction(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def restitution(self) -> numpy.typing.NDArray[numpy.float64]:
        """As geom_restitution; -1: from the geoms (`pair_restitution`)."""
    @restitution.setter
    def restitution(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def compliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """As geom_compliance; -1: from the geoms, m/N (`pair_compliance`)."""
    @compliance.setter
    def compliance(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def tangentcompliance(self) -> numpy.typing.NDArray[numpy.float64]:
        """The same along the tangents, m/N (`pair_tangentcompliance`)."""
    @tangentcompliance.setter
    def tangentcompliance(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def contactdamping(self) -> numpy.typing.NDArray[numpy.float64]:
        """As the geoms'; -1: from the geoms, N s/m (`pair_contactdamping`)."""
    @contactdamping.setter
    def contactdamping(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def comfree(self) -> numpy.typing.NDArray[numpy.float64]:
        """Comfree: k_user, d_user; -1: the options', 1/s, - (`pair_comfree`)."""
    @comfree.setter
    def comfree(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelExclude(Part):
    """A exclude of a model; attributes are live rows of its arrays."""

    @property
    def body1(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body (`exclude_body1`)."""
    @body1.setter
    def body1(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def body2(self) -> numpy.typing.NDArray[numpy.int32]:
        """Body (`exclude_body2`)."""
    @body2.setter
    def body2(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelEquality(Part):
    """A equality of a model; attributes are live rows of its arrays."""

    @property
    def type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbEqualityType (`eq_type`)."""
    @type.setter
    def type(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def obj1id(self) -> numpy.typing.NDArray[numpy.int32]:
        """First body, site, joint or tendon (`eq_obj1id`)."""
    @obj1id.setter
    def obj1id(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def obj2id(self) -> numpy.typing.NDArray[numpy.int32]:
        """Second, or -1 (`eq_obj2id`)."""
    @obj2id.setter
    def obj2id(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def objtype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType of the two (`eq_objtype`)."""
    @objtype.setter
    def objtype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def active0(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if active at the start (`eq_active0`)."""
    @active0.setter
    def active0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solref(self) -> numpy.typing.NDArray[numpy.float64]:
        """Reference (`eq_solref`)."""
    @solref.setter
    def solref(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solimp(self) -> numpy.typing.NDArray[numpy.float64]:
        """Impedance (`eq_solimp`)."""
    @solimp.setter
    def solimp(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def data(self) -> numpy.typing.NDArray[numpy.float64]:
        """Anchors, relative pose or polynomial (`eq_data`)."""
    @data.setter
    def data(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def hold(self) -> numpy.typing.NDArray[numpy.float64]:
        """Welds: from the anchor to the point that rigid laws constrain, m (`eq_hold`)."""
    @hold.setter
    def hold(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataEquality(Part):
    """A equality of a world; attributes are live rows of its arrays."""

    @property
    def active(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the equality constraint is active (`eq_active`)."""
    @active.setter
    def active(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def load(self) -> numpy.typing.NDArray[numpy.float64]:
        """Pull on its two bodies, where it counts as tension, N (`eq_load`)."""
    @load.setter
    def load(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelTendon(Part):
    """A tendon of a model; attributes are live rows of its arrays."""

    @property
    def adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First path element (`tendon_adr`)."""
    @adr.setter
    def adr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def num(self) -> numpy.typing.NDArray[numpy.int32]:
        """Path elements (`tendon_num`)."""
    @num.setter
    def num(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group (`tendon_group`)."""
    @group.setter
    def group(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def limited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the range is a limit (`tendon_limited`)."""
    @limited.setter
    def limited(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actfrclimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the total actuator force is clamped (`tendon_actfrclimited`)."""
    @actfrclimited.setter
    def actfrclimited(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solref_lim(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: reference (`tendon_solref_lim`)."""
    @solref_lim.setter
    def solref_lim(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solimp_lim(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft limit: impedance (`tendon_solimp_lim`)."""
    @solimp_lim.setter
    def solimp_lim(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solref_fri(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft dry friction: reference (`tendon_solref_fri`)."""
    @solref_fri.setter
    def solref_fri(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def solimp_fri(self) -> numpy.typing.NDArray[numpy.float64]:
        """Soft dry friction: impedance (`tendon_solimp_fri`)."""
    @solimp_fri.setter
    def solimp_fri(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def range(self) -> numpy.typing.NDArray[numpy.float64]:
        """Length limits, m (`tendon_range`)."""
    @range.setter
    def range(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actfrcrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the total actuator force, N (`tendon_actfrcrange`)."""
    @actfrcrange.setter
    def actfrcrange(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def margin(self) -> numpy.typing.NDArray[numpy.float64]:
        """Distance at which a limit becomes active, m (`tendon_margin`)."""
    @margin.setter
    def margin(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def stiffness(self) -> numpy.typing.NDArray[numpy.float64]:
        """Spring, N/m (`tendon_stiffness`)."""
    @stiffness.setter
    def stiffness(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def damping(self) -> numpy.typing.NDArray[numpy.float64]:
        """Damping, N s/m (`tendon_damping`)."""
    @damping.setter
    def damping(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def armature(self) -> numpy.typing.NDArray[numpy.float64]:
        """Inertia along the tendon, kg (`tendon_armature`)."""
    @armature.setter
    def armature(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def frictionloss(self) -> numpy.typing.NDArray[numpy.float64]:
        """Dry friction, N (`tendon_frictionloss`)."""
    @frictionloss.setter
    def frictionloss(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def lengthspring(self) -> numpy.typing.NDArray[numpy.float64]:
        """Spring's dead band, m (`tendon_lengthspring`)."""
    @lengthspring.setter
    def lengthspring(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def length0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Length at qpos0, m (`tendon_length0`)."""
    @length0.setter
    def length0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def invweight0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Inverse weight at qpos0, 1/kg (`tendon_invweight0`)."""
    @invweight0.setter
    def invweight0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def rgba(self) -> numpy.typing.NDArray[numpy.float32]:
        """Colour (`tendon_rgba`)."""
    @rgba.setter
    def rgba(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values (`tendon_user`)."""
    @user.setter
    def user(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def Jadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry of its Jacobian row in ten_J and Jten_colind (`tendon_Jadr`)."""
    @Jadr.setter
    def Jadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def Jnnz(self) -> numpy.typing.NDArray[numpy.int32]:
        """Entries of its Jacobian row (`tendon_Jnnz`)."""
    @Jnnz.setter
    def Jnnz(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataTendon(Part):
    """A tendon of a world; attributes are live rows of its arrays."""

    @property
    def load(self) -> numpy.typing.NDArray[numpy.float64]:
        """Force along it, where it counts as tension, N (`ten_load`)."""
    @load.setter
    def load(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def length(self) -> numpy.typing.NDArray[numpy.float64]:
        """Tendon length, m (`ten_length`)."""
    @length.setter
    def length(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def velocity(self) -> numpy.typing.NDArray[numpy.float64]:
        """Tendon velocity, m/s (`ten_velocity`)."""
    @velocity.setter
    def velocity(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelActuator(Part):
    """A actuator of a model; attributes are live rows of its arrays."""

    @property
    def trntype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbTransmission (`actuator_trntype`)."""
    @trntype.setter
    def trntype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dyntype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbDynType (`actuator_dyntype`)."""
    @dyntype.setter
    def dyntype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def gaintype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbGainType (`actuator_gaintype`)."""
    @gaintype.setter
    def gaintype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def biastype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbBiasType (`actuator_biastype`)."""
    @biastype.setter
    def biastype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def trnid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Joint, tendon, site or body; second site or -1 (`actuator_trnid`)."""
    @trnid.setter
    def trnid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First activation state, or -1 (`actuator_actadr`)."""
    @actadr.setter
    def actadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actnum(self) -> numpy.typing.NDArray[numpy.int32]:
        """Activation states (`actuator_actnum`)."""
    @actnum.setter
    def actnum(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def group(self) -> numpy.typing.NDArray[numpy.int32]:
        """Group (`actuator_group`)."""
    @group.setter
    def group(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ctrllimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if ctrl is clamped (`actuator_ctrllimited`)."""
    @ctrllimited.setter
    def ctrllimited(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def forcelimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the force is clamped (`actuator_forcelimited`)."""
    @forcelimited.setter
    def forcelimited(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actlimited(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if the activation is clamped (`actuator_actlimited`)."""
    @actlimited.setter
    def actlimited(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actearly(self) -> numpy.typing.NDArray[numpy.int32]:
        """1 if force uses the next activation (`actuator_actearly`)."""
    @actearly.setter
    def actearly(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def Jadr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First entry of its row in actuator_moment and Jmom_colind (`actuator_Jadr`)."""
    @Jadr.setter
    def Jadr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def Jnnz(self) -> numpy.typing.NDArray[numpy.int32]:
        """Entries of its row (`actuator_Jnnz`)."""
    @Jnnz.setter
    def Jnnz(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dynprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Activation dynamics (`actuator_dynprm`)."""
    @dynprm.setter
    def dynprm(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def gainprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Gain (`actuator_gainprm`)."""
    @gainprm.setter
    def gainprm(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def biasprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Bias (`actuator_biasprm`)."""
    @biasprm.setter
    def biasprm(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ctrlrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of ctrl (`actuator_ctrlrange`)."""
    @ctrlrange.setter
    def ctrlrange(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def forcerange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the force, N or N m (`actuator_forcerange`)."""
    @forcerange.setter
    def forcerange(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def actrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp of the activation (`actuator_actrange`)."""
    @actrange.setter
    def actrange(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def gear(self) -> numpy.typing.NDArray[numpy.float64]:
        """Scales of length and force (`actuator_gear`)."""
    @gear.setter
    def gear(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cranklength(self) -> numpy.typing.NDArray[numpy.float64]:
        """Slider-crank rod, m (`actuator_cranklength`)."""
    @cranklength.setter
    def cranklength(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def acc0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Acceleration from unit force at qpos0 (`actuator_acc0`)."""
    @acc0.setter
    def acc0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def length0(self) -> numpy.typing.NDArray[numpy.float64]:
        """Length at qpos0 (`actuator_length0`)."""
    @length0.setter
    def length0(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def lengthrange(self) -> numpy.typing.NDArray[numpy.float64]:
        """Feasible lengths (`actuator_lengthrange`)."""
    @lengthrange.setter
    def lengthrange(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values (`actuator_user`)."""
    @user.setter
    def user(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataActuator(Part):
    """A actuator of a world; attributes are live rows of its arrays."""

    @property
    def act(self) -> numpy.typing.NDArray[numpy.float64]:
        """Activation (`act`)."""
    @act.setter
    def act(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ctrl(self) -> numpy.typing.NDArray[numpy.float64]:
        """Control (`ctrl`)."""
    @ctrl.setter
    def ctrl(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def length(self) -> numpy.typing.NDArray[numpy.float64]:
        """Actuator length (`actuator_length`)."""
    @length.setter
    def length(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def velocity(self) -> numpy.typing.NDArray[numpy.float64]:
        """Actuator velocity (`actuator_velocity`)."""
    @velocity.setter
    def velocity(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def force(self) -> numpy.typing.NDArray[numpy.float64]:
        """Scalar actuator force (`actuator_force`)."""
    @force.setter
    def force(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def act_dot(self) -> numpy.typing.NDArray[numpy.float64]:
        """Derivative of the activation (`act_dot`)."""
    @act_dot.setter
    def act_dot(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelSensor(Part):
    """A sensor of a model; attributes are live rows of its arrays."""

    @property
    def type(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbSensorType (`sensor_type`)."""
    @type.setter
    def type(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def objtype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType (`sensor_objtype`)."""
    @objtype.setter
    def objtype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def objid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Object (`sensor_objid`)."""
    @objid.setter
    def objid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def reftype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType of the reference frame (`sensor_reftype`)."""
    @reftype.setter
    def reftype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def refid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Reference frame, or -1 for the world (`sensor_refid`)."""
    @refid.setter
    def refid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def dim(self) -> numpy.typing.NDArray[numpy.int32]:
        """Values (`sensor_dim`)."""
    @dim.setter
    def dim(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First value in sensordata (`sensor_adr`)."""
    @adr.setter
    def adr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def intprm(self) -> numpy.typing.NDArray[numpy.int32]:
        """Contact: tbContactDataBit, tbContactReduce, contacts (`sensor_intprm`)."""
    @intprm.setter
    def intprm(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def cutoff(self) -> numpy.typing.NDArray[numpy.float64]:
        """Clamp; 0: none (`sensor_cutoff`)."""
    @cutoff.setter
    def cutoff(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def noise(self) -> numpy.typing.NDArray[numpy.float64]:
        """Standard deviation, for the user (`sensor_noise`)."""
    @noise.setter
    def noise(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def user(self) -> numpy.typing.NDArray[numpy.float64]:
        """User values (`sensor_user`)."""
    @user.setter
    def user(self, value: numpy.typing.ArrayLike, /) -> None: ...

class DataSensor(Part):
    """A sensor of a world; attributes are live rows of its arrays."""

    @property
    def data(self) -> numpy.typing.NDArray[numpy.float64]:
        """Sensor values (`sensordata`)."""
    @data.setter
    def data(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelNumeric(Part):
    """A numeric of a model; attributes are live rows of its arrays."""

    @property
    def adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First value (`numeric_adr`)."""
    @adr.setter
    def adr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def size(self) -> numpy.typing.NDArray[numpy.int32]:
        """Values (`numeric_size`)."""
    @size.setter
    def size(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def data(self) -> numpy.typing.NDArray[numpy.float64]:
        """Values (`numeric_data`)."""
    @data.setter
    def data(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelText(Part):
    """A text of a model; attributes are live rows of its arrays."""

    @property
    def adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First character (`text_adr`)."""
    @adr.setter
    def adr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def size(self) -> numpy.typing.NDArray[numpy.int32]:
        """Characters, the zero included (`text_size`)."""
    @size.setter
    def size(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelTuple(Part):
    """A tuple of a model; attributes are live rows of its arrays."""

    @property
    def adr(self) -> numpy.typing.NDArray[numpy.int32]:
        """First object (`tuple_adr`)."""
    @adr.setter
    def adr(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def size(self) -> numpy.typing.NDArray[numpy.int32]:
        """Objects (`tuple_size`)."""
    @size.setter
    def size(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def objtype(self) -> numpy.typing.NDArray[numpy.int32]:
        """TbObjType (`tuple_objtype`)."""
    @objtype.setter
    def objtype(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def objid(self) -> numpy.typing.NDArray[numpy.int32]:
        """Object (`tuple_objid`)."""
    @objid.setter
    def objid(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def objprm(self) -> numpy.typing.NDArray[numpy.float64]:
        """Value per object (`tuple_objprm`)."""
    @objprm.setter
    def objprm(self, value: numpy.typing.ArrayLike, /) -> None: ...

class ModelKey(Part):
    """A key of a model; attributes are live rows of its arrays."""

    @property
    def time(self) -> numpy.typing.NDArray[numpy.float64]:
        """Time, s (`key_time`)."""
    @time.setter
    def time(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Configuration (`key_qpos`)."""
    @qpos.setter
    def qpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def qvel(self) -> numpy.typing.NDArray[numpy.float64]:
        """Velocity (`key_qvel`)."""
    @qvel.setter
    def qvel(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def act(self) -> numpy.typing.NDArray[numpy.float64]:
        """Activation (`key_act`)."""
    @act.setter
    def act(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def ctrl(self) -> numpy.typing.NDArray[numpy.float64]:
        """Control (`key_ctrl`)."""
    @ctrl.setter
    def ctrl(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mpos(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap positions, m (`key_mpos`)."""
    @mpos.setter
    def mpos(self, value: numpy.typing.ArrayLike, /) -> None: ...
    @property
    def mquat(self) -> numpy.typing.NDArray[numpy.float64]:
        """Mocap orientations (`key_mquat`)."""
    @mquat.setter
    def mquat(self, value: numpy.typing.ArrayLike, /) -> None: ...
