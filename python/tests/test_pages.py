"""Python on the pages runs: README, the manual's Python pages, the how-to files; the manual is installed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tribo

ROOT = Path(__file__).resolve().parents[2]
HOWTO = Path(tribo.__file__).parent / "howto"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/manual").glob("python*.md")), *sorted(HOWTO.glob("*.md"))]
OPTIONAL = ("gymnasium", "jax", "matplotlib", "mujoco", "scipy", "torch")
PROGRAM = """
import sys
skipped = 0
names = {"__name__": "__main__"}
for number, (line, source, absent) in enumerate(blocks):
    if absent:
        print(f"block of line {line} is left out: {', '.join(absent)} absent")
        skipped += 1
        continue
    try:
        exec(compile("\\n" * line + source, page, "exec"), names)
    except NameError:
        if not skipped:
            raise
        print(f"block of line {line} is left out: it continues one that is")
"""


def blocks(path: Path) -> list[tuple[int, str, list[str]]]:
    """Line, source and absent packages of every Python block."""
    text = path.read_text()
    found = []
    for match in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S):
        line = text.count("\n", 0, match.start()) + 1
        used = [name for name in OPTIONAL if re.search(rf"^\s*(import|from) {name}\b", match[1], re.M)]
        used += ["gymnasium"] if re.search(r"^\s*(import|from) tribo\.gym\b", match[1], re.M) else []
        absent = sorted({name for name in used if importlib.util.find_spec(name) is None})
        found.append((line, match[1], absent))
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_python_blocks_of_a_page_run_in_order(path, tmp_path):
    absent = [names for _, _, names in blocks(path)]
    if all(absent):
        pytest.skip(f"needs {', '.join(sorted({name for names in absent for name in names}))}")
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    program = f"page = {str(path)!r}\nblocks = {blocks(path)!r}\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_python_comes_first_in_the_readme():
    text = (ROOT / "README.md").read_text()
    assert text.index("```python") < text.index("```c")


def test_every_page_of_the_manual_is_installed_as_it_stands():
    folder = tribo.manual()
    package = Path(tribo.__file__).parent
    if package == ROOT / "python" / "tribo":
        pytest.skip("tribo is imported from the checkout")
    assert folder == package / "manual"
    for page in (ROOT / "docs/manual").rglob("*.md"):
        assert (folder / page.relative_to(ROOT / "docs/manual")).read_text() == page.read_text()


def test_howto_files_are_installed():
    wanted = {
        "install",
        "port-from-mujoco",
        "choose-a-law",
        "read-the-certificate",
        "many-worlds",
        "write-a-controller",
    }
    assert wanted <= {path.stem for path in HOWTO.glob("*.md")}
    for name in wanted:
        assert tribo.manual(f"howto/{name}").is_file()


def test_a_page_that_is_not_there_is_named_with_the_nearest_ones():
    with pytest.raises(KeyError, match="certificate"):
        tribo.manual("howto/certificate")


def manual(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tribo", "manual", *arguments], capture_output=True, text=True
    )


def test_the_command_line_prints_a_page_and_the_list_of_pages():
    assert manual("choosing").stdout == (ROOT / "docs/manual/choosing.md").read_text()
    listed = manual().stdout
    assert "laws/ncp" in listed and "howto/install" in listed
    unknown = manual("chosing")
    assert unknown.returncode == 1 and "choosing" in unknown.stderr


def test_every_public_name_is_in_the_reference(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/python_reference.py"), str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
