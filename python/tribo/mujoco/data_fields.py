"""Fields of MjData that follow from Tribo's, and those that it does not have."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core

_CONSTRAINT = (
    "rows of constraints are internal to each law: see contact[i], mj_contactForce, "
    "qfrc_constraint, data.solve"
)
_ISLAND = "islands are internal to the solvers"
_SLEEP = "see tribo.tree_asleep(m, d, tree)"


def _fixed(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def quaternions(matrices: Any) -> Any:
    """Unit quaternions of rotation matrices given as rows of 9."""
    m = np.asarray(matrices).reshape(-1, 3, 3)
    if not len(m):
        return np.zeros((0, 4))
    xx, yy, zz = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    # Four times the square of each component; the largest is divided by.
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], 1)
    wx, wy, wz = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    table = np.stack(
        [
            np.stack([squares[:, 0], wx, wy, wz], 1),
            np.stack([wx, squares[:, 1], xy, xz], 1),
            np.stack([wy, xy, squares[:, 2], yz], 1),
            np.stack([wz, xz, yz, squares[:, 3]], 1),
        ],
        1,
    )
    best = squares.argmax(1)
    q = table[np.arange(len(m)), best]
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def _iterations(d: Any) -> Any:
    counts = np.zeros(20, np.int32)
    counts[0] = d.solve.iterations
    return _fixed(counts)


def _light(d: Any, position: bool) -> Any:
    m = d.model
    frames = d.xmat.reshape(-1, 3, 3)[m.light_bodyid]
    local = m.light_pos if position else m.light_dir
    turned = np.einsum("nij,nj->ni", frames, local)
    return _fixed(turned + d.xpos[m.light_bodyid] if position else turned)


def _awake(d: Any) -> int:
    m = d.model
    return m.ntree - sum(_core.tree_asleep(m, d, tree) for tree in range(m.ntree))


COMPUTED: dict[str, Callable[[Any], Any]] = {
    "M": lambda d: d.qM,
    "xiquat": lambda d: _fixed(quaternions(d.ximat)),
    "geom_xquat": lambda d: _fixed(quaternions(d.geom_xmat)),
    "site_xquat": lambda d: _fixed(quaternions(d.site_xmat)),
    "moment_rownnz": lambda d: d.model.actuator_Jnnz,
    "moment_rowadr": lambda d: d.model.actuator_Jadr,
    "moment_colind": lambda d: d.model.Jmom_colind,
    "solver_niter": _iterations,
    "light_xpos": lambda d: _light(d, True),
    "light_xdir": lambda d: _light(d, False),
    "ntree_awake": _awake,
    "threadpool": lambda d: d._extra.get("threads", 0),
    "history": lambda d: np.zeros(0),
    "plastic": lambda d: np.zeros(0),
    "plugin_state": lambda d: np.zeros(0),
}

_ABSENT = {
    _CONSTRAINT: "efc_AR efc_AR_colind efc_AR_rowadr efc_AR_rownnz efc_D efc_J efc_J_colind efc_J_rowadr "
    "efc_J_rownnz efc_J_rowsuper efc_KBIP efc_R efc_Y efc_aref efc_b efc_diagA efc_force "
    "efc_frictionloss efc_id efc_island efc_margin efc_pos efc_state efc_type efc_vel ne nf nl nefc nJ nA "
    "nY tendon_efcadr solver_fwdinv solver_nnz solver iefc_D iefc_R iefc_aref iefc_force iefc_id "
    "iefc_state iefc_type",
    _ISLAND: "nisland nidof dof_island tree_island island_nv island_nefc island_dofadr map_dof2idof map_idof2dof "
    "map_efc2iefc map_iefc2efc iacc iacc_smooth ifrc_smooth ifrc_constraint",
    _SLEEP: "body_awake body_awake_ind dof_awake_ind tree_asleep tree_awake nbody_awake nv_awake nparent_awake",
    "Tribo's memory is its own: see memory_bytes": "narena nbuffer parena pstack pbase maxuse_arena maxuse_con "
    "maxuse_efc maxuse_stack",
    "Tribo has no deformable bodies": "flexedge_J flexedge_length flexedge_velocity flexelem_aabb flexvert_xpos",
    "an internal of MuJoCo's integrators": "qDeriv qLU qH qHDiagInv efm_L efm_c efm_active efm_K_val nefmK nefmL",
    "Tribo has no plugins": "plugin plugin_data nplugin",
    "Tribo does not have it": "bvh_aabb_dyn bvh_active qfrc_adhesion signature wrap_obj wrap_xpos ten_wrapadr "
    "ten_wrapnum flg_energypos flg_energyvel flg_rnepost flg_subtreevel",
}
# Why a field of MuJoCo is not there.
WHY = {name: why for why, names in _ABSENT.items() for name in names.split()}
