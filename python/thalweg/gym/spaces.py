"""The spaces of observations and actions, and the names of what `info` has."""

from __future__ import annotations

from typing import Any

import numpy
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from .. import _native

INFO = tuple(_native.INFO)
"""Statistics of a step's interval: its end, the rate that was set, the bottleneck's capacity, what the sender
learned (received rate, newest round trip, loss), and what the viewer saw (rate, latency, share of time frozen)."""

# Beyond every feature: bits a second on the fastest link that a call sees. Observations are not normalised.
LIMIT = 1e10


def observation_space(call: _native.Call) -> spaces.Space[Any]:
    """Space of the observation."""
    return spaces.Box(-LIMIT, LIMIT, (call.observation_len,), numpy.float32)


def action_space(call: _native.Call) -> spaces.Space[Any]:
    """Space of the action."""
    low, high = call.action_range
    return spaces.Box(low, high, (call.action_len,), numpy.float32)


def actions_of(given: ArrayLike, space: spaces.Space[Any]) -> NDArray[numpy.float32]:
    """Actions as one row of float32.

    Raises ValueError when there are not as many as the space has.
    """
    actions = numpy.ascontiguousarray(given, dtype=numpy.float32)
    # A lone number is an action of one.
    if actions.shape != space.shape and not (actions.ndim == 1 and actions.size == 1 and space.shape == (1,)):
        each = "" if space.shape is None or len(space.shape) == 1 else ", a row for each environment"
        raise ValueError(f"the action has the shape {numpy.shape(given)}, must be {space.shape}{each}")
    return actions.reshape(-1)
