"""Trains the policy of docs/learning.md on one core: `python train.py OUT` writes OUT/policy.onnx and OUT/curve.csv.

Links are the tuning set of docs/tuning/thalweg.toml and synthetic ones; those of its test set are never played. The
recordings are those of `thalweg data fetch`, or THALWEG_DATA. Needs Python 3.11, thalweg[gym],
stable-baselines3 and onnx.
"""

from __future__ import annotations

import argparse
import csv
import os
import pathlib
import time
from typing import Any

import tomllib

# Products of small matrices: more threads only wait for each other.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy
import torch
from export import export
from gymnasium.vector import AutoresetMode
from shape import Shaped
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

import thalweg
from thalweg.gym import CallVectorEnv
from thalweg.gym.stable_baselines3 import CallVecEnv

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = {"rate": 1.0, "freeze": 1.0, "latency": 2.5}


def links() -> list[str | thalweg.Trace]:
    """The links that it learns on: the tuning set, and synthetic ones of the laboratory."""
    tuning = tomllib.loads((ROOT / "docs/tuning/thalweg.toml").read_text())
    learned: list[str | thalweg.Trace] = list(tuning["tuning"]["links"])
    presets = ["lte-driving", "lte-walking", "umts-driving", "5g-mmwave", "wifi-congested"]
    learned += [thalweg.Trace.synthesize(name, seed=seed, seconds=300) for name in presets for seed in (11, 12, 13)]
    rates = ["300kbps", "700kbps", "1500kbps", "3Mbps", "6Mbps"]
    steps = ["2Mbps/500kbps@10s", "4Mbps/1Mbps@7s", "1Mbps/200kbps@8s"]
    learned += rates + steps
    assert not set(tuning["test"]["links"]) & {name for name in learned if isinstance(name, str)}
    return learned


class Noted(BaseCallback):
    """Writes the curve after each rollout, and the policy now and then."""

    def __init__(self, out: pathlib.Path, every_s: float, until_s: float) -> None:
        super().__init__()
        self.out, self.every, self.until = out, every_s, until_s
        self.began = self.saved = time.monotonic()
        self.rewards: list[float] = []
        self.curve = (out / "curve.csv").open("w", newline="")
        self.rows = csv.writer(self.curve)
        self.rows.writerow(["steps", "seconds", "reward"])

    def _on_step(self) -> bool:
        # As they are, not normalised.
        self.rewards.append(float(self.training_env.get_original_reward().mean()))
        return time.monotonic() - self.began < self.until

    def _on_rollout_end(self) -> None:
        seconds = time.monotonic() - self.began
        mean = float(numpy.mean(self.rewards))
        self.rows.writerow([self.num_timesteps, f"{seconds:.0f}", f"{mean:.4f}"])
        self.curve.flush()
        self.rewards = []
        self.model.policy.set_training_mode(False)
        if time.monotonic() - self.saved > self.every:
            self.saved = time.monotonic()
            save(self.model, self.training_env, self.out)
            print(f"{self.num_timesteps} steps, {seconds:.0f} s, reward {mean:.3f}", flush=True)


def save(model: PPO, normal: Any, out: pathlib.Path) -> None:
    """The policy as a file; the network's mean answer, without the noise of training."""
    policy = model.policy
    layers = [layer for layer in policy.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    layers.append(policy.action_net)
    weights = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in layers]
    about = normal.obs_rms
    deviation = numpy.sqrt(about.var + normal.epsilon)
    said = f"PPO, {model.num_timesteps} steps: python/training/train.py of Thalweg"
    export(weights, about.mean, deviation, normal.clip_obs, out / "policy.onnx", said)
    model.save(out / "model.zip")
    normal.save(str(out / "normal.pkl"))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("out", type=pathlib.Path)
    words.add_argument("--minutes", type=float, default=42)
    words.add_argument("--steps", type=int, default=6_500_000)
    words.add_argument("--environments", type=int, default=64)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--latency", type=float, default=WEIGHTS["latency"], help="what a second of latency costs")
    chosen = words.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    weights = WEIGHTS | {"latency": chosen.latency}
    envs = CallVectorEnv(
        chosen.environments,
        thalweg.scenario(duration="30s"),
        links(),
        observation="mowgli",
        action="rate",
        reward=weights,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    normal = VecNormalize(CallVecEnv(Shaped(envs, weights["latency"])), gamma=0.97)
    normal.seed(chosen.seed)
    model = PPO(
        "MlpPolicy",
        normal,
        learning_rate=lambda left: 5e-4 * left + 2e-5,
        n_steps=128,
        batch_size=2048,
        n_epochs=6,
        gamma=0.97,
        gae_lambda=0.95,
        policy_kwargs={"net_arch": [96, 64], "log_std_init": -1.2},
        seed=chosen.seed,
        device="cpu",
    )
    noted = Noted(chosen.out, 60, chosen.minutes * 60)
    model.learn(chosen.steps, callback=noted)
    save(model, normal, chosen.out)
    print(f"{model.num_timesteps} steps in {time.monotonic() - noted.began:.0f} s")


if __name__ == "__main__":
    main()
