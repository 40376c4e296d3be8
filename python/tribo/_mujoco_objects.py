"""A compiled MuJoCo model as MJCF with explicit masses, in the order of its numbers."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._errors import UnsupportedError
from ._mujoco_sensors import add_sensor

Element = ElementTree.Element
_GEOMS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
_JOINTS = ("free", "ball", "slide", "hinge")
_CAMERAS = ("fixed", "track", "trackcom", "targetbody", "targetbodycom")
_DYNAMICS = {0: "none", 1: "integrator", 2: "filter", 3: "filterexact", 4: "muscle", 7: "user"}
_GAINS = {0: "fixed", 1: "affine", 2: "muscle", 6: "user"}
_BIASES = {0: "none", 1: "affine", 2: "muscle", 5: "user"}
_TRANSMISSIONS = ("joint", "jointinparent", "slidercrank", "tendon", "site", "body")
# Kind of objects by mjtObj: word of Writer.refer.
OBJECTS = {
    1: "body",
    2: "body",
    3: "joint",
    5: "geom",
    6: "site",
    7: "camera",
    8: "light",
    10: "mesh",
    12: "hfield",
    15: "pair",
    16: "exclude",
    17: "equality",
    18: "tendon",
    19: "actuator",
    20: "sensor",
    21: "numeric",
    22: "text",
    23: "tuple",
    24: "key",
}
_ADDRESSES = {
    "body": "body",
    "joint": "jnt",
    "geom": "geom",
    "site": "site",
    "camera": "cam",
    "light": "light",
    "mesh": "mesh",
    "hfield": "hfield",
    "pair": "pair",
    "exclude": "exclude",
    "equality": "eq",
    "tendon": "tendon",
    "actuator": "actuator",
    "sensor": "sensor",
    "numeric": "numeric",
    "text": "text",
    "tuple": "tuple",
    "key": "key",
}


def text(values: Any) -> str:
    """Numbers with all their digits."""
    array = np.asarray(values).reshape(-1)
    if array.dtype.kind == "f":
        return " ".join(repr(float(x)) for x in array)
    return " ".join(str(int(x)) for x in array)


class Writer:
    """Elements of a document by kind and number; names are given where something refers to them."""

    def __init__(self, mj: Any, hull_limits: dict[int, int]) -> None:
        self.mj, self.hull_limits = mj, hull_limits
        self.elements: dict[tuple[str, int], Element] = {}
        self.taken: set[tuple[str, str]] = set()

    # ---- names ----------------------------------------------------------------------------------

    def name(self, kind: str, i: int) -> str:
        """Name in the model, "" without one."""
        address = int(getattr(self.mj, f"name_{_ADDRESSES[kind]}adr")[i])
        names = self.mj.names
        return str(names[address : names.find(b"\0", address)], "utf-8") if address >= 0 else ""

    def add(self, parent: Element, tag: str, kind: str, i: int, fields: Iterable[tuple[str, Any]]) -> Element:
        """Append an object with its name, numbers and words."""
        element = ElementTree.SubElement(parent, tag)
        name = self.name(kind, i)
        if name and not (kind == "body" and i == 0):
            element.set("name", name)
            self.taken.add((kind, name))
        for attribute, value in fields:
            if value is not None:
                element.set(attribute, value if isinstance(value, str) else text(value))
        self.elements[kind, i] = element
        return element

    def refer(self, kind: str, i: int) -> str:
        """Name of an object; a new one where it has none."""
        if kind == "body" and i == 0:
            return "world"
        element = self.elements[kind, i]
        if "name" not in element.attrib:
            name = f"{kind}{i}"
            while (kind, name) in self.taken:
                name += "_"
            element.set("name", name)
            self.taken.add((kind, name))
        return element.get("name", "")

    def refer_object(self, objtype: int, i: int) -> str:
        """The same by mjtObj."""
        if objtype not in OBJECTS:
            raise UnsupportedError(
                f"something refers to an object of kind {objtype}, which Tribo does not have"
            )
        return self.refer(OBJECTS[objtype], i)

    # ---- the document -----------------------------------------------------------------------------

    def root(self) -> Element:
        """The document."""
        mj = self.mj
        root = Element("mujoco", model=str(mj.names[: mj.names.find(b"\0")], "utf-8"))
        ElementTree.SubElement(root, "compiler", angle="radian", autolimits="false")
        sizes = {
            f"nuser_{k}": str(n)
            for k in ("body", "jnt", "geom", "site", "tendon", "actuator", "sensor")
            if (n := getattr(mj, f"nuser_{k}"))
        }
        if mj.nuserdata:
            sizes["nuserdata"] = str(mj.nuserdata)
        ElementTree.SubElement(root, "size", sizes)
        self._assets(ElementTree.SubElement(root, "asset"))
        self._tree(ElementTree.SubElement(root, "worldbody"))
        sections = {
            tag: ElementTree.SubElement(root, tag)
            for tag in ("contact", "tendon", "equality", "actuator", "custom", "keyframe", "sensor")
        }
        self._contacts(sections["contact"])
        self._tendons(sections["tendon"])
        self._equalities(sections["equality"])
        self._actuators(sections["actuator"])
        self._keys(sections["keyframe"])
        for i in range(mj.nsensor):
            add_sensor(self, sections["sensor"], i)
        self._custom(sections["custom"])
        return root

    def _user(self, kind: str, i: int) -> Any:
        values = getattr(self.mj, f"{kind}_user")
        return values[i] if values.size else None

    def _colour(self, kind: str, i: int) -> Any:
        """Its own, or that of its material where it has only the initial one."""
        own, material = getattr(self.mj, f"{kind}_rgba")[i], int(getattr(self.mj, f"{kind}_matid")[i])
        if material >= 0 and np.array_equal(own, np.array([0.5, 0.5, 0.5, 1], np.float32)):
            own = self.mj.mat_rgba[material]
        return [float(repr(np.float32(x)).split("(")[-1].rstrip(")")) for x in own]

    def _assets(self, parent: Element) -> None:
        mj = self.mj
        for i in range(mj.nmesh):
            v, f = int(mj.mesh_vertadr[i]), int(mj.mesh_faceadr[i])
            mesh = self.add(
                parent,
                "mesh",
                "mesh",
                i,
                [
                    ("vertex", mj.mesh_vert[v : v + mj.mesh_vertnum[i]].astype(float)),
                    ("face", mj.mesh_face[f : f + mj.mesh_facenum[i]]),
                    ("pose", np.concatenate([mj.mesh_pos[i], mj.mesh_quat[i]])),
                ],
            )
            if i in self.hull_limits:
                mesh.set("maxhullvert", str(self.hull_limits[i]))
            self.refer("mesh", i)
        for i in range(mj.nhfield):
            rows, columns, first = int(mj.hfield_nrow[i]), int(mj.hfield_ncol[i]), int(mj.hfield_adr[i])
            heights = mj.hfield_data[first : first + rows * columns].astype(float).reshape(rows, columns)
            self.add(
                parent,
                "hfield",
                "hfield",
                i,
                [
                    ("nrow", [rows]),
                    ("ncol", [columns]),
                    ("size", mj.hfield_size[i]),
                    ("elevation", heights[::-1]),
                ],
            )
            self.refer("hfield", i)

    # ---- bodies and what is in them ---------------------------------------------------------------

    def _tree(self, world: Element) -> None:
        mj = self.mj
        self.elements["body", 0] = world
        for i in range(mj.nbody):
            element = world
            if i:
                element = self.add(
                    self.elements["body", int(mj.body_parentid[i])],
                    "body",
                    "body",
                    i,
                    [
                        ("pos", mj.body_pos[i]),
                        ("quat", mj.body_quat[i]),
                        ("user", self._user("body", i)),
                        ("mocap", "true" if mj.body_mocapid[i] >= 0 else None),
                        ("gravcomp", [mj.body_gravcomp[i]] if mj.body_gravcomp[i] else None),
                    ],
                )
                ElementTree.SubElement(
                    element,
                    "inertial",
                    {
                        "pos": text(mj.body_ipos[i]),
                        "quat": text(mj.body_iquat[i]),
                        "mass": text([mj.body_mass[i]]),
                        "diaginertia": text(mj.body_inertia[i]),
                    },
                )
            for j in range(int(mj.body_jntadr[i]), int(mj.body_jntadr[i]) + int(mj.body_jntnum[i])):
                self._joint(element, j)
            for g in range(int(mj.body_geomadr[i]), int(mj.body_geomadr[i]) + int(mj.body_geomnum[i])):
                self._geom(element, g)
            for s in np.flatnonzero(mj.site_bodyid == i):
                self._site(element, int(s))
            for c in np.flatnonzero(mj.cam_bodyid == i):
                self._camera(element, int(c))
            for k in np.flatnonzero(mj.light_bodyid == i):
                self.add(
                    element, "light", "light", int(k), [("pos", mj.light_pos[k]), ("dir", mj.light_dir[k])]
                )
        for c in range(int(mj.ncam)):
            if mj.cam_targetbodyid[c] >= 0:
                self.elements["camera", int(c)].set("target", self.refer("body", int(mj.cam_targetbodyid[c])))

    def _joint(self, body: Element, j: int) -> None:
        mj = self.mj
        kind, dof, q = int(mj.jnt_type[j]), int(mj.jnt_dofadr[j]), int(mj.jnt_qposadr[j])
        scalar = kind >= 2
        self.add(
            body,
            "joint",
            "joint",
            j,
            [
                ("type", _JOINTS[kind]),
                ("group", [mj.jnt_group[j]]),
                ("pos", mj.jnt_pos[j] if kind else None),
                ("axis", mj.jnt_axis[j] if scalar else None),
                ("ref", [mj.qpos0[q]] if scalar else None),
                ("springref", [mj.qpos_spring[q]] if scalar else None),
                ("stiffness", [mj.jnt_stiffness[j]]),
                ("margin", [mj.jnt_margin[j]] if kind else None),
                ("limited", _truth(mj.jnt_limited[j])),
                ("range", mj.jnt_range[j] if kind else None),
                ("solreflimit", mj.jnt_solref[j]),
                ("solimplimit", mj.jnt_solimp[j]),
                ("solreffriction", mj.dof_solref[dof]),
                ("solimpfriction", mj.dof_solimp[dof]),
                ("frictionloss", [mj.dof_frictionloss[dof]]),
                ("armature", [mj.dof_armature[dof]]),
                ("damping", [mj.dof_damping[dof]]),
                ("actuatorfrclimited", _truth(mj.jnt_actfrclimited[j])),
                ("actuatorfrcrange", mj.jnt_actfrcrange[j] if scalar else None),
                ("actuatorgravcomp", "true" if mj.jnt_actgravcomp[j] else None),
                ("user", self._user("jnt", j)),
            ],
        )

    def _geom(self, body: Element, g: int) -> None:
        mj = self.mj
        kind = int(mj.geom_type[g])
        if kind >= len(_GEOMS):
            raise UnsupportedError(
                f"geom {self.name('geom', g) or g}: a shape of kind {kind} (sdf, ...), which Tribo "
                "does not have"
            )
        fluid = mj.geom_fluid[g]
        data = int(mj.geom_dataid[g])
        self.add(
            body,
            "geom",
            "geom",
            g,
            [
                ("type", _GEOMS[kind]),
                ("size", mj.geom_size[g] if kind not in (1, 7) else None),
                ("mesh", self.refer("mesh", data) if kind == 7 else None),
                ("hfield", self.refer("hfield", data) if kind == 1 else None),
                ("pos", mj.geom_pos[g]),
                ("quat", mj.geom_quat[g]),
                ("contype", [mj.geom_contype[g]]),
                ("conaffinity", [mj.geom_conaffinity[g]]),
                ("condim", [mj.geom_condim[g]]),
                ("group", [mj.geom_group[g]]),
                ("priority", [mj.geom_priority[g]]),
                ("friction", mj.geom_friction[g]),
                ("solmix", [mj.geom_solmix[g]]),
                ("solref", mj.geom_solref[g]),
                ("solimp", mj.geom_solimp[g]),
                ("margin", [mj.geom_margin[g]]),
                ("gap", [mj.geom_gap[g]]),
                ("rgba", self._colour("geom", g)),
                ("fluidshape", "ellipsoid" if fluid[0] > 0 else None),
                ("fluidcoef", fluid[1:6] if fluid[0] > 0 else None),
                ("user", self._user("geom", g)),
            ],
        )

    def _site(self, body: Element, s: int) -> None:
        mj = self.mj
        kind = int(mj.site_type[s])
        if kind >= 7:
            raise UnsupportedError(
                f"site {self.name('site', s) or s}: a mesh as its shape, which Tribo does not have"
            )
        self.add(
            body,
            "site",
            "site",
            s,
            [
                ("type", _GEOMS[kind]),
                ("size", mj.site_size[s]),
                ("pos", mj.site_pos[s]),
                ("quat", mj.site_quat[s]),
                ("group", [mj.site_group[s]]),
                ("rgba", self._colour("site", s)),
                ("user", self._user("site", s)),
            ],
        )

    def _camera(self, body: Element, c: int) -> None:
        mj = self.mj
        sensor = np.asarray(mj.cam_sensorsize[c], float)
        self.add(
            body,
            "camera",
            "camera",
            c,
            [
                ("pos", mj.cam_pos[c]),
                ("quat", mj.cam_quat[c]),
                ("mode", _CAMERAS[int(mj.cam_mode[c])]),
                ("resolution", mj.cam_resolution[c]),
                ("fovy", [mj.cam_fovy[c]] if not sensor.any() else None),
                ("sensorsize", sensor if sensor.any() else None),
                ("focal", np.asarray(mj.cam_intrinsic[c][:2], float) if sensor.any() else None),
                ("principal", np.asarray(mj.cam_intrinsic[c][2:], float) if sensor.any() else None),
            ],
        )

    # ---- the other sections -----------------------------------------------------------------------

    def _contacts(self, parent: Element) -> None:
        mj = self.mj
        for i in range(mj.npair):
            self.add(
                parent,
                "pair",
                "pair",
                i,
                [
                    ("geom1", self.refer("geom", int(mj.pair_geom1[i]))),
                    ("geom2", self.refer("geom", int(mj.pair_geom2[i]))),
                    ("condim", [mj.pair_dim[i]]),
                    ("solref", mj.pair_solref[i]),
                    ("solreffriction", mj.pair_solreffriction[i]),
                    ("solimp", mj.pair_solimp[i]),
                    ("margin", [mj.pair_margin[i]]),
                    ("gap", [mj.pair_gap[i]]),
                    ("friction", mj.pair_friction[i]),
                ],
            )
        for i in range(mj.nexclude):
            signature = int(mj.exclude_signature[i])
            self.add(
                parent,
                "exclude",
                "exclude",
                i,
                [
                    ("body1", self.refer("body", signature >> 16)),
                    ("body2", self.refer("body", signature & 0xFFFF)),
                ],
            )

    def _tendons(self, parent: Element) -> None:
        mj = self.mj
        for i in range(mj.ntendon):
            first = int(mj.tendon_adr[i])
            path = range(first, first + int(mj.tendon_num[i]))
            fixed = int(mj.wrap_type[first]) == 1
            limited = bool(mj.tendon_limited[i])
            tendon = self.add(
                parent,
                "fixed" if fixed else "spatial",
                "tendon",
                i,
                [
                    ("group", [mj.tendon_group[i]]),
                    ("limited", _truth(limited)),
                    ("range", mj.tendon_range[i]),
                    ("solreflimit", mj.tendon_solref_lim[i]),
                    ("solimplimit", mj.tendon_solimp_lim[i]),
                    ("solreffriction", mj.tendon_solref_fri[i]),
                    ("solimpfriction", mj.tendon_solimp_fri[i]),
                    ("margin", [mj.tendon_margin[i]]),
                    ("stiffness", [mj.tendon_stiffness[i]]),
                    ("damping", [mj.tendon_damping[i]]),
                    ("frictionloss", [mj.tendon_frictionloss[i]]),
                    ("armature", [mj.tendon_armature[i]] if mj.tendon_armature[i] else None),
                    ("springlength", mj.tendon_lengthspring[i]),
                    ("actuatorfrclimited", _truth(mj.tendon_actfrclimited[i])),
                    ("actuatorfrcrange", mj.tendon_actfrcrange[i]),
                    ("user", self._user("tendon", i)),
                ],
            )
            if not fixed:
                tendon.set("rgba", text(mj.tendon_rgba[i].astype(float)))
            for k in path:
                self._wrap(tendon, int(mj.wrap_type[k]), int(mj.wrap_objid[k]), float(mj.wrap_prm[k]))

    def _wrap(self, tendon: Element, kind: int, id: int, parameter: float) -> None:
        if kind == 1:
            ElementTree.SubElement(tendon, "joint", joint=self.refer("joint", id), coef=repr(parameter))
        elif kind == 2:
            ElementTree.SubElement(tendon, "pulley", divisor=repr(parameter))
        elif kind == 3:
            ElementTree.SubElement(tendon, "site", site=self.refer("site", id))
        else:
            geom = ElementTree.SubElement(tendon, "geom", geom=self.refer("geom", id))
            if parameter >= 0:
                geom.set("sidesite", self.refer("site", round(parameter)))

    def _equalities(self, parent: Element) -> None:
        mj = self.mj
        for i in range(mj.neq):
            kind, first, second = int(mj.eq_type[i]), int(mj.eq_obj1id[i]), int(mj.eq_obj2id[i])
            if kind > 3:
                raise UnsupportedError(
                    f"equality {self.name('equality', i) or i}: of kind {kind} (flex, distance), "
                    "which Tribo does not have"
                )
            values, sites = mj.eq_data[i], int(mj.eq_objtype[i]) == 6
            object_kind = ("site" if sites else "body") if kind < 2 else ("joint", "tendon")[kind - 2]
            fields = [
                ("active", _truth(mj.eq_active0[i])),
                ("solref", mj.eq_solref[i]),
                ("solimp", mj.eq_solimp[i]),
                (f"{object_kind}1", self.refer(object_kind, first)),
                (f"{object_kind}2", self.refer(object_kind, second) if second >= 0 else None),
            ]
            if kind == 0 and not sites:
                fields.append(("anchor", values[:3]))
            elif kind == 1:
                fields.append(("torquescale", [values[10]]))
                if not sites:
                    fields += [("anchor", values[:3]), ("relpose", values[3:10])]
            elif kind > 1:
                fields.append(("polycoef", values[:5]))
            self.add(parent, ("connect", "weld", "joint", "tendon")[kind], "equality", i, fields)

    def _actuators(self, parent: Element) -> None:
        mj = self.mj
        outputs = getattr(mj, "nactuator", mj.nu)
        if outputs != mj.nu:
            raise UnsupportedError("actuators with several controls or outputs, which Tribo does not have")
        for i in range(mj.nu):
            words = []
            for field, table in (("dyntype", _DYNAMICS), ("gaintype", _GAINS), ("biastype", _BIASES)):
                kind = int(getattr(mj, f"actuator_{field}")[i])
                if kind not in table:
                    raise UnsupportedError(
                        f"actuator {self.name('actuator', i) or i}: a {field} (pid, dcmotor, ...) "
                        "that Tribo does not have"
                    )
                words.append((field, table[kind]))
            actnum = int(mj.actuator_actnum[i])
            self.add(
                parent,
                "general",
                "actuator",
                i,
                [
                    *self._target(i),
                    *words,
                    ("group", [mj.actuator_group[i]]),
                    ("dynprm", mj.actuator_dynprm[i]),
                    ("gainprm", mj.actuator_gainprm[i]),
                    ("biasprm", mj.actuator_biasprm[i]),
                    ("gear", mj.actuator_gear[i]),
                    ("ctrllimited", _truth(mj.actuator_ctrllimited[i])),
                    ("ctrlrange", mj.actuator_ctrlrange[i]),
                    ("forcelimited", _truth(mj.actuator_forcelimited[i])),
                    ("forcerange", mj.actuator_forcerange[i]),
                    ("actlimited", _truth(mj.actuator_actlimited[i])),
                    ("actrange", mj.actuator_actrange[i]),
                    ("actearly", "true" if mj.actuator_actearly[i] else None),
                    ("actdim", [actnum] if actnum > 1 else None),
                    ("lengthrange", mj.actuator_lengthrange[i]),
                    ("user", self._user("actuator", i)),
                ],
            )

    def _target(self, i: int) -> list[tuple[str, Any]]:
        mj = self.mj
        kind, (first, second) = int(mj.actuator_trntype[i]), (int(x) for x in mj.actuator_trnid[i])
        if kind >= len(_TRANSMISSIONS):
            raise UnsupportedError(
                f"actuator {self.name('actuator', i) or i}: a transmission of kind {kind}, which "
                "Tribo does not have"
            )
        word = _TRANSMISSIONS[kind]
        if word == "slidercrank":
            return [
                ("cranksite", self.refer("site", first)),
                ("slidersite", self.refer("site", second)),
                ("cranklength", [mj.actuator_cranklength[i]]),
            ]
        if word in ("joint", "jointinparent"):
            return [(word, self.refer("joint", first))]
        fields: list[tuple[str, Any]] = [(word, self.refer(word, first))]
        if word == "site" and second >= 0:
            fields.append(("refsite", self.refer("site", second)))
        return fields

    def _keys(self, parent: Element) -> None:
        mj = self.mj
        for i in range(mj.nkey):
            self.add(
                parent,
                "key",
                "key",
                i,
                [
                    ("time", [mj.key_time[i]]),
                    *(
                        (name, getattr(mj, f"key_{name}")[i])
                        for name in ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")
                        if getattr(mj, f"key_{name}")[i].size
                    ),
                ],
            )

    def _custom(self, parent: Element) -> None:
        mj = self.mj
        for i in range(mj.nnumeric):
            first, count = int(mj.numeric_adr[i]), int(mj.numeric_size[i])
            self.add(parent, "numeric", "numeric", i, [("data", mj.numeric_data[first : first + count])])
        for i in range(mj.ntext):
            first, count = int(mj.text_adr[i]), int(mj.text_size[i])
            self.add(
                parent, "text", "text", i, [("data", str(mj.text_data[first : first + count - 1], "utf-8"))]
            )
        for i in range(mj.ntuple):
            element = self.add(parent, "tuple", "tuple", i, [])
            first, count = int(mj.tuple_adr[i]), int(mj.tuple_size[i])
            for k in range(first, first + count):
                kind, id = int(mj.tuple_objtype[k]), int(mj.tuple_objid[k])
                ElementTree.SubElement(
                    element,
                    "element",
                    objtype=OBJECTS.get(kind, ""),
                    objname=self.refer_object(kind, id),
                    prm=repr(float(mj.tuple_objprm[k])),
                )


def _truth(value: Any) -> str:
    return "true" if value else "false"
