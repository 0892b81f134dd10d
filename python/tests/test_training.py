"""The policy of the repository, and the file that training writes (python/training)."""

import sys

import numpy
import onnx
import onnx.reference
import pytest

import thalweg
from thalweg.gym import CallEnv


@pytest.fixture(scope="module")
def training(root):
    sys.path.insert(0, str(root / "python/training"))
    import export
    import shape

    yield export.export, shape
    sys.path.pop(0)


def observed(seconds=20):
    """Messages of an environment while it is set at random."""
    env = CallEnv(thalweg.scenario("lte-driving", duration=seconds), observation="mowgli")
    random = numpy.random.default_rng(1)
    observation, _ = env.reset(seed=1)
    seen, ended = [observation], False
    while not ended:
        observation, _, _, ended, _ = env.step(random.uniform(-1, 1, 1))
        seen.append(observation)
    return numpy.array(seen)


def test_the_file_computes_what_training_does(training, tmp_path):
    export, shape = training
    random = numpy.random.default_rng(2)
    sizes = [shape.SEEN, 12, 7, 1]
    layers = [
        (random.normal(0, 0.3, (out, size)), random.normal(0, 0.3, out))
        for size, out in zip(sizes[:-1], sizes[1:], strict=True)
    ]
    mean, deviation = random.normal(0, 1, shape.SEEN), random.uniform(0.5, 2, shape.SEEN)
    export(layers, mean, deviation, 3.0, tmp_path / "policy.onnx", "for a test")
    network = onnx.reference.ReferenceEvaluator(onnx.load(tmp_path / "policy.onnx"))
    observations = observed()
    logs = shape.logarithms(observations)
    value = numpy.clip((logs @ shape.RELATE - mean) / deviation, -3, 3)
    for place, (matrix, bias) in enumerate(layers):
        value = value @ matrix.T + bias
        value = value if place == len(layers) - 1 else numpy.tanh(value)
    wanted = shape.place(logs[:, -1:], numpy.clip(value, -1, 1))
    computed = [network.run(None, {"observation": one[None]})[0][0] for one in observations]
    assert numpy.allclose(computed, wanted, atol=1e-4)
    assert len(numpy.unique(numpy.round(computed, 3))) > 100


def test_the_policy_of_the_repository_plays_the_answers_of_its_network(root):
    path = root / "python/training/policy.onnx"
    run = thalweg.run(thalweg.scenario("4Mbps/1Mbps@5s", duration=20), f"onnx:{path}")
    assert run.summary["machine_dependent"] is True
    _, leads = run.variables["policy_leads"]
    assert leads.all()
    # The same call as an environment, answered by another evaluator.
    network = onnx.reference.ReferenceEvaluator(onnx.load(path))
    env = CallEnv(thalweg.scenario("4Mbps/1Mbps@5s", duration=20), observation="mowgli")
    observation, _ = env.reset(seed=1)
    ended, shown = False, []
    while not ended:
        answer = network.run(None, {"observation": observation[None]})[0][0]
        observation, _, _, ended, info = env.step(answer)
        shown.append(info["shown_bps"])
    assert numpy.mean(shown) == pytest.approx(run.summary["video_bitrate_bps"], rel=0.05)


def test_the_policy_of_the_repository_shows_more_than_gcc_no_later(root):
    # Links of no set: neither was it trained on them nor are they in the table of docs/learning.md.
    policy = f"onnx:{root}/python/training/policy.onnx"
    unseen = [thalweg.scenario(link="lte-driving", seed=seed) for seed in range(201, 209)]
    runs = [thalweg.compare(scenario, ["gcc", policy]) for scenario in unseen]
    bits, late = (
        [[run.summary[key] for run in pair] for pair in runs] for key in ("video_bitrate_bps", "latency_p95_ms")
    )
    bits, late = (numpy.log([ours / theirs for theirs, ours in pairs]) for pairs in (bits, late))
    # Means of eight with Student's 95 % interval.
    half = 2.36 * numpy.array([bits.std(ddof=1), late.std(ddof=1)]) / numpy.sqrt(len(unseen))
    assert bits.mean() - half[0] > 0, (bits, half)
    assert late.mean() - half[1] < numpy.log(1.1), (late, half)
