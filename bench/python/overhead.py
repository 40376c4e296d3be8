"""What a call costs from Python, in microseconds, beside the same work in C.

build/python-env/bin/python bench/python/overhead.py
"""

import time
import timeit

import numpy as np

import tribo

PENDULUM = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/>
<geom size="0.1" pos="0.3 0 0"/></body></worldbody></mujoco>"""


def best(statement: str, names: dict[str, object], number: int) -> float:
    """Least time of a statement over 15 runs, us."""
    return min(timeit.repeat(statement, globals=names, number=number, repeat=15)) / number * 1e6


def main() -> None:
    """Print a table."""
    m = tribo.Model.from_xml_string(PENDULUM)
    d = tribo.Data(m)
    names: dict[str, object] = {"tribo": tribo, "m": m, "d": d, "z": np.zeros(1), "step": tribo.step}
    loop = best("step(m, d, 1000)", names, 20) / 1000
    one = best("step(m, d)", names, 5000)
    print(f"{'a step within step(m, d, 1000)':36} {loop:8.3f} us")
    print(f"{'step(m, d)':36} {one:8.3f} us, {one - loop:.3f} more")
    for statement in (
        "d.qpos",
        "d.time",
        "m.nq",
        "d.qpos[0]",
        "d.qpos = z",
        "m.opt.timestep",
        "tribo.kinematics(m, d)",
        "d.joint('hinge').qpos",
    ):
        print(f"{statement:36} {best(statement, names, 20000):8.3f} us")
    m = tribo.Model.from_xml_path("scenes/quadruped.xml")
    b = tribo.Batch(m, 64, 1)
    b.reset(key=0)
    ctrl = np.zeros((64, 50, m.nu)) + m.key_ctrl[0]
    start = np.tile(m.key_qpos[0], (64, 1))
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        b.rollout(50, qpos=start, ctrl=ctrl, record=("qpos", "qvel"))
        times.append(time.perf_counter() - begin)
    print(f"{'Batch.rollout, a step of a quadruped':36} {min(times) / 64 / 50 * 1e6:8.3f} us")


if __name__ == "__main__":
    main()
