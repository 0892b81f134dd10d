"""Environments for reinforcement learning: a call whose rate is set from outside, in steps of virtual time.

Importing this registers ``thalweg/Call-v0`` with gymnasium (``pip install thalweg[gym]``):

>>> import gymnasium, thalweg.gym
>>> env = gymnasium.make("thalweg/Call-v0", scenario="lte-driving", reward="qoe")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

:class:`CallVectorEnv` steps many at once, in Rust. What policies see, do and are paid for: docs/learning.md.
"""

import gymnasium

from .call import CallEnv
from .vector import CallVectorEnv

ID = "thalweg/Call-v0"

gymnasium.register(ID, entry_point="thalweg.gym:CallEnv", vector_entry_point="thalweg.gym:CallVectorEnv")

__all__ = ["CallEnv", "CallVectorEnv", "ID"]
