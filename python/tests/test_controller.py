import functools
import math
import time
import traceback

import numpy
import pytest

import thalweg
from thalweg import _native

SCENARIO = thalweg.scenario("2Mbps/500kbps@10s", duration="40s")
LOSSY = thalweg.scenario(SCENARIO)
LOSSY["forward"]["hops"].append({"loss": {"random": {"probability": 0.01}}})


class Fixed(thalweg.Controller):
    def on_feedback(self, feedback):
        pass

    def limits(self):
        return 900_000


class Aimd(thalweg.Controller):
    """As `Aimd` in crates/python/src/sender.rs: rates there are whole bit/s, and halves are rounded up."""

    name = "aimd"

    def __init__(self, gain=0.9):
        self.rate, self.gain = 500_000, gain

    def on_feedback(self, feedback):
        self.rate = math.floor(self.rate * self.gain + 0.5) if feedback.lost_bytes else self.rate + 100_000

    def limits(self):
        return self.rate


def test_a_fixed_rate_in_python_has_the_fingerprint_of_the_one_in_rust():
    in_rust = thalweg.scheme("gcc") | {"controller": {"fixed": {"rate": "900kbps"}}}
    ours, theirs = thalweg.run(SCENARIO, Fixed), thalweg.run(SCENARIO, in_rust)
    assert ours.fingerprint == theirs.fingerprint
    assert ours.scheme == "Fixed" and ours.summary["frame_rate_fps"] > 15


def test_an_aimd_in_python_has_the_fingerprint_of_the_one_in_rust():
    for scenario in (SCENARIO, LOSSY):
        in_rust = _native.run(scenario, _native.Sender.aimd_for_a_test(), _native.Links({}), None, "all", None, None)
        assert thalweg.run(scenario, Aimd).fingerprint == in_rust.fingerprint


def test_limits_can_have_a_window_and_a_pacing_rate():
    class Windowed(Fixed):
        def limits(self):
            return thalweg.SendLimits(900_000, pacing=2e6, window=20_000, burst=3000, padding=1.5e6)

    run = thalweg.run(SCENARIO, Windowed)
    limits = run.events.to_polars().filter(event="send-limits")
    assert limits["rate_bps"].unique().to_list() == [900_000]
    assert limits["bytes"].unique().to_list() == [20_000] and limits["value"].unique().to_list() == [2e6]
    assert run.summary["padding_bitrate_bps"] > 0


def test_feedback_says_of_each_packet_when_it_was_sent_and_arrived():
    kept = []

    class Watching(Fixed):
        feedback = "ccfb"

        def on_feedback(self, feedback):
            kept.append(feedback)

    run = thalweg.run(thalweg.scenario(SCENARIO, duration=20), Watching)
    events = run.events.to_polars()
    ids = numpy.concatenate([feedback.id for feedback in kept])
    lost = numpy.concatenate([feedback.arrival_ns == -1 for feedback in kept])
    sent = events.filter(event="packet-sent")
    at = dict(zip(sent["packet"], sent["time_ns"], strict=True))
    sizes = dict(zip(sent["packet"], sent["bytes"], strict=True))
    for feedback in kept:
        assert len(feedback) == len(feedback.id) == len(feedback.ce) == len(feedback.was_lost) == len(feedback.payload)
        assert [at[packet] for packet in feedback.id] == feedback.sent_ns.tolist()
        assert [sizes[packet] for packet in feedback.id] == feedback.size.tolist()
        assert feedback.size[feedback.arrival_ns >= 0].sum() == feedback.arrived_bytes
        assert feedback.size[feedback.arrival_ns == -1].sum() == feedback.lost_bytes
        assert feedback.rtt is None or feedback.min_rtt <= feedback.rtt
        assert feedback.id.dtype == numpy.int64 and not feedback.id.flags.writeable
        assert set(feedback.payload) <= set(range(len(thalweg.PAYLOADS)))
    # 2 Mbps carry the rate, 500 kbps do not; nothing is lost in an unlimited queue.
    assert len(ids) > 500 and not lost.any()
    last = kept[-1]
    assert last.delivered == numpy.concatenate([feedback.size for feedback in kept]).sum()
    assert 0 < last.in_flight < last.delivered and last.srtt > 0.05 and not last.is_timeout
    reports = events.filter(event="feedback")
    assert [round(feedback.now * 1e9) for feedback in kept] == reports["time_ns"].to_list()


def test_optional_methods_are_called_where_they_are_overridden():
    called = {"sent": 0, "demand": [], "timeouts": []}

    class Whole(Fixed):
        def on_sent(self, packet):
            assert packet.id == called["sent"] and packet.payload in thalweg.PAYLOADS and packet.size > 0
            called["sent"] += 1

        def on_demand(self, now, min_bps, max_bps):
            called["demand"].append((now, min_bps, max_bps))

        def on_timeout(self, now):
            called["timeouts"].append(now)

        def next_timeout(self):
            return len(called["timeouts"]) + 1.0

        def inspect(self):
            return {"sent_packets": called["sent"]}

    run = thalweg.run(thalweg.scenario(SCENARIO, duration=10), Whole)
    assert called["sent"] == (run.events.to_polars()["event"] == "packet-sent").sum()
    assert called["demand"][0][0] == 0 and 0 < called["demand"][0][1] < called["demand"][0][2]
    assert called["timeouts"] == pytest.approx(list(range(1, 10)))
    times, values = run.variables["sent_packets"]
    assert len(times) > 90 and values[-1] <= called["sent"]
    assert run.fingerprint != thalweg.run(thalweg.scenario(SCENARIO, duration=10), Fixed).fingerprint  # its variable


