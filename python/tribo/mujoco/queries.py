"""The functions `mj_...` that answer: names, Jacobians, inertia, rays, distances, forces."""

from typing import Any

import numpy as np

from .. import _core
from .arrays import out, vector
from .errors import FatalError, fatal
from .functions import tribo_type

__all__ = [
    "mj_addM",
    "mj_angmomMat",
    "mj_applyFT",
    "mj_contactForce",
    "mj_defaultLROpt",
    "mj_defaultOption",
    "mj_defaultSolRefImp",
    "mj_defaultVisual",
    "mj_differentiatePos",
    "mj_fullM",
    "mj_geomDistance",
    "mj_getTotalmass",
    "mj_id2name",
    "mj_insideSite",
    "mj_integratePos",
    "mj_isDual",
    "mj_isPyramidal",
    "mj_isSparse",
    "mj_jac",
    "mj_jacBody",
    "mj_jacBodyCom",
    "mj_jacDot",
    "mj_jacGeom",
    "mj_jacPointAxis",
    "mj_jacSite",
    "mj_jacSubtreeCom",
    "mj_local2Global",
    "mj_maxContact",
    "mj_mulM",
    "mj_multiRay",
    "mj_name2id",
    "mj_normalizeQuat",
    "mj_objectAcceleration",
    "mj_objectVelocity",
    "mj_printData",
    "mj_printModel",
    "mj_ray",
    "mj_rne",
    "mj_saveLastXML",
    "mj_saveModel",
    "mj_setConst",
    "mj_setLengthRange",
    "mj_setTotalmass",
    "mj_sizeModel",
    "mj_solveM",
    "mj_version",
    "mj_versionString",
]


# ---- names ----------------------------------------------------------------------------------------


def mj_name2id(m: Any, type: int, name: str) -> int:
    """Id of a named object, or -1."""
    return int(m.name2id(tribo_type(type, "mj_name2id"), name)) if name else -1


def mj_id2name(m: Any, type: int, id: int) -> str | None:
    """Name of an object, None where it has none."""
    return m.id2name(tribo_type(type, "mj_id2name"), int(id)) or None


# ---- Jacobians ------------------------------------------------------------------------------------


def _write(m: Any, jacp: Any, jacr: Any, pair: Any) -> None:
    shape = (3, m.nv)
    targets = out(jacp, shape, "jacp", True), out(jacr, shape, "jacr", True)
    values = pair()
    for target, value in zip(targets, values, strict=True):
        if target is not None:
            target[...] = value


def mj_jac(m: Any, d: Any, jacp: Any, jacr: Any, point: Any, body: int) -> None:
    """Jacobian of a world point fixed to a body."""
    _write(m, jacp, jacr, lambda: _core.jac(m, d, int(body), vector(point, 3, "point")))


def mj_jacDot(m: Any, d: Any, jacp: Any, jacr: Any, point: Any, body: int) -> None:
    """Time derivative of mj_jac."""
    _write(m, jacp, jacr, lambda: _core.jac_dot(m, d, int(body), vector(point, 3, "point")))


def mj_jacBody(m: Any, d: Any, jacp: Any, jacr: Any, body: int) -> None:
    """Jacobian of a body's frame."""
    _write(m, jacp, jacr, lambda: _core.jac_body(m, d, int(body)))


def mj_jacBodyCom(m: Any, d: Any, jacp: Any, jacr: Any, body: int) -> None:
    """Jacobian of a body's centre of mass."""
    _write(m, jacp, jacr, lambda: _core.jac_body_com(m, d, int(body)))


def mj_jacGeom(m: Any, d: Any, jacp: Any, jacr: Any, geom: int) -> None:
    """Jacobian of a geom."""
    _write(m, jacp, jacr, lambda: _core.jac_geom(m, d, int(geom)))


def mj_jacSite(m: Any, d: Any, jacp: Any, jacr: Any, site: int) -> None:
    """Jacobian of a site."""
    _write(m, jacp, jacr, lambda: _core.jac_site(m, d, int(site)))


def mj_jacSubtreeCom(m: Any, d: Any, jacp: Any, body: int) -> None:
    """Jacobian of the centre of mass of a subtree."""
    out(jacp, (3, m.nv), "jacp")[...] = _core.jac_subtree_com(m, d, int(body))


