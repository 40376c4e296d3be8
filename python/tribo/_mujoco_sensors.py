"""Sensors of a compiled MuJoCo model as MJCF."""

from typing import Any

from ._errors import UnsupportedError

# Tag by mjtSensor, and what it refers to.
_OF_SITE = {
    0: "touch",
    1: "accelerometer",
    2: "velocimeter",
    3: "gyro",
    4: "force",
    5: "torque",
    6: "magnetometer",
    7: "rangefinder",
}
_OF_JOINT = {
    9: "jointpos",
    10: "jointvel",
    16: "jointactuatorfrc",
    18: "ballquat",
    19: "ballangvel",
    20: "jointlimitpos",
    21: "jointlimitvel",
    22: "jointlimitfrc",
}
_OF_TENDON = {
    11: "tendonpos",
    12: "tendonvel",
    17: "tendonactuatorfrc",
    23: "tendonlimitpos",
    24: "tendonlimitvel",
    25: "tendonlimitfrc",
}
_OF_ACTUATOR = {13: "actuatorpos", 14: "actuatorvel", 15: "actuatorfrc"}
_OF_FRAME = {
    26: "framepos",
    27: "framequat",
    28: "framexaxis",
    29: "frameyaxis",
    30: "framezaxis",
    31: "framelinvel",
    32: "frameangvel",
    33: "framelinacc",
    34: "frameangacc",
}
_OF_BODY = {35: "subtreecom", 36: "subtreelinvel", 37: "subtreeangmom"}
_OF_PAIR = {39: "distance", 40: "normal", 41: "fromto"}
_OF_NOTHING = {43: "e_potential", 44: "e_kinetic", 45: "clock"}
_SIMPLE = {
    "site": _OF_SITE,
    "joint": _OF_JOINT,
    "tendon": _OF_TENDON,
    "actuator": _OF_ACTUATOR,
    "body": _OF_BODY,
}
_FRAMES = {1: "body", 2: "xbody", 5: "geom", 6: "site", 7: "camera"}
_CONTACT_DATA = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
_REDUCTIONS = ("none", "mindist", "maxforce", "netforce")


def add_sensor(writer: Any, parent: Any, i: int) -> None:
    """Append sensor number `i`."""
    mj = writer.mj
    kind = int(mj.sensor_type[i])
    tag, fields = _reference(writer, i, kind)
    cutoff, noise = float(mj.sensor_cutoff[i]), float(mj.sensor_noise[i])
    user = mj.sensor_user[i] if mj.sensor_user.size else None
    writer.add(
        parent,
        tag,
        "sensor",
        i,
        [
            *fields,
            ("cutoff", [cutoff] if cutoff else None),
            ("noise", [noise] if noise else None),
            ("user", user),
        ],
    )


def _reference(writer: Any, i: int, kind: int) -> tuple[str, list[tuple[str, Any]]]:
    mj = writer.mj
    objtype, objid = int(mj.sensor_objtype[i]), int(mj.sensor_objid[i])
    reftype, refid = int(mj.sensor_reftype[i]), int(mj.sensor_refid[i])
    for word, table in _SIMPLE.items():
        if kind in table:
            if kind == 7 and objtype != 6:
                raise UnsupportedError("a rangefinder of a camera, which Tribo does not have")
            return table[kind], [(word, writer.refer(word, objid))]
    if kind in _OF_FRAME:
        return _OF_FRAME[kind], _framed(writer, objtype, objid, reftype, refid)
    if kind in _OF_NOTHING:
        return _OF_NOTHING[kind], []
    if kind == 8:
        return "camprojection", [
            ("site", writer.refer("site", objid)),
            ("camera", writer.refer("camera", refid)),
        ]
    if kind == 38:
        return "insidesite", [
            ("site", writer.refer("site", refid)),
            ("objtype", _FRAMES[objtype]),
            ("objname", writer.refer_object(objtype, objid)),
        ]
    if kind in _OF_PAIR:
        return _OF_PAIR[kind], [
            (("geom" if objtype == 5 else "body") + "1", writer.refer_object(objtype, objid)),
            (("geom" if reftype == 5 else "body") + "2", writer.refer_object(reftype, refid)),
        ]
    if kind == 42:
        return "contact", _contact(writer, i, objtype, objid, reftype, refid)
    if kind == 48:
        return "user", _user(writer, i, objtype, objid)
    raise UnsupportedError(
        f"sensor {writer.name('sensor', i) or i}: of kind {kind} (tactile, plugin), which Tribo does not have"
    )


def _framed(writer: Any, objtype: int, objid: int, reftype: int, refid: int) -> list[tuple[str, Any]]:
    fields: list[tuple[str, Any]] = [
        ("objtype", _FRAMES[objtype]),
        ("objname", writer.refer_object(objtype, objid)),
    ]
    if refid >= 0:
        fields += [("reftype", _FRAMES[reftype]), ("refname", writer.refer_object(reftype, refid))]
    return fields


def _contact(
    writer: Any, i: int, objtype: int, objid: int, reftype: int, refid: int
) -> list[tuple[str, Any]]:
    words = {1: "body", 2: "subtree", 5: "geom"}
    fields: list[tuple[str, Any]] = []
    if objid >= 0:
        name = writer.refer_object(objtype, objid)
        fields.append(("site", name) if objtype == 6 else (words[objtype] + "1", name))
    if refid >= 0:
        fields.append((words[reftype] + "2", writer.refer_object(reftype, refid)))
    data, reduction, count = (int(x) for x in writer.mj.sensor_intprm[i])
    if data >> len(_CONTACT_DATA):
        raise UnsupportedError("a contact sensor of velocities, which Tribo does not have")
    fields.append(("data", " ".join(word for k, word in enumerate(_CONTACT_DATA) if data >> k & 1)))
    fields.append(("reduce", _REDUCTIONS[reduction]))
    fields.append(("num", [count]))
    return fields


def _user(writer: Any, i: int, objtype: int, objid: int) -> list[tuple[str, Any]]:
    mj = writer.mj
    fields: list[tuple[str, Any]] = [
        ("dim", [mj.sensor_dim[i]]),
        ("needstage", ("pos", "pos", "vel", "acc")[int(mj.sensor_needstage[i])]),
        ("datatype", ("real", "positive", "axis", "quaternion")[int(mj.sensor_datatype[i])]),
    ]
    if objid >= 0 and objtype:
        fields += [
            ("objtype", _FRAMES.get(objtype, "joint" if objtype == 3 else "body")),
            ("objname", writer.refer_object(objtype, objid)),
        ]
    return fields
