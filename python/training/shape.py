"""Inputs and outputs of the policy's network, in terms of the environment's observation `mowgli` and action `rate`.

The network sees logarithms: rates by what was acknowledged lately, and times, so that both 10 ms and a second
count. It answers with a factor by which the rate is to be above or below what was acknowledged. All of it is

    seen = log(relu(observation @ LOOK) + FLOOR) @ RELATE
    rate = base(observation) + REACH * answer

so the ONNX file has it as two products and a logarithm (export.py), and training as a wrapper (below).
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy
from numpy.typing import NDArray

PLACES = 20
FEATURES = {"sent": 0, "acked": 1, "set": 2, "delay": 3, "round_trip": 5, "least": 6, "loss": 7, "since_report": 8}

# Seconds at which the logarithm of a time begins to count; and the share of losses.
TIME, LOSS = 0.02, 0.05
# Mbit/s below which rates are alike.
RATE = 0.02
# Of what was acknowledged, so many intervals are what the answer is relative to; with no fewer Mbit/s.
LATELY, LEAST_BASE = 8, 0.1
# The rates of the action: 50 kbit/s to 8 Mbit/s.
LOW, HIGH = 0.05, 8.0
# An answer of 1 is e times the base, in units of the action.
REACH = 2 / numpy.log(HIGH / LOW)

Array = NDArray[Any]


def _index(feature: str, place: int) -> int:
    return FEATURES[feature] * PLACES + place


def _matrices() -> tuple[Array, Array, Array]:
    columns: list[dict[int, float]] = []
    floors: list[float] = []
    for feature in ("sent", "acked", "set"):
        for place in range(PLACES):
            columns.append({_index(feature, place): 1.0})
            floors.append(RATE)
    relative = len(columns)
    for place in range(PLACES):
        # A one-way delay without queues is half of the least round trip.
        columns.append({_index("delay", place): 1 / TIME, _index("least", place): -0.5 / TIME})
        columns.append({_index("round_trip", place): 1 / TIME, _index("least", place): -1 / TIME})
        columns.append({_index("since_report", place): 1 / TIME})
        columns.append({_index("loss", place): 1 / LOSS})
        floors += [1.0] * 4
    columns.append({_index("least", 0): 1 / TIME})
    floors.append(1.0)
    columns.append({_index("acked", place): 1 / LATELY for place in range(LATELY)})
    floors.append(LEAST_BASE)
    look = numpy.zeros((9 * PLACES, len(columns)), numpy.float32)
    for column, entries in enumerate(columns):
        for row, weight in entries.items():
            look[row, column] = weight
    relate = numpy.eye(len(columns), dtype=numpy.float32)
    # Rates less the base, the last column.
    relate[-1, :relative] = -1
    return look, numpy.array(floors, numpy.float32), relate


LOOK, FLOOR, RELATE = _matrices()
SEEN = LOOK.shape[1]


def logarithms(observations: Array) -> Array:
    """Inputs before normalisation; the base is the last column."""
    return numpy.log(numpy.maximum(observations @ LOOK, 0) + FLOOR)


def place(base: Array, answers: Array) -> Array:
    """The action of answers."""
    return numpy.clip(REACH * (base - numpy.log(LOW) + answers) - 1, -1, 1)


class Shaped(gymnasium.vector.VectorWrapper):
    """Environments as the network sees them, and what it is paid for: the reward ``qoe`` with the price of a second of
    latency, which is the environments' own; of a latency above a second its logarithm counts, so that outages, which no
    rate shortens, are not most of what is learned."""

    def __init__(self, envs: Any, price: float) -> None:
        super().__init__(envs)
        self._price = price
        self._base = numpy.zeros(envs.num_envs)
        self.single_observation_space = gymnasium.spaces.Box(-100, 100, (SEEN,), numpy.float32)
        self.single_action_space = gymnasium.spaces.Box(-1, 1, (1,), numpy.float32)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, envs.num_envs)
        self.action_space = batch(self.single_action_space, envs.num_envs)

    def reset(self, **arguments: Any) -> Any:
        observations, infos = self.env.reset(**arguments)
        return self._seen(observations), infos

    def step(self, actions: Array) -> Any:
        rates = place(self._base[:, None], actions)
        observations, rewards, terminated, truncated, infos = self.env.step(rates)
        latency = infos["latency_s"]
        if "final_info" in infos:
            latency = numpy.where(truncated, infos["final_info"]["latency_s"], latency)
        # What is not known is 0.
        above = numpy.maximum(latency, 1)
        rewards = rewards + self._price * (above - 1 - numpy.log(above))
        if "final_obs" in infos:
            for index in numpy.flatnonzero(infos["_final_obs"]):
                infos["final_obs"][index] = (logarithms(infos["final_obs"][index]) @ RELATE).astype(numpy.float32)
        return self._seen(observations), rewards, terminated, truncated, infos

    def _seen(self, observations: Array) -> Array:
        logs = logarithms(observations)
        self._base = logs[:, -1].astype(float)
        return (logs @ RELATE).astype(numpy.float32)
