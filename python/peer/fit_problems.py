"""Five problems of system identification, and the same data for `tribo.fit` and `mujoco.sysid`."""

from dataclasses import dataclass

import mujoco
import mujoco.rollout
import numpy as np
from mujoco import sysid
from mujoco.sysid._src import residual as sysid_residual

import tribo

SPRING = """<mujoco><option timestep="0.002"><flag contact="disable"/></option><worldbody>
<body name="ball" pos="0 0 .1"><inertial pos="0 0 0" mass="1" diaginertia=".001 .001 .001"/>
<joint name="slide" type="slide" axis="1 0 0" stiffness="100" damping="5"/>
<geom type="sphere" size=".05"/></body>
</worldbody><actuator><motor name="push" joint="slide"/></actuator>
<sensor><jointpos name="p" joint="slide"/><jointvel name="v" joint="slide"/></sensor></mujoco>"""


def chain(n, actuator):
    """An arm of n links; armature and damping fall along it."""
    axes = ["0 0 1", "0 1 0"]
    text, end = "", ""
    for i in range(n):
        mass = 1 - 0.2 * i if i < 4 else 0.2
        inertia = mass / 100
        text += (
            f'<body name="l{i}" pos="0 0 .1"><inertial pos=".02 0 .05" mass="{mass}" '
            f'diaginertia="{inertia} {inertia} {inertia / 2}"/>'
            f'<joint name="j{i}" type="hinge" axis="{axes[i % 2]}" armature="{0.5 - 0.1 * i:.1f}" '
            f'damping="{1 - 0.2 * i:.1f}"/><geom type="capsule" fromto="0 0 0 0 0 .1" size=".03"/>'
        )
        end += "</body>"
    sensors = "".join(f'<jointpos name="p{i}" joint="j{i}"/>' for i in range(n))
    sensors += "".join(f'<jointvel name="v{i}" joint="j{i}"/>' for i in range(n))
    actuators = "".join(actuator.format(i=i) for i in range(n))
    return (
        f'<mujoco><option integrator="implicitfast" timestep="0.002"><flag contact="disable"/></option>'
        f"<worldbody>{text}{end}</worldbody><actuator>{actuators}</actuator><sensor>{sensors}</sensor></mujoco>"
    )


PUCK = """<mujoco><option timestep="0.002" cone="elliptic"/><worldbody>
<geom name="floor" type="plane" size="9 9 .1" friction=".3 .005 .0001"/>
<body name="puck" pos="0 0 .05">
<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
<joint name="z" type="slide" axis="0 0 1" damping="200"/><geom name="puck" type="sphere" size=".0501" mass="1"
 friction=".3 .005 .0001"/></body></worldbody>
<actuator><motor name="fx" joint="x"/><motor name="fy" joint="y"/></actuator>
<sensor><jointpos name="p0" joint="x"/><jointpos name="p1" joint="y"/><jointpos name="p2" joint="z"/>
<jointvel name="v0" joint="x"/>
<jointvel name="v1" joint="y"/><jointvel name="v2" joint="z"/></sensor></mujoco>"""

BOUNCE = """<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="9 9 .1"/>
<body name="ball" pos="0 0 .4"><joint name="z" type="slide" axis="0 0 1"/>
<geom name="ball" type="sphere" size=".1" mass="1" solref="-3000 -20" priority="1"/></body></worldbody>
<actuator><motor name="f" joint="z"/></actuator>
<sensor><jointpos name="p" joint="z"/><jointvel name="v" joint="z"/></sensor></mujoco>"""


@dataclass
class Problem:
    """A model, its excitation, and the unknowns: path, true value, start, bounds, and how sysid sets it."""

    name: str
    xml: str
    ctrl: object
    duration: float
    unknowns: list
    noise: tuple


def set_joint(name, what):
    def put(s, p):
        if what == "damping":
            s.joint(name).damping[0] = p.value[0]
        else:
            setattr(s.joint(name), what, p.value[0])

    return put


def set_solref(index):
    def put(s, p):
        s.geom("ball").solref[index] = p.value[0]

    return put


def set_friction(s, p):
    for name in ("puck", "floor"):
        s.geom(name).friction[0] = p.value[0]


def set_servo(name):
    def put(s, p):
        s.actuator(name).gainprm[0] = p.value[0]
        s.actuator(name).biasprm[1] = -p.value[0]

    return put


def waves(n, amplitude):
    def ctrl(t):
        return np.column_stack(
            [
                amplitude * (1 - 0.15 * i) * np.sin(2 * np.pi * f * t + 0.5 * i)
                for i, f in zip(range(n), (0.5, 0.7, 0.4, 0.9, 0.6), strict=False)
            ]
        )

    return ctrl


