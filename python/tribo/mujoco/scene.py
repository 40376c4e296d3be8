"""A list of what a picture shows, and rays against single shapes."""

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .. import _core
from .arrays import out, vector
from .enums import mjtGeom  # type: ignore[attr-defined]
from .structs import MjvGeom, MjvGLCamera, MjvLight, Struct

__all__ = [
    "MjvScene",
    "mju_rayGeom",
    "mju_raySkin",
    "mju_threadpool",
    "mjv_defaultCamera",
    "mjv_defaultFigure",
    "mjv_defaultFreeCamera",
    "mjv_defaultOption",
    "mjv_defaultPerturb",
    "mjv_initGeom",
    "mjv_updateScene",
]


class MjvScene(Struct):
    """Geoms of a world, for scripts that look at them; Tribo's renderer draws the world itself."""

    _fields: ClassVar[dict[str, Any]] = {
        "enabletransform": 0,
        "flags": np.array([1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1], np.uint8),
        "framergb": np.zeros(3, np.float32),
        "framewidth": 0,
        "maxgeom": 0,
        "ngeom": 0,
        "nlight": 0,
        "rotate": np.array([1, 0, 0, 0], np.float32),
        "scale": 1.0,
        "stereo": 0,
        "translate": np.zeros(3, np.float32),
    }

    def __init__(self, model: Any = None, maxgeom: int = 0) -> None:
        super().__init__()
        self.maxgeom = maxgeom if model is not None else 0
        self.__dict__["geoms"] = tuple(MjvGeom() for _ in range(self.maxgeom))
        self.__dict__["camera"] = (MjvGLCamera(), MjvGLCamera())
        self.__dict__["lights"] = tuple(MjvLight() for _ in range(1))


def mjv_initGeom(geom: Any, type: int, size: Any, pos: Any, mat: Any, rgba: Any) -> None:
    """Set shape, place and colour of a geom of a scene."""
    geom.type = int(type)
    for name, value in (("size", size), ("pos", pos), ("rgba", rgba)):
        if value is not None:
            setattr(geom, name, np.reshape(value, -1))
    if mat is not None:
        geom.mat = np.reshape(mat, (3, 3))


def mjv_updateScene(m: Any, d: Any, opt: Any, pert: Any, cam: Any, catmask: int, scn: Any) -> None:
    """Fill a scene with the geoms whose group is shown."""
    shown = np.flatnonzero(np.asarray(opt.geomgroup, bool)[np.clip(m.geom_group, 0, 5)])
    scn.ngeom = min(len(shown), scn.maxgeom)
    for geom, i in zip(scn.geoms, shown, strict=False):
        mjv_initGeom(geom, m.geom_type[i], m.geom_size[i], d.geom_xpos[i], d.geom_xmat[i], m.geom_rgba[i])
        geom.objtype, geom.objid, geom.dataid, geom.segid = 5, int(i), int(m.geom_dataid[i]), int(i)
        geom.category = 1 if m.body_weldid[m.geom_bodyid[i]] == 0 else 2


def _reset(struct: Any) -> None:
    struct.assign(type(struct)())


mjv_defaultCamera = mjv_defaultOption = mjv_defaultPerturb = mjv_defaultFigure = _reset


def mjv_defaultFreeCamera(m: Any, cam: Any) -> None:
    """A free camera that sees the model."""
    cam.type, cam.fixedcamid, cam.trackbodyid = 0, -1, -1
    cam.lookat = m.stat.center
    cam.distance = 1.5 * m.stat.extent
    cam.azimuth, cam.elevation = m.vis.global_.azimuth, m.vis.global_.elevation


# ---- rays -----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _shape(kind: int, size: tuple[float, ...]) -> tuple[Any, Any]:
    """A world with one geom."""
    word = mjtGeom(kind).name[7:].lower()
    numbers = " ".join(repr(x) for x in size)
    model = _core.Model.from_xml_string(
        f"<mujoco><worldbody><geom type='{word}' size='{numbers}'/></worldbody></mujoco>"
    )
    data = _core.Data(model)
    _core.kinematics(model, data)
    return model, data


def mju_rayGeom(
    pos: Any, mat: Any, size: Any, pnt: Any, vec: Any, geomtype: int, normal: Any = None
) -> float:
    """Distance to a single shape along a ray, or -1."""
    target = out(normal, (3,), "normal", True)
    axes, origin = vector(mat, 9, "mat").reshape(3, 3), vector(pos, 3, "pos")
    model, data = _shape(int(geomtype), tuple(float(x) for x in vector(size, 3, "size")))
    distance, _, n = _core.ray(
        model, data, axes.T @ (vector(pnt, 3, "pnt") - origin), axes.T @ vector(vec, 3, "vec")
    )
    if target is not None:
        target[...] = (axes @ n).reshape(target.shape)
    return float(distance)


def mju_raySkin(nface: int, nvert: int, face: Any, vert: Any, pnt: Any, vec: Any, vertid: Any) -> float:
    """Distance to a surface of triangles along a ray, or -1, and the nearest vertex of the triangle hit."""
    if nface < 0 or nvert < 0:
        raise ValueError("mju_raySkin: counts must not be negative")
    faces, points = np.asarray(face), np.asarray(vert, np.float64)
    if not faces.ndim or faces.size != 3 * nface or not points.ndim or points.size != 3 * nvert:
        raise TypeError("mju_raySkin: expected 3 nface indices and 3 nvert coordinates")
    faces, points = faces.reshape(-1, 3), points.reshape(-1, 3)
    if faces.size and (faces.min() < 0 or faces.max() >= nvert):
        raise ValueError("mju_raySkin: a vertex index is out of range")
    origin, direction = vector(pnt, 3, "pnt"), vector(vec, 3, "vec")
    best, nearest = -1.0, -1
    for triangle in faces:
        a, b, c = points[triangle]
        matrix = np.column_stack([a - b, a - c, direction])
        if abs(np.linalg.det(matrix)) < 1e-15:
            continue
        u, v, t = np.linalg.solve(matrix, a - origin)
        if u < 0 or v < 0 or u + v > 1 or t < 0 or (best >= 0 and t >= best):
            continue
        best = float(t)
        nearest = int(triangle[np.argmin(np.linalg.norm(points[triangle] - origin - t * direction, axis=1))])
    if vertid is not None:
        vertid[...] = nearest
    return best


def mju_threadpool(d: Any, nthread: int) -> None:
    """Solve the islands of this world's model on threads (m.opt.threads); results do not depend on it."""
    d._extra["threads"] = int(nthread)
    d.model.opt.tribo.threads = max(int(nthread), 1)
