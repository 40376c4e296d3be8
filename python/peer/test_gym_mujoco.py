"""Tasks of tribo.gym under `soft` against Gymnasium's on MuJoCo, from MuJoCo's states."""

import gymnasium
import numpy as np
import pytest

from tribo.gym import SUITE, TriboEnv

pytest.importorskip("mujoco")

STATES = 1000


@pytest.mark.parametrize("name", sorted(SUITE))
def test_resets_are_those_of_gymnasium(name):
    ours, theirs = TriboEnv(name), gymnasium.make(f"{name}-v5")
    for seed in (0, 1):
        observation, info = ours.reset(seed=seed)
        expected, facts = theirs.reset(seed=seed)
        np.testing.assert_allclose(observation, expected, rtol=0, atol=1e-12)
        assert facts.keys() <= info.keys() | {"reward_survive"}
    np.testing.assert_array_equal(ours.action_space.low, theirs.action_space.low)
    np.testing.assert_array_equal(ours.action_space.high, theirs.action_space.high)


@pytest.mark.parametrize("name", sorted(SUITE))
def test_a_step_has_gymnasiums_reward_where_contact_sets_agree(name):
    """Both with Euler's rule and Newton's solver where the reward depends on contact forces.

    Under Runge and Kutta's rule MuJoCo's external forces are those of the last of four stages and
    Tribo's the mean of the step; its PGS stops after 50 iterations, wherever it is then.
    """
    ours = TriboEnv(name, law="soft")
    theirs = gymnasium.make(f"{name}-v5").unwrapped
    if "cfrc_ext" in ours.worlds.task.fields:
        ours.model.opt.integrator, theirs.model.opt.integrator = "euler", 0
        ours.model.opt.solver, theirs.model.opt.solver = "newton", 2
    rng = np.random.default_rng(0)
    space = theirs.action_space
    theirs.reset(seed=1)
    agree = compared = 0
    for _ in range(STATES):
        qpos, qvel = theirs.data.qpos.copy(), theirs.data.qvel.copy()
        theirs.set_state(qpos, qvel)
        theirs.data.qacc_warmstart[:] = 0
        ours.set_state(qpos, qvel)
        action = rng.uniform(space.low, space.high).astype(np.float32)
        _, reward, terminated, _, info = ours.step(action)
        _, wanted, ended, _, facts = theirs.step(action)
        assert facts.keys() <= info.keys()
        if ours.worlds.batch.ncon[0] == theirs.data.ncon:
            compared += 1
            agree += abs(reward - wanted) < 1e-6 * max(1, abs(wanted)) and terminated == ended
        if ended:
            theirs.reset()
    assert compared >= 0.7 * STATES
    print(f"{name}: {agree} of {compared} states agree")
    assert agree >= 0.995 * compared