def problems():
    mass = lambda n: lambda s, p: setattr(s.body(n), "mass", p.value[0])  # noqa: E731
    return [
        Problem(
            "mass on a spring: mass",
            SPRING,
            lambda t: (5 * np.sin(2 * np.pi * 1.5 * t) + 3 * np.sin(2 * np.pi * 3.7 * t))[:, None],
            3.0,
            [("body.ball.mass", 1.0, 2.0, (0.3, 3.0), mass("ball"))],
            (1e-4, 1e-3),
        ),
        Problem(
            "arm: 5 armatures",
            chain(5, '<motor name="a{i}" joint="j{i}"/>'),
            waves(5, 5.0),
            2.0,
            [
                (f"joint.j{i}.armature", 0.5 - 0.1 * i, 0.01, (0.001, 1.0), set_joint(f"j{i}", "armature"))
                for i in range(5)
            ],
            (1e-4, 1e-3),
        ),
        Problem(
            "arm with servos: mass, damping, gains",
            chain(3, '<position name="a{i}" joint="j{i}" kp="40"/>'),
            waves(3, 1.0),
            2.0,
            [("body.l2.mass", 0.6, 1.0, (0.1, 3.0), mass("l2"))]
            + [
                (f"joint.j{i}.damping", 1 - 0.2 * i, 0.3, (0.0, 5.0), set_joint(f"j{i}", "damping"))
                for i in range(3)
            ]
            + [(f"actuator.a{i}.kp", 40.0, 25.0, (1.0, 200.0), set_servo(f"a{i}")) for i in range(3)],
            (1e-4, 1e-3),
        ),
        Problem(
            "puck: friction",
            PUCK,
            lambda t: np.column_stack([5 * np.cos(4 * t), 5 * np.sin(4 * t)]),
            1.0,
            [("geom.*.friction", 0.3, 0.4, (0.05, 1.0), set_friction)],
            (1e-5, 1e-4),
        ),
        Problem(
            "ball: stiffness and damping of its contact",
            BOUNCE,
            lambda t: np.sin(9 * t)[:, None],
            1.0,
            [
                ("field.geom_solref[1,0]", -3000.0, -2000.0, (-9000.0, -500.0), set_solref(0)),
                ("field.geom_solref[1,1]", -20.0, -10.0, (-90.0, -1.0), set_solref(1)),
            ],
            (1e-5, 1e-4),
        ),
    ]


def data(p):
    """Times, controls and measured states; the first state is exact."""
    m = mujoco.MjModel.from_xml_string(p.xml)
    d = mujoco.MjData(m)
    K = int(p.duration / m.opt.timestep)
    t = np.arange(K) * m.opt.timestep
    ctrl = p.ctrl(t)
    start = sysid.create_initial_state(m, d.qpos, d.qvel, d.act)
    state, _ = mujoco.rollout.rollout(m, d, start, ctrl[:-1])
    states = np.concatenate([start[None], state[0]])
    rng = np.random.default_rng(0)
    q, v = states[:, 1 : 1 + m.nq], states[:, 1 + m.nq : 1 + m.nq + m.nv]
    q = q + p.noise[0] * rng.normal(size=q.shape) * (t[:, None] > 0)
    v = v + p.noise[1] * rng.normal(size=v.shape) * (t[:, None] > 0)
    return t, ctrl, q, v, start


def by_sysid(p):
    """Values of `mujoco.sysid` with its default optimiser, and how many rollouts it made."""
    t, ctrl, q, v, start = data(p)
    spec = mujoco.MjSpec.from_string(p.xml)
    m = spec.compile()
    params = sysid.ParameterDict()
    for path, true, first, (low, high), put in p.unknowns:
        params.add(sysid.Parameter(path, nominal=true, min_value=low, max_value=high, modifier=put))
        params[path].value[:] = first
    # A row of sensors is of the state before the step that ends at its time.
    rows = sysid.TimeSeries.from_names(t[1:], np.column_stack([q, v])[:-1], m)
    sequence = sysid.ModelSequences("model", spec, "log", start, sysid.TimeSeries(t, ctrl), rows)
    count = [0]
    original = sysid_residual.sysid_rollout

    def counted(*args, **kwargs):
        count[0] += len(kwargs["models"])
        return original(*args, **kwargs)

    sysid_residual.sysid_rollout = counted
    try:
        found, _ = sysid.optimize(
            initial_params=params,
            residual_fn=sysid.build_residual_fn(models_sequences=[sequence]),
            optimizer="mujoco",
            verbose=False,
        )
    finally:
        sysid_residual.sysid_rollout = original
    return {path: float(found[path].value[0]) for path, *_ in p.unknowns}, count[0]


def by_tribo(p, **kwargs):
    """The fit of the same data, under the soft law."""
    t, ctrl, q, v, _ = data(p)
    m = tribo.Model.from_xml_string(p.xml)
    m.opt.law = "soft"
    log = tribo.Log(t, q, v, ctrl=ctrl)
    unknowns = [tribo.Parameter(path, bounds, first) for path, _, first, bounds, _ in p.unknowns]
    return tribo.fit(m, log, unknowns, **kwargs)


def error(p, values):
    """Largest relative error."""
    return max(abs(values[path] / true - 1) for path, true, *_ in p.unknowns)


if __name__ == "__main__":
    import time

    print("| problem | unknowns | sysid: rollouts | error | s | tribo: rollouts | linearised | error | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for p in problems():
        begin = time.perf_counter()
        values, rollouts = by_sysid(p)
        middle = time.perf_counter()
        f = by_tribo(p, horizon=None)
        end = time.perf_counter()
        length = (f.steps + f.linearised) / f.rollouts
        print(
            f"| {p.name} | {len(p.unknowns)} | {rollouts} | {error(p, values):.1e} | {middle - begin:.1f} | "
            f"{f.steps / length:.1f} | {f.linearised / length:.1f} | {error(p, f.values):.1e} | "
            f"{end - middle:.1f} |",
            flush=True,
        )
