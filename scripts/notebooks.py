#!/usr/bin/env python3
"""Execute the notebooks of examples/notebooks without Jupyter.

    notebooks.py run NOTEBOOK         execute its cells in order and print what they show
    notebooks.py pages OUTPUT_FOLDER  write each notebook with its outputs as a page, pictures beside it

Cells that draw (they name `plt`) are left out where matplotlib is absent. Cells run in the notebook's folder, in one
namespace, a fresh process per notebook.
"""

import ast
import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "notebooks"
LINES = 25


def cells(path: Path) -> list[tuple[str, str]]:
    """(kind, source) of every cell; a stored output or a long cell is an error."""
    found = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell.get("outputs"):
            sys.exit(f"{path.name}: stored with outputs; clear them")
        if cell["cell_type"] == "code" and len(source.splitlines()) > LINES:
            sys.exit(f"{path.name}: a cell has more than {LINES} lines: {source.splitlines()[0]}")
        found.append((cell["cell_type"], source))
    return found


def execute(source: str, names: dict[str, Any], where: str) -> None:
    """Run a cell; its last expression is printed as a notebook does."""
    tree = ast.parse(source, where)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), where, "eval"), names)
        if value is not None:
            print(repr(value))


def run(path: Path, show: Callable[[int, str, str, str], None]) -> None:
    """Execute a notebook; `show` gets number, kind, source and printed text of each cell."""
    drawing = importlib.util.find_spec("matplotlib") is not None
    if drawing:
        import matplotlib

        matplotlib.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    parts = cells(path)
    os.chdir(path.parent)
    for number, (kind, source) in enumerate(parts):
        text = io.StringIO()
        if kind == "code" and (drawing or not re.search(r"\bplt\b", source)):
            with contextlib.redirect_stdout(text):
                execute(source, names, f"{path.name}, cell {number}")
        elif kind == "code":
            text.write("(not drawn: matplotlib is absent)\n")
        show(number, kind, source, text.getvalue())


def page(path: Path, out: Path) -> None:
    """A notebook with its outputs as markdown."""
    out.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []

    def show(number: int, kind: str, source: str, text: str) -> None:
        if kind == "markdown":
            lines.extend([source, ""])
            return
        lines.extend(["```python", source, "```", ""])
        if text.strip():
            lines.extend(["```text", text.rstrip(), "```", ""])
        if "matplotlib.pyplot" in sys.modules:
            import matplotlib.pyplot as plt

            for figure in plt.get_fignums():
                name = f"{path.stem}-{number}-{figure}.png"
                plt.figure(figure).savefig(out / name, dpi=80, bbox_inches="tight")
                lines.extend([f"![output of the cell]({name})", ""])
            plt.close("all")

    import warnings

    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
    run(path, show)
    where = f"examples/notebooks/{path.name}"
    lines.extend(["---", "", f"This page is the notebook `{where}`, executed when the site was built.", ""])
    (out / f"{path.stem}.md").write_text("\n".join(lines))


def main() -> int:
    """Run or convert."""
    task, target = sys.argv[1], Path(sys.argv[2]).resolve()
    if task == "run":
        run(target, lambda number, kind, source, text: print(text, end=""))
    elif task == "page":
        page(target, Path(sys.argv[3]).resolve())
    else:
        for path in sorted(FOLDER.glob("*.ipynb")):
            subprocess.run([sys.executable, __file__, "page", str(path), str(target)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
