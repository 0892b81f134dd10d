"""For stable-baselines3, whose vector environments are not gymnasium's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from .vector import CallVectorEnv


class CallVecEnv(VecEnv):
    """A :class:`thalweg.gym.CallVectorEnv` of the mode ``SAME_STEP``, or a wrapper around one, for stable-baselines3.

    Ends of episodes are ``TimeLimit.truncated`` with the ``terminal_observation``: an agent learns beyond them.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        if envs.metadata["autoreset_mode"] != AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {envs.metadata['autoreset_mode']}: must be AutoresetMode.SAME_STEP")
        self.envs = envs
        self._actions: NDArray[Any] = numpy.zeros(0, numpy.float32)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> NDArray[numpy.float32]:
        """Begins an episode in each, with the seeds of ``seed()`` if it was called."""
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        # Of several seeds gymnasium's type knows nothing; its own environments take them.
        observations, infos = self.envs.reset(seed=seeds)  # type: ignore[arg-type]
        names = [name for name in infos if not name.startswith("_")]
        self.reset_infos = [{name: infos[name][index] for name in names} for index in range(self.num_envs)]
        self._reset_seeds()
        first: NDArray[numpy.float32] = observations
        return first

    def step_async(self, actions: NDArray[Any]) -> None:
        """Notes the actions."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Acts in each."""
        observations, rewards, _, ended, said = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index in numpy.flatnonzero(ended):
            infos[index] = {"TimeLimit.truncated": True, "terminal_observation": said["final_obs"][index]}
        return observations, rewards.astype(numpy.float32), ended, infos

    def close(self) -> None:
        """Nothing is open."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute that all share."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Is refused: environments are stepped in Rust."""
        raise NotImplementedError(f"{attr_name}: environments in Rust have no attributes to set")

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Is refused: environments are stepped in Rust."""
        raise NotImplementedError(f"{method_name}: environments in Rust have no methods to call")

    def env_is_wrapped(self, wrapper_class: Any, indices: VecEnvIndices = None) -> list[bool]:
        """No environment has a wrapper."""
        return [False for _ in self._get_indices(indices)]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Sets the seeds of the next reset: those of ``reset(seed=...)``."""
        if seed is None:
            seed = int(self.envs.np_random.integers(2**63))
        self._seeds = [CallVectorEnv.seed_of(seed, index) for index in range(self.num_envs)]
        return self._seeds
