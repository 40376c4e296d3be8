"""Files in memory by name."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["MjVfs", "files_of"]


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
