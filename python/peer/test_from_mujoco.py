"""Models and states of MuJoCo in Tribo: the same fields and steps as when the same file is loaded."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

import tribo

ROOT = Path(__file__).resolve().parents[2]
SCENES = sorted((ROOT / "scenes").glob("*.xml"))
# What follows from vertices that MuJoCo keeps in single precision, and from MuJoCo's own rounding.
SINGLE = 1e-4
# Equal to the last digits under both; MuJoCo's constants are those of its own sums.
CONSTANTS = ("invweight0", "lengthrange", "acc0")


def compiled(path: Path) -> "mujoco.MjModel":
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        pytest.skip(f"MuJoCo does not load it: {error}")


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_fields_are_those_of_the_file(path):
    mj = compiled(path)
    made, loaded = tribo.Model.from_mujoco(mj), tribo.Model.from_xml_path(str(path))
    for name, kind, *_ in tribo._core.model_fields:
        if kind not in ("tbReal", "float", "int") or name.startswith(
            ("name_", "hull_", "mesh_hull", "mesh_face")
        ):
            continue
        mine, theirs = getattr(made, name), getattr(loaded, name)
        assert mine.shape == theirs.shape, name
        if not mine.size:
            continue
        if kind == "int":
            assert np.array_equal(mine, theirs), name
            continue
        scale = max(1.0, float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0)))
        limit = SINGLE if mj.nmesh or mj.nhfield else 1e-9 if name.endswith(CONSTANTS) else 1e-12
        assert np.allclose(mine, theirs, rtol=0, atol=limit * scale, equal_nan=True), name


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_steps_are_those_of_the_loaded_file(path):
    mj = compiled(path)
    models = tribo.Model.from_mujoco(mj), tribo.Model.from_xml_path(str(path))
    reference = mujoco.MjData(mj)
    worlds = [tribo.Data(m) for m in models]
    if mj.nkey:
        mujoco.mj_resetDataKeyframe(mj, reference, 0)
    for m, d in zip(models, worlds, strict=True):
        m.opt.law = "soft"
        tribo.from_mujoco_data(reference, m, d)
    errors = np.zeros(2)
    for _ in range(10):
        mujoco.mj_step(mj, reference)
        for k, (m, d) in enumerate(zip(models, worlds, strict=True)):
            tribo.step(m, d)
            errors[k] = max(errors[k], np.abs(d.qpos - reference.qpos).max(initial=0))
    assert errors[0] <= max(3 * errors[1], 1e-9)


def test_states_move_both_ways():
    mj = mujoco.MjModel.from_xml_path(str(ROOT / "scenes/quadruped.xml"))
    first, second = mujoco.MjData(mj), mujoco.MjData(mj)
    mujoco.mj_resetDataKeyframe(mj, first, 0)
    first.time = 0.5
    m = tribo.Model.from_mujoco(mj)
    d = tribo.from_mujoco_data(first, m)
    tribo.to_mujoco_data(d, second)
    whole = mujoco.mjtState.mjSTATE_INTEGRATION
    a, b = (np.zeros(mujoco.mj_stateSize(mj, whole)) for _ in range(2))
    mujoco.mj_getState(mj, first, a, whole)
    mujoco.mj_getState(mj, second, b, whole)
    assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("xml", "what"),
    [
        (
            "<mujoco><worldbody><flexcomp name='f' type='grid' count='3 3 1' "
            "spacing='.1 .1 .1' dim='2' mass='1'/></worldbody></mujoco>",
            "flex",
        ),
        (
            "<mujoco><worldbody><body><joint stiffness='1 2'/><geom size='.1'/></body></worldbody></mujoco>",
            "polynomial",
        ),
    ],
)
def test_what_tribo_does_not_hold_raises_by_name(xml, what):
    with pytest.raises(tribo.UnsupportedError, match=what):
        tribo.Model.from_mujoco(mujoco.MjModel.from_xml_string(xml))