def mj_jacPointAxis(m: Any, d: Any, jacPoint: Any, jacAxis: Any, point: Any, axis: Any, body: int) -> None:
    """Jacobians of a point and of an axis fixed to a body."""
    linear, angular = _core.jac(m, d, int(body), vector(point, 3, "point"))
    turned = np.cross(angular.T, vector(axis, 3, "axis")).T
    _write(m, jacPoint, jacAxis, lambda: (linear, turned))


def mj_angmomMat(m: Any, d: Any, mat: Any, body: int) -> None:
    """Matrix from qvel to the angular momentum of a subtree about its centre of mass."""
    target = out(mat, (3, m.nv), "mat")
    result = np.zeros((3, m.nv))
    centre = d.subtree_com[body]
    mean = _core.jac_subtree_com(m, d, int(body))
    for i in range(body, body + m.body_subtreenum[body]):
        linear, angular = _core.jac_body_com(m, d, int(i))
        axes = d.ximat[i].reshape(3, 3)
        result += axes @ np.diag(m.body_inertia[i]) @ axes.T @ angular
        arm = d.xipos[i] - centre
        result += m.body_mass[i] * np.cross(arm, (linear - mean).T).T
    target[...] = result


# ---- inertia and forces ---------------------------------------------------------------------------


def mj_fullM(m: Any, d: Any, dst: Any = None, M: Any = None) -> None:
    """The inertia matrix, dense: `mj_fullM(m, dst, M)` or `mj_fullM(m, d, dst)`."""
    if isinstance(d, _core.Data):
        out(dst, (m.nv, m.nv), "dst")[...] = _core.full_m(m, d)
        return
    target = out(d, (m.nv, m.nv), "dst")
    values = np.asarray(dst if M is None else M)
    target[...] = 0
    for i in range(m.nv):
        first, count = m.M_rowadr[i], m.M_rownnz[i]
        columns = m.M_colind[first : first + count]
        target[i, columns] = values[first : first + count]
        target[columns, i] = values[first : first + count]


def mj_mulM(m: Any, d: Any, res: Any, vec: Any) -> None:
    """The inertia matrix times a vector."""
    out(res, (m.nv,), "res")[...] = _core.mul_m(m, d, vector(vec, m.nv, "vec")).reshape(res.shape)


@fatal
def mj_solveM(m: Any, d: Any, x: Any, y: Any) -> None:
    """Solve with the inertia matrix: rows of y into rows of x."""
    if x.size != np.size(y) or x.size % max(m.nv, 1):
        raise TypeError("mj_solveM: x and y must have rows of nv values")
    x[...] = _core.solve_m(m, d, np.ascontiguousarray(y, np.float64).reshape(-1, m.nv)).reshape(x.shape)


def mj_addM(m: Any, d: Any, dst: Any, rownnz: Any = None, rowadr: Any = None, colind: Any = None) -> None:
    """Add the inertia matrix to a dense one."""
    if rownnz is not None:
        raise NotImplementedError("mj_addM: add to a dense matrix")
    out(dst, (m.nv, m.nv), "dst")[...] += _core.full_m(m, d)


def mj_rne(m: Any, d: Any, flg_acc: int, result: Any) -> None:
    """Inverse dynamics without constraints: of d.qacc, or of zero acceleration."""
    out(result, (m.nv,), "result")[...] = _core.rne(m, d, d.qacc if flg_acc else None)


def mj_applyFT(m: Any, d: Any, force: Any, torque: Any, point: Any, body: int, qfrc_target: Any) -> None:
    """Add the generalised force of a force and torque at a point of a body."""
    target = out(qfrc_target, (m.nv,), "qfrc_target")
    f, t = vector(force, 3, "force"), vector(torque, 3, "torque")
    target[...] += _core.apply_wrench(m, d, int(body), vector(point, 3, "point"), f, t).reshape(target.shape)


def mj_contactForce(m: Any, d: Any, id: int, result: Any) -> None:
    """Force and torque of a contact in its frame: what geom 1 pushes geom 2 with."""
    target = out(result, (6,), "result")
    if not 0 <= id < d.ncon:
        raise FatalError(f"mj_contactForce: invalid contact id {id}")
    target[...] = d.contact[id]._values["force"].reshape(target.shape)


def mj_objectVelocity(m: Any, d: Any, objtype: int, objid: int, res: Any, flg_local: int) -> None:
    """Angular and linear velocity of an object."""
    kind = tribo_type(objtype, "mj_objectVelocity")
    out(res, (6,), "res")[...] = _core.object_velocity(m, d, kind, int(objid), bool(flg_local)).reshape(
        res.shape
    )


