"""Worlds that tests of gradients share: smooth ones and such with many contacts, away from kinks."""

from pathlib import Path

import numpy as np

import tribo

ARM = """<mujoco><option timestep="0.005"/><worldbody>
<body pos="0 0 1"><joint name="a" axis="0 1 0" damping=".1" armature=".01"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
<body pos=".3 0 0"><joint name="b" type="ball" damping=".05"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body></worldbody>
<actuator><motor joint="a"/>
<general joint="a" dyntype="filter" dynprm=".1" gainprm="2"/></actuator></mujoco>"""

# Balls and a capsule that slide and roll on a floor, pressed into it so that no gap is near its kink.
# The overlaps avoid half the width of solimp, where the impedance has a second derivative that jumps.
CONTACTS = """<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="5 5 .1" friction=".4"/>
<body pos="0 0 .0995"><freejoint/><geom type="sphere" size=".1" friction=".4"/></body>
<body pos=".5 0 .0496"><freejoint/>
<geom type="capsule" fromto="-.1 0 0 .1 0 0" size=".05" friction=".4"/></body>
<body pos="1 0 .1"><joint name="s" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
<geom type="sphere" size=".1003" friction=".4"/></body>
</worldbody><actuator><motor joint="s" gear="5"/></actuator></mujoco>"""

SMOOTH_LAWS = ("ncp", "soft", "comfree", "viscoelastic")
CONTACT_LAWS = ("ncp", "ccp", "soft", "comfree")


def world(kind, law):
    """Model, initial states of two worlds, and controls of some steps."""
    m = tribo.Model.from_xml_string(ARM if kind == "smooth" else CONTACTS)
    m.opt.law = law
    m.opt.solve_tolerance = 1e-13
    m.opt.tolerance = 1e-14
    rng = np.random.default_rng(1)
    n, steps = 2, 4
    qpos = np.tile(m.qpos0, (n, 1))
    qvel = 0.3 * rng.normal(size=(n, m.nv))
    if kind == "smooth":
        qpos = qpos + 0.2 * rng.normal(size=qpos.shape)
    else:
        # Fast along the floor, so that friction is at its limit; the overlaps differ.
        qvel[:, [0, 6, 12]] = 1.0 + 0.2 * rng.random((n, 3))
        qvel[:, [2, 8, 13]] = -0.05
        qpos[:, [2, 9]] -= 1e-4 * rng.random((n, 2))
    act = 0.1 * rng.normal(size=(n, m.na))
    ctrl = 0.3 * rng.normal(size=(n, steps, m.nu))
    return m, qpos, qvel, act, ctrl


def snippet(name):
    """The lines of the manual that use a back end."""
    text = (Path(__file__).parents[2] / "docs" / "manual" / "python-derivatives.md").read_text()
    blocks = [b for b in text.split("\n\n") if b.startswith("    ") and name in b]
    assert blocks
    return "\n".join(line[4:] for block in blocks for line in block.splitlines())
