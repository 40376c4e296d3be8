import copy
import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tribo


def test_fields_are_live_rows_per_world(quadruped):
    m, _ = quadruped
    b = tribo.Batch(m, 5, 2)
    assert len(b) == b.n == 5 and b.threads == 2 and b.model is m and b.device == "cpu"
    assert b.qpos.shape == (5, m.nq) and b.ctrl.shape == (5, m.nu)
    assert b.xfrc_applied.shape == (5, m.nbody, 6) and b.time.shape == (5,)
    assert b.status.dtype == np.int32 and b.qpos is b.qpos
    b.ctrl = 0.25
    assert (b.ctrl == 0.25).all()
    b.qvel[3, 2] = 1
    assert b["qvel"][3, 2] == 1
    for name in ("qpos", "qvel", "ctrl", "sensordata"):
        array = getattr(b, name)
        assert array.flags.c_contiguous and array.ctypes.data % 64 == 0, name


@pytest.mark.parametrize("law", ["ncp", "ccp", "soft", "comfree", "viscoelastic"])
def test_worlds_get_the_bits_of_a_world_alone(quadruped, law):
    m, _ = quadruped
    m.opt.law = law
    b = tribo.Batch(m, 7, 2)
    b.reset(key=0)
    rng = np.random.default_rng(1)
    b.ctrl += rng.normal(scale=0.1, size=b.ctrl.shape)
    alone = []
    for w in range(b.n):
        e = tribo.Data(m)
        tribo.reset_to_key(m, e, 0)
        e.ctrl = b.ctrl[w]
        tribo.step(m, e, 30)
        alone.append(e)
    b.step(30)
    for w, e in enumerate(alone):
        assert np.array_equal(b.qpos[w], e.qpos) and np.array_equal(b.qvel[w], e.qvel)
        assert b.time[w] == e.time and b.ncon[w] == e.ncon


def test_results_do_not_depend_on_threads(quadruped):
    m, _ = quadruped
    states = []
    for threads in (1, 2, 3):
        b = tribo.Batch(m, 9, threads)
        b.reset(key=0)
        b.ctrl[:] = np.linspace(-1, 1, 9)[:, None]
        b.step(25)
        states.append(b.qpos.copy())
    assert np.array_equal(states[0], states[1]) and np.array_equal(states[0], states[2])


def test_masks_and_indices_select_worlds(m):
    b = tribo.Batch(m, 4, 1)
    b.step(3, mask=[True, False, False, True])
    assert list(b.time > 0) == [True, False, False, True]
    b.step(3, [1])
    b.reset([0, -1])
    assert list(b.time > 0) == [False, True, False, False]
    b.reset(mask=b.time > 0, key=0)
    assert b.qpos[1, 0] == -1 and b.qpos[0, 0] == 0
    b.reset([0, 2], key=[-1, 0])
    assert b.qpos[2, 0] == -1 and b.qpos[0, 0] == 0
    with pytest.raises(IndexError):
        b.step(1, [4])
    with pytest.raises(ValueError):
        b.step(1, mask=[True])
    with pytest.raises(TypeError):
        b.step(1, [0], mask=[True] * 4)
    with pytest.raises(TypeError):
        b.reset([0.5])


def test_models_differ_by_world(m):
    b = tribo.Batch(m, 3, 1)
    gravity = b.expand("opt.gravity")
    friction = b.expand("geom_friction")
    assert gravity.shape == (3, 3) and friction.shape == (3, m.ngeom, 3)
    assert b["geom_friction"] is friction
    gravity[:, 2] = [0, -1, -9.81]
    b.request("qacc_smooth")
    b.forward()
    assert abs(b["qacc_smooth"][0]).max() < 1e-9 < abs(b["qacc_smooth"][2]).max()
    b["geom_friction"] = 0.5
    assert (b.get_model(2).geom_friction == 0.5).all()
    other = copy.copy(m)
    other.body_mass[1] = 9
    b.set_model(1, other)
    assert b["body_mass"][1, 1] == 9
    with pytest.raises(tribo.Error):
        b.expand("geom_bodyid")
    with pytest.raises(KeyError):
        b["qfrc_bias"]
    with pytest.raises(tribo.Error, match="xpos"):
        b.request("xposs")


