"""MjModel: a tribo.Model with MuJoCo's names, kinds and errors."""

import os
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core, _world
from .._errors import FileError
from . import named, visual
from .enums import OBJECT_OF_TRIBO
from .files import files_of
from .model_fields import BOOLS, COMPUTED, MAPPED, NAME_ADDRESSES, WHY
from .option import SLEEP, MjOption
from .visual import MjStatistic, MjVisual

__all__ = ["MjModel"]

USER = 48


def boolean_view(array: Any) -> Any:
    """A live boolean view of whole numbers that are 0 or 1."""
    return array.view(np.uint8).reshape(len(array), 4)[:, 0].view(bool)


class MjModel(_core.Model):
    """A model under MuJoCo's names; its contact law is `soft` until `m.opt.law` says another one.

    It is a tribo.Model: every function of the package takes it. Where MuJoCo and Tribo number kinds of
    objects differently, its arrays have MuJoCo's numbers, read-only.
    """

    __slots__ = ("_extra",)

    def __init__(self, other: Any = None) -> None:
        if other is None:
            raise TypeError("MjModel: use MjModel.from_xml_path, from_xml_string, or MjModel(tribo_model)")
        super().__init__(other)  # type: ignore[call-arg]
        self._extra: dict[Any, Any] = {"vis": MjVisual(), "stat": MjStatistic()}
        self._finish()

    def _finish(self) -> None:
        stat = self._extra["stat"]
        object.__setattr__(stat, "_model", weakref.ref(self))
        mass = np.asarray(self.body_mass)[1:]
        stat.meanmass = float(mass.mean()) if mass.size else 1.0

    # ---- loading --------------------------------------------------------------------------------

    @staticmethod
    def from_xml_string(xml: str, assets: Mapping[str, bytes] | None = None, vfs: Any = None) -> "MjModel":
        """Load MJCF or URDF text; `assets` are files by name."""
        with _files(files_of(vfs, assets), strict=vfs is None) as directory:
            made = _loaded(lambda: _core.Model.from_xml_string(xml, directory))
        return _soft(made, xml)

    @staticmethod
    def from_xml_path(filename: Any, assets: Mapping[str, bytes] | None = None, vfs: Any = None) -> "MjModel":
        """Load MJCF, URDF or a compiled model of Tribo from a file, or from one of `assets`."""
        path = os.fspath(filename)
        assets = files_of(vfs, assets)
        if assets:
            known = {Path(name).name: data for name, data in assets.items()}
            if Path(path).name in known and not os.path.exists(path):
                text = known[Path(path).name]
                return MjModel.from_xml_string(text.decode() if isinstance(text, bytes) else text, assets)
        with _files(assets) as directory:
            paths = [directory] if directory else []
            made = _loaded(lambda: _core.Model.from_xml_path(path, search_paths=paths))
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            text = ""
        return _soft(made, text)

    @staticmethod
    def from_binary_path(filename: Any, assets: Mapping[str, bytes] | None = None) -> "MjModel":
        """Load a compiled model that Tribo wrote (.tbm); MuJoCo's .mjb is not read."""
        path = os.fspath(filename)
        if path.endswith(".mjb") and not _is_tribo(path):
            raise ValueError(
                f"{path}: MuJoCo's binary models are not read: load the XML, or use "
                "tribo.Model.from_mujoco on a mujoco.MjModel"
            )
        return MjModel(_loaded(lambda: _core.Model.from_xml_path(path)))

    # ---- structs --------------------------------------------------------------------------------

    @property
    def opt(self) -> MjOption:
        """The options, live."""
        return MjOption(_core.Model.opt.__get__(self))

    @opt.setter
    def opt(self, value: MjOption) -> None:
        self.opt.assign(value)

    @property
    def vis(self) -> MjVisual:
        """Settings of pictures: kept, not used."""
        return self._extra["vis"]  # type: ignore[no-any-return]

    @vis.setter
    def vis(self, value: MjVisual) -> None:
        self.vis.assign(value)

    @property
    def stat(self) -> MjStatistic:
        """Statistics: extent and meaninertia are the model's own."""
        return self._extra["stat"]  # type: ignore[no-any-return]

    @stat.setter
    def stat(self, value: MjStatistic) -> None:
        self.stat.assign(value)

    # ---- copies ---------------------------------------------------------------------------------

    def __copy__(self) -> "MjModel":
        made = MjModel(self._copy())
        made._take(self)
        return made

    def __deepcopy__(self, memo: Any) -> "MjModel":
        return self.__copy__()

    def _take(self, other: "MjModel") -> None:
        self.vis = other.vis
        self.stat = other.stat
        self._extra["user_stages"] = other._extra.get("user_stages", {})

    def __reduce__(self) -> Any:
        return _restored, (_world.to_binary(self), self.vis, self.stat)

    @property
    def _address(self) -> int:
        return int(_core._dropin.model_address(self))

    @property
    def names(self) -> bytes:
        """All names, each ended by a zero."""
        return self._kept("names", lambda: _core.Model.names.__get__(self))

    def _kept(self, name: str, make: Any) -> Any:
        if name not in self._extra:
            self._extra[name] = make()
        return self._extra[name]

    def bind(self, *_: Any) -> Any:
        """Parts of a spec in this model: see tribo.mujoco.spec."""
        from .spec import bind_model

        return bind_model(self, *_)

    def __getattr__(self, name: str) -> Any:
        if name in COMPUTED:
            return COMPUTED[name](self)
        why = WHY.get(name)
        if why:
            raise AttributeError(f"MjModel.{name}: {why}")
        raise AttributeError(f"MjModel has no {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *COMPUTED})

    def __repr__(self) -> str:
        return super().__repr__().replace("tribo.Model", "tribo.mujoco.MjModel")


def _is_tribo(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(5).lower() == b"tribo"
    except OSError:
        return False


def _restored(data: bytes, vis: Any, stat: Any) -> MjModel:
    made = MjModel(_core.Model.from_binary(data))
    made.vis, made.stat = vis, stat
    return made


def _loaded(load: Any) -> Any:
    """MuJoCo raises ValueError where a file cannot be found."""
    try:
        return load()
    except FileError as error:
        raise ValueError(str(error)) from error


def _soft(model: Any, text: str) -> MjModel:
    """The law of MuJoCo, and what a file says about pictures."""
    if model.opt.law == 0 and not _names_law(text):
        model.opt.law = "soft"
    if model.opt.enableflags & SLEEP:
        model.opt.sleep = 1
    made = MjModel(model)
    visual.read(text, made.vis, made.stat)
    if any(kind == USER for kind in made.sensor_type):
        made._extra["user_stages"] = visual.user_stages(text, made)
    return made


def _names_law(text: str) -> bool:
    """Whether a file asks for a law itself: its <option law="...">."""
    return ' law="' in text or " law='" in text


class _files:
    """The assets as files of a temporary folder, if there are any."""

    def __init__(self, assets: Mapping[str, bytes] | None, strict: bool = True) -> None:
        self.assets, self.strict = assets, strict
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> str | None:
        if not self.assets:
            return None
        self.folder = tempfile.TemporaryDirectory()
        seen = set()
        for name, data in self.assets.items():
            base = Path(name).name
            if base in seen and self.strict:
                raise ValueError(f"Repeated file name in assets: {base}")
            seen.add(base)
            for place in {base, name.lstrip("/")}:
                path = os.path.join(self.folder.name, place)
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                with open(path, "wb") as file:
                    file.write(data.encode() if isinstance(data, str) else data)
        return self.folder.name

    def __exit__(self, *_: object) -> None:
        if self.folder:
            self.folder.cleanup()


# ---- fields whose kind differs --------------------------------------------------------------------


def _boolean(field: str) -> property:
    inner = getattr(_core.Model, field)

    def get(self: Any) -> Any:
        return self._kept(field, lambda: boolean_view(inner.__get__(self)))

    def put(self: Any, value: Any) -> None:
        get(self)[...] = value

    return property(get, put, doc=inner.__doc__)


def _mapped(field: str, table: Mapping[int, int]) -> property:
    inner = getattr(_core.Model, field)

    def get(self: Any) -> Any:
        values = inner.__get__(self)
        array = np.array([table.get(int(v), int(v)) for v in values], np.int32)
        array.flags.writeable = False
        return array

    return property(get, doc=f"{inner.__doc__} MuJoCo's numbers, read-only.")


def _address(field: str) -> property:
    inner = getattr(_core.Model, field)

    def get(self: Any) -> Any:
        def make() -> Any:
            array = np.array(inner.__get__(self))
            array[array < 0] = self.names.find(b"\0")
            array.flags.writeable = False
            return array

        return self._kept(field, make)

    return property(get, doc=f"{inner.__doc__} An empty name where there is none.")


for _field in BOOLS:
    setattr(MjModel, _field, _boolean(_field))
for _field, _table in {
    **MAPPED,
    **dict.fromkeys(("sensor_objtype", "sensor_reftype", "eq_objtype", "tuple_objtype"), OBJECT_OF_TRIBO),
}.items():
    setattr(MjModel, _field, _mapped(_field, _table))
for _field in NAME_ADDRESSES:
    setattr(MjModel, _field, _address(_field))
for _alias in named.ALIASES:
    setattr(MjModel, _alias, named.method(_alias, True))
