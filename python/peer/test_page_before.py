"""The scripts of the page about moving from MuJoCo, as they were: with MuJoCo."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/manual/python-mujoco.md"
SCRIPTS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def before(script: str) -> str:
    """The script without added lines, and with those of MuJoCo."""
    lines = [line for line in script.splitlines() if not line.endswith("# new")]
    return "\n".join(re.sub(r".*  # was: ", "", line) for line in lines)


@pytest.mark.parametrize("number", range(1, len(SCRIPTS) + 1))
def test_script(number, monkeypatch):
    mujoco = pytest.importorskip("mujoco")
    text = before(SCRIPTS[number - 1])
    assert "tribo" not in text
    monkeypatch.chdir(ROOT)
    if "Renderer" in text:
        try:
            mujoco.Renderer(mujoco.MjModel.from_xml_string("<mujoco/>"), 8, 8).close()
        except Exception as error:
            pytest.skip(f"MuJoCo cannot draw here: {error}")
    exec(compile(text, f"script {number}", "exec"), {})