def test_a_rollout_records_and_equals_steps(quadruped):
    m, _ = quadruped
    n, steps = 3, 12
    ctrl = np.random.default_rng(2).normal(size=(n, steps, m.nu))
    b = tribo.Batch(m, n, 2)
    qpos = np.tile(m.key_qpos[0], (n, 1))
    out = {"qvel": np.empty((n, 4, m.nv))}
    r = b.rollout(
        steps, record=("qpos", "qvel", "xpos", "ncon", "time"), every=3, qpos=qpos, ctrl=ctrl, out=out
    )
    assert (
        r["qvel"] is out["qvel"] and r["qpos"].shape == (n, 4, m.nq) and r["xpos"].shape == (n, 4, m.nbody, 3)
    )
    assert r["ncon"].dtype == np.int32
    d = tribo.Data(m)
    d.qpos = qpos[1]
    for t in range(steps):
        d.ctrl = ctrl[1, t]
        tribo.step(m, d)
        if t % 3 == 2:
            assert np.array_equal(r["qpos"][1, t // 3], d.qpos)
            assert r["time"][1, t // 3] == d.time
    with pytest.raises(ValueError, match="ctrl"):
        b.rollout(steps, ctrl=ctrl[:, :-1])
    with pytest.raises(tribo.Error, match="qposs"):
        b.rollout(1, record=["qposs"])
    with pytest.raises(ValueError):
        b.rollout(1, out={"qpos": np.empty(3)})


def test_worlds_move_between_batches_and_data(quadruped):
    m, d = quadruped
    tribo.step(m, d, 10)
    b = tribo.Batch(m, 3, 1)
    b.set_data(1, d)
    b.clone(1, 2)
    b.gather([2, 2, 2])
    state = b.state_get()
    b.step(5)
    tribo.step(m, d, 5)
    assert all(np.array_equal(b.qpos[w], d.qpos) for w in range(3))
    e = tribo.Data(m)
    b.get_data(0, e)
    assert np.array_equal(e.qpos, d.qpos)
    c = tribo.Batch(m, 3, 1)
    c.state_set(state)
    c.step(5)
    assert np.array_equal(c.qpos, b.qpos)
    with pytest.raises(tribo.Error):
        c.state_set(np.zeros((3, 16), np.uint8))


def test_the_report_tells_of_each_world(m):
    b = tribo.Batch(m, 3, 1)
    b.ctrl[1, 0] = np.nan
    with pytest.raises(tribo.NumericError, match="world 1"):
        b.step(4)
    assert list(b.report["steps"]) == [4, 0, 4]
    assert list(b.status == 0) == [True, False, True]
    assert b.error(1) and not b.error(0)
    assert b.report["residual_exact"][0] < 1e-6
    assert b.report["offender"].shape == (3, 4)


def test_arrays_outlive_the_batch(m):
    b = tribo.Batch(m, 2, 1)
    q, friction = b.qpos, b.expand("geom_friction")
    del b
    gc.collect()
    q[:] = 1
    friction[:] = 2
    assert q.sum() == q.size


def test_a_device_that_is_not_there_says_so(m):
    with pytest.raises(NotImplementedError, match="cuda"):
        tribo.Batch(m, 2, device="cuda")
    with pytest.raises(tribo.Error):
        tribo.Batch(m, 0)
    with pytest.raises(tribo.Error):
        tribo.Batch(m, 1000, memory_limit=1000)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 5), st.integers(1, 3), st.data())
def test_any_mask_moves_exactly_its_worlds(n, steps, threads, data):
    m = tribo.Model.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    b = tribo.Batch(m, n, threads)
    mask = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    b.step(steps, mask=mask)
    assert np.allclose(b.time, np.where(mask, steps * m.opt.timestep, 0))


def state_of(m, n=1):
    return np.tile(np.concatenate([[0.0], m.key_qpos[0], np.zeros(m.nv + m.na)]), (n, 1))


def test_rollout_has_the_shapes_of_mujoco(quadruped):
    m, d = quadruped
    nstate = tribo.state_size(m)
    for initial, control, nroll, steps in [
        (state_of(m)[0], None, 1, 1),
        (state_of(m, 3), np.zeros((3, 5, m.nu)), 3, 5),
        (state_of(m), np.zeros((4, 5, m.nu)), 4, 5),
        (state_of(m, 2), np.zeros((5, m.nu)), 2, 5),
        (state_of(m, 2), np.zeros(m.nu), 2, 1),
    ]:
        state, sensors = tribo.rollout(m, d, initial, control)
        assert state.shape == (nroll, steps, nstate) and sensors.shape == (nroll, steps, m.nsensordata)
    state, _ = tribo.rollout(m, [d, tribo.Data(m)], state_of(m, 3), nstep=7)
    assert state.shape == (3, 7, nstate)
    out = np.zeros((2, 4, nstate))
    state, _ = tribo.rollout(m, d, state_of(m, 2), state=out)
    assert state is out and out[0, -1, 0] > 0
    for bad in (
        dict(control=np.zeros((2, 3, m.nu + 1))),
        dict(control=np.zeros((3, 3, m.nu))),
        dict(state=np.zeros((2, 1, nstate + 1))),
        dict(initial_warmstart=np.zeros((2, 1))),
    ):
        with pytest.raises(ValueError):
            tribo.rollout(m, d, state_of(m, 2), **bad)


def test_rollout_equals_steps(m, d):
    rng = np.random.default_rng(3)
    control = rng.normal(size=(2, 6, m.nu + m.nv))
    spec = tribo._rollout.StateBit["ctrl"] | tribo._rollout.StateBit["qfrc_applied"]
    initial = np.tile(np.concatenate([[0.5], m.qpos0, np.zeros(m.nv)]), (2, 1))
    before = d.qpos.copy()
    state, sensors = tribo.rollout(m, d, initial, control, control_spec=spec)
    assert np.array_equal(d.qpos, before)
    e = tribo.Data(m)
    e.time = 0.5
    for t in range(6):
        e.ctrl, e.qfrc_applied = control[1, t, : m.nu], control[1, t, m.nu :]
        tribo.step(m, e)
        assert np.array_equal(state[1, t], np.concatenate([[e.time], e.qpos, e.qvel]))
        assert np.array_equal(sensors[1, t], e.sensordata)


def test_rollout_with_a_model_for_each(m, d):
    heavy = copy.copy(m)
    heavy.body_mass[1] = 10
    heavy.set_constants()
    initial = np.concatenate([[0.0], m.qpos0, np.zeros(m.nv)])
    both, _ = tribo.rollout([m, heavy], d, initial, nstep=30)
    for i, model in enumerate((m, heavy)):
        one, _ = tribo.rollout(model, d, initial, nstep=30)
        assert np.array_equal(both[i], one[0])
    assert not np.array_equal(both[0], both[1])


def test_a_rollout_that_fails_warns_and_keeps_the_others(m, d):
    control = np.zeros((2, 4, 1))
    control[0, 2] = np.nan
    initial = np.concatenate([[0.0], m.qpos0, np.zeros(m.nv)])
    with pytest.warns(RuntimeWarning, match="world 0"):
        state, _ = tribo.rollout(m, d, initial, control)
    assert np.isfinite(state).all()
    assert np.array_equal(state[0, 3], state[0, 1]) and state[1, 3, 0] > state[1, 1, 0]


def test_reset_takes_a_keyframe_by_name():
    m = tribo.Model.from_xml_path(tribo.scene("quadruped"))
    b = tribo.Batch(m, 2)
    b.reset(key="stand")
    np.testing.assert_array_equal(b.qpos[1], m.key("stand").qpos)
    with pytest.raises(KeyError, match="stand"):
        b.reset(key="stands")
