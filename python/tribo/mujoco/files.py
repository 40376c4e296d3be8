"""Files that a model consists of."""

import os
import xml.etree.ElementTree as ElementTree

__all__ = ["mju_getXMLDependencies"]

_FOLDERS = {"mesh": "meshdir", "hfield": "meshdir", "skin": "meshdir", "texture": "texturedir"}


def mju_getXMLDependencies(filename: str) -> list[str]:
    """The file, those that it includes, and the assets of all of them."""
    found: list[str] = []
    _collect(os.fspath(filename), found, {})
    return found


def _collect(path: str, found: list[str], folders: dict[str, str]) -> None:
    if path in found:
        return
    found.append(path)
    root, here = ElementTree.parse(path).getroot(), os.path.dirname(path)
    for compiler in root.iter("compiler"):
        shared = compiler.get("assetdir")
        folders = {**folders, **{k: v for k in ("meshdir", "texturedir") if (v := compiler.get(k) or shared)}}
    for element in root.iter():
        name = element.get("file")
        if name is None:
            continue
        if element.tag in ("include", "model"):
            _collect(os.path.join(here, name), found, folders)
            continue
        asset = os.path.join(here, folders.get(_FOLDERS.get(element.tag, ""), ""), name)
        if asset not in found:
            found.append(asset)