def mj_objectAcceleration(m: Any, d: Any, objtype: int, objid: int, res: Any, flg_local: int) -> None:
    """Angular and linear acceleration of an object; after mj_rnePostConstraint."""
    kind = tribo_type(objtype, "mj_objectAcceleration")
    values = _core.object_acceleration(m, d, kind, int(objid), bool(flg_local))
    out(res, (6,), "res")[...] = values.reshape(res.shape)


# ---- configurations -------------------------------------------------------------------------------


def mj_integratePos(m: Any, qpos: Any, qvel: Any, dt: float) -> None:
    """Move qpos by dt qvel, in place."""
    target = out(qpos, (m.nq,), "qpos")
    target[...] = _core.integrate_pos(m, target, vector(qvel, m.nv, "qvel"), dt)


def mj_differentiatePos(m: Any, qvel: Any, dt: float, qpos1: Any, qpos2: Any) -> None:
    """The velocity that moves qpos1 to qpos2 in time dt."""
    a, b = vector(qpos1, m.nq, "qpos1"), vector(qpos2, m.nq, "qpos2")
    out(qvel, (m.nv,), "qvel")[...] = _core.differentiate_pos(m, dt, a, b)


def mj_normalizeQuat(m: Any, qpos: Any) -> None:
    """Normalise the quaternions of qpos, in place."""
    target = out(qpos, (m.nq,), "qpos")
    target[...] = _core.normalize_quat(m, target)


def mj_local2Global(d: Any, xpos: Any, xmat: Any, pos: Any, quat: Any, body: int, sameframe: int) -> None:
    """A frame given in a body, in the world."""
    from .math import mju_mulQuat, mju_quat2Mat

    turn = np.zeros(4)
    mju_mulQuat(turn, d.xquat[body], vector(quat, 4, "quat"))
    out(xpos, (3,), "xpos")[...] = d.xpos[body] + d.xmat[body].reshape(3, 3) @ vector(pos, 3, "pos")
    mju_quat2Mat(xmat, turn)


# ---- rays and distances ---------------------------------------------------------------------------


@fatal
def mj_ray(
    m: Any,
    d: Any,
    pnt: Any,
    vec: Any,
    geomgroup: Any,
    flg_static: int,
    bodyexclude: int,
    geomid: Any,
    normal: Any = None,
) -> float:
    """Distance to the nearest geom along a ray, or -1."""
    target = out(normal, (3,), "normal", True)
    group = None if geomgroup is None or not np.size(geomgroup) else np.asarray(geomgroup, np.int32)
    distance, geom, n = _core.ray(
        m, d, vector(pnt, 3, "pnt"), vector(vec, 3, "vec"), group, bool(flg_static), int(bodyexclude)
    )
    if geomid is not None:
        geomid[...] = geom
    if target is not None:
        target[...] = n.reshape(target.shape)
    return float(distance)


def mj_multiRay(
    m: Any,
    d: Any,
    pnt: Any,
    vec: Any,
    geomgroup: Any,
    flg_static: int,
    bodyexclude: int,
    geomid: Any,
    dist: Any,
    normal: Any,
    nray: int,
    cutoff: float,
) -> None:
    """Rays from one point."""
    directions = vector(vec, 3 * nray, "vec").reshape(nray, 3)
    found, n = np.zeros(1, np.int32), np.zeros(3)
    for i, direction in enumerate(directions):
        distance = mj_ray(m, d, pnt, direction, geomgroup, flg_static, bodyexclude, found, n)
        if distance * np.linalg.norm(direction) > cutoff:
            distance, found[0], n[:] = -1.0, -1, 0
        if geomid is not None:
            geomid[i] = found[0]
        if dist is not None:
            dist[i] = distance
        if normal is not None:
            normal.reshape(nray, 3)[i] = n


@fatal
def mj_geomDistance(m: Any, d: Any, geom1: int, geom2: int, distmax: float, fromto: Any = None) -> float:
    """Signed distance of two geoms, at most distmax, and their nearest points."""
    target = out(fromto, (6,), "fromto", True)
    distance, points = _core.geom_distance(m, d, int(geom1), int(geom2), float(distmax))
    if target is not None:
        target[...] = points.reshape(target.shape)
    return float(distance)


