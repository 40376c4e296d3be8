"""The scripts of the page about moving from MuJoCo run, without MuJoCo."""

import re

import pytest
from conftest import ROOT

import tribo.mujoco

PAGE = ROOT / "docs/manual/python-mujoco.md"
SCRIPTS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


def test_the_page_has_ten_scripts():
    assert len(SCRIPTS) == 10
    assert all("# was:" in script for script in SCRIPTS)


@pytest.mark.parametrize("number", range(1, len(SCRIPTS) + 1))
def test_script(number, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(compile(SCRIPTS[number - 1], f"script {number}", "exec"), {})
    tribo.mujoco.mj_resetCallbacks()
    assert capsys.readouterr().err == ""
