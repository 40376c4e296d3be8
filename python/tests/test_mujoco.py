"""tribo.mujoco: MuJoCo's names over Tribo's objects."""

import copy
import pickle
import sys

import numpy as np
import pytest
from conftest import PENDULUM

import tribo
import tribo.mujoco as mujoco
from tribo.mujoco import batch, rollout


@pytest.fixture
def m():
    return mujoco.MjModel.from_xml_string(PENDULUM)


@pytest.fixture
def d(m):
    return mujoco.MjData(m)


def test_objects_are_those_of_tribo(m, d):
    assert isinstance(m, tribo.Model)
    assert isinstance(d, tribo.Data)
    assert d.model is m
    tribo.step(m, d)
    assert d.time == pytest.approx(0.002)


def test_the_law_is_soft_until_it_is_set(m, d):
    assert m.opt.law == tribo.Law.SOFT if hasattr(tribo.Law, "SOFT") else m.opt.law == 4
    plain = tribo.Model.from_xml_string(PENDULUM)
    assert plain.opt.law == 0
    m.opt.law = "ncp"
    mujoco.mj_step(m, d, 5)
    world = tribo.Data(plain)
    tribo.step(plain, world, 5)
    assert np.array_equal(world.qpos, d.qpos)


def test_a_file_may_ask_for_a_law():
    text = PENDULUM.replace('<option timestep="0.002"/>', '<option timestep="0.002" law="ccp"/>')
    try:
        m = mujoco.MjModel.from_xml_string(text)
    except tribo.ParseError:
        pytest.skip("files do not say the law")
    assert m.opt.law == 1


def test_numbers_are_those_of_mujoco(m):
    assert m.sensor_objtype[1] == mujoco.mjtObj.mjOBJ_BODY
    assert m.jnt_limited.dtype == bool
    assert mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_GEOM, "rod") == 1
    assert mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_KEY, 0) == "raised"
    m.opt.solver = mujoco.mjtSolver.mjSOL_CG
    assert m.opt.tribo.mjsolver == 1
    # MuJoCo's are plain numbers, and a wrong one is an error of the step.
    assert type(m.opt.solver) is int and type(m.opt.integrator) is int and type(m.opt.law) is tribo.Law
    m.opt.solver = 10
    with pytest.raises(mujoco.FatalError):
        mujoco.mj_step(m, mujoco.MjData(m))
    m.opt.solver = 1
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    assert m.opt.tribo.sleep == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mj_loadPluginLibrary", "callbacks"),
        ("mjr_render", "Renderer"),
        ("mj_readCtrl", "delays"),
        ("mj_embedAssets", "assets"),
    ],
)
def test_what_is_not_there_raises_by_name(name, words):
    with pytest.raises(NotImplementedError, match=rf"{name}.*{words}"):
        getattr(mujoco, name)()


def test_fields_that_are_not_there_say_why(m, d):
    with pytest.raises(AttributeError, match="contact"):
        _ = d.efc_force
    with pytest.raises(AttributeError, match="deformable"):
        _ = m.flex_vert
    with pytest.raises(AttributeError, match="no 'nonsense'"):
        _ = m.nonsense
    with pytest.raises(tribo.UnsupportedError, match="discrete"):
        m.opt.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    with pytest.raises(NotImplementedError, match="launch_passive"):
        mujoco.viewer.launch_passive(m, d)


def test_contacts_follow_the_world_and_copies_keep_theirs(m, d):
    mujoco.mj_forward(m, d)
    kept = d.contact
    assert len(kept) == d.ncon == 1
    other = copy.copy(d)
    d.qpos[3] += 1
    mujoco.mj_forward(m, d)
    assert len(kept) == 0
    assert other.ncon == 1
    again = pickle.loads(pickle.dumps(other))
    assert again.contact == other.contact
    assert np.array_equal(again.qpos, other.qpos)


def test_a_diverged_state_warns_and_starts_anew(m, d):
    d.qvel[0] = np.nan
    mujoco.mj_step(m, d)
    assert d.warning[mujoco.mjtWarning.mjWARN_BADQVEL].number == 1
    assert np.all(np.isfinite(d.qpos))


def test_callbacks_are_those_of_the_process(m, d):
    calls = []
    mujoco.set_mjcb_control(lambda m, d: calls.append(d.time))
    try:
        mujoco.mj_step(m, d, 3)
    finally:
        mujoco.set_mjcb_control(None)
    mujoco.mj_step(m, d)
    assert len(calls) == 3


def test_rollouts_do_not_depend_on_threads(m):
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((6, mujoco.mj_stateSize(m, full)))
    mujoco.mj_getState(m, mujoco.MjData(m), start[0], full)
    start[:] = start[0]
    control = np.random.default_rng(0).normal(size=(6, 30, m.nu))
    one, _ = rollout.rollout(m, mujoco.MjData(m), start, control)
    many, _ = rollout.rollout(m, [mujoco.MjData(m) for _ in range(3)], start, control)
    assert np.array_equal(one, many)


def test_a_batch_steps_as_its_worlds(m):
    b = batch.Batch(m, 4, 2)
    mass = b.expand("body_mass")
    mass[:, 2] = [1, 2, 3, 4]
    b.set_const()
    b.ctrl[:] = 0.1
    b.step(nstep=5)
    for i in range(4):
        own = copy.copy(m)
        own.body_mass[2] = mass[i, 2]
        d = mujoco.MjData(own)
        mujoco.mj_setConst(own, d)
        d.ctrl[:] = 0.1
        mujoco.mj_step(own, d, 5)
        assert np.array_equal(b.qpos[i], d.qpos)


def test_specs_are_edited_attached_and_bound():
    child = mujoco.MjSpec()
    body = child.worldbody.add_body(name="link")
    joint = body.add_joint(name="hinge", axis=[0, 1, 0])
    body.add_geom(size=[0.1])
    model = child.compile()
    assert np.array_equal(model.bind(joint).axis, [0, 1, 0])
    parent = mujoco.MjSpec()
    parent.attach(child, prefix="left-", frame=parent.worldbody.add_frame(pos=[1, 0, 0]))
    body.pos = [0, 0, 2]
    made = parent.compile()
    assert np.array_equal(made.body("left-link").pos, [1, 0, 2])
    with pytest.raises(ValueError, match="does not match"):
        model.bind(joint)


def test_install_puts_it_in_place():
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "mujoco"}
    mujoco.install()
    try:
        import mujoco as installed
        from mujoco import rollout as part

        assert installed is tribo.mujoco
        assert part is rollout
    finally:
        mujoco.uninstall()
    assert {name for name in sys.modules if name.split(".")[0] == "mujoco"} == set(before)
