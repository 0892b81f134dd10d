"""Steps a second and core of the environments: `python environments.py [--steps N] [--least RATE]`.

64 at once in Rust (`CallVectorEnv`), the same 64 in a loop of Python (gymnasium's `SyncVectorEnv` of `CallEnv`), and
one alone. Observation `mmsys150`, action at random, encoder model, over an LTE link. Of CPU seconds, so that others on
the machine change little. `cargo run --release -p thalweg-bench -- environments` has the same in Rust alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

import gymnasium
import numpy

import thalweg
from thalweg.gym import CallEnv, CallVectorEnv

COUNT = 64
CALL: dict[str, Any] = {"scenario": thalweg.scenario(duration="60s"), "traces": ["lte-driving"]}


def vector(steps: int, envs: gymnasium.vector.VectorEnv[Any, Any, Any]) -> float:
    """Steps a CPU second of many."""
    random = numpy.random.default_rng(1)
    actions = random.uniform(-1, 1, (steps // COUNT, COUNT, 1)).astype(numpy.float32)
    envs.reset(seed=1)
    began = time.process_time()
    for each in actions:
        envs.step(each)
    return len(actions) * COUNT / (time.process_time() - began)


def alone(steps: int) -> float:
    """Steps a CPU second of one."""
    env = CallEnv(**CALL)
    actions = numpy.random.default_rng(1).uniform(-1, 1, (steps, 1)).astype(numpy.float32)
    env.reset(seed=1)
    began = time.process_time()
    for action in actions:
        if env.step(action)[3]:
            env.reset()
    return steps / (time.process_time() - began)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--steps", type=int, default=64_000)
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--least", type=float, help="fail below so many steps a second of the first")
    chosen = words.parse_args()
    subjects = {
        f"CallVectorEnv({COUNT})": lambda: vector(chosen.steps, CallVectorEnv(COUNT, **CALL)),
        f"SyncVectorEnv of {COUNT} CallEnv": lambda: vector(
            chosen.steps // 4, gymnasium.vector.SyncVectorEnv([lambda: CallEnv(**CALL)] * COUNT)
        ),
        "CallEnv": lambda: alone(chosen.steps // 4),
    }
    rounds = [{name: measure() for name, measure in subjects.items()} for _ in range(chosen.rounds)]
    rates = {name: statistics.median(each[name] for each in rounds) for name in subjects}
    first = next(iter(rates.values()))
    for name, rate in rates.items():
        print(f"{name:28} {rate:8.0f} steps a CPU second, {1e6 / rate:6.1f} us a step, {rate / first:.2f} of the first")
    if chosen.least and first < chosen.least:
        sys.exit(f"{first:.0f} steps a second and core, must be {chosen.least:.0f} or more")


if __name__ == "__main__":
    main()
