"""Many calls, stepped together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .. import _native
from ..calls import Link, RewardLike, call_of
from ..playing import ScenarioLike
from .spaces import INFO, action_space, actions_of, observation_space

Observations = NDArray[numpy.float32]

# As thalweg_lab::environment::Autoreset has them.
MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}


class CallVectorEnv(VectorEnv[Observations, NDArray[numpy.float32], NDArray[Any]]):
    """``num_envs`` environments as :class:`thalweg.gym.CallEnv` has them, stepped in Rust by ``threads`` threads, while
    other threads of Python go on.

    Environment i of ``reset(seed=s)`` is the single environment of ``reset(seed=CallVectorEnv.seed_of(s, i))``,
    whatever the number of threads. A list of seeds gives each its own. Observations are written into one array;
    with ``copy=False`` that array itself is returned, and each step changes it.

    The three modes of ``autoreset_mode`` are gymnasium's: in ``NEXT_STEP`` a step begins an episode where the one
    before ended, and has no info there; in ``SAME_STEP`` the step that ends an episode begins the next (``final_obs``
    and ``final_info`` have what ended); in ``DISABLED`` ``reset(options={"reset_mask": ended})`` does.
    """

    def __init__(
        self,
        num_envs: int,
        scenario: ScenarioLike = "lte-driving",
        traces: Sequence[Link] = (),
        observation: str = "mmsys150",
        action: str = "rate",
        reward: RewardLike = "qoe",
        interval: str | float = "60ms",
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs}: must be 1 or more")
        if threads < 1:
            raise ValueError(f"threads is {threads}: must be 1 or more")
        call = call_of(scenario, drawn=traces, observation=observation, action=action, reward=reward, interval=interval)
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode(autoreset_mode)}
        self.single_observation_space = observation_space(call)
        self.single_action_space = action_space(call)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._environments = _native.Environments(call, num_envs, threads, MODES[self.metadata["autoreset_mode"]])
        self._copy = copy
        self._is_seeded = False
        self._observations = numpy.zeros((num_envs, call.observation_len), numpy.float32)
        self._rewards = numpy.zeros(num_envs)
        self._truncated = numpy.zeros(num_envs, bool)
        self._infos = numpy.zeros((num_envs, len(INFO)))

    @staticmethod
    def seed_of(seed: int, index: int) -> int:
        """The seed of environment ``index`` when all are reset with ``seed``."""
        return _native.Environments.seed_of(seed, index)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in each, or in those that ``options["reset_mask"]`` selects."""
        if seed is None or isinstance(seed, (int, numpy.integer)):
            super().reset(seed=None if seed is None else int(seed))
            if seed is None and not self._is_seeded:
                seed = int(self.np_random.integers(2**63))
            seeds = [None if seed is None else self.seed_of(int(seed), index) for index in range(self.num_envs)]
        else:
            seeds = [None if one is None else int(one) for one in seed]
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed has {len(seeds)} seeds: must have one for each of {self.num_envs} environments")
        which = self._which(options)
        self._is_seeded = True
        episodes = self._environments.reset(seeds, which.tolist(), self._observations.reshape(-1))
        infos: dict[str, Any] = {}
        for place, (name, kind) in enumerate([("link", object), ("offset_s", float), ("seed", numpy.uint64)]):
            values = numpy.zeros(self.num_envs, kind)
            for index in numpy.flatnonzero(which):
                if episode := episodes[index]:
                    values[index] = episode[place]
            infos[name], infos[f"_{name}"] = values, which.copy()
        return self._returned(), infos

    def step(
        self, actions: NDArray[numpy.float32]
    ) -> tuple[Observations, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Acts in each, and plays an interval."""
        given = actions_of(actions, self.action_space)
        self._environments.step(
            given, self._observations.reshape(-1), self._rewards, self._truncated, self._infos.reshape(-1)
        )
        ended = self._truncated.copy()
        known = ~numpy.isnan(self._infos)
        if self.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP and ended.any():
            # What is left is said of an interval that another episode had.
            infos = self._said(known & ~ended[:, None])
            infos |= {"final_obs": self._finals(ended), "_final_obs": ended.copy()}
            infos |= {"final_info": self._said(known & ended[:, None]), "_final_info": ended.copy()}
        else:
            infos = self._said(known)
        return self._returned(), self._rewards.copy(), numpy.zeros_like(ended), ended, infos

    def _which(self, options: dict[str, Any] | None) -> NDArray[Any]:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return numpy.ones(self.num_envs, bool)
        which = numpy.asarray(mask)
        if which.shape != (self.num_envs,) or which.dtype != bool:
            raise ValueError(
                f"options['reset_mask'] has the shape {which.shape} of {which.dtype}: "
                f"must be ({self.num_envs},) of bool"
            )
        return which

    def _returned(self) -> Observations:
        return self._observations.copy() if self._copy else self._observations

    def _said(self, known: NDArray[Any]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        values = numpy.where(known, self._infos, 0.0)
        for place, name in enumerate(INFO):
            infos[name], infos[f"_{name}"] = values[:, place], known[:, place]
        return infos

    def _finals(self, ended: NDArray[Any]) -> NDArray[Any]:
        finals = numpy.full(self.num_envs, None, dtype=object)
        for index in numpy.flatnonzero(ended):
            finals[index] = numpy.empty(self._observations.shape[1], numpy.float32)
            self._environments.final_observation(int(index), finals[index])
        return finals
