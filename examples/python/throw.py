"""A throw by gradients: off a rubber mat, into a basket.

The only unknown is the velocity at which the ball is released. Gradients pass through the bounce: every
step is linearised at its own state and applied backwards, from the last to the first. The contact's force
grows from zero with depth (solimp), and it lasts for many steps: a hard impact between two steps would
give each gradient the accident of its last digits.
"""

import numpy as np

import tribo

MODEL = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom name="mat" type="plane" size="5 5 .1"/>
    <geom name="basket" type="cylinder" size=".1 .05" pos="2.2 .1 .65" contype="0" conaffinity="0"/>
    <body name="ball" pos="0 0 .8">
      <freejoint/>
      <geom type="sphere" size=".1" mass=".5" priority="1" solref="-1000 -1" solimp="0 .9 .05" friction=".5"/>
    </body>
  </worldbody>
</mujoco>"""
TARGET = np.array([2.2, 0.1, 0.7])  # m, in the basket
TIME = 1.0  # s


def main(law: str = "soft") -> float:
    """Aim until the ball arrives; the distance that is left, m."""
    m = tribo.Model.from_xml_string(MODEL)
    m.opt.law = law
    steps = round(TIME / m.opt.timestep)
    sim = tribo.Trajectories(m, checkpoint=20, kinks="ignore")
    velocity = np.array([1.5, 0.0, 1.5])  # m/s, of the first try
    for attempt in range(20):
        # Three equal worlds: each returns the gradient of one coordinate of the last position.
        qvel = np.zeros((3, m.nv))
        qvel[:, :3] = velocity
        throw = sim.forward(np.tile(m.qpos0, (3, 1)), qvel, nstep=steps)
        miss = throw.qpos[0, -1, :3] - TARGET
        bounce = throw.qpos[0, :, 2].argmin()
        print(
            f"{attempt:2}  velocity {velocity.round(3)}  bounce at x = {throw.qpos[0, bounce, 0]:.2f} m"
            f"  misses by {np.linalg.norm(miss):.4f} m"
        )
        if np.linalg.norm(miss) < 1e-4:
            break
        by_state = np.zeros_like(throw.qpos)
        by_state[range(3), -1, range(3)] = 1
        jacobian = sim.backward(throw, by_state)["qvel"][:, :3]
        # A damped Gauss-Newton step, at most 1 m/s.
        step = np.linalg.solve(jacobian.T @ jacobian + 1e-4 * np.eye(3), -jacobian.T @ miss)
        velocity = velocity + step * min(1.0, 1.0 / np.linalg.norm(step))
    return float(np.linalg.norm(miss))


if __name__ == "__main__":
    main()
