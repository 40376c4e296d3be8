"""Settings of pictures and statistics of a model: kept for scripts that read and set them."""

import xml.etree.ElementTree as ElementTree
from typing import Any, ClassVar

import numpy as np

from .structs import Struct

__all__ = ["MjStatistic", "MjVisual", "MjVisualHeadlight", "MjVisualRgba"]


def _rgba(*values: float) -> Any:
    return np.array(values, np.float32)


class Global(Struct):
    """What is common to all pictures."""

    _fields: ClassVar[dict[str, Any]] = {
        "azimuth": 90.0,
        "bvactive": 0,
        "cameraid": -1,
        "elevation": -45.0,
        "ellipsoidinertia": 0,
        "fovy": 45.0,
        "glow": 0.3,
        "ipd": 0.068,
        "linewidth": 1.0,
        "offheight": 480,
        "offwidth": 640,
        "orthographic": 0,
        "realtime": 1.0,
    }


class Quality(Struct):
    """Resolution of shapes and shadows."""

    _fields: ClassVar[dict[str, Any]] = {
        "numquads": 4,
        "numslices": 28,
        "numstacks": 16,
        "offsamples": 4,
        "shadowsize": 4096,
    }


class MjVisualHeadlight(Struct):
    """The light at the camera."""

    _fields: ClassVar[dict[str, Any]] = {
        "active": 2,
        "ambient": _rgba(0.1, 0.1, 0.1),
        "diffuse": _rgba(0.4, 0.4, 0.4),
        "specular": _rgba(0.5, 0.5, 0.5),
    }


class Map(Struct):
    """Scales of what a viewer draws or applies."""

    _fields: ClassVar[dict[str, Any]] = {
        "actuatortendon": 2.0,
        "alpha": 0.3,
        "fogend": 10.0,
        "fogstart": 3.0,
        "force": 0.005,
        "haze": 0.3,
        "shadowclip": 1.0,
        "shadowscale": 0.6,
        "stiffness": 100.0,
        "stiffnessrot": 500.0,
        "torque": 0.1,
        "zfar": 50.0,
        "znear": 0.01,
    }


class Scale(Struct):
    """Sizes of decorations, relative to the mean size of bodies."""

    _fields: ClassVar[dict[str, Any]] = {
        "actuatorlength": 0.7,
        "actuatorwidth": 0.2,
        "camera": 0.3,
        "com": 0.4,
        "connect": 0.2,
        "constraint": 0.1,
        "contactheight": 0.1,
        "contactwidth": 0.3,
        "forcewidth": 0.1,
        "framelength": 1.0,
        "framewidth": 0.1,
        "frustum": 10.0,
        "jointlength": 1.0,
        "jointwidth": 0.1,
        "light": 0.3,
        "selectpoint": 0.2,
        "slidercrank": 0.2,
    }


class MjVisualRgba(Struct):
    """Colours of decorations."""

    _fields: ClassVar[dict[str, Any]] = {
        "actuator": _rgba(0.2, 0.25, 0.2, 1),
        "camera": _rgba(0.6, 0.9, 0.6, 1),
        "com": _rgba(0.9, 0.9, 0.9, 1),
        "contactforce": _rgba(0.7, 0.9, 0.9, 1),
        "contactpoint": _rgba(0.9, 0.6, 0.2, 1),
        "fog": _rgba(0, 0, 0, 1),
        "force": _rgba(1, 0.5, 0.5, 1),
        "haze": _rgba(1, 1, 1, 1),
        "joint": _rgba(0.2, 0.6, 0.8, 1),
    }


class MjVisual(Struct):
    """Settings of pictures; Tribo's renderer uses none of them."""

    _fields: ClassVar[dict[str, Any]] = {
        "global_": Global(),
        "quality": Quality(),
        "headlight": MjVisualHeadlight(),
        "map": Map(),
        "scale": Scale(),
        "rgba": MjVisualRgba(),
    }

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__("global_" if name == "global" else name)


class MjStatistic(Struct):
    """Statistics of a model; extent and meaninertia are the model's where it belongs to one."""

    _fields: ClassVar[dict[str, Any]] = {
        "center": np.zeros(3),
        "extent": 0.0,
        "meaninertia": 0.0,
        "meanmass": 0.0,
        "meansize": 0.0,
    }
    _LIVE: ClassVar[dict[str, str]] = {"extent": "extent", "meaninertia": "mean_inertia"}

    def __getattr__(self, name: str) -> Any:
        model = self.__dict__.get("_model")
        if model is not None and name in self._LIVE:
            return getattr(model(), self._LIVE[name])
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        model = self.__dict__.get("_model")
        if model is not None and name in self._LIVE:
            setattr(model(), self._LIVE[name], value)
        else:
            super().__setattr__(name, value)


def read(text: str, vis: MjVisual, stat: MjStatistic) -> None:
    """Take over the elements <visual> and <statistic> of MJCF, as far as they are known here."""
    if "<visual" not in text and "<statistic" not in text:
        return
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return
    for section in root.iter("visual"):
        for group in section:
            name = "global_" if group.tag == "global" else group.tag
            if name in vis._fields:
                _take(group, getattr(vis, name))
    for section in root.iter("statistic"):
        _take(section, stat)


def _take(element: Any, struct: Struct) -> None:
    for name, text in element.attrib.items():
        if name not in struct._fields:
            continue
        words = text.split()
        if words[0] in ("true", "false"):
            setattr(struct, name, int(words[0] == "true"))
            continue
        numbers = [float(word) for word in words]
        kind = struct._fields[name]
        setattr(struct, name, numbers if isinstance(kind, np.ndarray) else type(kind)(numbers[0]))


def user_stages(text: str, model: Any) -> dict[int, int]:
    """Stage of each sensor of the user, by its number: Tribo computes them all last."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return {}
    numbers = [i for i, kind in enumerate(model.sensor_type) if kind == 48]
    stages = [
        {"pos": 1, "vel": 2, "acc": 3}.get(e.get("needstage", "acc"), 3)
        for section in root.iter("sensor")
        for e in section.iter("user")
    ]
    return dict(zip(numbers, stages, strict=True)) if len(numbers) == len(stages) else {}
