"""Derivatives of steps, of rigid-body algorithms and of trajectories against differences."""

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import tribo

ROOT = Path(__file__).parents[2]

XML = """<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="5 5 .1" friction=".4"/>
<body name="ball" pos="0 0 .0997"><freejoint/><geom type="sphere" size=".1" friction=".4"/></body>
<body pos="1 0 1"><joint name="a" axis="0 1 0" damping=".1" armature=".01"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
<body pos=".3 0 0"><joint name="b" type="ball" damping=".05"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body></worldbody>
<actuator><motor joint="a"/>
<general joint="a" dyntype="filter" dynprm=".1" gainprm="2"/></actuator></mujoco>"""


def world(law="ncp"):
    m = tribo.Model.from_xml_string(XML)
    m.opt.law = law
    m.opt.solve_tolerance, m.opt.tolerance = 1e-13, 1e-14
    d = tribo.Data(m)
    rng = np.random.default_rng(3)
    d.qvel[:] = 0.3 * rng.normal(size=m.nv)
    d.qvel[:3] = 1.2, 0.1, -0.05
    d.qpos[9:] += 0.2 * rng.normal(size=m.nq - 9)
    d.qpos[:] = tribo.normalize_quat(m, d.qpos)
    d.act[:] = 0.3
    d.ctrl[:] = 0.2, -0.1
    return m, d


def differences(m, d, e=1e-6):
    """A and B by centred differences of steps that start without impulses: a batch of displaced worlds."""
    nx = 2 * m.nv + m.na
    columns = nx + m.nu
    states = []
    for sign in (1, -1):
        q, v = np.tile(d.qpos, (columns, 1)), np.tile(d.qvel, (columns, 1))
        a, u = np.tile(d.act, (columns, 1)), np.tile(d.ctrl, (columns, 1))
        for k in range(m.nv):
            q[k] = tribo.integrate_pos(m, d.qpos, np.eye(m.nv)[k], sign * e)
        v[m.nv : 2 * m.nv] += sign * e * np.eye(m.nv)
        a[2 * m.nv : nx] += sign * e * np.eye(m.na)
        u[nx:] += sign * e * np.eye(m.nu)
        states.append(
            tribo.Batch(m, columns).rollout(
                1, qpos=q, qvel=v, act=a, ctrl=u[:, None], record=["qpos", "qvel", "act"]
            )
        )
    high, low = states
    moves = np.array(
        [
            tribo.differentiate_pos(m, 2 * e, a, b)
            for a, b in zip(low["qpos"][:, 0], high["qpos"][:, 0], strict=True)
        ]
    )
    rest = [(high[n][:, 0] - low[n][:, 0]) / (2 * e) for n in ("qvel", "act")]
    whole = np.concatenate([moves, *rest], axis=1).T
    return whole[:, :nx], whole[:, nx:]


@pytest.mark.parametrize("law", ("ncp", "ccp", "lcp", "raisim", "soft", "comfree", "viscoelastic"))
def test_matrices_and_products(law):
    m, d = world(law)
    of = tribo.derivatives(m, d)
    assert of.info.differentiable, of.info.reason
    a, b = differences(m, d)
    scale = np.abs(a).max()
    assert np.abs(of.A - a).max() < 1e-5 * scale and np.abs(of.B - b).max() < 1e-6 * scale
    rng = np.random.default_rng(0)
    dx, du, y = rng.normal(size=a.shape[0]), rng.normal(size=m.nu), rng.normal(size=a.shape[0])
    np.testing.assert_allclose(of.apply(dx, du), of.A @ dx + of.B @ du, atol=1e-9 * scale)
    back = of.apply_transposed(y)
    np.testing.assert_allclose(back["dx"], of.A.T @ y, atol=1e-9 * scale)
    np.testing.assert_allclose(back["du"], of.B.T @ y, atol=1e-9 * scale)


def test_kinks_have_a_reason_and_hold_contacts_helps():
    m = tribo.Model.from_xml_string("""<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>""")
    d = tribo.Data(m)
    tribo.step(m, d, 10)
    with pytest.warns(tribo.NotDifferentiableWarning, match="gap") as told:
        of = tribo.derivatives(m, d)
        tribo.derivatives(m, d)
    # Once for a world, at the line of the caller.
    assert len(told) == 1 and told[0].filename == __file__
    info = of.info
    assert not info.differentiable and "gap" in info.reason
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tribo.derivatives(m, tribo.Data(m), kinks="ignore")
        tribo.derivatives(m, d, kinks="ignore")
    with pytest.raises(tribo.NotDifferentiableError, match="gap"):
        tribo.derivatives(m, d, kinks="raise")
    with pytest.raises(ValueError, match="kinks"):
        tribo.derivatives(m, d, kinks="maybe")
    assert "A (12, 12), B (12, 0), not differentiable (gap" in repr(of)
    held = tribo.derivatives(m, d, hold_contacts=True)
    assert held.info.sticking == 4
    # A box at rest stays at rest.
    assert np.abs(held.A[6:, 6:]).max() < 1e-6


