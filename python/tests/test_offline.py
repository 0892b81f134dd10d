import json

import numpy
import pytest

import thalweg
from thalweg.gym import CallEnv
from thalweg.offline import export_d3rlpy, export_mmsys, rows

SHORT = thalweg.scenario("2Mbps/500kbps@2s", duration="6s")


class Steady(thalweg.Controller):
    def on_feedback(self, feedback):
        pass

    def limits(self):
        return 800_000


def test_rows_are_what_an_environment_says_of_the_same_actions():
    run = rows(SHORT, Steady, action="bps")
    assert run.policy == "Steady" and len(run) == 100
    assert numpy.allclose(run.actions, 800_000) and numpy.allclose(run.estimates_bps, 800_000)
    env = CallEnv(SHORT, action="bps")
    env.reset(seed=1)
    capacities = [env.step([800_000])[4]["capacity_bps"] for _ in range(100)]
    assert numpy.allclose(run.capacities_bps, capacities)
    # Rewards are of what was sent before, so they are alike where the two have settled.
    assert run.rewards[50:].mean() == pytest.approx(rows(SHORT, Steady, action="bps", seed=2).rewards[50:].mean(), 0.1)


def test_a_run_of_any_scheme_has_the_challenges_keys(tmp_path):
    for scheme in ("gcc", "vidaptive", Steady):
        run = rows(SHORT, scheme)
        export_mmsys(run, tmp_path / "session.json")
        session = json.loads((tmp_path / "session.json").read_text())
        assert list(session) == ["observations", "bandwidth_predictions", "true_capacity", "policy_id"]
        assert numpy.array_equal(numpy.array(session["observations"], numpy.float32), run.observations)
        assert {len(session[key]) for key in list(session)[:3]} == {100}
        assert session["policy_id"] == run.policy
        assert numpy.mean(session["true_capacity"]) == pytest.approx(1.5e6, rel=0.05)
    with pytest.raises(ValueError, match="have 180 numbers: the challenge's have 150"):
        export_mmsys(rows(SHORT, "gcc", observation="mowgli"))


def test_runs_become_the_arguments_of_a_data_set_of_d3rlpy():
    runs = [rows(SHORT, scheme, observation="mowgli", action="rate+window", seed=3) for scheme in ("gcc", "copa")]
    data = export_d3rlpy(runs)
    assert data["observations"].shape == (200, 180) and data["actions"].shape == (200, 2)
    assert all(len(column) == 200 and column.dtype == numpy.float32 for column in data.values())
    assert numpy.flatnonzero(data["timeouts"]).tolist() == [99, 199] and not data["terminals"].any()
    assert numpy.array_equal(data["rewards"][100:], runs[1].rewards.astype(numpy.float32))
    assert (abs(data["actions"]) <= 1).all()
    with pytest.raises(ValueError, match="no runs"):
        export_d3rlpy([])
    with pytest.raises(ValueError, match="all must have the same"):
        export_d3rlpy([runs[0], rows(SHORT, "gcc")])


def test_an_exception_of_a_controller_is_raised():
    class Broken(thalweg.Controller):
        def on_feedback(self, feedback):
            raise KeyError("mine")

        def limits(self):
            return 1e6

    with pytest.raises(KeyError, match="mine"):
        rows(SHORT, Broken)
