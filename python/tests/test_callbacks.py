import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tribo


def drive(m, d):
    d.ctrl[0] = 0.7


def test_a_control_callback_is_the_same_as_setting_controls(m):
    d, e = tribo.Data(m), tribo.Data(m)
    d.ctrl[0] = 0.7
    tribo.step(m, d, 50)
    m.control_callback = drive
    assert m.control_callback is drive
    tribo.step(m, e, 50)
    assert np.array_equal(d.qpos, e.qpos)
    m.control_callback = None
    assert m.control_callback is None


def test_callbacks_get_the_objects_of_the_call(m, d):
    seen = []
    m.control_callback = lambda model, data: seen.append((model is m, data is d))
    tribo.step(m, d)
    assert seen == [(True, True)]


def test_passive_forces_act(m, d):
    def spring(m, d):
        d.qfrc_passive[0] += 5

    m.opt.gravity = 0
    m.passive_callback = spring
    tribo.forward(m, d)
    assert d.qacc[0] > 1


def test_a_filter_removes_contacts(m, d):
    asked = []

    def never(m, d, a, b):
        asked.append((a, b))
        return True

    m.contact_filter = never
    tribo.step(m, d, 5)
    assert d.ncon == 0 and asked


def test_a_contact_callback_changes_friction(m, d):
    def slippery(m, d, contact):
        contact.friction[:] = 0
        contact.restitution = 0.0

    d.qvel[1] = 1
    m.contact_callback = slippery
    tribo.step(m, d, 200)
    assert d.qvel[1] == pytest.approx(1, abs=1e-3)
    assert d.contact[0].friction[0] < 1e-4


@pytest.mark.parametrize(
    "name", ["control_callback", "passive_callback", "contact_filter", "contact_callback"]
)
def test_an_exception_reaches_the_caller_and_the_world_goes_on(m, d, name):
    class OwnError(Exception):
        pass

    def bad(*_):
        raise OwnError("from the callback")

    tribo.step(m, d)
    setattr(m, name, bad)
    with pytest.raises(OwnError, match="from the callback"):
        tribo.step(m, d, 3)
    setattr(m, name, None)
    assert np.isfinite(d.ctrl).all()
    tribo.step(m, d, 3)


def test_a_batch_and_derivatives_call_back_too(m, d):
    m.control_callback = drive
    b = tribo.Batch(m, 4, 2)
    b.step(20)
    tribo.step(m, d, 20)
    assert np.array_equal(b.qpos[3], d.qpos)
    info = tribo.derivatives(m, d).info
    assert info.finite_differences


def test_a_callback_of_a_batch_that_raises_reaches_the_caller(m):
    def bad(m, d):
        raise KeyError("x")

    b = tribo.Batch(m, 4, 2)
    m.control_callback = bad
    with pytest.raises(KeyError):
        b.step()
    m.control_callback = None
    b.step()


def test_a_callback_that_refers_to_its_model_is_collected():
    m = tribo.Model.from_xml_string("<mujoco><worldbody/></mujoco>")
    d = tribo.Data(m)

    def refer(model, data, kept=(m, d)):
        return kept

    m.control_callback = refer
    gone = weakref.ref(m)
    del m, d, refer
    gc.collect()
    assert gone() is None


def test_only_functions_are_taken(m):
    with pytest.raises(TypeError):
        m.control_callback = 3


def test_copies_and_pickles_keep_callbacks(m):
    m.control_callback = drive
    assert copy.copy(m).control_callback is drive
    assert pickle.loads(pickle.dumps(m)).control_callback is drive


def test_a_world_cannot_be_stepped_from_its_own_callback(m, d):
    m.control_callback = lambda m, d: tribo.step(m, d)
    with pytest.raises(RuntimeError, match="in use"):
        tribo.step(m, d)
