"""Friction and mass of a pushed crate from a log, with error bars, under two laws.

The log is made here, by a model whose values are then forgotten: position and velocity along the floor, with
noise, and one sample is spoiled.
"""

import copy

import numpy as np

import tribo

MODEL = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1" friction=".5"/>
    <body name="crate" pos="0 0 .1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1"/>
      <geom name="crate" type="box" size=".1 .1 .1" mass="2" friction=".5"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="push" joint="x"/>
  </actuator>
  <sensor>
    <jointpos joint="x"/>
    <jointvel joint="x"/>
  </sensor>
</mujoco>"""


def record(m: tribo.Model, noise: float) -> tribo.Log:
    """A push that oscillates."""
    times = np.arange(1000) * m.opt.timestep
    ctrl = 20 * np.sin(2 * np.pi * times)[:, None]
    start = {"qpos": [m.qpos0], "qvel": [np.zeros(m.nv)]}
    motion = tribo.Batch(m, 1).rollout(len(times), record=["sensordata"], ctrl=ctrl[None], **start)
    sensordata = motion["sensordata"][0]
    sensordata += [noise, 10 * noise] * np.random.default_rng(0).normal(size=sensordata.shape)
    sensordata[700, 1] += 0.05
    return tribo.Log(times, sensordata=sensordata, ctrl=ctrl, **start)


def main() -> dict[str, tribo.Fit]:
    """Fit under each law, and again without what the law does not explain.

    The crate starts at rest, so the whole log is one trajectory from a known state (`horizon=None`).
    """
    m = tribo.Model.from_xml_string(MODEL)
    truth = copy.copy(m)
    truth.geom_friction[:, 0] = 0.31
    truth.body("crate").mass = 1.6
    truth.set_constants()
    log = record(truth, noise=1e-5)
    unknowns = [tribo.Parameter("geom.*.friction", bounds=(0.05, 1.5)), "body.crate.mass"]
    fits = {}
    for law in ("ncp", "soft"):
        m.opt.law = law
        fits[law] = tribo.fit(m, log, unknowns, horizon=None)
        print(f"{law}:\n{fits[law]}\n")
    log.sensordata[fits["ncp"].beyond_noise] = np.nan
    m.opt.law = "ncp"
    fits["ncp, cleaned"] = tribo.fit(m, log, unknowns, horizon=None)
    print(f"ncp, cleaned:\n{fits['ncp, cleaned']}")
    return fits


if __name__ == "__main__":
    main()
