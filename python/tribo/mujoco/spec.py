"""MjSpec over tribo.Spec: a model that can be changed, with MuJoCo's elements."""

import contextlib
import os
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._errors import Error, FileError
from .enums import mjtConflict  # type: ignore[attr-defined]
from .errors import FatalError
from .files import files_of
from .model import MjModel, _files, _soft
from .option import FIELDS as OPTIONS
from .spec_actors import MjsWrap  # noqa: F401
from .spec_elements import *  # noqa: F403
from .spec_elements import CLASSES, MjsBody, MjsDefault, MjsElement, MjStruct, wrap
from .spec_fields import FIELDS
from .spec_lists import LISTS, SECTIONS, elements, remove_references
from .spec_settings import COMPILER, Authored, given_bits, merge_options
from .visual import MjStatistic, MjVisual
from .visual import read as read_visual

__all__ = ["MjSpec", "MjStruct", "bind_data", "bind_model"]


class Settings:
    """Attributes of <option> or <compiler>, as MuJoCo's structs have them."""

    _WORDS: ClassVar[dict[str, dict[int, str]]] = {
        "integrator": {0: "Euler", 1: "RK4", 2: "implicit", 3: "implicitfast"},
        "cone": {0: "pyramidal", 1: "elliptic"},
        "solver": {0: "PGS", 1: "CG", 2: "Newton"},
        "jacobian": {0: "dense", 1: "sparse", 2: "auto"},
    }

    def __init__(self, spec: "MjSpec", section: str) -> None:
        object.__setattr__(self, "_spec", spec)
        object.__setattr__(self, "_element", spec._spec.section(section))

    def __getattr__(self, name: str) -> Any:
        if name not in OPTIONS:
            raise AttributeError(f"no option {name!r}")
        return getattr(self._spec._compiled(remember=False).opt, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._WORDS and not isinstance(value, str):
            value = self._WORDS[name][int(value)]
        self._element[name] = value


class Compiler:
    """Attributes of <compiler>."""

    def __init__(self, spec: "MjSpec") -> None:
        object.__setattr__(self, "_element", spec._spec.section("compiler"))
        object.__setattr__(self, "_spec", spec)

    @property
    def authored(self) -> int:
        """Bits of the settings that are given."""
        return given_bits(self._spec, "compiler", COMPILER)

    @property
    def degree(self) -> bool:
        """Whether angles are in degrees."""
        return self._element["angle"] != "radian"  # type: ignore[no-any-return]

    @property
    def eulerseq(self) -> Any:
        """Letters of the axes of Euler angles."""
        return Letters(self._element)

    def __getattr__(self, name: str) -> Any:
        return self._element[name] or ""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "degree":
            self._element["angle"] = "degree" if value else "radian"
        elif name == "eulerseq":
            if len(value) > 3:
                raise ValueError("eulerseq may have at most 3 characters")
            self._element["eulerseq"] = "".join(value)
        elif name == "conflict" and not isinstance(value, str):
            self._element[name] = mjtConflict(int(value)).name[11:].lower()
        elif name == "inertiafromgeom" and not isinstance(value, str):
            self._element[name] = ("false", "true", "auto")[int(value)]
        else:
            self._element[name] = value


class Letters:
    """A word whose letters are set one by one."""

    def __init__(self, element: Any) -> None:
        self._element = element

    def _word(self) -> str:
        return self._element["eulerseq"] or "xyz"

    def __len__(self) -> int:
        return len(self._word())

    def __getitem__(self, i: int) -> str:
        return self._word()[i]

    def __setitem__(self, i: int, letter: str) -> None:
        word = list(self._word())
        if not 0 <= i < len(word):
            raise IndexError("eulerseq has three letters")
        word[i] = letter
        self._element["eulerseq"] = "".join(word)


class MjSpec:
    """A model that can be changed: load or build it, edit it, compile it, write it."""

    def __init__(self, spec: Any = None) -> None:
        self._spec = _core.Spec() if spec is None else spec
        self.assets: dict[str, Any] = {}
        self.override_assets = True
        self._files: Any = None
        self._text = ""
        self._folder: str | None = None
        self.parent: MjSpec | None = None
        self._attached: list[tuple[Any, Any, str, str]] = []
        self._visual, self._stat = MjVisual(), MjStatistic()

    # ---- loading and writing ----------------------------------------------------------------------

    @staticmethod
    def from_string(xml: str, include: Any = None, assets: Any = None, vfs: Any = None) -> "MjSpec":
        """Load MJCF or URDF text; `include` and `assets` are files by name."""
        files = {**(include or {}), **files_of(vfs, assets)}
        folder = _files(files, strict=False)
        made = MjSpec(_core.Spec.from_string(xml, folder.__enter__()))
        made._files = folder  # its folder is removed with the spec
        for element in (e for e in made._spec.section("asset").children if e.tag == "model"):
            path = os.path.join(folder.folder.name if folder.folder else "", element["file"] or "")
            if Path(path).is_file():
                merge_options(made, _core.Spec.from_file(path))
        made._keep(xml, assets)
        return made

    @staticmethod
    def from_file(filename: Any, include: Any = None, assets: Any = None, vfs: Any = None) -> "MjSpec":
        """Load MJCF or URDF from a file, or from `include`."""
        path = os.fspath(filename)
        include = {**(include or {}), **files_of(vfs)}
        if include and path in include and not os.path.exists(path):
            text = include[path]
            return MjSpec.from_string(text.decode() if isinstance(text, bytes) else text, include, assets)
        try:
            made = MjSpec(_core.Spec.from_file(path))
        except FileError as error:
            raise ValueError(str(error)) from error
        with open(path, encoding="utf-8") as file:
            made._keep(file.read(), assets)
        made._folder = os.path.dirname(os.path.abspath(path))
        return made

    def _keep(self, text: str, assets: Any) -> None:
        for kind in ("mesh", "hfield"):
            for element in elements(self, kind):
                if not element.name and element.file:
                    element.name = Path(element.file).stem
        self._text = text
        self.assets.update(assets or {})
        read_visual(text, self._visual, self._stat)

    def to_xml(self) -> str:
        """The spec as MJCF text."""
        with self._whole():
            return self._spec.to_xml()  # type: ignore[no-any-return]

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """With what is attached, as it is now; a body without a name gets one meanwhile."""
        made: list[Any] = []
        unnamed: list[Any] = []
        try:
            for place, child, prefix, suffix in self._attached:
                if hasattr(child, "tag") and not child.name:
                    child["name"] = f"attached{len(made)}"
                    unnamed.append(child)
                made.append(place.attach(child, prefix or None, suffix or None))
            yield
        finally:
            for element in reversed(made):
                element.delete()
            for child in unnamed:
                child["name"] = None

    def to_file(self, filename: Any) -> None:
        """Write MJCF."""
        with self._whole():
            self._spec.save(os.fspath(filename))

    def copy(self) -> "MjSpec":
        """A deep copy."""
        made = MjSpec(self._spec.copy())
        made.assets, made._text, made._folder = dict(self.assets), self._text, self._folder
        made._visual.assign(self._visual)
        return made

    # ---- compiling --------------------------------------------------------------------------------

    def _compiled(self, remember: bool = True) -> MjModel:
        try:
            if self.assets:
                with _files(self.assets, strict=False) as directory:
                    paths = [directory, *([self._folder] if self._folder else [])]
                    model = _core.Model.from_xml_string(self.to_xml(), directory, search_paths=paths)
            else:
                with self._whole():
                    model = self._spec.compile()
        except FileError as error:
            raise ValueError(f"Error: {error}") from error
        made = _soft(model, self._text)
        made.vis = self._visual
        if "meansize" in self._text or self._stat.meansize:
            made.stat.meansize = self._stat.meansize
        if remember:
            made._extra["spec"] = self.to_xml()
        if any(not prefix and not suffix for _, _, prefix, suffix in self._attached):
            warnings.warn(
                "a spec is attached without a prefix: equal names may prevent the model from being "
                "saved correctly",
                stacklevel=3,
            )
        return made

    def compile(self, vfs: Any = None) -> MjModel:
        """A new model; the spec can be changed and compiled again."""
        with self._with(vfs):
            return self._compiled()

    @contextlib.contextmanager
    def _with(self, vfs: Any) -> Iterator[None]:
        """With the files of a vfs as its assets."""
        own = self.assets
        self.assets = own if vfs is None else files_of(vfs, own)
        try:
            yield
        finally:
            self.assets = own

    def recompile(self, m: MjModel, d: Any, vfs: Any = None) -> tuple[MjModel, Any]:
        """A new model, and a world with the state of `d`: parts are recognised by name and order."""
        from .data import MjData

        files = self.assets if vfs is None else files_of(vfs, self.assets)
        if files:
            with _files(files, strict=False) as directory:
                model, data = _core.Spec.from_string(self.to_xml(), directory).recompile(m, d)
        else:
            with self._whole():
                model, data = self._spec.recompile(m, d)
        made = _soft(model, self._text)
        made.opt = m.opt
        made._extra["spec"] = self.to_xml()
        world = MjData(made)
        world.load_snapshot(data.snapshot())
        world._set_arrays(data._arrays())
        return made, world

    # ---- contents ---------------------------------------------------------------------------------

    @property
    def worldbody(self) -> MjsBody:
        """The world."""
        return wrap(self, self._spec.world)  # type: ignore[return-value]

    @property
    def modelname(self) -> str:
        """Name of the model."""
        return self._spec.root["model"] or ""

    @modelname.setter
    def modelname(self, value: str) -> None:
        self._spec.root["model"] = value

    @property
    def authored(self) -> Authored:
        """What the spec itself says."""
        return Authored(self)

    @property
    def meshdir(self) -> str:
        """Folder of meshes."""
        return self._spec.section("compiler")["meshdir"] or ""

    @meshdir.setter
    def meshdir(self, value: str) -> None:
        self._spec.section("compiler")["meshdir"] = value

    @property
    def texturedir(self) -> str:
        """Folder of textures."""
        return self._spec.section("compiler")["texturedir"] or ""

    @texturedir.setter
    def texturedir(self, value: str) -> None:
        self._spec.section("compiler")["texturedir"] = value

    @property
    def option(self) -> Settings:
        """Options."""
        return Settings(self, "option")

    @property
    def compiler(self) -> Compiler:
        """Settings of the compiler."""
        return Compiler(self)

    @property
    def visual(self) -> MjVisual:
        """Settings of pictures: kept, not used."""
        return self._visual

    @property
    def stat(self) -> MjStatistic:
        """Statistics."""
        return self._stat

    @property
    def default(self) -> MjsDefault:
        """The default class of all elements."""
        return MjsDefault(self, self._spec.section("default"), "main")

    def add_default(self, name: str, parent: Any = None) -> MjsDefault:
        """A default class."""
        inside = (parent or self.default)._element
        return MjsDefault(self, inside.add("default", **{"class": name}), name)

    def find_default(self, name: str) -> MjsDefault | None:
        """The default class of that name, or None."""
        if name == "main":
            return self.default
        found = _default_of(self._spec.section("default"), name)
        return None if found is None else MjsDefault(self, found, name)

    @property
    def bodies(self) -> list[Any]:
        """All bodies, the world first, in the order of their numbers."""
        return [self.worldbody, *elements(self, "body")]

    def __getattr__(self, name: str) -> Any:
        if name in LISTS:
            return elements(self, LISTS[name])
        if name in SECTIONS or name in ("frame", "geom", "joint", "site", "camera", "light", "body"):
            return lambda key: self._find(name, key)
        if name.startswith("add_") and name[4:] in SECTIONS:
            return lambda default=None, **values: self._add(name[4:], default, values)
        raise AttributeError(f"MjSpec has no {name!r}")

    def _find(self, kind: str, name: str) -> Any:
        if kind == "body" and name == "world":
            return self.worldbody
        return next((e for e in elements(self, kind) if e.name == name), None)

    def _add(self, kind: str, default: Any, values: dict[str, Any]) -> Any:
        made = CLASSES[kind]._create(self, self._spec.section(SECTIONS[kind]), values)
        self.__dict__.setdefault("_wrapped", {})[made._element] = made
        made._given(values, default)
        return made

    def delete(self, element: MjsElement) -> None:
        """Remove an element with its contents."""
        if self.parent is not None:
            raise ValueError("Cannot delete element from an attached mjSpec.")
        kind = element._KIND
        for known in self.__dict__.get("_wrapped", {}).values():
            known._remember()
        try:
            element._element.delete()
        except Error as error:
            raise ValueError(f"{kind} is not in this model: {error}") from error
        if kind in ("body", "frame"):
            remove_references(self)

    def encode(self, filename: Any, model: Any = None) -> int:
        """Write MJCF to a file that ends in .xml; returns the bytes written."""
        path = os.fspath(filename)
        if not path.endswith(".xml"):
            raise FatalError(f"no encoder for {path}: Tribo writes MJCF (.xml)")
        self.to_file(path)
        return Path(path).stat().st_size

    @staticmethod
    def from_zip(file: Any) -> "MjSpec":
        """Load a zip file with one MJCF file and its assets."""
        with zipfile.ZipFile(file) as archive:
            files = {n: archive.read(n) for n in archive.namelist() if not n.endswith("/")}
        texts = [name for name in files if name.endswith(".xml")]
        root = str(Path(texts[0]).parent) + "/" if texts else ""
        files = {n.removeprefix(root): data for n, data in files.items()}
        texts = [n.removeprefix(root) for n in texts]
        if len(texts) != 1:
            raise ValueError(f"expected one XML file, found {len(texts)}")
        text = files.pop(texts[0]).decode()
        return MjSpec.from_string(text, assets=files)

    @staticmethod
    def resolve_orientation(degree: bool, sequence: Any, orientation: Any) -> Any:
        """The quaternion of an orientation in another form."""
        name = orientation.type.name[14:].lower()
        if name == "quat":
            return np.array(orientation.quat)
        numbers = " ".join(repr(float(x)) for x in getattr(orientation, name))
        angle, letters = "degree" if degree else "radian", "".join(sequence)
        model = _core.Model.from_xml_string(
            f"<mujoco><compiler angle='{angle}' eulerseq='{letters}'/><worldbody><body {name}='{numbers}'/>"
            "</worldbody></mujoco>"
        )
        return np.array(model.body_quat[1])

    def attach(
        self, child: "MjSpec", prefix: str = "", suffix: str = "", frame: Any = None, site: Any = None
    ) -> Any:
        """Attach a copy of another spec to a frame or a site."""
        place = frame if frame is not None else site
        if isinstance(place, str):
            word = "Frame" if frame is not None else "Site"
            place = self._find("frame" if frame is not None else "site", place)
            if place is None:
                raise ValueError(f"{word} not found.")
        if place is None:
            raise ValueError("attach: give a frame or a site")
        for name in child.assets:
            if not self.override_assets and _renamed(name, prefix, suffix) in self.assets:
                raise ValueError(f"Asset {name} already exists in parent spec.")
        merge_options(self, child._spec)
        child.parent = self
        self._attached.append((place._element, child._spec, prefix, suffix))
        for name, data in child.assets.items():
            self.assets[_renamed(name, prefix, suffix)] = data
            self.assets.setdefault(name, data)
        return place

    # ---- rewriting ------------------------------------------------------------------------------

    def adopt_inertial(self, body: MjsBody) -> None:
        """Give a body explicitly the inertia that its geoms give it."""
        if self.compiler.inertiafromgeom == "true":
            raise ValueError("adopt_inertial: the compiler's inertiafromgeom is true")
        views = self._compiled(remember=False).body(body.id)
        body.mass, body.ipos = float(views.mass[0]), np.array(views.ipos)
        body.iquat, body.inertia = np.array(views.iquat), np.array(views.inertia)

    def discard_visual(self, vfs: Any = None) -> int:
        """Remove geoms that cannot collide, and materials; returns how many. Inertias stay as they were."""
        files_of(vfs)
        visual = [g for g in elements(self, "geom") if g.contype == 0 and g.conaffinity == 0]
        if visual and self.compiler.inertiafromgeom == "true":
            raise ValueError("discard_visual: the compiler's inertiafromgeom is true")
        for body in {g.parent for g in visual}:
            if body.name != "world" and not body.explicitinertial:
                self.adopt_inertial(body)
        for geom in visual:
            geom._element.delete()
        materials = elements(self, "material")
        for geom in (*elements(self, "geom"), *elements(self, "site")):
            geom.material = None
        for material in materials:
            material._element.delete()
        return len(visual) + len(materials)

    def dedup_assets(self) -> int:
        """Keep one of meshes that are alike; returns how many were removed."""
        if self.parent is not None:
            raise ValueError("Cannot merge the assets of an attached mjSpec.")
        kept: dict[Any, Any] = {}
        removed = 0
        for mesh in elements(self, "mesh"):
            words = tuple(mesh._element[field.attribute] for field in FIELDS["mesh"].values())
            first = kept.setdefault(words, mesh)
            if first is mesh:
                continue
            for geom in elements(self, "geom"):
                if geom.meshname == mesh.name:
                    geom.meshname = first.name
            mesh._element.delete()
            removed += 1
        return removed

    def fuse_static(self, vfs: Any = None) -> int:
        """Turn bodies without joints into frames of their parents; returns how many."""
        files_of(vfs)
        count = 0
        for body in elements(self, "body"):
            fixed = not body.joints and not body.mocap and not body.explicitinertial
            if fixed and body.__dict__.get("fuse", True) and body._element.tag == "body":
                body.to_frame()
                count += 1
        return count

    @property
    def _address(self) -> int:
        return id(self._spec)


def _renamed(name: str, prefix: str, suffix: str) -> str:
    """Name of an asset of an attached spec, as MuJoCo has it."""
    folder, _, file = name.rpartition("/")
    stem, dot, extension = file.rpartition(".")
    own = f"{prefix}{stem or file}{suffix}{dot}{extension if stem else ''}"
    return own if not folder else f"{folder}/{own}" if prefix else f"{folder}//{own}"


def _default_of(element: Any, name: str) -> Any:
    for child in element.children:
        if child.tag == "default":
            if child["class"] == name:
                return child
            inner = _default_of(child, name)
            if inner is not None:
                return inner
    return None


class Bound:
    """Parts of a model or a world that elements of a spec became."""

    def __init__(self, views: list[Any], single: bool) -> None:
        object.__setattr__(self, "_views", views)
        object.__setattr__(self, "_single", single)

    def __getattr__(self, name: str) -> Any:
        try:
            parts = [getattr(view, name) for view in self._views]
        except AttributeError:
            raise AttributeError(f"object has no attribute {name!r}") from None
        if self._single:
            return parts[0]
        if not parts:
            return np.zeros(0)
        if any(not isinstance(part, np.ndarray) for part in parts):
            return parts
        return (
            np.concatenate(parts)
            if all(part.ndim == 1 and part.size == 1 for part in parts)
            else np.array(parts)
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if self._single:
            setattr(self._views[0], name, value)
            return
        if np.ndim(value) == 0 or len(value) != len(self._views):
            raise ValueError(f"{name}: expected {len(self._views)} values, one for each element")
        for view, one in zip(self._views, value, strict=True):
            setattr(view, name, one)


def _bind(owner: Any, model: MjModel, parts: Any) -> Any:
    single = isinstance(parts, MjsElement)
    chosen = [parts] if single else list(parts)
    views = []
    for element in chosen:
        if element._element.tag is None:
            raise IndexError("Invalid index -1: the element was deleted")
        if model._extra.get("spec") != element._spec_of.to_xml():
            raise ValueError("The mjSpec does not match mjModel. Please recompile the mjSpec.")
        views.append(getattr(owner, element._METHOD)(element.id))
    return Bound(views, single)


def bind_model(model: MjModel, parts: Any) -> Any:
    """Views of a model of elements of its spec."""
    return _bind(model, model, parts)


def bind_data(data: Any, parts: Any) -> Any:
    """Views of a world of elements of its spec."""
    return _bind(data, data.model, parts)
