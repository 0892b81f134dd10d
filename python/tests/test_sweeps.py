"""Sweeps have one table, wherever they are played and whatever is lost on the way.

500 runs of two seconds are played by the command line, by shards of it, in processes, in threads and on a Ray cluster
that loses a node. On two cores of 2026 all of it takes a minute, two thirds of which Ray's starting does.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest
import ray
from ray.cluster_utils import Cluster

import thalweg
from thalweg import executors

# Nothing is reported to anyone.
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

GRID = """
[scenario]
name = "step"
duration = "2s"
video = { source = "scene", size = "320x180", frame_rate = 30 }
codec = { model = {} }
[[scenario.forward.hops]]
bottleneck = { trace = "2Mbps", queue = { drop-tail = { bytes = "60kB" } } }
[[scenario.forward.hops]]
delay = { delay = "25ms" }
[[scenario.reverse.hops]]
delay = { delay = "25ms" }

[[axes]]
field = "scheme"
values = ["gcc", "copa"]

[[axes]]
field = "trace"
values = ["*.down"]

[[axes]]
name = "queue"
field = "forward.hops.0.bottleneck.queue.drop-tail.bytes"
values = ["30kB", "60kB", "90kB", "120kB", "150kB"]

[[axes]]
field = "seed"
values = "1..25"
"""
RUNS = 500
# What Ray's own code warns of is its developers'.
RAY = pytest.mark.filterwarnings("default")


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with two links and the grid, in which everything happens: patterns are from the current folder."""
    folder = tmp_path_factory.mktemp("sweeps")
    thalweg.Trace.from_mbps([2, 0.5]).write(folder / "falling.down")
    thalweg.Trace.from_mbps([1, 3, 2]).write(folder / "rising.down")
    (folder / "grid.toml").write_text(GRID)
    before = pathlib.Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def whole(place, command_line):
    """The table of the command line."""
    command_line("sweep", "grid.toml", "-o", "whole", "-q")
    return sha256("whole/results.parquet")


@pytest.fixture
def small():
    """Four runs."""
    axes = [{"field": "scheme", "values": ["gcc", "copa"]}, {"field": "seed", "values": [1, 2]}]
    return {"scenario": thalweg.scenario("2Mbps", duration=2), "axes": axes}


def test_processes_threads_and_shards_make_the_table_of_the_command_line(whole, command_line):
    table = thalweg.sweep("grid.toml", "four", workers=4, progress=False)
    assert (len(table), table.played, table.failed) == (RUNS, RUNS, [])
    assert sha256(table.path) == whole
    assert sha256(thalweg.sweep("grid.toml", "one", workers=1, progress=False).path) == whole
    threads = thalweg.sweep("grid.toml", "threads", executor="threads", workers=3, progress=False)
    assert sha256(threads.path) == whole
    for shard in range(3):
        command_line("sweep", "grid.toml", "-o", f"shard-{shard}", "--shard", f"{shard}/3", "-q")
    command_line("sweep", "merge", "shard-0", "shard-1", "shard-2", "-o", "merged")
    assert sha256("merged/results.parquet") == whole


def test_an_executor_of_another_library_plays_too_and_stays_open(whole):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert sha256(thalweg.sweep("grid.toml", "given", executor=pool, progress=False).path) == whole
        assert pool.submit(int, "3").result() == 3


def test_a_table_is_a_data_frame(whole):
    table = thalweg.Dataset("whole")
    frame = table.to_pandas()
    assert list(frame["job"]) == list(range(RUNS))
    assert set(frame["queue"]) == {"30kB", "60kB", "90kB", "120kB", "150kB"}
    assert set(frame["trace"]) == {"falling.down", "rising.down"}
    run = thalweg.run("falling.down", "gcc")
    assert set(run.summary) >= {"latency_p95_ms"} <= set(frame)
    assert frame["latency_p95_ms"].min() > 25 and frame["video_bitrate_bps"].notna().all()
    import pyarrow.parquet

    file = pyarrow.parquet.read_table(table.path)
    assert file.column_names == table.column_names
    assert file.to_pandas().equals(__import__("pyarrow").table(table).to_pandas())
    assert table.to_polars().filter(scheme="gcc").height == RUNS // 2
    assert repr(table) == "<Dataset of 500 runs: whole/results.parquet>"


