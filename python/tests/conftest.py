"""Models and folders that the tests share."""

from pathlib import Path

import pytest

import tribo

ROOT = Path(__file__).resolve().parents[2]

PENDULUM = """
<mujoco model="pendulum">
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="arm" pos="0 0 2">
      <joint name="hinge" axis="0 1 0" damping="0.1"/>
      <geom name="rod" type="capsule" size="0.05" fromto="0 0 0 0.5 0 0" mass="1"/>
      <site name="tip" pos="0.5 0 0"/>
    </body>
    <body name="ball" pos="1 0 0.099">
      <freejoint name="root"/>
      <geom name="sphere" size="0.1" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="hinge" gear="2"/></actuator>
  <sensor><jointpos name="angle" joint="hinge"/>
    <framepos name="place" objtype="body" objname="ball"/></sensor>
  <keyframe><key name="raised" qpos="-1 1 0 0.5 1 0 0 0" ctrl="0.3"/></keyframe>
</mujoco>
"""


@pytest.fixture
def scenes() -> Path:
    return ROOT / "scenes"


@pytest.fixture
def m() -> tribo.Model:
    return tribo.Model.from_xml_string(PENDULUM)


@pytest.fixture
def d(m: tribo.Model) -> tribo.Data:
    return tribo.Data(m)


@pytest.fixture
def quadruped(scenes: Path) -> tuple[tribo.Model, tribo.Data]:
    m = tribo.Model.from_xml_path(str(scenes / "quadruped.xml"))
    d = tribo.Data(m)
    tribo.reset_to_key(m, d, "stand")
    return m, d
