"""The elements of MJCF and their attributes, as far as MjSpec knows them."""

from html import escape

from .spec_fields import FIELDS
from .spec_lists import SECTIONS

__all__ = ["mj_printSchema"]

_IN_BODY = ("body", "frame", "geom", "joint", "site", "camera", "light")


def _rows() -> list[tuple[int, str, list[str]]]:
    """Depth, tag and attributes of each element."""
    rows: list[tuple[int, str, list[str]]] = [(0, "mujoco", ["model"]), (1, "worldbody", [])]
    rows += [(2, tag, _attributes(tag)) for tag in _IN_BODY]
    for section in dict.fromkeys(SECTIONS.values()):
        rows.append((1, section, []))
        rows += [(2, kind, _attributes(kind)) for kind, place in SECTIONS.items() if place == section]
    return rows


def _attributes(kind: str) -> list[str]:
    return ["name", *(field.attribute for field in FIELDS[kind].values())]


def mj_printSchema(flg_html: bool, flg_pad: bool) -> str:
    """The elements with their attributes as text or as HTML; `flg_pad` aligns or indents it."""
    lines = []
    for depth, tag, attributes in _rows():
        words = " ".join(attributes)
        if flg_html:
            space = "&nbsp;" * 4 * depth if flg_pad else ""
            lines.append(f"<tr><td>{space}{escape(tag)}</td><td>{escape(words)}</td></tr>")
        else:
            name = "  " * depth + tag
            lines.append(f"{name:16}{words}" if flg_pad else f"{name} {words}")
    text = "\n".join(lines)
    return f"<table>\n{text}\n</table>\n" if flg_html else text + "\n"