def test_an_interrupted_sweep_goes_on_and_plays_nothing_twice(whole, command_line):
    played = []

    def stop_at_100(row):
        played.append(row["key"])
        if len(played) == 100:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        thalweg.sweep("grid.toml", "interrupted", workers=2, on_result=stop_at_100, progress=False)
    kept = pathlib.Path("interrupted/parts/0-of-1.jsonl").read_text().splitlines()
    assert 100 <= len(kept) < RUNS // 2
    # The command line plays some of the rest, and Python the others.
    on = subprocess.Popen([os.environ["THALWEG"], "sweep", "grid.toml", "-o", "interrupted", "-q"])
    while len(pathlib.Path("interrupted/parts/0-of-1.jsonl").read_text().splitlines()) < RUNS // 2:
        time.sleep(0.001)
    on.send_signal(signal.SIGINT)
    assert on.wait() == 130
    left = RUNS - len(pathlib.Path("interrupted/parts/0-of-1.jsonl").read_text().splitlines())
    assert 0 < left <= RUNS // 2
    later = []
    table = thalweg.sweep(pathlib.Path("grid.toml"), "interrupted", on_result=later.append, progress=False)
    assert table.played == len(later) == left
    rows = [json.loads(row)["key"] for row in pathlib.Path("interrupted/parts/0-of-1.jsonl").read_text().splitlines()]
    assert len(rows) == len(set(rows)) == RUNS
    assert sha256(table.path) == whole
    assert "500 runs, 0 of them played now" in command_line("sweep", "grid.toml", "-o", "interrupted", "-q")


def test_a_killed_worker_is_replaced_and_its_runs_are_played_again(whole):
    killed = []

    def kill(row):
        if len(killed) < 2 and row["job"] >= 100 * (len(killed) + 1):
            workers = [child for child in children_of(os.getpid()) if "spawn_main" in child[1]]
            os.kill(workers[0][0], signal.SIGKILL)
            killed.append(workers[0][0])

    table = thalweg.sweep("grid.toml", "killed", workers=2, on_result=kill, progress=False)
    assert len(killed) == 2 and table.failed == []
    assert sha256(table.path) == whole


def children_of(parent):
    """Processes with their command lines."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rsplit(")", 1)[1].split()[1]) == parent:
                yield int(path.parent.name), (path.parent / "cmdline").read_text().replace("\0", " ")
        except OSError:
            pass


def test_a_worker_that_ends_each_time_ends_the_sweep_with_its_job(place):
    class Fatal:
        """Workers that end with job 3, whatever is played beside it."""

        chunk_s, slots = 1.0, 1

        def submit(self, jobs):
            return jobs

        def ended(self, under_way):
            lost = MemoryError("no more")
            return [(jobs, lost if '"3"' in jobs else (jobs, 1.0)) for jobs in under_way]

        def close(self, interrupted):
            pass

    class Handle(list):
        __hash__ = object.__hash__

    place_of = Fatal()
    place_of.submit = Handle
    jobs = [executors.Job(number, lambda number: f'"{number}"', 1.0) for number in range(8)]
    results = []
    with pytest.raises(thalweg.RunError, match="job 3: its worker ended 3 times .*no more"):
        for chunk in executors.played(jobs, place_of, 2):
            results.extend(chunk)


@pytest.fixture(scope="module")
def cluster():
    """A head of one CPU."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield made
    made.shutdown()


@pytest.fixture
def disconnected():
    yield
    ray.shutdown()


@RAY
def test_two_ray_nodes_one_of_which_is_lost_make_the_same_table(whole, cluster, disconnected, place):
    second = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    assert ray.cluster_resources()["CPU"] == 2
    lost = []

    def lose(row):
        if not lost and row["job"] >= 150:
            lost.append(row["job"])
            cluster.remove_node(second)

    table = thalweg.sweep("grid.toml", "ray", executor="ray", on_result=lose, progress=False)
    assert lost and sum(node["Alive"] for node in ray.nodes()) == 1
    assert (table.played, table.failed) == (RUNS, [])
    assert sha256(table.path) == whole
    rows = pathlib.Path("ray/parts/0-of-1.jsonl").read_text().splitlines()
    assert len({json.loads(row)["key"] for row in rows}) == len(rows) == RUNS
    sent = pathlib.Path(tempfile.gettempdir()) / f"thalweg-{os.getuid()}"
    for name in ("falling.down", "rising.down"):
        assert sha256(sent / sha256(place / name) / name) == sha256(place / name)


