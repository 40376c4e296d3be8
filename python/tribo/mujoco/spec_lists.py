"""Where the elements of a spec are: sections, tags, and the order of their numbers."""

from typing import Any

# Section of the elements that are not in the tree of bodies.
SECTIONS = {
    "mesh": "asset",
    "hfield": "asset",
    "material": "asset",
    "texture": "asset",
    "pair": "contact",
    "exclude": "contact",
    "equality": "equality",
    "tendon": "tendon",
    "actuator": "actuator",
    "sensor": "sensor",
    "numeric": "custom",
    "text": "custom",
    "tuple": "custom",
    "key": "keyframe",
}
LISTS = {
    "geoms": "geom",
    "joints": "joint",
    "sites": "site",
    "cameras": "camera",
    "lights": "light",
    "frames": "frame",
    "meshes": "mesh",
    "hfields": "hfield",
    "materials": "material",
    "textures": "texture",
    "pairs": "pair",
    "excludes": "exclude",
    "equalities": "equality",
    "tendons": "tendon",
    "actuators": "actuator",
    "sensors": "sensor",
    "numerics": "numeric",
    "texts": "text",
    "tuples": "tuple",
    "keys": "key",
}
_JOINTS = ("joint", "freejoint")
# Sections whose every element is of one kind, whatever its tag.
_WHOLE = {"equality": "equality", "tendon": "tendon", "actuator": "actuator", "sensor": "sensor"}


def kind_of(tag: str, section: str) -> str | None:
    """Kind of an element by its tag and the tag around it; None for what is no kind of its own."""
    if section in _WHOLE:
        return _WHOLE[section]
    if tag in _JOINTS:
        return "joint"
    if tag in ("worldbody", "body"):
        return "body"
    return tag if tag in SECTIONS or tag in LISTS.values() else None


def in_body(body: Any, kind: str) -> list[Any]:
    """Elements of a kind directly in a body, those of its frames included."""
    found = []
    for child in body.children:
        if kind_of(child.tag, "body") == kind:
            found.append(child)
        if child.tag == "frame":
            found += in_body(child, kind)
    return found


def in_tree(body: Any, kind: str) -> list[Any]:
    """Elements of a kind in a body and in the bodies under it, body by body."""
    found = [] if kind == "body" else in_body(body, kind)
    for child in in_body(body, "body"):
        if kind == "body":
            found.append(child)
        found += in_tree(child, kind)
    return found


def raw(spec: Any, kind: str) -> list[Any]:
    """All elements of a kind."""
    if kind not in SECTIONS:
        return in_tree(spec._spec.world, kind)
    sections = [child for child in spec._spec.root.children if child.tag == SECTIONS[kind]]
    return [
        child for section in sections for child in section.children if kind_of(child.tag, section.tag) == kind
    ]


def elements(spec: Any, kind: str) -> list[Any]:
    """All elements of a kind as MuJoCo's classes."""
    from .spec_elements import wrap

    return [wrap(spec, element) for element in raw(spec, kind)]


# Kind that an attribute of another section refers to.
_REFERENCES = {
    "joint": "joint",
    "jointinparent": "joint",
    "joint1": "joint",
    "joint2": "joint",
    "tendon": "tendon",
    "tendon1": "tendon",
    "tendon2": "tendon",
    "site": "site",
    "site1": "site",
    "site2": "site",
    "refsite": "site",
    "cranksite": "site",
    "slidersite": "site",
    "body": "body",
    "body1": "body",
    "body2": "body",
    "geom1": "geom",
    "geom2": "geom",
    "actuator": "actuator",
    "camera": "camera",
}


def remove_references(spec: Any) -> None:
    """Remove elements that refer to what is no longer there, as MuJoCo does."""
    changed = True
    while changed:
        changed = False
        names = {kind: {e.name for e in raw(spec, kind)} | {"world"} for kind in set(_REFERENCES.values())}
        for kind in ("tendon", "equality", "actuator", "pair", "exclude", "sensor"):
            for element in raw(spec, kind):
                if _dangling(element, names):
                    element.delete()
                    changed = True


def _dangling(element: Any, names: dict[str, set[str]]) -> bool:
    for attribute, kind in _REFERENCES.items():
        name = _get(element, attribute)
        if name and name not in names[kind]:
            return True
    for of, object in (("objtype", "objname"), ("reftype", "refname")):
        word = (_get(element, of) or "").replace("xbody", "body")
        name = _get(element, object)
        if name and word in names and name not in names[word]:
            return True
    return any(_dangling(child, names) for child in element.children)


def _get(element: Any, attribute: str) -> Any:
    try:
        return element[attribute]
    except (ValueError, RuntimeError):
        return None
