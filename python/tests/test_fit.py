"""Parameters from logged motions."""

import copy
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import tribo

ARM = """<mujoco><option timestep="0.002"/><worldbody>
<body name="l1"><joint name="j1" axis="0 1 0" damping=".3" armature=".02" stiffness="2"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="1"/>
<body name="l2" pos=".3 0 0"><joint name="j2" axis="0 1 0" damping=".2" armature=".01"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass=".5"/></body></body></worldbody>
<actuator><position name="a1" joint="j1" kp="20"/><motor name="a2" joint="j2"/></actuator>
<sensor><jointpos joint="j1"/><jointvel joint="j2"/></sensor></mujoco>"""

SLED = """<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="9 9 .1" friction=".5"/>
<body name="sled" pos="0 0 .09999">
<joint name="x" type="slide" axis="1 0 0"/>
<joint name="z" type="slide" axis="0 0 1"/>
<geom name="sled" type="sphere" size=".1" mass="2" friction=".5"/></body></worldbody>
<actuator><motor joint="x"/></actuator><sensor><jointpos joint="x"/><jointvel joint="x"/></sensor></mujoco>"""


def motion(m, steps, ctrl, noise=0.0, every=1):
    """A log of the model's own motion."""
    times = np.arange(0, steps + 1, every) * m.opt.timestep
    held = np.repeat(ctrl[::every], every, axis=0)[:steps]
    t = tribo.Batch(m, 1).rollout(steps, qpos=[m.qpos0], qvel=[np.zeros(m.nv)], ctrl=held[None], every=every)
    rng = np.random.default_rng(0)
    qpos = np.concatenate([[m.qpos0], t["qpos"][0]])
    qvel = np.concatenate([np.zeros((1, m.nv)), t["qvel"][0]])
    qpos[1:] += noise * rng.normal(size=qpos[1:].shape)
    qvel[1:] += 10 * noise * rng.normal(size=qvel[1:].shape)
    return tribo.Log(times, qpos, qvel, ctrl=ctrl[::every][: len(times) - 1])


def waves(steps, n, h=0.002):
    t = np.arange(steps) * h
    return np.stack([np.sin((5 + 3 * i) * t) + 0.3 * np.sin((17 + 2 * i) * t) for i in range(n)], axis=1)


def arm(**changes):
    m = tribo.Model.from_xml_string(ARM)
    wrong = copy.copy(m)
    return m, wrong


TRUE = {
    "body.l2.mass": 0.5,
    "body.l2.com[0]": 0.15,
    "joint.j2.damping": 0.2,
    "joint.j1.armature": 0.02,
    "joint.j1.stiffness": 2.0,
    "actuator.a1.kp": 20.0,
}


@pytest.mark.parametrize("law", ("ncp", "soft"))
@pytest.mark.parametrize(
    ("horizon", "states"), ((1, "logged"), (20, "logged"), (None, "logged"), (25, "estimated"))
)
def test_an_arm_from_far(law, horizon, states):
    m, _ = arm()
    m.opt.law = law
    log = motion(m, 400, waves(400, 2))
    f = tribo.fit(
        m, log, [tribo.Parameter(n, start=v * 1.6) for n, v in TRUE.items()], horizon=horizon, states=states
    )
    assert set(f.methods.values()) == {"analytic"}
    for name, value in TRUE.items():
        assert f.values[name] == pytest.approx(value, rel=1e-6), name
    assert not f.unidentified and not f.at_bound and not len(f.beyond_noise)


def test_errors_are_as_large_as_the_error_bars_say():
    m, _ = arm()
    log = motion(m, 600, waves(600, 2), noise=1e-4)
    names = list(TRUE)
    f = tribo.fit(m, log, names, horizon=None)
    z = np.array([(f.values[n] - TRUE[n]) / f.std[n] for n in names])
    assert 0.02 < np.sqrt(np.mean(z**2)) < 3 and np.abs(z).max() < 4
    np.testing.assert_allclose(f.noise, [1e-4, 1e-4, 1e-3, 1e-3], rtol=0.15)
    assert f.covariance.shape == (len(names),) * 2


def test_estimated_states_remove_the_bias_of_noise():
    m, _ = arm()
    log = motion(m, 600, waves(600, 2), noise=1e-3)
    errors = {
        s: abs(
            tribo.fit(
                m, log, ["joint.j2.armature"], horizon=10, states=s, noise=[1e-3, 1e-3, 1e-2, 1e-2]
            ).values["joint.j2.armature"]
            - 0.01
        )
        for s in ("logged", "estimated")
    }
    assert errors["estimated"] < 0.5 * errors["logged"]