@RAY
def test_a_ray_node_with_another_wheel_is_refused_with_both_versions(small, cluster, disconnected, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thalweg.py").write_text("version, behaviour_id = '0.0.9', 'feedfacefeedface'\n")
    ray.init(address=cluster.address, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(other)}})
    with pytest.raises(thalweg.VersionError) as refused:
        thalweg.sweep(small, tmp_path / "out", executor="ray", progress=False)
    for words in ("has thalweg 0.0.9 of behaviour feedfacefeedface", thalweg.version, thalweg.behaviour_id):
        assert words in str(refused.value)


def test_a_job_of_another_behaviour_is_refused_with_both(small, tmp_path):
    native = executors._native
    job = json.loads(native.Sweep.of(small).job(0))
    job["run"]["behaviour"] = "0123456789abcdef"
    with pytest.raises(thalweg.VersionError, match=f"0123456789abcdef, and this one's is {thalweg.behaviour_id}"):
        executors.play([json.dumps(job)])


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (GRID.replace('field = "seed"', 'feild = "seed"'), "unknown field `feild`"),
        (GRID.replace("duration", "durration"), "unknown field `durration`"),
        (GRID.replace('"copa"', '"quic"'), "line 14: axis scheme: .*quic"),
        (GRID.replace("1..25", "25..1"), "invalid seed '25..1'"),
    ],
)
def test_a_grid_that_cannot_be_played_is_refused_with_what_is_wrong(grid, words, place, tmp_path):
    with pytest.raises(thalweg.GridError, match=words):
        thalweg.sweep(grid, tmp_path)
    (tmp_path / "grid.toml").write_text(grid)
    with pytest.raises(thalweg.GridError, match=f"(?s)grid.toml: .*{words}"):
        thalweg.sweep(tmp_path / "grid.toml", tmp_path)


def test_a_dict_with_an_unknown_field_is_refused_with_its_path(small, tmp_path):
    small["axes"][0]["feild"] = 1
    with pytest.raises(thalweg.GridError, match=r"axes\[0\].*unknown field `feild`"):
        thalweg.sweep(small, tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"executor": "dask"}, "executor is 'dask'"),
        ({"workers": 0}, "workers is 0"),
        ({"retries": -1}, "retries is -1"),
    ],
)
def test_what_cannot_play_is_said(options, words, small, tmp_path):
    with pytest.raises(ValueError, match=words):
        thalweg.sweep(small, tmp_path, **options)


def test_rows_of_another_build_are_noticed(small, tmp_path):
    thalweg.sweep(small, tmp_path, executor="threads", progress=False)
    path = tmp_path / "parts/0-of-1.jsonl"
    path.write_text("".join(changed(line) + "\n" for line in path.read_text().splitlines()))
    with pytest.raises(thalweg.RunError, match="is not what it was.*Another build or machine"):
        thalweg.sweep(small, tmp_path, executor="threads", progress=False)
    again = thalweg.sweep(small, tmp_path, executor="threads", progress=False, resume=False)
    assert again.played == 4


def changed(line):
    row = json.loads(line)
    row["fingerprint"] = "0000000000000000"
    return json.dumps(row)


def test_a_run_that_fails_is_a_row_and_is_played_again_when_asked(small, tmp_path):
    small["axes"][0]["values"] = ["gcc", "rebera"]
    small["scenario"]["codec"] = {"h264": {}}
    small["scenario"]["duration"] = "1s"
    table = thalweg.sweep(small, tmp_path, executor="threads", progress=False)
    assert len(table.failed) >= 2 and all(row["error"] for row in table.failed)
    assert thalweg.sweep(small, tmp_path, executor="threads", progress=False).played == 0
    again = thalweg.sweep(small, tmp_path, executor="threads", progress=False, retry_failed=True)
    assert again.played == len(table.failed)


