"""One call at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy
from numpy.typing import NDArray

from .. import _native
from ..calls import Link, RewardLike, call_of
from ..playing import ScenarioLike
from .spaces import action_space, actions_of, observation_space


class CallEnv(gymnasium.Env[NDArray[numpy.float32], NDArray[numpy.float32]]):
    """A call whose rate an agent sets every ``interval``. It is never terminated, because a dead link is a state like
    others, and truncated at the scenario's end.

    ``reset(seed=...)`` draws one of ``traces``, the time in it at which the episode begins, and the scenario's seed;
    without ``traces`` the path is the scenario's own. ``observation`` is ``mmsys150``, ``mowgli`` or ``raw``,
    ``action`` ``rate``, ``bps``, ``delta`` or ``rate+window``, ``reward`` ``qoe``, ``r3net``, ``mowgli``, ``psnr``, or
    the weights of ``qoe``: ``{"rate": 1, "freeze": 1, "latency": 4}``. Each is explained in docs/learning.md.

    ``info`` of a step has what the interval was like: ``thalweg.gym.spaces.INFO``, without what there is nothing to say
    about. That of a reset has ``link``, ``offset_s`` and ``seed``.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (gymnasium's)

    def __init__(
        self,
        scenario: ScenarioLike = "lte-driving",
        traces: Sequence[Link] = (),
        observation: str = "mmsys150",
        action: str = "rate",
        reward: RewardLike = "qoe",
        interval: str | float = "60ms",
    ) -> None:
        call = call_of(scenario, drawn=traces, observation=observation, action=action, reward=reward, interval=interval)
        self.observation_space = observation_space(call)
        self.action_space = action_space(call)
        self._environment = _native.Environment(call)
        self._is_seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[numpy.float32], dict[str, Any]]:
        """Begins an episode. A seed determines it and those after it; without one they go on, or begin anywhere."""
        super().reset(seed=seed)
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**63))
        self._is_seeded = True
        observation = numpy.empty(self.observation_space.shape or 0, numpy.float32)
        link, offset_s, of = self._environment.reset(seed, observation)
        return observation, {"link": link, "offset_s": offset_s, "seed": numpy.uint64(of)}

    def step(self, action: NDArray[numpy.float32]) -> tuple[NDArray[numpy.float32], float, bool, bool, dict[str, Any]]:
        """Acts, and plays an interval."""
        observation = numpy.empty(self.observation_space.shape or 0, numpy.float32)
        given = actions_of(action, self.action_space)
        reward, truncated, numbers = self._environment.step(given, observation)
        # What is no number is not known.
        info = {name: number for name, number in zip(_native.INFO, numbers, strict=True) if number == number}
        return observation, reward, False, truncated, info