def test_a_timeout_that_asks_for_the_present_does_not_stop_time():
    class Impatient(Fixed):
        def next_timeout(self):
            return 0.0

    assert thalweg.run(thalweg.scenario(SCENARIO, duration=1), Impatient).summary["duration_s"] == 1


def test_an_exception_ends_the_run_and_has_its_traceback():
    class Mistaken(Fixed):
        def on_feedback(self, feedback):
            self.count = getattr(self, "count", 0) + 1
            if self.count == 20:
                raise LookupError("the twentieth")

    with pytest.raises(LookupError, match="the twentieth") as caught:
        thalweg.run(SCENARIO, Mistaken)
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-1] == "on_feedback"
    with pytest.raises(LookupError):
        thalweg.compare(SCENARIO, ["gcc", Mistaken])


def nan(self):
    return float("nan")


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"limits": nan}, thalweg.ControllerError, "returned NaN as the rate: must be bit/s"),
        ({"limits": lambda self: -1}, thalweg.ControllerError, "returned -1"),
        ({"limits": lambda self: None}, thalweg.ControllerError, "returned None: must return a rate in bit/s"),
        ({"limits": lambda self: 0.5}, thalweg.ControllerError, "returned 0.5 as the rate.*return 0.5 .* 1e6"),
        (
            {"limits": lambda self: thalweg.SendLimits(1e6, pacing=float("inf"))},
            thalweg.ControllerError,
            "inf as pacing",
        ),
        ({"limits": lambda self: thalweg.SendLimits(1e6, window=-3)}, OverflowError, "unsigned"),
        ({"next_timeout": lambda self: -2.0}, thalweg.ControllerError, "next_timeout.. returned -2"),
        ({"inspect": lambda self: {"a": "b"}}, TypeError, "real number"),
        ({"__init__": lambda self: 1 / 0}, ZeroDivisionError, "division by zero"),
        ({"around": "vidaptve"}, thalweg.SchemeError, "vidaptve"),
        ({"around": "bound:causal"}, thalweg.ControllerError, "knows its link"),
        ({"feedback": "often"}, thalweg.SchemeError, "feedback: unknown variant `often`"),
    ],
)
def test_a_wrong_answer_of_a_controller_is_named(changes, error, words):
    wrong = type("Wrong", (Fixed,), changes)
    with pytest.raises(error, match=words):
        thalweg.run(SCENARIO, wrong)


def test_a_controller_without_its_two_methods_says_which():
    class Empty(thalweg.Controller):
        pass

    with pytest.raises(NotImplementedError, match="Empty needs a method limits"):
        thalweg.run(SCENARIO, Empty)
    with pytest.raises(TypeError, match="dict is no subclass"):
        thalweg.run(SCENARIO, dict)
    with pytest.raises(thalweg.ControllerError, match="made a int"):
        thalweg.run(SCENARIO, lambda: 3)


def test_parameters_and_source_are_in_run_toml(tmp_path):
    run = thalweg.run(LOSSY, functools.partial(Aimd, gain=0.8))
    assert run.fingerprint != thalweg.run(LOSSY, Aimd).fingerprint
    run.write(tmp_path)
    text = (tmp_path / "run.toml").read_text()
    assert (
        'controller = "test_controller:Aimd"' in text and 'parameter_gain = "0.8"' in text and "source_sha256" in text
    )
    assert thalweg.run(tmp_path / "run.toml", functools.partial(Aimd, gain=0.8)).fingerprint == run.fingerprint


def test_random_numbers_are_those_of_the_seed():
    class Dice(Fixed):
        def __init__(self):
            self.start = self.random.integers(500_000, 900_000)

        def limits(self):
            return self.start + self.random.integers(10_000)

    first, second = (thalweg.run(SCENARIO, Dice, seed=seed).fingerprint for seed in (1, 2))
    assert first == thalweg.run(SCENARIO, Dice, seed=1).fingerprint != second


def test_a_comparison_finds_a_controller_that_is_not_reproducible():
    class Clocked(Fixed):
        def limits(self):
            return 500_000 + time.perf_counter_ns() % 100_000

    thalweg.compare(SCENARIO, [Aimd, "gcc"], seeds=[1, 2], check=True)
    with pytest.raises(thalweg.RunError, match="Clocked was played twice with seed 1"):
        thalweg.compare(SCENARIO, [Clocked], check=True)


def test_a_competitor_of_the_same_name_is_a_controller_of_its_own():
    shared = thalweg.scenario(SCENARIO, competitors=[{"sender": {"scheme": "aimd", "from": "5s"}}])
    made = []

    class Counted(Aimd):
        def __init__(self):
            super().__init__()
            made.append(self)

    run = thalweg.run(shared, Counted)
    assert len(made) == 2 and made[0].rate != made[1].rate
    assert run.competitors[0].scheme == "aimd"


def test_another_scheme_can_be_around_it():
    class Dummies(Fixed):
        around = "vidaptive"

    class Changed(Fixed):
        around = thalweg.scheme("vidaptive") | {"padding": None}

    assert thalweg.run(SCENARIO, Dummies).summary["padding_bitrate_bps"] > 50_000
    assert thalweg.run(SCENARIO, Changed).summary["padding_bitrate_bps"] == 0