def test_what_the_log_does_not_determine_is_named():
    m, _ = arm()
    log = motion(m, 300, waves(300, 2))
    with pytest.warns(tribo.IdentifiabilityWarning, match="joint.j1.damping"):
        f = tribo.fit(
            m, log, ["joint.j1.damping", tribo.Parameter("actuator.a1.kv", start=0.5), "joint.j2.damping"]
        )
    assert len(f.unidentified) == 1
    assert "actuator.a1.kv" in f.unidentified[0] and "j2" not in f.unidentified[0]
    assert np.isinf(f.std["joint.j1.damping"]) and np.isinf(f.std["actuator.a1.kv"])
    assert np.isfinite(f.std["joint.j2.damping"])
    # What is determined is their sum.
    assert f.values["joint.j1.damping"] + f.values["actuator.a1.kv"] == pytest.approx(0.3, rel=1e-5)


def test_no_effect_at_all():
    m, _ = arm()
    log = motion(m, 100, waves(100, 2))
    with pytest.warns(tribo.IdentifiabilityWarning, match="friction"):
        f = tribo.fit(m, log, ["geom.0.friction"])
    assert f.values["geom.0.friction"] == m.geom_friction[0, 0]


def test_bounds_hold():
    m, _ = arm()
    log = motion(m, 200, waves(200, 2))
    f = tribo.fit(m, log, [tribo.Parameter("body.l2.mass", bounds=(0.6, 1.0))])
    assert f.values["body.l2.mass"] == 0.6 and f.at_bound == ["body.l2.mass"]


@pytest.mark.parametrize("delay", (0.0031, 0.0157))
def test_delays(delay):
    m, _ = arm()
    h, steps = m.opt.timestep, 400
    u = waves(steps + 1, 2)
    times = np.arange(steps + 1) * h
    from tribo._fit_log import _Signal

    late = _Signal(times, u).mean(times[:-1], h, np.full(2, delay))[0]
    log = motion(m, steps, late)
    log.ctrl = u
    f = tribo.fit(m, log, ["delay"])
    assert f.values["delay"] == pytest.approx(delay, abs=1e-6) and f.methods["delay"] == "analytic"
    single = tribo.fit(m, log, ["actuator.a1.delay", "actuator.a2.delay"], horizon=20)
    assert all(v == pytest.approx(delay, abs=1e-6) for v in single.values.values())


@pytest.mark.parametrize("law", ("ncp", "ccp", "soft"))
def test_friction(law):
    m = tribo.Model.from_xml_string(SLED)
    m.opt.law = law
    log = motion(m, 300, 20 * waves(300, 1))
    f = tribo.fit(m, log, [tribo.Parameter("geom.*.friction", (0.05, 2), start=0.7)], horizon=5)
    assert f.values["geom.*.friction"] == pytest.approx(0.5, rel=1e-5)


def test_gains_of_comfree_and_functions_of_the_state():
    m = tribo.Model.from_xml_string(SLED)
    m.opt.law = "comfree"
    m.opt.comfree_stiffness, m.opt.comfree_damping = 0.35, 0.002
    log = motion(m, 200, 20 * waves(200, 1))
    f = tribo.fit(
        m,
        log,
        [
            tribo.Parameter("opt.comfree_stiffness", start=0.2),
            tribo.Parameter("opt.comfree_damping", start=0.001),
        ],
        horizon=4,
    )
    assert f.values["opt.comfree_stiffness"] == pytest.approx(0.35, rel=1e-4)
    assert f.values["opt.comfree_damping"] == pytest.approx(0.002, rel=1e-3)
    # The stiffness as a function of the speed along the floor: here it is constant.
    basis = tribo.Parameter(
        "opt.comfree_stiffness", start=[0.3, 0.01], basis=lambda q, v: np.array([1, abs(v[0])])
    )
    f = tribo.fit(m, log, [basis], horizon=1)
    assert f.values["opt.comfree_stiffness[0]"] == pytest.approx(0.35, rel=1e-4)
    assert f.values["opt.comfree_stiffness[1]"] == pytest.approx(0, abs=1e-4)


def test_compliance():
    m = tribo.Model.from_xml_string(SLED)
    m.geom_compliance[:] = 2e-4
    log = motion(m, 200, 10 * waves(200, 1))
    f = tribo.fit(m, log, [tribo.Parameter("geom.*.compliance", start=1e-4)], horizon=5)
    assert f.values["geom.*.compliance"] == pytest.approx(2e-4, rel=1e-3)


