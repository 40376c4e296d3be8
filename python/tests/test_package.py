import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tribo

ROOT = Path(__file__).resolve().parents[2]


def run(code: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd)


def test_nothing_leaks_when_the_interpreter_ends():
    done = run("""
import copy, pickle, tribo, numpy as np
m = tribo.Model.from_xml_path("scenes/quadruped.xml")
d = tribo.Data(m)
m.control_callback = lambda m, d: None
tribo.step(m, d, 5)
keep = [d.qpos, d.contact[0], d.contact, m.opt, m.opt.gravity, copy.copy(d), tribo.derivatives(m, d)]
b = tribo.Batch(m, 3, 2); b.expand("geom_friction"); b.step(2)
s = tribo.Spec.from_model(m); e = s.world
p = tribo.problem(np.eye(3), [-1.0, 0, 0], 0.5); p.solve()
try:
    tribo.Model.from_xml_string("<x/>")
except tribo.Error as error:
    kept = error
""")
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr and not done.stderr, done.stderr


def test_importing_loads_no_back_end():
    done = run(
        "import sys, tribo; back = ('scipy', 'torch', 'jax', 'gymnasium', 'mujoco')\n"
        "print(*(n for n in back if n in sys.modules))"
    )
    assert done.stdout.strip() == "", done.stderr


def test_subinterpreters_are_refused():
    done = run("""
try:
    import _xxsubinterpreters as s
except ImportError:
    import _interpreters as s
i = s.create()
try:
    print(s.run_string(i, "import tribo._core"))
except BaseException as error:
    print("refused", type(error).__name__)
""")
    assert done.returncode == 0 and ("refused" in done.stdout or "ImportError" in done.stdout), done.stderr


def test_the_command_line_comes_with_the_package():
    done = subprocess.run(
        [sys.executable, "-m", "tribo", "info", "scenes/stack.xml", "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0 and '"nq"' in done.stdout, done.stderr


def test_scenes_come_with_the_package():
    path = tribo.scene("quadruped")
    assert path.is_file() and path.read_text() == (ROOT / "scenes/quadruped.xml").read_text()
    assert tribo.scene("quadruped.xml") == path and tribo.scene() == path.parent
    assert {other.stem for other in (ROOT / "scenes").glob("*.xml")} <= {
        other.stem for other in tribo.scene().glob("*.xml")
    }
    with pytest.raises(KeyError, match="did you mean 'quadruped'"):
        tribo.scene("quadrupe")
    with pytest.raises(KeyError):
        tribo.scene("../quadruped")
    assert tribo.Model.from_xml_path(path).nu == 12


def test_a_new_package_takes_the_place_of_the_old_one(tmp_path):
    swap = [sys.executable, str(ROOT / "python/swap.py")]
    new, old = tmp_path / "new", tmp_path / "old"
    for text in ("first", "second"):
        new.mkdir(exist_ok=True)
        (new / "text").write_text(text)
        subprocess.run([*swap, str(new), str(old)], check=True)
        assert (old / "text").read_text() == text
    assert (new / "text").read_text() == "first"


def test_extras_are_those_of_the_pages():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for page in ("README.md", "docs/manual/python.md", "python/tribo/howto/install.md"):
        text = (ROOT / page).read_text()
        for extra in extras:
            assert f"[{extra}]" in text, f"{page}: {extra}"


def test_every_public_name_has_documentation():
    for name in tribo.__all__:
        assert getattr(tribo, name).__doc__, name
    for owner in (
        tribo.Model,
        tribo.Data,
        tribo.Batch,
        tribo.Option,
        tribo.Contact,
        tribo.Contacts,
        tribo.Spec,
        tribo.Element,
        tribo.Problem,
        tribo.Derivatives,
        tribo.Renderer,
    ):
        for name in dir(owner):
            if not name.startswith("_"):
                assert getattr(owner, name).__doc__, f"{owner.__name__}.{name}"


def test_public_names_have_one_path():
    assert len(set(tribo.__all__)) == len(tribo.__all__)


def test_stubs_are_current():
    done = subprocess.run(
        [sys.executable, str(ROOT / "python/stubs.py"), str(ROOT / "python/tribo"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("law", ["ncp", "soft", "viscoelastic"])
def test_steps_give_the_numbers_of_the_command_line(law, quadruped):
    m, d = quadruped
    m.opt.law = law
    tribo.step(m, d, 100)
    command = f"sim scenes/quadruped.xml --key stand --law {law} --time {100 * m.opt.timestep!r} --json"
    done = subprocess.run(
        [sys.executable, "-m", "tribo", *command.split()],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    result = json.loads(done.stdout)
    assert result["steps"] == 100
    assert result["qpos"] == list(d.qpos) and result["qvel"] == list(d.qvel)
