"""Parts of a model and of a world by name: ``m.body("torso").mass``, ``d.joint("knee").qpos``."""

from typing import Any

from . import _core
from ._enums import ObjType

# Kind: type of object, size that counts it, field of its names, prefixes of its fields in the model
# and in the data. A field belongs to the kind whose objects its rows are.
KINDS: dict[str, tuple[Any, str, str, tuple[str, ...]]] = {
    "body": (ObjType.BODY, "nbody", "name_bodyadr", ("body_",)),
    "joint": (ObjType.JOINT, "njnt", "name_jntadr", ("jnt_",)),
    "geom": (ObjType.GEOM, "ngeom", "name_geomadr", ("geom_",)),
    "site": (ObjType.SITE, "nsite", "name_siteadr", ("site_",)),
    "camera": (ObjType.CAMERA, "ncam", "name_camadr", ("cam_",)),
    "light": (ObjType.LIGHT, "nlight", "name_lightadr", ("light_",)),
    "mesh": (ObjType.MESH, "nmesh", "name_meshadr", ("mesh_",)),
    "hfield": (ObjType.HFIELD, "nhfield", "name_hfieldadr", ("hfield_",)),
    "pair": (ObjType.PAIR, "npair", "name_pairadr", ("pair_",)),
    "exclude": (ObjType.EXCLUDE, "nexclude", "name_excludeadr", ("exclude_",)),
    "equality": (ObjType.EQUALITY, "neq", "name_eqadr", ("eq_",)),
    "tendon": (ObjType.TENDON, "ntendon", "name_tendonadr", ("tendon_", "ten_")),
    "actuator": (ObjType.ACTUATOR, "nu", "name_actuatoradr", ("actuator_",)),
    "sensor": (ObjType.SENSOR, "nsensor", "name_sensoradr", ("sensor_",)),
    "numeric": (ObjType.NUMERIC, "nnumeric", "name_numericadr", ("numeric_",)),
    "text": (ObjType.TEXT, "ntext", "name_textadr", ("text_",)),
    "tuple": (ObjType.TUPLE, "ntuple", "name_tupleadr", ("tuple_",)),
    "key": (ObjType.KEY, "nkey", "name_keyadr", ("key_",)),
}


class Part:
    """One object of a model or of a world; attributes are live rows of its arrays."""

    __slots__ = ("_owner", "id", "name")

    def __init__(self, owner: Any, id: int, name: str) -> None:
        self._owner = owner
        self.id = id
        self.name = name

    def __repr__(self) -> str:
        values = ", ".join(n for n in dir(type(self)) if not n.startswith("_") and n not in ("id", "name"))
        return f"<{type(self).__name__} {self.id} {self.name!r}: {values}>"


def _rows(kind: str, rows: str) -> str | None:
    """How rows of a field follow from the id of a part: by id, or by its dofs, coordinates, ..."""
    if rows == KINDS[kind][1]:
        return "id"
    return {
        ("joint", "nv"): "dof",
        ("joint", "nq"): "qpos",
        ("sensor", "nsensordata"): "sensor",
        ("actuator", "na"): "act",
        ("body", "nmocap"): "mocap",
        ("numeric", "nnumericdata"): "numeric",
        ("tuple", "ntupledata"): "tuple",
    }.get((kind, rows))


def _span(model: Any, how: str, id: int) -> slice | None:
    """Rows of a part, as a slice."""
    if how == "id":
        return slice(id, id + 1)
    if how in ("dof", "qpos"):
        adr = model.jnt_dofadr if how == "dof" else model.jnt_qposadr
        end = model.nv if how == "dof" else model.nq
        return slice(int(adr[id]), int(adr[id + 1]) if id + 1 < model.njnt else end)
    if how == "mocap":
        row = int(model.body_mocapid[id])
        return None if row < 0 else slice(row, row + 1)
    first, count = {
        "sensor": (model.sensor_adr, model.sensor_dim),
        "act": (model.actuator_actadr, model.actuator_actnum),
        "numeric": (model.numeric_adr, model.numeric_size),
        "tuple": (model.tuple_adr, model.tuple_size),
    }[how]
    start = int(first[id])
    return slice(max(start, 0), max(start, 0) + int(count[id]))


def _property(field: str, how: str, matrix: bool, doc: str) -> property:
    """A live row (or rows) of an array; assigning copies into it."""

    def get(self: Part) -> Any:
        owner = self._owner
        array = getattr(owner, field)
        if how == "id":
            return array[self.id] if matrix else array[self.id : self.id + 1]
        span = _span(owner if isinstance(owner, _core.Model) else owner.model, how, self.id)
        if span is None:
            raise AttributeError(f"{self.name!r} is no mocap body")
        return array[span][0] if how == "mocap" else array[span]

    def put(self: Part, value: Any) -> None:
        row = get(self)
        row[...] = value

    return property(get, put, doc=doc)


def _words(fields: list[tuple[str, ...]], kind: str) -> dict[str, property]:
    """The properties of a kind."""
    made: dict[str, property] = {}
    prefixes = KINDS[kind][3]
    for field, type_, rows, columns, unit, what in fields:
        how = _rows(kind, rows)
        if how is None or type_ == "char" or field.startswith("name_"):
            continue
        word = field
        for prefix in (*prefixes, *(("dof_",) if how == "dof" else ())):
            if field.startswith(prefix):
                word = field[len(prefix) :]
                break
        if how == "sensor" and field == "sensordata":
            word = "data"
        if word in made or word in ("id", "name") or not word.isidentifier():
            continue
        doc = f"{what[:1].upper()}{what[1:]}{', ' + unit if unit else ''} (`{field}`)."
        made[word] = _property(field, how, columns != "1", doc)
    return made


def _title(owner: str, kind: str) -> str:
    return owner + kind.capitalize()


def _class(owner: str, kind: str, words: dict[str, property]) -> None:
    """Define the class of a kind."""
    name = _title(owner, kind)
    what = "model" if owner == "Model" else "world"
    globals()[name] = type(
        name,
        (Part,),
        {
            "__slots__": (),
            "__module__": "tribo",
            **words,
            "__doc__": f"A {kind} of a {what}; attributes are live rows of its arrays.",
        },
    )
    __all__.append(name)


__all__ = ["KINDS", "Part"]
for _kind in KINDS:
    _class("Model", _kind, _words(_core.model_fields, _kind))
    if _own := _words(_core.data_fields, _kind):
        _class("Data", _kind, _own)
