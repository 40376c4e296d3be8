"""Files that a model consists of, and files in memory."""

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["MjVfs", "mju_getXMLDependencies"]

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


class MjVfs(Mapping[str, bytes]):
    """Files that models are loaded from: ``vfs["box.obj"] = data``; each name is set once."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] | None = {}

    def _open(self) -> dict[str, bytes]:
        if self._files is None:
            raise RuntimeError("VFS is closed")
        return self._files

    def close(self) -> None:
        """Forget the files: later calls raise."""
        self._files = None

    def __enter__(self) -> "MjVfs":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> bytes:
        return self._open()[name]

    def __setitem__(self, name: str, data: bytes) -> None:
        files = self._open()
        if name in files:
            raise ValueError(f"{name} is there already")
        files[name] = bytes(data)

    def __delitem__(self, name: str) -> None:
        del self._open()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._open())

    def __len__(self) -> int:
        return len(self._open())


def files_of(vfs: Any, assets: Any = None) -> dict[str, Any]:
    """The files of a vfs; not together with assets."""
    if vfs is None:
        return dict(assets or {})
    if assets:
        raise ValueError("give files as assets or as a vfs, not both")
    return dict(vfs._open())
