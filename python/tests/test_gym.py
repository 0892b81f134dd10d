import threading
import time
import warnings

import gymnasium
import numpy
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import thalweg
import thalweg.gym
from thalweg.gym import CallVectorEnv
from thalweg.gym.spaces import INFO

SHORT = thalweg.scenario("lte-driving", duration="3s")
LINKS = ["2Mbps", thalweg.Trace.from_mbps([3, 0.5, 2], step_s=1), "lte-walking"]


def make(**arguments):
    return gymnasium.make("thalweg/Call-v0", **{"scenario": SHORT, "traces": LINKS} | arguments)


def many(count, **arguments):
    return CallVectorEnv(count, **{"scenario": SHORT, "traces": LINKS} | arguments)


def played(envs, steps, seed=5):
    """Everything that `steps` steps with the same actions return."""
    random = numpy.random.default_rng(0)
    observations, infos = envs.reset(seed=seed)
    said = [observations, infos["seed"], infos["offset_s"]]
    for _ in range(steps):
        actions = random.uniform(-1, 1, envs.action_space.shape).astype(numpy.float32)
        observations, rewards, _, truncated, infos = envs.step(actions)
        said += [observations, rewards, truncated, *(infos[name] for name in INFO)]
    return said


@pytest.mark.parametrize("observation", ["mmsys150", "mowgli", "raw"])
@pytest.mark.parametrize("action", ["rate", "delta", "rate+window"])
def test_gymnasiums_checker_has_nothing_to_say(observation, action):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(observation=observation, action=action).unwrapped)


def test_an_episode_is_the_scenario_long_and_truncated_at_its_end():
    env = make()
    _, info = env.reset(seed=1)
    assert info["link"] in ["2Mbps", "trace 1", "lte-walking"] and info["offset_s"] >= 0
    steps, truncated, times = 0, False, []
    while not truncated:
        _, reward, terminated, truncated, info = env.step([0.0])
        assert not terminated and numpy.isfinite(reward) and set(info) <= set(INFO)
        times.append(info["time_s"])
        steps += 1
    assert steps == 50 and times[-1] == pytest.approx(3.0)
    with pytest.raises(ValueError, match="reset the environment first"):
        env.unwrapped.step([0.0])


def test_a_seed_determines_an_episode_and_those_after_it():
    first, second = ([make_episode(env, seed) for seed in (9, None, None)] for env in (make(), make()))
    assert first == second
    assert first[0] != first[1] != first[2]
    assert make_episode(make(), None) != make_episode(make(), None)


def make_episode(env, seed):
    _, info = env.reset(seed=seed)
    return [info["link"], info["offset_s"], info["seed"]]


def test_environment_i_of_a_seed_is_the_single_environment_of_its_seed():
    envs, steps = many(5), 60
    random = numpy.random.default_rng(3)
    actions = random.uniform(-1, 1, (steps, 5, 1)).astype(numpy.float32)
    observations, _ = envs.reset(seed=7)
    singles = [make() for _ in range(5)]
    for index, single in enumerate(singles):
        alone, _ = single.reset(seed=CallVectorEnv.seed_of(7, index))
        assert numpy.array_equal(alone, observations[index])
    ended = numpy.zeros(5, bool)
    for step in range(steps):
        observations, rewards, _, truncated, _ = envs.step(actions[step])
        for index, single in enumerate(singles):
            if ended[index]:
                (alone, _), reward = single.reset(), 0
            else:
                alone, reward, _, _, _ = single.step(actions[step, index])
            assert numpy.array_equal(alone, observations[index]) and reward == rewards[index]
        ended = truncated


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_number_of_threads_changes_nothing(mode):
    steps = 60 if mode != AutoresetMode.DISABLED else 50
    one, *others = [played(many(7, threads=threads, autoreset_mode=mode), steps) for threads in (1, 2, 3, 64)]
    for other in others:
        assert all(numpy.array_equal(ours, theirs) for ours, theirs in zip(one, other, strict=True))


