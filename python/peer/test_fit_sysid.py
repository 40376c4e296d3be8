"""Fits beside `mujoco.sysid`: the same data, accuracy at least of the same order, fewer rollouts."""

import pytest

pytest.importorskip("mujoco", reason="MuJoCo is not installed")
sysid = pytest.importorskip("mujoco.sysid", reason="mujoco[sysid] is not installed")
if not hasattr(sysid, "optimize"):
    pytest.skip("mujoco[sysid] is not installed", allow_module_level=True)

from fit_problems import by_sysid, by_tribo, error, problems  # noqa: E402

# Rollouts (simulated lengths of the log, those of linearised steps apart) relative to sysid's, at most.
SHARE = {
    "mass on a spring: mass": 0.5,
    "arm: 5 armatures": 0.2,
    "arm with servos: mass, damping, gains": 0.1,
    "puck: friction": 0.1,
    "ball: stiffness and damping of its contact": 0.2,
}


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore")
def test_same_data(problem, record_property):
    values, rollouts = by_sysid(problem)
    f = by_tribo(problem, horizon=None)
    mine = f.steps * f.rollouts / (f.steps + f.linearised)
    record_property(
        "table", (rollouts, error(problem, values), mine, f.rollouts - mine, error(problem, f.values))
    )
    assert f.converged
    assert error(problem, f.values) < max(2 * error(problem, values), 1e-5)
    assert mine <= SHARE[problem.name] * rollouts
    # Error bars hold what is true.
    for path, true, *_ in problem.unknowns:
        assert abs(f.values[path] - true) < 5 * f.std[path]
