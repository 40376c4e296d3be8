"""The manual that travels with the package."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["manual"]


def _pages() -> "dict[str, Path]":
    """Name to file: pages of the manual as "step", "laws/ncp"; how-to files as "howto/install"."""
    from pathlib import Path

    package = Path(__file__).resolve().parent
    found = {}
    for prefix, folder in (("", _folder()), ("howto/", package / "howto")):
        for path in sorted(folder.rglob("*.md")):
            found[prefix + path.relative_to(folder).with_suffix("").as_posix()] = path
    return found


def _folder() -> "Path":
    """Where the manual is: in the package, or in the checkout that the package is imported from."""
    from pathlib import Path

    package = Path(__file__).resolve().parent
    for folder in (package / "manual", package.parents[1] / "docs" / "manual"):
        if folder.is_dir():
            return folder
    raise FileNotFoundError("this installation has no manual")


def manual(page: str | None = None) -> "Path":
    """The manual on this machine.

    Parameters
    ----------
    page : str, optional
        A page ("choosing", "laws/ncp", "howto/install"), with or without ".md".

    Returns
    -------
    pathlib.Path
        The page's file (Markdown); without an argument the folder of all pages.
    """
    if page is None:
        return _folder()
    pages = _pages()
    name = page.removesuffix(".md")
    if name not in pages:
        import difflib

        last = {full.rsplit("/", 1)[-1]: full for full in pages}
        words = name.rsplit("/", 1)[-1]
        near = [full for short, full in last.items() if words in short or short in words]
        near += [last[match] for match in difflib.get_close_matches(words, list(last))]
        raise KeyError(f"no page {page!r}; near: {', '.join(dict.fromkeys(near)) or 'none'}")
    return pages[name]


def show(arguments: list[str]) -> int:
    """Print a page, or the list of pages with their titles."""
    import sys

    if arguments:
        try:
            print(manual(arguments[0]).read_text(encoding="utf-8"), end="")
        except KeyError as error:
            print(f"tribo manual: {error.args[0]}", file=sys.stderr)
            return 1
        return 0
    print("tribo manual PAGE prints a page; the files are in", _folder())
    for name, path in _pages().items():
        lines = path.read_text(encoding="utf-8").splitlines()
        print(f"{name:30s} {next((line[2:] for line in lines if line.startswith('# ')), '')}")
    return 0
