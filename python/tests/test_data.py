import copy
import gc
import pickle
import threading
import warnings
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tribo
from tribo import _core


def test_every_field_of_the_list_is_a_live_view_made_once(quadruped):
    m, d = quadruped
    for name, type_, _, columns, _, _ in _core.data_fields:
        array = getattr(d, name)
        assert getattr(d, name) is array, name
        assert array.dtype == (np.int32 if type_ == "int" else np.float64), name
        assert array.ndim == (1 if columns == "1" else 2), name
        assert array.flags.c_contiguous and array.flags.writeable and not array.flags.owndata, name
    q = d.qpos
    before = q.copy()
    tribo.step(m, d, 3)
    assert d.qpos is q and not np.array_equal(q, before)


def test_assigning_copies_into_the_state(m, d):
    view = d.qvel
    d.qvel = np.arange(m.nv, dtype=np.float32)
    assert d.qvel is view and list(view) == list(range(m.nv))
    d.qvel = [1] * m.nv
    assert view.sum() == m.nv
    d.qvel = np.zeros(2 * m.nv)[::2]
    assert view.sum() == 0
    with pytest.raises(ValueError):
        d.qvel = np.zeros(m.nv + 1)
    with pytest.raises(AttributeError):
        d.qveel = 1


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64]),
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9),
        elements=st.integers(-5, 5),
    )
)
def test_assigning_follows_numpy_for_every_shape(array):
    m = tribo.Model.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    d = tribo.Data(m)
    expected = np.zeros(m.nv)
    try:
        expected[...] = array
    except ValueError:
        with pytest.raises(ValueError):
            d.qvel = array
        return
    d.qvel = array
    assert np.array_equal(d.qvel, expected)


def test_views_outlive_the_world():
    m = tribo.Model.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    d = tribo.Data(m)
    q, gone = d.qpos, weakref.ref(d)
    del d, m
    gc.collect()
    assert gone() is None
    q[:] = 5
    assert q.sum() == 35


def test_a_world_keeps_its_model():
    m = tribo.Model.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    gone = weakref.ref(m)
    d = tribo.Data(m)
    del m
    gc.collect()
    assert gone() is d.model
    tribo.step(d.model, d)
    del d
    gc.collect()
    assert gone() is None


def test_a_world_of_another_model_is_refused(m, quadruped):
    other, _ = quadruped
    d = tribo.Data(m)
    with pytest.raises(ValueError, match="another Model"):
        tribo.step(other, d)
    with pytest.raises(ValueError, match="another Model"):
        tribo.jac_body(other, d, 1)
    with pytest.raises(TypeError):
        tribo.step(d, m)


def test_steps_halves_and_loops_give_the_same_bits(quadruped):
    m, d = quadruped
    e, f = copy.copy(d), copy.copy(d)
    tribo.step(m, d, 20)
    for _ in range(20):
        tribo.step(m, e)
        tribo.step1(m, f)
        tribo.step2(m, f)
    assert np.array_equal(d.qpos, e.qpos) and np.array_equal(d.qpos, f.qpos)
    assert d.time == e.time == f.time


def test_snapshots_copies_and_pickles_continue_with_the_same_bits(quadruped):
    m, d = quadruped
    tribo.step(m, d, 10)
    twins = [copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d))]
    e = tribo.Data(m)
    e.load_snapshot(d.snapshot())
    for twin in twins[:2]:
        assert np.array_equal(twin.xpos, d.xpos)
    tribo.step(m, d, 10)
    for twin in [*twins, e]:
        tribo.step(twin.model, twin, 10)
        assert np.array_equal(twin.qpos, d.qpos) and np.array_equal(twin.qvel, d.qvel)
    with pytest.raises(tribo.Error):
        e.load_snapshot(d.snapshot()[:-1])


def test_a_pickled_pair_keeps_its_model(quadruped):
    m, d = quadruped
    n, e = pickle.loads(pickle.dumps((m, d)))
    assert e.model is n


def test_the_state_vector_restores(m, d):
    tribo.step(m, d, 5)
    state = d.state
    tribo.step(m, d, 5)
    d.state = state
    assert d.time == state[0] and np.array_equal(d.qpos, state[1 : 1 + m.nq])
    with pytest.raises(ValueError):
        d.state = state[:-1]


