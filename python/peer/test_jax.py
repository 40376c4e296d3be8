"""Steps and rollouts of JAX against differences."""

import os
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402
from worlds import CONTACT_LAWS, SMOOTH_LAWS, snippet, world  # noqa: E402

import tribo  # noqa: E402
import tribo.jax  # noqa: E402

CASES = [("smooth", law) for law in SMOOTH_LAWS] + [("contacts", law) for law in CONTACT_LAWS]


@pytest.mark.parametrize(("kind", "law"), CASES)
def test_check_grads_of_a_rollout(kind, law):
    m, *arrays = world(kind, law)
    sim = tribo.jax.Simulation(m, kinks="raise")
    check_grads(
        sim.rollout, tuple(map(jnp.asarray, arrays)), order=1, modes=["rev"], atol=1e-4, rtol=1e-4, eps=1e-6
    )


@pytest.mark.parametrize(("kind", "law"), CASES)
def test_check_grads_of_a_step(kind, law):
    m, qpos, qvel, act, ctrl = world(kind, law)
    sim = tribo.jax.Simulation(m, kinks="raise")
    check_grads(
        sim.step,
        tuple(map(jnp.asarray, (qpos, qvel, act, ctrl[:, 0]))),
        order=1,
        modes=["rev"],
        atol=1e-4,
        rtol=1e-4,
        eps=1e-6,
    )


def test_jit_grad_and_vmap_agree():
    m, qpos, qvel, act, ctrl = world("contacts", "ncp")
    sim = tribo.jax.Simulation(m, kinks="ignore")

    def loss(q, v, a, u):
        return jnp.sum(sim.rollout(q, v, a, u)[1] ** 2)

    whole = jax.jit(jax.grad(loss, argnums=(0, 1, 3)))(qpos, qvel, act, ctrl)
    each = jax.vmap(jax.grad(loss, argnums=(0, 1, 3)))(qpos, qvel, act, ctrl)
    for a, b in zip(whole, each, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    # Only the controls are mapped.
    shared = jax.vmap(jax.grad(loss, argnums=3), in_axes=(None, None, None, 0))(
        qpos[0], qvel[0], act[0], ctrl
    )
    np.testing.assert_allclose(shared[0], whole[2][0], rtol=1e-12, atol=1e-12)


def test_friction():
    m, qpos, qvel, act, ctrl = world("contacts", "ncp")
    sim = tribo.jax.Simulation(m, kinks="raise")
    check_grads(
        lambda s: sim.rollout(qpos, qvel, act, ctrl, friction_scale=s)[1],
        (jnp.array([0.9, 1.1]),),
        order=1,
        modes=["rev"],
        atol=1e-4,
        rtol=1e-4,
        eps=1e-6,
    )


def test_results_do_not_change_when_the_batch_steps_again():
    m, *arrays = world("contacts", "ncp")
    sim = tribo.jax.Simulation(m)
    first = sim.rollout(*arrays)[0]
    kept = np.array(first)
    sim.rollout(arrays[0] + 0.01, *arrays[1:])
    np.testing.assert_array_equal(first, kept)


def test_kinks_are_told():
    m = tribo.Model.from_xml_string("""<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>""")
    sim = tribo.jax.Simulation(m)
    with pytest.warns(tribo.NotDifferentiableWarning, match="world 0, step 0"):
        jax.block_until_ready(jax.grad(lambda v: sim.step(m.qpos0, v)[1].sum())(jnp.zeros(m.nv)))
    strict = tribo.jax.Simulation(m, kinks="raise")
    with pytest.raises(Exception, match="not differentiable"):
        jax.block_until_ready(jax.grad(lambda v: strict.step(m.qpos0, v)[1].sum())(jnp.zeros(m.nv)))


def test_float32_is_refused():
    code = (
        "import tribo, tribo.jax\n"
        'm = tribo.Model.from_xml_string(\'<mujoco><worldbody><body><joint/><geom size=".1"/></body>'
        "</worldbody></mujoco>')\n"
        "try:\n    tribo.jax.Simulation(m).step([0.0], [0.0])\n"
        "except RuntimeError as e:\n    print(e)\n"
    )
    env = dict(os.environ, JAX_ENABLE_X64="0", PYTHONPATH=os.pathsep.join(sys.path))
    text = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    ).stdout
    assert "jax_enable_x64" in text


def test_lines_of_the_manual():
    m, qpos, qvel, _, ctrl = world("contacts", "soft")
    names = {"jax": jax, "jnp": jnp, "tribo": tribo, "m": m, "ctrl": jnp.asarray(ctrl[0]), "goal": 0.1}
    names |= {"qpos0": qpos[0], "qvel0": qvel[0]}
    exec(snippet("tribo.jax"), names)
    assert jnp.isfinite(names["gradient"]).all() and jnp.abs(names["gradient"]).max() > 0