def test_inverse_dynamics():
    m, d = world()
    rng = np.random.default_rng(1)
    qacc = rng.normal(size=m.nv)

    def rne(qpos, qvel):
        d.qpos[:], d.qvel[:] = qpos, qvel
        tribo.compute_position(m, d)
        tribo.compute_velocity(m, d)
        return tribo.rne(m, d, qacc)

    q, v = d.qpos.copy(), d.qvel.copy()
    tau = rne(q, v)
    by_q, by_v = tribo.rne_derivatives(m, d, qacc)
    mass = tribo.full_m(m, d)
    regressor = tribo.rne_regressor(m, d, qacc)
    inertial = np.concatenate([tribo.inertial_get(m, i) for i in range(m.nbody)])
    np.testing.assert_allclose(regressor @ inertial + m.dof_armature * qacc, tau, atol=1e-10)
    free = tribo.solve_m(m, d, -rne(q, v) + mass @ qacc)
    dq, dv, dt = tribo.forward_derivatives(m, d, free)
    np.testing.assert_allclose(dt @ mass, np.eye(m.nv), atol=1e-9)
    assert dq.shape == dv.shape == (m.nv, m.nv)
    e = 1e-6
    for k in range(m.nv):
        unit = np.eye(m.nv)[k]
        move = (rne(tribo.integrate_pos(m, q, unit, e), v) - rne(tribo.integrate_pos(m, q, unit, -e), v)) / (
            2 * e
        )
        np.testing.assert_allclose(by_q[:, k], move, atol=1e-6)
        np.testing.assert_allclose(
            by_v[:, k], (rne(q, v + e * unit) - rne(q, v - e * unit)) / (2 * e), atol=1e-6
        )


def test_inertial_parameters_round_trip():
    m, _ = world()
    p = tribo.inertial_get(m, 1)
    q = p * 1.1
    tribo.inertial_set(m, 1, q)
    np.testing.assert_allclose(tribo.inertial_get(m, 1), q, rtol=1e-12)
    with pytest.raises(tribo.Error):
        tribo.inertial_set(m, 1, -p)
    with pytest.raises(IndexError):
        tribo.inertial_get(m, m.nbody)


@pytest.mark.parametrize("law", ("ncp", "ccp", "soft", "comfree"))
def test_gradient_of_a_trajectory(law):
    m, d = world(law)
    n, steps = 3, 6
    rng = np.random.default_rng(2)
    inputs = [
        np.tile(d.qpos, (n, 1)),
        np.tile(d.qvel, (n, 1)) + 0.01 * rng.normal(size=(n, m.nv)),
        np.tile(d.act, (n, 1)),
        0.2 * rng.normal(size=(n, steps, m.nu)),
        0.1 * rng.normal(size=(n, steps, m.nv)),
        np.linspace(0.9, 1.1, n),
    ]
    # Quaternions of any length stand for their direction.
    inputs[0][:, 3:7] *= 1.3
    of = tribo.Trajectories(m, kinks="raise", checkpoint=4)
    weights = [rng.normal(size=(n, steps, k)) for k in (m.nq, m.nv, m.na)]

    def loss(*values):
        t = of.forward(*values)
        return sum(float((w * x).sum()) for w, x in zip(weights, (t.qpos, t.qvel, t.act), strict=True))

    found = of.backward(of.forward(*inputs), *weights)
    assert all(k[0] == 0 for k in found["kinks"])
    for i, name in enumerate(("qpos", "qvel", "act", "ctrl", "qfrc_applied", "friction_scale")):
        assert found[name].shape == inputs[i].shape
        move = rng.normal(size=inputs[i].shape)
        e = 1e-6
        ends = []
        for sign in (1, -1):
            moved = list(inputs)
            moved[i] = inputs[i] + sign * e * move
            ends.append(loss(*moved))
        by_difference = (ends[0] - ends[1]) / (2 * e)
        assert float((found[name] * move).sum()) == pytest.approx(by_difference, rel=2e-5, abs=1e-5), name