def test_gymnasiums_own_vector_of_single_environments_returns_the_same():
    ours = many(3, autoreset_mode=AutoresetMode.SAME_STEP)
    theirs = gymnasium.vector.SyncVectorEnv([make] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    seeds = [3, 1, 4]
    observations, infos = ours.reset(seed=seeds)
    same, like = theirs.reset(seed=seeds)
    assert numpy.array_equal(observations, same) and numpy.array_equal(infos["seed"], like["seed"])
    for _ in range(55):
        actions = ours.action_space.sample()
        left, right = ours.step(actions), theirs.step(actions)
        for one, other in zip(left[:4], right[:4], strict=True):
            assert numpy.array_equal(one, other)
        assert ("final_obs" in left[4]) == ("final_obs" in right[4]) == bool(left[3].any())
        if left[3].any():
            for index in range(3):
                assert numpy.array_equal(left[4]["final_obs"][index], right[4]["final_obs"][index])
            for name in INFO:
                assert numpy.array_equal(left[4]["final_info"][name], right[4]["final_info"][name])


def test_disabled_environments_are_reset_by_a_mask():
    envs = many(2, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=1)
    for _ in range(50):
        observations, _, _, truncated, _ = envs.step(numpy.zeros((2, 1)))
    assert truncated.all()
    with pytest.raises(ValueError, match="environment 0.*reset the environment first"):
        envs.step(numpy.zeros((2, 1)))
    again, infos = envs.reset(options={"reset_mask": numpy.array([False, True])})
    assert numpy.array_equal(again[0], observations[0]) and not again[1].any()
    assert list(infos["_seed"]) == [False, True]


def test_observations_are_one_array_unless_a_copy_is_wanted():
    for copy in (True, False):
        envs = many(2, copy=copy)
        first, _ = envs.reset(seed=1)
        kept = first.copy()
        for _ in range(10):
            second, *_ = envs.step(numpy.ones((2, 1)))
        assert (first is second) == (not copy)
        assert numpy.array_equal(first, kept) == copy
        assert second.dtype == numpy.float32


def test_other_threads_of_python_go_on():
    envs = many(64, scenario=thalweg.scenario(duration="60s"))
    envs.reset(seed=1)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0)

    thread = threading.Thread(target=tick)
    thread.start()
    for _ in range(100):
        envs.step(numpy.zeros((64, 1)))
    stop.set()
    thread.join()
    # Were the lock held, this thread would have had a turn between two steps only, of which there are a hundred.
    assert len(ticks) > 300


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"observation": "mmsys"}, "unknown observation 'mmsys': expected one of mmsys150, mowgli, raw"),
        ({"action": "fly"}, "unknown action 'fly': expected one of rate, bps, delta"),
        ({"reward": "money"}, "unknown reward 'money': expected one of qoe"),
        ({"reward": {"joy": 1}}, "unknown weight of qoe 'joy': expected one of rate, freeze, latency"),
        ({"reward": "psnr"}, "psnr, and the codec is a model"),
        ({"interval": "0s"}, "interval is 0"),
        ({"interval": "often"}, "interval: "),
        ({"traces": ["nowhere"]}, "nowhere"),
        ({"traces": ["2Mbps", "2Mbps"]}, "a name twice"),
        ({"scenario": {"durration": 3}}, "durration"),
    ],
)
def test_what_cannot_be_made_is_refused_by_a_sentence(arguments, words):
    for environment in (make, lambda **arguments: many(2, **arguments)):
        with pytest.raises(ValueError) as raised:
            environment(**arguments)
        assert words in str(raised.value)


def test_numbers_out_of_range_are_named():
    with pytest.raises(ValueError, match="num_envs is 0: must be 1 or more"):
        many(0)
    with pytest.raises(ValueError, match="threads is 0: must be 1 or more"):
        many(1, threads=0)
    with pytest.raises(TypeError, match="must be a list of links"):
        many(1, traces="2Mbps")
    with pytest.raises(ValueError, match="seed has 1 seeds: must have one for each of 2"):
        many(2).reset(seed=[1])


def test_an_action_that_is_none_is_refused_by_its_value():
    env, envs = make().unwrapped, many(2)
    env.reset(seed=1), envs.reset(seed=1)
    with pytest.raises(ValueError, match=r"the action has the shape \(2,\), must be \(1,\)"):
        env.step([0.1, 0.2])
    with pytest.raises(ValueError, match=r"the action has the shape \(2,\), must be \(2, 1\), a row for each"):
        envs.step([0.1, 0.2])
    with pytest.raises(thalweg.ScenarioError, match=r"action is \[NaN\], must be 1 finite number for 'rate'"):
        env.step([numpy.nan])
    with pytest.raises(thalweg.ScenarioError, match=r"environment 1: action is \[NaN\]"):
        envs.step([[0.1], [numpy.nan]])


def test_gymnasium_finds_the_environment_by_its_module():
    assert gymnasium.make("thalweg.gym:thalweg/Call-v0", scenario=SHORT).spec.id == "thalweg/Call-v0"


def test_make_vec_makes_the_environments_in_rust():
    envs = gymnasium.make_vec("thalweg/Call-v0", 3, vectorization_mode="vector_entry_point", scenario=SHORT)
    assert isinstance(envs.unwrapped, CallVectorEnv) and envs.num_envs == 3