def test_reset_and_keyframes(m, d):
    tribo.reset_to_key(m, d, "raised")
    assert d.qpos[0] == -1 and d.ctrl[0] == 0.3
    tribo.reset(m, d)
    assert np.array_equal(d.qpos, m.qpos0) and d.ctrl[0] == 0
    tribo.reset_to_key(m, d, 0)
    with pytest.raises(KeyError, match="did you mean 'raised'"):
        tribo.reset_to_key(m, d, "raise")
    with pytest.raises(IndexError):
        tribo.reset_to_key(m, d, 1)


def test_contacts_have_frames_wrenches_and_states(m, d):
    tribo.step(m, d, 200)
    assert d.ncon == len(d.contact) == 1
    c = d.contact[0]
    assert list(c.geom) == [m.geom("floor").id, m.geom("sphere").id]
    assert np.allclose(c.frame[:3], [0, 0, 1])
    weight = 2 * 9.81
    assert abs(c.force[0] - weight) < 1e-3
    assert np.allclose(c.wrench()[:3], [0, 0, weight], atol=1e-3)
    assert np.allclose(c.wrench(m.geom("floor").id), -c.wrench())
    assert c.state == tribo.ContactState.STICKING
    assert np.allclose(d.contact.wrench[0], c.wrench())
    assert d.contact.pos.shape == (1, 3) and d.contact.state[0] == c.state
    assert np.allclose(tribo.body_contact_wrench(m, d, "ball")[:3], [0, 0, weight], atol=1e-3)
    assert np.allclose(tribo.pair_contact_wrench(m, d, "ball", 0)[:3], [0, 0, weight], atol=1e-3)
    assert np.linalg.norm(c.slip) < 1e-6 and c.velocity.shape == (6,)
    assert [x.dim for x in d.contact] == [3]
    with pytest.raises(IndexError):
        d.contact[1]
    with pytest.raises(AttributeError, match="contact callback"):
        c.friction = [1] * 5
    with pytest.raises(ValueError, match="read-only"):
        c.friction[0] = 1


def test_a_contact_of_an_earlier_step_says_so(m, d):
    tribo.step(m, d, 100)
    c = d.contact[0]
    dist = c.dist
    d.qpos[3] = 3
    tribo.step(m, d)
    assert c.dist == dist
    with pytest.raises(RuntimeError, match="take this one from"):
        c.wrench()


def test_the_certificate_of_a_step(quadruped):
    m, d = quadruped
    tribo.step(m, d, 20)
    assert d.solve.converged and d.solve.law == "ncp"
    assert d.solve.residual_exact.relative < 1e-6
    assert d.offender.reason == tribo.Offence.NONE
    m.opt.law = "soft"
    tribo.step(m, d, 5)
    assert d.solve.residual_exact.relative > 1e-6


def test_a_failed_step_raises_and_keeps_the_state(m, d):
    tribo.step(m, d, 3)
    before = d.qpos.copy()
    d.ctrl[0] = np.nan
    with pytest.raises(tribo.NumericError):
        tribo.step(m, d)
    assert np.array_equal(d.qpos, before) and d.status != 0 and d.message
    d.ctrl[0] = 0
    tribo.step(m, d)
    m.opt.timestep = -1
    with pytest.raises(ValueError, match="timestep"):
        tribo.step(m, d)


def test_an_unconverged_step_warns_once(quadruped):
    m, d = quadruped
    m.opt.solver = "admm"
    m.opt.solve_iterations = 1
    m.opt.solve_tolerance = 1e-14
    m.opt.warmstart = 0
    d.qvel[2] = -2
    with pytest.warns(tribo.ConvergenceWarning, match="did not converge"):
        tribo.step(m, d, 50)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tribo.step(m, d, 5)


def test_energy_is_live_and_conserved_by_a_swing(scenes):
    m = tribo.Model.from_xml_string(
        "<mujoco><option integrator='RK4' timestep='0.001'><flag energy='enable'/></option><worldbody>"
        "<body><joint axis='0 1 0'/><geom size='.05' pos='.3 0 0' mass='1'/></body></worldbody></mujoco>"
    )
    d = tribo.Data(m)
    tribo.forward(m, d)
    tribo.step(m, d)
    first = d.energy.sum()
    tribo.step(m, d, 500)
    assert d.energy is d.energy and d.energy[1] > 0.1
    assert abs(d.energy.sum() - first) < 1e-8


