import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import thalweg


@pytest.fixture(scope="module")
def run():
    return thalweg.run(thalweg.scenario(duration=10), "vidaptive")


def test_the_events_are_those_of_the_parquet_file(run, tmp_path):
    run.write(tmp_path)
    written = pyarrow.parquet.read_table(tmp_path / "events.parquet")
    events = pyarrow.table(run.events)
    assert events.column_names == written.column_names
    assert events.num_rows == written.num_rows > 10_000
    for name in written.column_names:
        column = events[name]
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(pyarrow.string())
        assert column.cast(written[name].type).equals(written[name]), name


def test_a_column_is_a_view_that_cannot_be_written_to(run):
    times = run.events.column("time_ns")
    assert times.dtype == numpy.int64 and len(times) == len(run.events)
    assert not times.flags.writeable and not times.flags.owndata
    assert times.ctypes.data == run.events.column("time_ns").ctypes.data
    with pytest.raises(ValueError, match="read-only"):
        times[0] = 1


def test_a_column_outlives_its_run():
    times = thalweg.run(thalweg.scenario(duration=5), "gcc").events.column("time_ns")
    assert (numpy.diff(times) >= 0).all() and times[-1] < 5e9


def test_missing_figures_are_nan_and_missing_numbers_an_error(run):
    with pytest.raises(ValueError, match="rows have no 'packet'"):
        run.events.column("packet")
    with pytest.raises(TypeError, match="'event' holds Dictionary.*to_pandas"):
        run.events.column("event")
    with pytest.raises(KeyError, match="unknown column 'bits': expected one of time_ns, flow"):
        run.events.column("bits")
    value = run.events.column("value")
    assert numpy.isnan(value).any() and numpy.isfinite(value).any()


def test_pandas_and_polars_take_every_table(run):
    for table in (run.events, run.series, run.frames):
        pandas_frame, polars_frame = table.to_pandas(), table.to_polars()
        assert list(pandas_frame.columns) == polars_frame.columns == table.column_names
        assert len(pandas_frame) == len(polars_frame) == len(table)
    sent = run.events.to_polars().filter(polars.col("event") == "packet-sent")["bytes"].sum()
    assert sent * 8 / 10 == pytest.approx(run.summary["wire_bitrate_bps"])
    assert isinstance(run.events.to_pandas()["value"].dtype, pandas.ArrowDtype)


def test_the_series_and_the_frames_are_those_of_the_summary(run):
    assert run.series.column("sent_mbps").mean() * 1e6 == pytest.approx(run.summary["wire_bitrate_bps"])
    shown = numpy.isfinite(run.frames.column("displayed_s"))
    assert shown.sum() / 10 == pytest.approx(run.summary["frame_rate_fps"], rel=0.02)
    assert run.frames.to_polars()["displayed_s"].null_count() == (~shown).sum()


def test_variables_are_times_and_values(run):
    assert "alpha" in run.variables
    times, values = run.variables["alpha"]
    assert len(times) == len(values) > 90 and (values <= 1).all()
    with pytest.raises(KeyError, match="unknown variable 'beta': expected one of .*alpha"):
        run.variables["beta"]


def test_a_link_of_ones_own_is_a_trace(tmp_path, run):
    link = thalweg.Trace.from_mbps([2.0, 0.5, 4.0], step_s=2)
    assert link.mbps(2).tolist() == pytest.approx([2.0, 0.5, 4.0], rel=0.01)
    link.write(tmp_path / "mine.trace")
    read = thalweg.Trace.from_mahimahi(tmp_path / "mine.trace")
    assert (read.opportunities_ms == link.opportunities_ms).all() and read.period_s == link.period_s == 6
    mine = thalweg.scenario(link="mine", duration=12)
    by_name = thalweg.run(mine, "gcc", traces={"mine": link})
    by_path = thalweg.run(thalweg.scenario(link=str(tmp_path / "mine.trace"), duration=12), "gcc")
    assert by_name.fingerprint == by_path.fingerprint
    by_name.write(tmp_path / "run")
    assert thalweg.run(tmp_path / "run/run.toml", "gcc").fingerprint == by_name.fingerprint
    whole = thalweg.run(link, "gcc")
    assert whole.summary["duration_s"] == 60 and whole.series.column("capacity_mbps").max() == pytest.approx(
        4, rel=0.05
    )


def test_a_synthetic_link_is_that_of_the_scenario_of_its_seed():
    link = thalweg.Trace.synthesize("lte-driving", seed=3, seconds=20)
    given = thalweg.run(thalweg.scenario(link="mine", duration=20, seed=3), "gcc", traces={"mine": link})
    assert given.fingerprint == thalweg.run(thalweg.scenario(duration=20, seed=3), "gcc").fingerprint


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: thalweg.Trace.from_mbps([]), "shape"),
        (lambda: thalweg.Trace.from_mbps([1, -2]), "contain -2.0"),
        (lambda: thalweg.Trace.from_mbps([1, float("nan")]), "contain nan"),
        (lambda: thalweg.Trace.from_mbps([1], step_s=0.0005), "whole milliseconds"),
        (lambda: thalweg.Trace.from_mbps([0, 0]), "deliver"),
        (lambda: thalweg.Trace.read("nowhere.trace"), "nowhere.trace"),
        (lambda: thalweg.run("2Mbps", "gcc", traces={"mine": [1]}), "no link 'mine'"),
    ],
)
def test_what_is_no_link_is_refused(make, words):
    with pytest.raises(thalweg.ThalwegError, match=words):
        make()
