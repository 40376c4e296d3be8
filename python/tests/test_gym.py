"""Environments of tribo.gym: spaces, seeds, episodes, and the law of each world's independence."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import tribo.gym
from tribo.gym import SUITE, Task, TriboEnv, TriboVectorEnv

TASKS = sorted(SUITE)


@pytest.mark.filterwarnings("ignore:.*Box.*")
@pytest.mark.parametrize("name", TASKS)
def test_an_environment_passes_gymnasiums_own_check(name):
    env = gymnasium.make(f"Tribo/{name}-v0")
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", TASKS)
def test_worlds_of_a_vector_are_environments_alone(name):
    worlds = TriboVectorEnv(name, 5, threads=2, autoreset_mode=AutoresetMode.DISABLED)
    alone = [TriboEnv(name) for _ in range(5)]
    together, _ = worlds.reset(seed=7)
    single = np.array([env.reset(seed=7 + i)[0] for i, env in enumerate(alone)])
    np.testing.assert_array_equal(together, single)
    rng = np.random.default_rng(0)
    space = worlds.single_action_space
    for _ in range(3):
        actions = rng.uniform(0.1 * space.low, 0.1 * space.high, (5, *space.shape))
        observed, rewards, _, _, _ = worlds.step(actions)
        for i, env in enumerate(alone):
            observation, reward, _, _, _ = env.step(actions[i])
            np.testing.assert_array_equal(observed[i], observation)
            assert rewards[i] == reward


def test_episodes_do_not_depend_on_the_number_of_threads():
    returns = []
    for threads in (1, 2, 3):
        worlds = TriboVectorEnv("Hopper", 16, max_episode_steps=20, threads=threads)
        worlds.reset(seed=0)
        rng = np.random.default_rng(1)
        seen = [worlds.step(rng.uniform(-1, 1, (16, 3)))[0] for _ in range(60)]
        returns.append(np.array(seen))
    np.testing.assert_array_equal(returns[0], returns[1])
    np.testing.assert_array_equal(returns[0], returns[2])


def run(mode, steps=12):
    """Steps of two worlds whose episodes last five steps."""
    worlds = TriboVectorEnv("InvertedPendulum", 2, max_episode_steps=5, autoreset_mode=mode)
    worlds.reset(seed=0)
    return [worlds.step(np.zeros((2, 1))) for _ in range(steps)]


def test_next_step_mode_resets_one_step_after_the_end():
    seen = run(AutoresetMode.NEXT_STEP)
    ends = [bool(truncated[0]) for _, _, _, truncated, _ in seen]
    assert [i for i, end in enumerate(ends) if end] == [4, 10]
    observation, rewards, terminated, _, info = seen[5]
    assert rewards[0] == 0 and not terminated[0]
    assert np.abs(observation[0]).max() <= 0.01
    assert not info["_reward_survive"][0]


def test_same_step_mode_returns_the_last_observation_of_the_episode():
    seen = run(AutoresetMode.SAME_STEP)
    ends = [i for i, (_, _, _, truncated, _) in enumerate(seen) if truncated[0]]
    assert ends == [4, 9]
    observation, rewards, _, _, info = seen[4]
    assert rewards[0] == 1 and info["_final_obs"].all()
    assert np.abs(info["final_obs"][0] - observation[0]).max() > 0
    assert info["final_info"]["reward_survive"][0] == 1


def test_disabled_mode_asks_for_a_reset_and_resets_the_worlds_of_the_mask():
    worlds = TriboVectorEnv("InvertedPendulum", 2, max_episode_steps=5,
                            autoreset_mode=AutoresetMode.DISABLED)
    worlds.reset(seed=0)
    for _ in range(3):
        worlds.step(np.zeros((2, 1)))
    worlds.reset(options={"reset_mask": np.array([False, True])})
    for _ in range(2):
        _, _, _, truncated, _ = worlds.step(np.zeros((2, 1)))
    assert truncated.tolist() == [True, False]
    with pytest.raises(RuntimeError, match=r"worlds \[0\]"):
        worlds.step(np.zeros((2, 1)))


def test_the_certificate_tells_laws_apart():
    worst = {}
    for law in ("ncp", "soft"):
        worlds = TriboVectorEnv("Ant", 4, law=law)
        worlds.reset(seed=0)
        rng = np.random.default_rng(0)
        seen = [worlds.step(rng.uniform(-1, 1, (4, 8)))[4]["residual_exact"] for _ in range(40)]
        worst[law] = np.nanmax(seen)
    assert worst["ncp"] < 1e-5 < 1e-2 < worst["soft"]


def test_make_and_make_vec_know_the_suite():
    env = gymnasium.make("Tribo/Hopper-v0", law="soft", ctrl_cost_weight=0.5)
    assert env.unwrapped.model.opt.law == tribo.Law.SOFT
    assert env.unwrapped.worlds.task.ctrl_cost_weight == 0.5
    envs = gymnasium.make_vec("Tribo/Hopper-v0", num_envs=3, law="ccp")
    assert isinstance(envs, TriboVectorEnv) and envs.max_episode_steps == 1000


def test_a_world_whose_simulation_fails_ends_its_episode():
    worlds = TriboVectorEnv("Hopper", 3)
    worlds.reset(seed=0)
    actions = np.zeros((3, 3))
    actions[1] = np.nan
    observation, _, terminated, _, _ = worlds.step(actions)
    assert terminated.tolist() == [False, True, False]
    assert np.isfinite(observation).all()
    observation, _, terminated, _, _ = worlds.step(np.zeros((3, 3)))
    assert not terminated.any() and np.isfinite(observation).all()


@pytest.mark.parametrize("wrong, message", [
    (dict(task="Antt"), "did you mean 'Ant'"),
    (dict(task="Ant", law="nc"), "law"),
    (dict(task="Ant", num_envs=0), "num_envs is 0"),
    (dict(task="Ant", render_mode="humans"), "render_mode"),
    (dict(task="Ant", frame_skips=2), "frame_skips"),
])
def test_wrong_arguments_are_named(wrong, message):
    with pytest.raises(Exception, match=message):
        TriboVectorEnv(**wrong)


def test_wrong_actions_and_masks_are_named():
    worlds = TriboVectorEnv("Hopper", 2)
    with pytest.raises(RuntimeError, match="call reset first"):
        worlds.step(np.zeros((2, 3)))
    worlds.reset()
    with pytest.raises(ValueError, match=r"\(2, 4\), expected \(2, 3\)"):
        worlds.step(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="reset_mask"):
        worlds.reset(options={"reset_mask": np.zeros(2, bool)})
    with pytest.raises(ValueError, match="3 seeds for 2 worlds"):
        worlds.reset(seed=[1, 2, 3])


def test_a_task_of_ones_own(tmp_path):
    from dataclasses import dataclass

    model = tmp_path / "slider.xml"
    model.write_text("""<mujoco><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
      <geom size=".1"/></body></worldbody>
      <actuator><motor joint="x" ctrlrange="-1 1" gear="5"/></actuator></mujoco>""")

    @dataclass(frozen=True, kw_only=True)
    class Slide(Task):
        xml_file: str = str(model)
        frame_skip: int = 10

        def observe(self, worlds):
            return np.concatenate([worlds.qpos, worlds.qvel], axis=1)

        def reward(self, worlds, before, action):
            return -np.abs(worlds.qpos[:, 0]), {}

    worlds = TriboVectorEnv(Slide(), 4)
    observation, _ = worlds.reset(seed=0)
    assert observation.shape == (4, 2)
    _, rewards, _, _, _ = worlds.step(np.ones((4, 1)))
    np.testing.assert_array_equal(rewards, -np.abs(worlds.worlds.qpos[:, 0]))
