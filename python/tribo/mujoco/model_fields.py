"""Fields of a model that MuJoCo has under another kind, those that follow from Tribo's, and the rest."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _parts

# 0 and 1 in Tribo, booleans in MuJoCo.
BOOLS = (
    "actuator_actearly",
    "actuator_actlimited",
    "actuator_ctrllimited",
    "actuator_forcelimited",
    "eq_active0",
    "jnt_actfrclimited",
    "jnt_actgravcomp",
    "jnt_limited",
    "tendon_actfrclimited",
    "tendon_limited",
)
# Kinds with other numbers: "user" comes after kinds that Tribo does not have.
MAPPED: dict[str, dict[int, int]] = {
    "actuator_dyntype": {5: 7},
    "actuator_gaintype": {3: 6},
    "actuator_biastype": {3: 5},
}
NAME_ADDRESSES = tuple(row[2] for row in _parts.KINDS.values())

# Stage at which a type of sensor is computed: position 1, velocity 2, acceleration 3.
_VELOCITY = {2, 3, 10, 12, 14, 19, 21, 24, 31, 32, 36, 37, 44}
_ACCELERATION = {0, 1, 4, 5, 15, 16, 17, 22, 25, 33, 34, 42, 46, 47, 48}
_AXIS, _QUATERNION, _POSITIVE = {28, 29, 30, 40}, {18, 27}, {0, 7}


def _fixed(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def _full(size: str, value: int) -> Callable[[Any], Any]:
    return lambda m: _fixed(np.full(getattr(m, size), value, np.int32))


def _stages(m: Any) -> Any:
    stages = [2 if t in _VELOCITY else 3 if t in _ACCELERATION else 1 for t in m.sensor_type]
    for i, stage in m._extra.get("user_stages", {}).items():
        stages[i] = stage
    return _fixed(np.array(stages, np.int32))


def _data_types(m: Any) -> Any:
    return _fixed(
        np.array(
            [
                2 if t in _AXIS else 3 if t in _QUATERNION else 1 if t in _POSITIVE else 0
                for t in m.sensor_type
            ],
            np.int32,
        )
    )


def _signature(first: Any, second: Any) -> Any:
    return _fixed(((np.asarray(first, np.int64) << 16) + second).astype(np.int32))


def _nothing(*shape: int, kind: Any = np.int32) -> Callable[[Any], Any]:
    return lambda m: _fixed(np.zeros(shape, kind))


COMPUTED: dict[str, Callable[[Any], Any]] = {
    "signature": lambda m: zlib.crc32(m._extra.get("spec", m.names.decode()).encode()),
    "nC": lambda m: m.nM,
    "nactuator": lambda m: m.nu,
    "nout": lambda m: m.nu,
    "actuator_ctrladr": lambda m: _fixed(np.arange(m.nu, dtype=np.int32)),
    "actuator_ctrlnum": _full("nu", 1),
    "actuator_outadr": lambda m: _fixed(np.arange(m.nu, dtype=np.int32)),
    "actuator_outnum": _full("nu", 1),
    "dof_Madr": lambda m: _fixed(m.M_rowadr + m.M_rownnz - 1),
    "ten_J_rownnz": lambda m: m.tendon_Jnnz,
    "ten_J_rowadr": lambda m: m.tendon_Jadr,
    "ten_J_colind": lambda m: m.Jten_colind,
    "exclude_signature": lambda m: _signature(m.exclude_body1, m.exclude_body2),
    "pair_signature": lambda m: _signature(m.geom_bodyid[m.pair_geom1], m.geom_bodyid[m.pair_geom2]),
    "sensor_needstage": _stages,
    "sensor_datatype": _data_types,
    "geom_matid": _full("ngeom", -1),
    "site_matid": _full("nsite", -1),
    "tendon_matid": _full("ntendon", -1),
    "geom_plugin": _full("ngeom", -1),
    "body_plugin": _full("nbody", -1),
    "actuator_plugin": _full("nu", -1),
    "sensor_plugin": _full("nsensor", -1),
    "ngravcomp": lambda m: int(np.count_nonzero(m.body_gravcomp)),
    "flg_gravcomp": lambda m: bool(np.any(m.body_gravcomp)),
    "flg_surfacevel": lambda m: False,
    "flg_adhesion": lambda m: False,
    "plugin": _nothing(0),
    "tex_data": _nothing(0, kind=np.uint8),
}
# Sizes of what Tribo's models never have: they are zero.
for _size in (
    "nflex",
    "nflexvert",
    "nflexedge",
    "nflexelem",
    "nskin",
    "nskinvert",
    "nplugin",
    "npluginstate",
    "nmat",
    "ntex",
    "ntexdata",
    "nhistory",
    "nplastic",
    "noct",
    "npaths",
    "nuser_cam",
):
    COMPUTED[_size] = lambda m: 0

_FAMILIES = {
    "flex": "Tribo has no deformable bodies",
    "flexedge": "Tribo has no deformable bodies",
    "skin": "Tribo has no skins",
    "plugin": "Tribo has no plugins",
    "mat": "Tribo keeps no materials: see geom_rgba",
    "tex": "Tribo keeps no textures",
    "bvh": "Tribo's bounding boxes are its own",
    "oct": "Tribo has no octrees",
    "efm": "an internal of MuJoCo's discrete integrator",
    "B": "an internal of MuJoCo's sparse matrices",
    "D": "an internal of MuJoCo's sparse matrices",
    "mesh": "Tribo's meshes have vertices, faces and hulls (hull_*)",
    "light": "Tribo keeps a light's place and direction",
    "jnt": "Tribo does not have it",
    "cam": "Tribo does not have it",
    "sensor": "Tribo has no delays",
    "actuator": "Tribo does not have it",
}
_ABSENT = (
    "B_colind B_rowadr B_rownnz D_colind D_diag D_rowadr D_rownnz actuator_armature actuator_damping "
    "actuator_dampingpoly actuator_delay actuator_history actuator_historyadr body_bvhadr body_bvhnum "
    "body_conaffinity body_contype body_simple bvh_aabb bvh_child bvh_depth bvh_nodeid cam_ipd cam_output "
    "cam_projection cam_user dof_dampingpoly dof_length dof_simplenum efm0_L efmC_perm geom_adhesion "
    "geom_castshadow geom_surfacevel hfield_pathadr jnt_actuatorid jnt_plasticadr jnt_springyield "
    "jnt_stiffnesspoly key_plastic light_active light_ambient light_attenuation light_bulbradius "
    "light_castshadow light_cutoff light_diffuse light_dir0 light_exponent light_intensity light_mode "
    "light_pos0 "
    "light_poscom0 light_range light_softness light_specular light_targetbodyid light_texid light_type "
    "mapD2M "
    "mapM2D mapM2M mat_emission mat_metallic mat_reflectance mat_rgba mat_roughness mat_shininess "
    "mat_specular "
    "mat_texid mat_texrepeat mat_texuniform mesh_bvhadr mesh_bvhnum mesh_extrema mesh_facenormal "
    "mesh_facetexcoord mesh_graph mesh_graphadr mesh_normal mesh_normaladr mesh_normalnum mesh_octadr "
    "mesh_octnum mesh_pathadr mesh_polyadr mesh_polymap mesh_polymapadr mesh_polymapnum mesh_polynormal "
    "mesh_polynum mesh_polyvert mesh_polyvertadr mesh_polyvertnum mesh_texcoord mesh_texcoordadr "
    "mesh_texcoordnum nB nD nJfe narena nbuffer nbvh nbvhdynamic nbvhstatic nconmax nefm0L njmax nmeshgraph "
    "nmeshnormal nmeshpoly nmeshtexcoord nnames_map names_map paths pair_adhesion plugin_attr plugin_attradr "
    "plugin_stateadr plugin_statenum sensor_delay sensor_history sensor_historyadr sensor_interval "
    "site_dataid skin_vert tendon_actuatorid tendon_dampingpoly tendon_plasticadr tendon_springyield "
    "tendon_stiffnesspoly tendon_treeid tendon_treenum tendon_type tendon_width tex_adr tex_colorspace "
    "tex_height "
    "tex_nchannel tex_type tex_width tree_sleep_policy flex_vert flex_elem flexedge_length0"
)
# Why a field of MuJoCo is not there.
WHY = {name: _FAMILIES.get(name.split("_")[0], "Tribo does not have it") for name in _ABSENT.split()}
