"""Attributes of the elements of a spec: MuJoCo's name, MJCF's name, kind and initial value.

A line is `name[=attribute]:kind[:initial]`. Kinds: t text, r a number, i a whole number, b a boolean, l a list of
numbers, rN and iN numbers (r1-3: one to three, padded), an enumeration by its word in ENUMERATIONS.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import enums

ENUMERATIONS: dict[str, tuple[str, str]] = {
    "geom": ("mjtGeom", "mjGEOM_"),
    "joint": ("mjtJoint", "mjJNT_"),
    "camlight": ("mjtCamLight", "mjCAMLIGHT_"),
    "limited": ("mjtLimited", "mjLIMITED_"),
    "dyn": ("mjtDyn", "mjDYN_"),
    "gain": ("mjtGain", "mjGAIN_"),
    "bias": ("mjtBias", "mjBIAS_"),
}
_POSE = "pos:r3:0,0,0 quat:r4:1,0,0,0 axisangle:r4 xyaxes:r6 zaxis:r3 euler:r3 "
_SOL = "solref:r2:0.02,1 solimp:r5:0.9,0.95,0.001,0.5,2 "
_USER = "userdata=user:l "
_TABLE = {
    "body": "childclass:t mocap:b:0 gravcomp:r:0 " + _USER + _POSE,
    "frame": "childclass:t " + _POSE,
    "geom": "type:geom:2 contype:i:1 conaffinity:i:1 condim:i:3 group:i:0 priority:i:0 size:r1-3:0,0,0 material:t "
    "friction:r1-3:1,0.005,0.0001 mass:r density:r:1000 solmix:r:1 margin:r:0 gap:r:0 fromto:r6 "
    "hfieldname=hfield:t meshname=mesh:t fitscale:r:1 rgba:r4:0.5,0.5,0.5,1 restitution:r:0 compliance:r:0 "
    "tangentcompliance:r:0 contactdamping:r:0 fluid_coefs=fluidcoef:r5:0.5,0.25,1.5,1,1 "
    + _SOL
    + _USER
    + _POSE,
    "site": "type:geom:2 group:i:0 material:t size:r1-3:0.005,0.005,0.005 fromto:r6 rgba:r4:0.5,0.5,0.5,1 "
    + _USER
    + _POSE,
    "joint": "type:joint:3 group:i:0 pos:r3:0,0,0 axis:r3:0,0,1 limited:limited:2 actfrclimited=actuatorfrclimited:limited:2 "
    "solref_limit=solreflimit:r2:0.02,1 solimp_limit=solimplimit:r5:0.9,0.95,0.001,0.5,2 "
    "solref_friction=solreffriction:r2:0.02,1 solimp_friction=solimpfriction:r5:0.9,0.95,0.001,0.5,2 "
    "stiffness:r1-3:0,0,0 range:r2:0,0 actfrcrange=actuatorfrcrange:r2:0,0 actgravcomp=actuatorgravcomp:b:0 "
    "margin:r:0 ref:r:0 springref:r:0 armature:r:0 damping:r1-3:0,0,0 frictionloss:r:0 align:b " + _USER,
    "camera": "fovy:r:45 resolution:i2:1,1 mode:camlight:0 targetbody=target:t focal_length=focal:r2:0,0 "
    "principal_length=principal:r2:0,0 sensor_size=sensorsize:r2:0,0 " + _USER + _POSE,
    "light": "pos:r3:0,0,0 dir:r3:0,0,-1 mode:camlight:0 targetbody=target:t cutoff:r attenuation:r3 active:b castshadow:b "
    "ambient:r3 diffuse:r3 specular:r3 exponent:r",
    "mesh": "content_type:t file:t uservert=vertex:l userface=face:l refpos:r3:0,0,0 refquat:r4:1,0,0,0 scale:r3:1,1,1 "
    "maxhullvert:i:-1",
    "hfield": "content_type:t file:t nrow:i:0 ncol:i:0 size:r4:0,0,0,0 userdata=elevation:l",
    "texture": "",
    "material": "rgba:r4:1,1,1,1 texrepeat:r2:1,1 emission:r:0 specular:r:0.5 shininess:r:0.5 reflectance:r:0",
    "pair": "geomname1=geom1:t geomname2=geom2:t condim:i:3 friction:r1-5:1,1,0.005,0.0001,0.0001 "
    "solreffriction:r2:0,0 gap:r:0 margin:r:0 " + _SOL,
    "exclude": "bodyname1=body1:t bodyname2=body2:t",
    "equality": "active:b:1 anchor:r3 relpose:r7 torquescale:r:1 polycoef:r1-5:0,1,0,0,0 " + _SOL,
    "tendon": "group:i:0 limited:limited:2 actfrclimited=actuatorfrclimited:limited:2 range:r2:0,0 "
    "actfrcrange=actuatorfrcrange:r2:0,0 frictionloss:r:0 springlength:r1-2:-1,-1 margin:r:0 "
    "stiffness:r1-3:0,0,0 damping:r1-3:0,0,0 armature:r:0 rgba:r4:0.5,0.5,0.5,1 width:r material:t " + _USER,
    "actuator": "group:i:0 ctrllimited:limited:2 forcelimited:limited:2 actlimited:limited:2 ctrlrange:r2:0,0 "
    "forcerange:r2:0,0 actrange:r2:0,0 lengthrange:r2:0,0 gear:r1-6:1,0,0,0,0,0 cranklength:r:0 actdim:i:-1 "
    "dyntype:dyn:0 gaintype:gain:0 biastype:bias:0 dynprm:r1-10:1,0,0,0,0,0,0,0,0,0 "
    "gainprm:r1-10:1,0,0,0,0,0,0,0,0,0 biasprm:r1-10:0,0,0,0,0,0,0,0,0,0 actearly:b:0 " + _USER,
    "sensor": "cutoff:r:0 noise:r:0 dim:i " + _USER,
    "numeric": "data:l size:i",
    "text": "data:t",
    "tuple": "",
    "key": "time:r:0 qpos:l qvel:l act:l ctrl:l mpos:l mquat:l",
}


@dataclass(frozen=True)
class Field:
    """One attribute."""

    attribute: str
    kind: str
    least: int
    most: int
    initial: Any

    def read(self, text: str | None, numbers: Any) -> Any:
        """The value of a text, or the initial one."""
        if self.kind == "t":
            return text or ""
        if self.kind == "b":
            return bool(self.initial) if text is None else text in ("true", "1")
        if self.kind in ENUMERATIONS:
            enum, prefix = ENUMERATIONS[self.kind]
            members = getattr(enums, enum)
            return members(self.initial) if text is None else members[prefix + text.upper()]
        if self.kind == "l":
            return np.zeros(0) if text is None else np.array(numbers)
        if self.most == 1:
            value = self.initial if text is None else numbers[0]
            return int(value) if self.kind == "i" and value == value else float(value)
        values = np.array(self.initial, float)
        if text is not None:
            if self.attribute == "size":
                values[:] = 0
            values[: len(numbers)] = numbers
        return values

    def write(self, name: str, value: Any) -> Any:
        """What the element stores; None removes it."""
        if value is None:
            return None
        if self.kind == "t":
            if not isinstance(value, str):
                raise TypeError(f"{name} should be a string.")
            return value or None
        if self.kind == "b":
            return bool(value)
        if self.kind in ENUMERATIONS:
            enum, prefix = ENUMERATIONS[self.kind]
            if isinstance(value, str):
                raise TypeError(f"{name} should be a {enum}.")
            return getattr(enums, enum)(int(value)).name[len(prefix) :].lower()
        if isinstance(value, str):
            raise TypeError(f"{name} should be a number or a list of numbers.")
        numbers = np.atleast_1d(np.asarray(value, float)).reshape(-1)
        if self.kind != "l" and not self.least <= len(numbers) <= self.most:
            size = f"{self.most}" if self.least == self.most else f"{self.least} to {self.most}"
            raise ValueError(f"{name} should be a list/array of size {size}.")
        return numbers


def _field(word: str) -> tuple[str, Field]:
    name, kind, *initial = word.split(":")
    name, _, attribute = name.partition("=")
    if kind[0] in "ri" and kind not in ENUMERATIONS:
        least, _, most = kind[1:].partition("-")
        n = int(most or least or 1)
        values = [float(x) for x in initial[0].split(",")] if initial else [float("nan")] * n
        first = values[0] if n == 1 else values
        return name, Field(attribute or name, kind[0], int(least or 1), n, first)
    return name, Field(attribute or name, kind, 1, 1, int(initial[0]) if initial else 0)


FIELDS = {tag: dict(_field(word) for word in line.split()) for tag, line in _TABLE.items()}
