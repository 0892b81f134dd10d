import gymnasium
import numpy
import pytest
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import thalweg
import thalweg.gym
from thalweg.gym import CallVectorEnv
from thalweg.gym.stable_baselines3 import CallVecEnv

SHORT = thalweg.scenario("2Mbps/500kbps@2s", duration="3s")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def agent(env):
    return PPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=2, seed=1, device="cpu")


def learned(env, steps):
    """An agent after so many steps, whose network they have changed."""
    made = agent(env)
    before = [weights.detach().clone() for weights in made.policy.parameters()]
    made.learn(steps)
    assert any(not torch.equal(one, other) for one, other in zip(before, made.policy.parameters(), strict=True))
    assert all(torch.isfinite(weights).all() for weights in made.policy.parameters())
    return made


def test_its_checker_has_nothing_to_say():
    check_env(gymnasium.make("thalweg/Call-v0", scenario=SHORT).unwrapped)


def test_ppo_learns_in_one_environment():
    env = gymnasium.make("thalweg/Call-v0", scenario=SHORT, observation="mowgli")
    made = learned(env, 320)
    action, _ = made.predict(env.reset(seed=1)[0], deterministic=True)
    assert numpy.isfinite(env.step(action)[1])


def test_ppo_learns_in_many():
    envs = CallVectorEnv(8, SHORT, observation="mowgli", autoreset_mode=AutoresetMode.SAME_STEP)
    learning = VecNormalize(VecMonitor(CallVecEnv(envs)))
    learning.seed(1)
    made = learned(learning, 1024)
    # Episodes have ended meanwhile, each of 50 steps.
    assert len(made.ep_info_buffer) == 16 and {episode["l"] for episode in made.ep_info_buffer} == {50}


def test_an_end_has_its_observation_and_is_a_truncation():
    envs = CallVecEnv(CallVectorEnv(2, SHORT, autoreset_mode=AutoresetMode.SAME_STEP))
    envs.seed(3)
    assert not envs.reset().any()
    assert [info["seed"] for info in envs.reset_infos] == list(seeds_of(3))
    for _ in range(49):
        assert not envs.step(numpy.zeros((2, 1)))[2].any()
    observations, _, ended, infos = envs.step(numpy.zeros((2, 1)))
    assert ended.all() and not observations.any()
    assert all(info["TimeLimit.truncated"] and info["terminal_observation"].any() for info in infos)


def seeds_of(seed):
    _, infos = CallVectorEnv(2, SHORT).reset(seed=seed)
    return infos["seed"]


def test_another_mode_is_refused():
    with pytest.raises(ValueError, match="must be AutoresetMode.SAME_STEP"):
        CallVecEnv(CallVectorEnv(2, SHORT))