def test_sensors_and_missing_samples():
    m, _ = arm()
    ctrl = waves(301, 2)
    t = tribo.Batch(m, 1).rollout(
        301, qpos=[m.qpos0], qvel=[np.zeros(m.nv)], ctrl=ctrl[None], record=["sensordata"]
    )
    sensordata = t["sensordata"][0]
    sensordata[50:60] = np.nan
    sensordata[200, 1] += 1.0
    log = tribo.Log(np.arange(301) * m.opt.timestep, sensordata=sensordata, ctrl=ctrl)
    f = tribo.fit(m, log, [tribo.Parameter("body.l2.mass", start=0.55)], horizon=None)
    assert list(f.times[f.beyond_noise]) == pytest.approx([0.4])
    assert f.values["body.l2.mass"] == pytest.approx(0.5, rel=0.05)
    log.sensordata[200] = np.nan
    f = tribo.fit(m, log, [tribo.Parameter("body.l2.mass", start=0.55)], horizon=None)
    assert f.values["body.l2.mass"] == pytest.approx(0.5, rel=1e-6)
    assert len(f.times) == 290


def test_several_logs_and_a_coarser_sampling():
    m, _ = arm()
    logs = [motion(m, 200, waves(200, 2), every=4), motion(m, 120, 0.5 * waves(120, 2)[::-1], every=4)]
    f = tribo.fit(m, logs, [tribo.Parameter("body.l2.density", start=1.4), "joint.j2.damping"], horizon=8)
    assert f.values["body.l2.density"] == pytest.approx(1, rel=1e-6)


def test_apply_writes_into_a_model():
    m, wrong = arm()
    wrong.body("l2").mass = 0.9
    wrong.set_constants()
    log = motion(m, 200, waves(200, 2))
    f = tribo.fit(wrong, log, ["body.l2.mass", "opt.gravity[2]"])
    f.apply(wrong)
    assert wrong.body_mass[2] == pytest.approx(0.5, rel=1e-6)
    assert wrong.opt.gravity[2] == pytest.approx(-9.81, rel=1e-6)
    assert "body.l2.mass" in str(f) and "rollouts" in str(f)


def test_mistakes_are_named():
    m, _ = arm()
    log = motion(m, 20, waves(20, 2))
    for path, text in (
        ("body.l9.mass", "l9"),
        ("joint.j1.colour", "colour"),
        ("opt.warp", "warp"),
        ("mass", "kind"),
        ("geom.x*.friction", "matches"),
    ):
        with pytest.raises(KeyError, match=text):
            tribo.fit(m, log, [path])
    with pytest.raises(ValueError, match="twice"):
        tribo.fit(m, log, ["body.l2.mass", "body.l2.mass"])
    with pytest.raises(ValueError, match="resample"):
        tribo.fit(
            m, tribo.Log(np.asarray(log.times) * 1.1, log.qpos, log.qvel, ctrl=log.ctrl), ["body.l2.mass"]
        )
    with pytest.raises(ValueError, match="qvel"):
        tribo.fit(
            m, tribo.Log(log.times, log.qpos, np.asarray(log.qvel)[:, :1], ctrl=log.ctrl), ["body.l2.mass"]
        )


# ---- no claim that the log does not bear out -------------------------------------------------------

BOX = """<mujoco><option timestep=".002"/><worldbody>
<geom name="floor" type="plane" size="5 5 .1" friction="0"/>
<body name="box" pos="0 0 .05"><freejoint/>
<geom name="box" type="box" size=".1 .1 .05" mass="1" friction=".37"/></body></worldbody></mujoco>"""
NOISE = np.repeat([1e-5, 1e-4], 6)


def slide(seed=None, exact_start=False):
    """A box that slides; with a seed, 10 um (10 urad) and 0.1 mm/s (0.1 mrad/s) of noise."""
    m = tribo.Model.from_xml_string(BOX)
    d = tribo.Data(m)
    d.qvel[0] = 2
    rng = np.random.default_rng(seed)
    times, qpos, qvel = [], [], []
    for k in range(250):
        n = 0 * NOISE if seed is None or (exact_start and k == 0) else NOISE * rng.normal(size=12)
        times.append(d.time)
        qpos.append(tribo.integrate_pos(m, d.qpos.copy(), n[:6], 1.0))
        qvel.append(d.qvel + n[6:])
        tribo.step(m, d)
    return m, tribo.Log(times, qpos, qvel)