def mj_insideSite(m: Any, d: Any, siteid: int, point: Any) -> int:
    """1 if a world point is in the shape of a site."""
    axes = d.site_xmat[siteid].reshape(3, 3)
    x = axes.T @ (vector(point, 3, "point") - d.site_xpos[siteid])
    size, kind = m.site_size[siteid], int(m.site_type[siteid])
    if kind == 2:
        inside = x @ x <= size[0] ** 2
    elif kind == 3:
        x[2] -= np.clip(x[2], -size[1], size[1])
        inside = x @ x <= size[0] ** 2
    elif kind == 4:
        inside = np.sum((x / size) ** 2) <= 1
    elif kind == 5:
        inside = abs(x[2]) <= size[1] and x[0] ** 2 + x[1] ** 2 <= size[0] ** 2
    elif kind == 6:
        inside = bool(np.all(np.abs(x) <= size))
    else:
        raise NotImplementedError(f"mj_insideSite: a site of shape {kind}")
    return int(inside)


# ---- models ---------------------------------------------------------------------------------------


@fatal
def mj_setConst(m: Any, d: Any) -> None:
    """Compute what follows from masses, inertias and frames."""
    m.set_constants()


def mj_setLengthRange(m: Any, d: Any, index: int, opt: Any) -> None:
    """Raises: length ranges are computed when a model is loaded."""
    raise NotImplementedError("mj_setLengthRange: loading computes length ranges (compiler/lengthrange)")


def mj_getTotalmass(m: Any) -> float:
    """Mass of all bodies."""
    return float(np.sum(m.body_mass))


def mj_setTotalmass(m: Any, newmass: float) -> None:
    """Scale masses and inertias to a total mass."""
    scale = max(newmass, 1e-15) / max(mj_getTotalmass(m), 1e-15)
    m.body_mass[:] *= scale
    m.body_inertia[:] *= scale
    m.set_constants()


def mj_sizeModel(m: Any) -> int:
    """Bytes of the compiled model."""
    return len(m.to_binary())


def mj_saveModel(m: Any, filename: str, buffer: Any = None) -> None:
    """Write the compiled model: Tribo's format (.tbm)."""
    m.save(filename)


def mj_saveLastXML(filename: str, m: Any) -> None:
    """Write the model as MJCF."""
    _core.Spec.from_model(m).save(filename)


def mj_printModel(m: Any, filename: str) -> None:
    """Write all fields of a model as text."""
    _print(m, filename)


def mj_printData(m: Any, d: Any, filename: str) -> None:
    """Write all fields of a world as text."""
    _print(d, filename)


def _print(obj: Any, filename: str) -> None:
    rows = _core.model_fields if isinstance(obj, _core.Model) else _core.data_fields
    with open(filename, "w", encoding="utf-8") as file:
        for name, kind, *_ in rows:
            if kind != "char":
                file.write(f"{name}\n{getattr(obj, name)}\n\n")


def mj_defaultSolRefImp(solref: Any, solimp: Any) -> None:
    """Initial parameters of soft constraints."""
    for target, values, name in (
        (solref, (0.02, 1.0), "solref"),
        (solimp, (0.9, 0.95, 0.001, 0.5, 2.0), "solimp"),
    ):
        array = out(target, (len(values),), name, True)
        if array is not None:
            array[...] = values


def mj_defaultOption(opt: Any) -> None:
    """Set options to their initial values."""
    opt.assign(type(opt)())


mj_defaultLROpt = mj_defaultOption
mj_defaultVisual = mj_defaultOption


def mj_isPyramidal(m: Any) -> int:
    """1 if the soft law's cones are pyramids."""
    return int(m.opt.cone == 0)


def mj_isSparse(m: Any) -> int:
    """1 if the option asks for sparse matrices, or by itself from 60 dofs on."""
    return int(m.opt.jacobian == 1 or (m.opt.jacobian == 2 and m.nv >= 60))


def mj_isDual(m: Any) -> int:
    """1 if the soft law's solver works on forces."""
    return int(m.opt.tribo.mjsolver == 0 or m.opt.noslip_iterations > 0)


def mj_maxContact(m: Any, g1: int, g2: int) -> int:
    """Raises: Tribo does not limit the contacts of a pair."""
    raise NotImplementedError("mj_maxContact: Tribo does not limit the contacts of a pair")


def mj_version() -> int:
    """The version of MuJoCo whose names these are."""
    return 4000000


def mj_versionString() -> str:
    """The version of MuJoCo whose names these are."""
    return "4.0.0"