def test_a_script_sweeps_in_processes_and_shows_progress_with_the_time_to_go(place, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import thalweg

        if __name__ == "__main__":
            print(thalweg.sweep({str(place / "grid.toml")!r}, {str(tmp_path / "out")!r}).played)
        """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=place)
    assert done.stdout == f"{RUNS}\n", done.stderr
    assert " of 500 runs, " in done.stderr and "500 of 500 runs, 0 s to go" in done.stderr


def test_the_package_sweeps_from_the_command_line(place, whole, tmp_path):
    command = [sys.executable, "-m", "thalweg", "sweep", "grid.toml", "-o", str(tmp_path), "--executor", "threads"]
    done = subprocess.run([*command, "-q"], capture_output=True, text=True, cwd=place)
    assert done.stdout.startswith("500 runs, 500 of them played now: ") and done.stderr == ""
    assert sha256(tmp_path / "results.parquet") == whole
    wrong = subprocess.run([*command[:4], "none.toml"], capture_output=True, text=True, cwd=place)
    assert wrong.returncode == 1 and "none.toml" in wrong.stderr


BENCH = ["bench", "rmcat", "--case", "5.1,5.6,6.1", "--scheme", "gcc,nada", "--runs", "2"]
FIGURE = ["reproduce", "camel-fig10", "--duration", "5s", "--runs", "2"]


@pytest.mark.parametrize("executor", ["processes", "threads"])
def test_the_bench_played_elsewhere_has_the_page_of_the_program(executor, command_line, tmp_path):
    command_line(*BENCH, "-o", tmp_path / "here", "-q")
    kept = ["--keep", str(tmp_path / "runs")]
    command = [sys.executable, "-m", "thalweg", *BENCH, "-o", str(tmp_path / "there"), *kept]
    how = ["--executor", executor, "--workers", "2"]
    done = subprocess.run([*command, *how], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 of 12 runs" in done.stderr
    assert (tmp_path / "here/rmcat.json").read_text() == (tmp_path / "there/rmcat.json").read_text()
    here, there = ((tmp_path / name / "rmcat.html").read_text().splitlines() for name in ("here", "there"))
    # The page names its command.
    assert [line for line in here if "thalweg bench" not in line] == [
        line for line in there if "thalweg bench" not in line
    ]
    # With another scheme only its runs are left.
    more = [word.replace("gcc,nada", "gcc,nada,scream") for word in BENCH]
    assert command_line(*more, *kept, "--plan", "-q").startswith("6 runs to play: ")
    assert thalweg.sweeps.play(tmp_path / "runs", executor="threads", progress=False) == 6
    assert thalweg.sweeps.play(tmp_path / "runs", executor="threads", progress=False) == 0


def test_a_figure_played_elsewhere_has_the_page_of_the_program(command_line, tmp_path):
    command_line(*FIGURE, "--pages", tmp_path / "here", "-o", tmp_path / "out-here", "-q")
    there = ["--pages", str(tmp_path / "there"), "-o", str(tmp_path / "out"), "--keep", str(tmp_path / "runs")]
    command = [sys.executable, "-m", "thalweg", *FIGURE, *there, "--executor", "threads"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    here, there = (
        {page.name: page.read_text() for page in (tmp_path / name).glob("*.md")} for name in ("here", "there")
    )
    assert here == there and any("Verdict: " in page for page in here.values())
    assert thalweg.sweeps.play(tmp_path / "runs", executor="threads", progress=False) == 0


def test_runs_planned_by_another_version_are_refused_with_both(command_line, tmp_path):
    command_line(*BENCH, "--keep", tmp_path, "--plan", "-q")
    jobs = tmp_path / "jobs.jsonl"
    jobs.write_text(jobs.read_text().replace(f"{thalweg.version}, behaviour", "0.0.9, behaviour"))
    with pytest.raises(thalweg.VersionError, match=f"0.0.9, .* and this is {thalweg.version}, "):
        thalweg.sweeps.play(tmp_path, executor="threads", progress=False)