@pytest.mark.parametrize("settings", ({}, {"horizon": None}, {"states": "estimated"}, {"coarse": False}))
@pytest.mark.parametrize("start", (0.37, 0.36, 0.185, 0.555))
def test_an_exact_log_gives_the_truth_from_everywhere(settings, start):
    m, log = slide()
    f = tribo.fit(m, log, [tribo.Parameter("geom.box.friction", start=start)], **settings)
    assert f.converged
    assert f.values["geom.box.friction"] == pytest.approx(0.37, abs=1e-7)
    assert abs(f.values["geom.box.friction"] - 0.37) < 4 * f.std["geom.box.friction"] < 1e-5
    assert not len(f.beyond_noise) and not f.unidentified and not f.at_bound


@pytest.mark.parametrize(
    "settings", ({}, {"noise": NOISE}, {"horizon": None}, {"states": "estimated", "noise": NOISE}), ids=str
)
def test_a_noisy_log_is_within_its_error_bars(settings):
    close = 0
    for seed in range(8):
        m, log = slide(seed, "horizon" in settings)
        for start in (0.2, 0.37, 0.5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                f = tribo.fit(m, log, [tribo.Parameter("geom.box.friction", start=start)], **settings)
            assert np.isfinite(f.std["geom.box.friction"])
            good = abs(f.values["geom.box.friction"] - 0.37) <= 4 * f.std["geom.box.friction"] < 0.01
            close += good
    assert close >= 22


@pytest.mark.parametrize("seed", (None, 0))
@pytest.mark.parametrize("settings", ({}, {"noise": NOISE}, {"states": "estimated"}, {"horizon": None}))
@pytest.mark.parametrize("quantity", ("density", "mass"))
def test_what_scales_out_of_the_motion_is_not_determined(quantity, settings, seed):
    m, log = slide(seed)
    name = f"body.box.{quantity}"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        f = tribo.fit(m, log, [tribo.Parameter(name, start=1.1)], **settings)
    assert f.values[name] == 1.1 and np.isinf(f.std[name]) and f.unidentified == [f"+1.00 {name}"]
    assert any(w.category is tribo.IdentifiabilityWarning and name in str(w.message) for w in said)


def test_what_is_determined_is_found_beside_what_is_not():
    m, log = slide()
    unknowns = ["body.box.density", tribo.Parameter("geom.box.friction", start=0.5)]
    with pytest.warns(tribo.IdentifiabilityWarning, match="density"):
        f = tribo.fit(m, log, unknowns)
    assert f.values["geom.box.friction"] == pytest.approx(0.37, abs=1e-6)
    assert f.values["body.box.density"] == pytest.approx(1, abs=1e-9) and np.isinf(f.std["body.box.density"])
    assert np.isfinite(f.std["geom.box.friction"])


@pytest.mark.parametrize("most", (1, 2, 3))
def test_iterations_are_counted(most):
    m, _ = arm()
    log = motion(m, 400, waves(400, 2))
    unknowns = [tribo.Parameter(n, start=v * 3) for n, v in TRUE.items()]
    with pytest.warns(RuntimeWarning, match="not converged"):
        f = tribo.fit(m, log, unknowns, max_iter=most)
    assert f.iterations <= most and not f.converged and "not converged" in str(f)


def test_the_page_finds_the_values_of_its_model():
    page = Path(__file__).parents[2] / "docs/manual/python-fit.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(), re.S)[1]
    names: dict = {}
    exec(code, names)
    true = {
        "body.lower.mass": 0.5,
        "actuator.servo.kp": 20,
        "joint.shoulder.damping": 0.3,
        "joint.elbow.damping": 0.2,
        "joint.elbow.armature": 0.01,
        "delay": 0,
    }
    f = names["found"]
    assert f.converged and not f.unidentified and not len(f.beyond_noise)
    for name, value in true.items():
        assert f.values[name] == pytest.approx(value, rel=1e-5, abs=1e-7), name


def test_wrong_arguments_are_named():
    m, log = slide()
    for noise in ({"qpos": 1e-5}, [1e-5, 1e-4]):
        with pytest.raises((TypeError, ValueError), match="2 nv = 12 values: positions, velocities"):
            tribo.fit(m, log, ["geom.box.friction"], noise=noise)
    with pytest.raises(TypeError, match="list of paths"):
        tribo.fit(m, log, [0.3])
    assert tribo.fit(m, log, "geom.box.friction").names == ["geom.box.friction"]