def test_trajectories_are_refused_what_does_not_fit():
    m, d = world()
    of = tribo.Trajectories(m)
    with pytest.raises(ValueError, match="qvel"):
        of.forward([d.qpos], [d.qvel[:-1]])
    with pytest.raises(ValueError, match="steps"):
        of.forward([d.qpos], [d.qvel], ctrl=np.zeros((1, 3, m.nu)), nstep=2)
    with pytest.raises(TypeError, match="smooth"):
        tribo.Trajectories(m, smooth=1)
    with pytest.raises(ValueError, match="kinks"):
        tribo.Trajectories(m, kinks="hide")
    with pytest.raises(ValueError, match="checkpoint"):
        tribo.Trajectories(m, checkpoint=0).forward([d.qpos], [d.qvel])


def test_failed_worlds_raise():
    m, d = world()
    with pytest.raises(tribo.Error):
        tribo.Trajectories(m).forward([d.qpos], [d.qvel * np.nan])


def test_threads_change_nothing():
    m, d = world()
    n = 7
    rng = np.random.default_rng(5)
    q, v = np.tile(d.qpos, (n, 1)), 0.5 * rng.normal(size=(n, m.nv))
    found = []
    for threads in (1, 3):
        of = tribo.Trajectories(m, threads=threads, kinks="ignore")
        t = of.forward(q, v, nstep=10)
        found.append(of.backward(t, t.qpos, t.qvel))
    for name in ("qpos", "qvel", "ctrl"):
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_import_loads_no_back_end():
    code = "import sys, tribo; print([n for n in ('torch', 'jax', 'scipy') if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(tribo.__file__).parents[1])},
    )
    assert done.stdout.strip() == "[]"


def example(name):
    path = ROOT / "examples" / "python" / f"{name}.py"
    if not path.exists():
        pytest.skip("the examples are not beside the tests")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_throw_hits():
    assert example("throw").main() < 1e-3


def test_friction_example(capsys):
    fits = example("fit_friction").main()
    assert list(fits["ncp"].beyond_noise) == [700]
    for name, true in (("geom.*.friction", 0.31), ("body.crate.mass", 1.6)):
        clean = fits["ncp, cleaned"]
        assert abs(clean.values[name] - true) < 4 * clean.std[name] < 1e-4
        assert abs(fits["soft"].values[name] / true - 1) > 5e-3
    assert len(fits["soft"].inexact) > 100 and len(fits["ncp"].inexact) == 0


@pytest.mark.parametrize("axis", (0, 1, 2))
@pytest.mark.parametrize(("law", "cone"), (("soft", "elliptic"), ("soft", "pyramidal"), ("ncp", "elliptic")))
def test_friction_along_one_tangent(law, cone, axis):
    """A slip along one tangent alone couples one row with the normal."""
    m = tribo.Model.from_xml_string(f"""<mujoco><option cone="{cone}"/><worldbody>
<geom type="plane" size="9 9 .1" friction=".3"/><body pos="0 0 .0999">
<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
<geom size=".1" mass="1" friction=".3"/></body></worldbody></mujoco>""")
    m.opt.law = law
    m.opt.solve_tolerance, m.opt.tolerance = 1e-13, 1e-14
    push = 5 * np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]])[axis]

    def step(scale):
        m.opt.friction_scale = scale
        d = tribo.Data(m)
        d.qfrc_applied[:] = push
        tribo.step(m, d)
        return d.qvel.copy()

    by_difference = (step(1 + 1e-6) - step(1 - 1e-6)) / 2e-6
    m.opt.friction_scale = 1
    d = tribo.Data(m)
    d.qfrc_applied[:] = push
    of = tribo.derivatives(m, d)
    assert of.info.sliding == 1
    np.testing.assert_allclose(of.friction(0)[3:] * 0.3, by_difference, atol=1e-7)


def test_loads_that_carry_over_are_told():
    """A taut connection's load is no part of the state: a step is exact, a trajectory is not."""
    m = tribo.Model.from_xml_path(str(ROOT / "scenes" / "crane.xml"))
    v = 0.05 * np.random.default_rng(0).normal(size=(1, m.nv))
    of = tribo.Trajectories(m, kinks="raise")
    one = of.forward([m.qpos0], v)
    of.backward(one, qvel=np.ones_like(one.qvel))
    more = of.forward([m.qpos0], v, nstep=3)
    with pytest.raises(tribo.NotDifferentiableError, match="taut"):
        of.backward(more, qvel=np.ones_like(more.qvel))
