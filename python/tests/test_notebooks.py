"""Notebooks run from top to bottom without Jupyter, each in a process of its own."""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
RUNNER = ROOT / "scripts" / "notebooks.py"


def sources(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def imported(source: str) -> set[str]:
    """Top-level packages that a cell which does not draw imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 7


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_in_a_fresh_process(path):
    needed = set().union(*(imported(source) for source in sources(path) if "plt" not in source))
    absent = sorted(name for name in needed if importlib.util.find_spec(name) is None)
    if absent:
        pytest.skip(f"needs {', '.join(absent)}")
    done = subprocess.run(
        [sys.executable, str(RUNNER), "run", str(path)], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs_and_with_short_cells(path):
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs") and not cell.get("execution_count")
    assert max(len(source.splitlines()) for source in sources(path)) <= 25
