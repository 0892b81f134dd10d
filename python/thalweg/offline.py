"""Runs of any controller as data that a policy learns from without playing (docs/learning.md)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from . import _native
from .calls import RewardLike, call_of
from .playing import ScenarioLike, SchemeLike, Traces, sender_for

Floats = NDArray[numpy.float32]


@dataclass(frozen=True)
class Rows:
    """A run by interval. Row t has the observation at the beginning of interval t, what the controller was set to then,
    and what the interval was worth. The last row ends the episode by truncation."""

    policy: str
    """The scheme's name."""
    observations: Floats
    """A row for each interval."""
    actions: Floats
    """The actions that would have set what the controller set."""
    rewards: NDArray[numpy.float64]
    """Reward of each interval."""
    estimates_bps: NDArray[numpy.float64]
    """The capacity that the controller estimated."""
    capacities_bps: NDArray[numpy.float64]
    """Capacity of the bottleneck; NaN if there is none."""

    def __len__(self) -> int:
        return len(self.rewards)


def rows(
    scenario: ScenarioLike,
    scheme: SchemeLike,
    *,
    seed: int | None = None,
    traces: Traces | None = None,
    observation: str = "mmsys150",
    action: str = "rate",
    reward: RewardLike = "qoe",
    interval: str | float = "60ms",
) -> Rows:
    """Plays a run as :func:`thalweg.run` does, and returns what an environment would have said of it.

    >>> from thalweg.offline import rows
    >>> rows("2Mbps", "gcc").observations.shape
    (1000, 150)
    """
    call = call_of(
        scenario, traces, observation=observation, action=action, reward=reward, interval=interval, seed=seed
    )
    played = call.rows(sender_for(scheme, call.seed))
    return Rows(
        played.policy,
        _table(played.observations(), call.observation_len),
        _table(played.actions(), call.action_len),
        numpy.asarray(played.rewards()),
        numpy.asarray(played.estimates_bps()),
        numpy.asarray(played.capacities_bps()),
    )


def _table(flat: _native.Array, width: int) -> Floats:
    return numpy.asarray(flat).reshape(-1, width)


def export_mmsys(run: Rows, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """A run in the form of the data of the ACM MMSys 2024 challenge, whose sessions are JSON files: ``observations``
    (150 numbers each), ``bandwidth_predictions`` and ``true_capacity`` in bit/s, and ``policy_id``. The challenge's
    scores of audio and video are by models that are not public, and are not here. Written to ``path`` if that is given.

    >>> from thalweg.offline import export_mmsys, rows
    >>> list(export_mmsys(rows("2Mbps", "gcc")))
    ['observations', 'bandwidth_predictions', 'true_capacity', 'policy_id']
    """
    if run.observations.shape[1] != 150:
        raise ValueError(
            f"the observations have {run.observations.shape[1]} numbers: the challenge's have 150, "
            "rows(..., observation='mmsys150')"
        )
    session = {
        "observations": run.observations.tolist(),
        "bandwidth_predictions": run.estimates_bps.tolist(),
        # JSON has no NaN.
        "true_capacity": [None if numpy.isnan(one) else one for one in run.capacities_bps.tolist()],
        "policy_id": run.policy,
    }
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(session, file, allow_nan=False)
    return session


def export_d3rlpy(runs: Sequence[Rows]) -> dict[str, NDArray[Any]]:
    """Runs as the arguments of ``d3rlpy.dataset.MDPDataset``: ``observations``, ``actions``, ``rewards``, ``terminals``
    (none: a call is never terminated) and ``timeouts``, one at the end of each run.

    >>> from thalweg.offline import export_d3rlpy, rows
    >>> data = export_d3rlpy([rows("2Mbps", scheme) for scheme in ("gcc", "copa")])
    >>> data["observations"].shape, data["timeouts"].sum()
    ((2000, 150), np.float32(2.0))

    ``d3rlpy.dataset.MDPDataset(**data)`` is then a data set to learn from.
    """
    if not runs:
        raise ValueError("there are no runs: give at least one")
    shapes = {(run.observations.shape[1], run.actions.shape[1]) for run in runs}
    if len(shapes) > 1:
        raise ValueError(f"the runs have observations and actions of {sorted(shapes)} numbers: all must have the same")
    timeouts = [numpy.zeros(len(run), numpy.float32) for run in runs]
    for ends in timeouts:
        ends[-1] = 1
    return {
        "observations": numpy.concatenate([run.observations for run in runs]),
        "actions": numpy.concatenate([run.actions for run in runs]),
        "rewards": numpy.concatenate([run.rewards for run in runs]).astype(numpy.float32),
        "terminals": numpy.zeros(sum(map(len, runs)), numpy.float32),
        "timeouts": numpy.concatenate(timeouts),
    }
