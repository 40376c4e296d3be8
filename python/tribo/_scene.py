"""Scenes that come with the package."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["scene"]


def _folder() -> "Path":
    """Where the scenes are: in the package, or in the checkout that the package is imported from."""
    from pathlib import Path

    package = Path(__file__).resolve().parent
    for folder in (package / "_cli" / "share" / "tribo" / "scenes", package.parents[1] / "scenes"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError("this installation has no scenes")


def scene(name: str | None = None) -> "Path":
    """A scene that comes with the package.

    Parameters
    ----------
    name : str, optional
        A scene ("quadruped", "stack", "humanoid"), with or without ".xml".

    Returns
    -------
    pathlib.Path
        Its file (MJCF); without an argument the folder of all scenes.
    """
    folder = _folder()
    if name is None:
        return folder
    path = folder / f"{name.removesuffix('.xml')}.xml"
    if path.parent == folder and path.is_file():
        return path
    import difflib

    known = sorted(other.stem for other in folder.glob("*.xml"))
    near = difflib.get_close_matches(name.removesuffix(".xml"), known)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    raise KeyError(f"no scene {name!r}, {hint}")
