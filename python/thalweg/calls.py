"""Configuration of environments, and of data for learning offline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from numpy.typing import ArrayLike

from . import _native
from .errors import ScenarioError
from .playing import ScenarioLike, Traces, prepared
from .traces import Trace, native_of

RewardLike: TypeAlias = str | Mapping[str, float]
"""A reward by name, or the weights of ``qoe``."""
Link: TypeAlias = Trace | ArrayLike | str | os.PathLike[str]
"""A link as a trace, as rates in Mbit/s by the second, or by its name."""

# Of the reward `qoe`, with their defaults (thalweg_learned::QoeWeights).
WEIGHTS = {"rate": 1.0, "freeze": 1.0, "latency": 1.0}


def call_of(
    scenario: ScenarioLike,
    traces: Traces | None = None,
    drawn: Sequence[Link] = (),
    *,
    observation: str = "mmsys150",
    action: str = "rate",
    reward: RewardLike = "qoe",
    interval: str | float = "60ms",
    seed: int | None = None,
) -> _native.Call:
    """``traces`` are links by the names that the scenario gives them, ``drawn`` those that episodes draw from."""
    whole, links = prepared(scenario, traces)
    if seed is not None:
        whole = {**whole, "seed": seed}
    if isinstance(drawn, (str, os.PathLike, Mapping, Trace)):
        raise TypeError(f"traces is {drawn!r}: must be a list of links, of which each episode draws one")
    named = [_named(link, place) for place, link in enumerate(drawn)]
    if len({name for name, _ in named}) < len(named):
        raise ScenarioError("traces has a name twice: each link once, or as Trace.synthesize(name, seed=...)", "traces")
    name, weights = _reward(reward)
    every = interval if isinstance(interval, str) else f"{float(interval):.9f}s"
    return _native.Call(whole, links, named, observation, action, name, weights, every)


def _named(link: Link, place: int) -> tuple[str, _native.Trace | None]:
    if isinstance(link, (str, os.PathLike)):
        return os.fspath(link), None
    return f"trace {place}", native_of(link)


def _reward(reward: RewardLike) -> tuple[str, tuple[float, float, float] | None]:
    if isinstance(reward, str):
        return reward, None
    if unknown := [name for name in reward if name not in WEIGHTS]:
        raise ScenarioError(
            f"reward: unknown weight of qoe '{unknown[0]}': expected one of {', '.join(WEIGHTS)}", "reward"
        )
    rate, freeze, latency = (float(weight) for weight in (WEIGHTS | dict(reward)).values())
    return "qoe", (rate, freeze, latency)