def test_threads_step_their_worlds_at_the_same_time(quadruped):
    m, d = quadruped
    worlds = [copy.copy(d) for _ in range(4)]
    threads = [threading.Thread(target=tribo.step, args=(m, w, 100)) for w in worlds]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    tribo.step(m, d, 100)
    for w in worlds:
        assert np.array_equal(w.qpos, d.qpos)


def test_two_threads_in_one_world_are_refused(quadruped):
    m, d = quadruped
    errors = []

    def run():
        try:
            tribo.step(m, d, 3000)
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors and all("in use" in e for e in errors)


def test_memory_stays_constant_over_many_models_and_worlds():
    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    xml = (
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
        "<body pos='0 0 .1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )

    def use(n: int) -> None:
        for _ in range(n):
            m = tribo.Model.from_xml_string(xml)
            d = tribo.Data(m)
            m.control_callback = lambda m, d: None
            tribo.step(m, d, 2)
            assert d.contact[0].frame[2] == 1
            b = tribo.Batch(m, 2, 1)
            b.qpos[:] += 0
            gc.collect(0)

    use(200)
    gc.collect()
    before = resident()
    use(1500)
    gc.collect()
    assert resident() - before < 4 << 20


def test_contacts_print_as_a_table(quadruped):
    m, d = quadruped
    assert repr(tribo.Data(m).contact) == "<tribo.Contacts: none>"
    tribo.step(m, d, 50)
    text = repr(d.contact)
    assert text.startswith(f"<tribo.Contacts: {d.ncon}\n") and "foot_FL" in text and "normal N" in text
    assert len(text.splitlines()) == 2 + d.ncon
    contact = d.contact[0]
    text = repr(contact)
    assert "'floor' and 'foot_FL'" in text and str(contact.state) in text and "\n" not in text
    tribo.step(m, d)
    # The state followed from the world, which has moved on.
    assert "foot_FL" in repr(contact)


def test_a_contact_of_a_callback_prints(m, d):
    seen = []
    m.contact_callback = lambda m, d, contact: seen.append(repr(contact))
    tribo.step(m, d, 30)
    assert seen and all(text.startswith("<tribo.Contact of geoms ") for text in seen)


def test_many_contacts_print_ten(scenes):
    m = tribo.Model.from_xml_path(scenes / "wall.xml")
    d = tribo.Data(m)
    tribo.step(m, d, 2)
    assert d.ncon > 10
    assert len(repr(d.contact).splitlines()) == 13 and f"{d.ncon - 10} more" in repr(d.contact)


def test_the_warning_of_a_call_is_of_its_first_step_that_did_not_converge():
    m = tribo.Model.from_xml_path(tribo.scene("quadruped"))
    m.opt.solve_iterations = 1
    d = tribo.Data(m)
    tribo.reset_to_key(m, d, "stand")
    with pytest.warns(tribo.ConvergenceWarning) as caught:
        tribo.step(m, d, 10)
    alone = tribo.Data(m)
    tribo.reset_to_key(m, alone, "stand")
    while True:
        with warnings.catch_warnings(record=True) as one:
            warnings.simplefilter("always")
            tribo.step(m, alone)
        if one:
            break
    assert str(one[0].message) == str(caught[0].message)
    assert "not converge: converged" not in str(one[0].message)


def test_frames_after_a_runge_kutta_step_do_not_depend_on_when_contacts_were_found():
    """The frames are those of the last stage, also where only that stage touches the floor."""
    m = tribo.Model.from_xml_string(
        """<mujoco><option integrator="RK4" timestep="0.01"/><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    )
    m.opt.law = "soft"
    for gap, contacts in ((0.0075, 1), (0.5, 0)):
        d = tribo.Data(m)
        d.qpos[2] = 0.1 + gap
        d.qvel[2] = -1
        tribo.step(m, d)
        assert d.ncon == contacts
        last = 0.1 + gap + 0.01 * (-1 - 9.81 * 0.01 / 2)
        assert d.xpos[1, 2] == pytest.approx(last, abs=1e-12)
