"""A publisher, a viewer in Chromium beside it, and what an attack does to both."""

import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from stun import Address

HERE = Path(__file__).resolve().parent
THALWEG = os.environ.get("THALWEG", "thalweg")
# As small as the audit's: two cores carry publisher, browser and attack.
PICTURE = ["--size", "320x180", "--frame-rate", "30"]

# What must hold for Chromium, whatever the attack does (issue 23): no freeze of more than half a second, and the
# baseline's frame rate but for two frames a second.
LONGEST_GAP_S = 0.5
FPS_BELOW_BASELINE = 2.0
# Of the camera's thirty frames a second: with fewer before the attack there is nothing to compare with.
BASELINE_FPS = 28.0
# A window is disturbed if the processes of others took more than this of a core, or the processors were idle for less
# than this share: `thalweg blackbox` calls a call invalid below a tenth.
OTHERS_CORES, IDLE_SHARE = 0.5, 0.1
BASELINE_S = 6.0
# The least that an attack's window is long: shorter ones have too few frames to count.
SHORTEST_S = 6.0
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Usage:
    """Processor time until a moment, in seconds: the machine's, and that of our own processes."""

    at: float
    idle: float
    all: float
    ours: float


def _descendants(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(name))
    found, open_ = [], [root]
    while open_:
        pid = open_.pop()
        found.append(pid)
        open_ += parents.get(pid, [])
    return found


def cpu_seconds(pid: int) -> float:
    """Processor time of a process with all its threads, and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def usage() -> Usage:
    jiffies = list(map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
    idle = jiffies[3] + jiffies[4]
    ours = sum(cpu_seconds(pid) for pid in _descendants(os.getpid()))
    return Usage(time.time(), idle / TICKS, sum(jiffies) / TICKS, ours)


@dataclass
class Window:
    """Pictures in Chromium and load of the machine between two moments."""

    seconds: float
    fps: float
    longest_gap_s: float
    idle_share: float
    others_cores: float
    cpu_share: float
    states: list[str]

    @property
    def is_disturbed(self) -> bool:
        return self.others_cores > OTHERS_CORES or self.idle_share < IDLE_SHARE

    def __str__(self) -> str:
        return (
            f"{self.fps:.1f} fps, longest gap {1000 * self.longest_gap_s:.0f} ms; publisher {self.cpu_share:.0%} of a "
            f"core, others {self.others_cores:.1f} cores, idle {self.idle_share:.0%}"
        )


class Viewer:
    """Chromium, which means no harm."""

    def __init__(self, link: str) -> None:
        self.process = subprocess.Popen(
            ["node", str(HERE / "watch.mjs"), link], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.shown: list[float] = []
        self.states: list[tuple[float, str]] = []
        first = self._line()
        if first is None:
            raise RuntimeError("Chromium shows nothing; what node says is above")
        self.ufrag: str = first["ufrag"]
        threading.Thread(target=self._read, daemon=True).start()

    def _line(self) -> dict | None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def _read(self) -> None:
        while (line := self._line()) is not None:
            now = time.time()
            self.states += [(now, state) for state in line["states"]]
            self.shown += [at / 1000 for at in line["shown"]]

    def longest_gap(self, begin: float, end: float) -> float:
        """The longest time without a new frame that is at least in part between the two moments."""
        before = max((at for at in self.shown if at < begin), default=begin)
        after = min((at for at in self.shown if at > end), default=end)
        within = [before, *(at for at in self.shown if begin <= at <= end), after]
        return max(later - earlier for earlier, later in zip(within, within[1:], strict=False))

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Publisher:
    """`thalweg publish` of the built-in scene on loopback. Its log goes to `log`, by a pipe: limits on files that are
    set for the publisher are not the log's."""

    def __init__(self, log: Path, *options: str, prepare: Callable[[], None] | None = None) -> None:
        command = [THALWEG, "publish", "scene", *PICTURE, "--scheme", "gcc", "--listen", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=prepare
        )
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("w")
        threading.Thread(target=self._keep_log, daemon=True).start()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://([\d.]+):(\d+)\S*", line)
        if found is None:
            self.process.kill()
            raise RuntimeError(f"no address in what the publisher says: {line!r}; see {log}")
        # A link that no terminal reads is without the token.
        self.token = options[options.index("--token") + 1] if "--token" in options else ""
        self.link = found[0] + (f"#token={self.token}" if self.token else "")
        self.page: Address = (found[1], int(found[2]))

    def _keep_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._log.write(line)
            self._log.flush()

    @property
    def pid(self) -> int:
        return self.process.pid

    def memory_mb(self) -> float:
        """Resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) * 1024 / 1e6 if found else 0.0

    def encoders(self) -> int:
        """Threads that encode for a viewer."""
        names = [(task / "comm").read_text() for task in Path(f"/proc/{self.pid}/task").iterdir()]
        return sum(name.startswith("encoder") for name in names)

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://{self.page[0]}:{self.page[1]}/metrics", timeout=30) as answer:
            return answer.read().decode()

    def metric(self, name: str, *labels: str, text: str | None = None) -> float:
        """The sum of a metric's samples that have all of these labels."""
        total = 0.0
        for line in (text or self.metrics()).splitlines():
            found = re.match(rf"{name}(\{{[^}}]*\}})? (\S+)$", line)
            if found and all(label in (found[1] or "") for label in labels):
                total += float(found[2])
        return total

    def newest_viewer(self) -> str:
        """The label of the viewer that joined last."""
        keys = [int(key) for key in re.findall(r'viewer="(\d+)"', self.metrics())]
        return f'viewer="{max(keys)}"'

    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


@dataclass
class Stage:
    """Setup of an attack, and its messages."""

    publisher: Publisher
    viewer: Viewer
    said: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def say(self, sentence: str) -> None:
        """A figure for the table."""
        self.said.append(sentence)

    def expect(self, holds: bool, otherwise: str) -> None:
        """A bound: what is wrong where it does not hold."""
        if not holds:
            self.wrong.append(otherwise)

    def window(self, before: Usage, pid_before: float) -> Window:
        """From `before` until now. Waits until Chromium's last line is here."""
        after, cpu = usage(), cpu_seconds(self.publisher.pid)
        time.sleep(2.2)
        begin, end = before.at, after.at
        seconds, machine = end - begin, after.all - before.all
        busy = machine - (after.idle - before.idle)
        count = sum(begin <= at < end for at in self.viewer.shown)
        return Window(
            seconds=seconds,
            fps=count / seconds,
            longest_gap_s=self.viewer.longest_gap(begin, end),
            idle_share=(after.idle - before.idle) / machine if machine else 0.0,
            others_cores=max(0.0, busy - (after.ours - before.ours)) / seconds,
            cpu_share=(cpu - pid_before) / seconds,
            states=[state for at, state in self.viewer.states if begin <= at <= end + 2],
        )


@dataclass
class Attack:
    """One attack. `memory_mb` is the most that the publisher's memory may grow by while it lasts."""

    name: str
    run: Callable[[Stage], None]
    memory_mb: float
    options: tuple[str, ...] = ()


@dataclass
class Result:
    attack: Attack
    baseline: Window
    during: Window
    grown_mb: float
    said: list[str]
    wrong: list[str]
    repeated: bool = False

    @property
    def is_disturbed(self) -> bool:
        return self.baseline.is_disturbed or self.during.others_cores > OTHERS_CORES

    def line(self) -> str:
        verdict = "FAILED: " + "; ".join(self.wrong) if self.wrong else "ok"
        return (
            f"{self.attack.name}: {', '.join(self.said)}; {self._processor()} of a core, {self.grown_mb:+.1f} MB; "
            f"Chromium {self._chromium()}; idle {self.during.idle_share:.0%}, others {self._others()} cores: {verdict}"
        )

    def row(self) -> str:
        failed = f" **{'; '.join(self.wrong)}**" if self.wrong else ""
        return (
            f"| {self.attack.name} | {', '.join(self.said)}{failed} | {self._processor()} | {self.grown_mb:+.1f} of "
            f"{self.attack.memory_mb:g} MB | {self._chromium()} | {self._others()} |"
        )

    def _chromium(self) -> str:
        before, during = self.baseline, self.during
        return f"{before.fps:.1f} -> {during.fps:.1f} fps, {1000 * during.longest_gap_s:.0f} ms"

    def _processor(self) -> str:
        return f"{self.baseline.cpu_share:.0%} -> {self.during.cpu_share:.0%}"

    def _others(self) -> str:
        return f"{self.during.others_cores:.1f}" + (", repeated" if self.repeated else "")


HEAD = (
    "| attack | publisher | its share of a core | its memory | Chromium: frame rate, longest gap | cores of others |\n"
    "|---|---|---|---|---|---|\n"
)


def wait_until_quiet(patience_s: float) -> None:
    """Until others leave the machine alone for five seconds, or patience ends."""
    end = time.time() + patience_s
    while time.time() < end:
        before = usage()
        time.sleep(5)
        after = usage()
        busy = (after.all - after.idle) - (before.all - before.idle)
        if (busy - (after.ours - before.ours)) / (after.at - before.at) < OTHERS_CORES:
            return


def play(attack: Attack, publisher: Publisher, viewer: Viewer, patience_s: float) -> Result:
    """The baseline, then the attack; a second time if a bound was broken while the machine was busy with
    other things, and once it no longer is or patience ends."""
    result = _once(attack, publisher, viewer)
    if result.wrong and result.is_disturbed and publisher.is_running():
        print(f"  again, others took {result.during.others_cores:.1f} cores: {'; '.join(result.wrong)}", flush=True)
        wait_until_quiet(patience_s)
        result = _once(attack, publisher, viewer)
        result.repeated = True
    return result


def _once(attack: Attack, publisher: Publisher, viewer: Viewer) -> Result:
    stage = Stage(publisher, viewer)
    begun, cpu = usage(), cpu_seconds(publisher.pid)
    time.sleep(BASELINE_S)
    baseline = stage.window(begun, cpu)
    memory, begun, cpu = publisher.memory_mb(), usage(), cpu_seconds(publisher.pid)
    try:
        attack.run(stage)
    except (OSError, RuntimeError, ValueError, HTTPException) as error:
        stage.wrong.append(f"{type(error).__name__}: {error}")
    time.sleep(max(0.5, SHORTEST_S - (time.time() - begun.at)))
    during = stage.window(begun, cpu)
    running = publisher.is_running()
    grown = publisher.memory_mb() - memory if running else 0.0
    stage.expect(running, "the publisher has ended")
    stage.expect(grown <= attack.memory_mb, f"{grown:.1f} MB of memory came, at most {attack.memory_mb:g} may")
    stage.expect(baseline.fps >= BASELINE_FPS, f"Chromium: {baseline.fps:.1f} fps before, too few to compare with")
    stage.expect(
        during.fps >= baseline.fps - FPS_BELOW_BASELINE, f"Chromium: {during.fps:.1f} fps, {baseline.fps:.1f} before"
    )
    gap = during.longest_gap_s
    stage.expect(gap <= LONGEST_GAP_S, f"Chromium: {1000 * gap:.0f} ms without a frame")
    stage.expect(not during.states, f"Chromium's connection became {', '.join(during.states)}")
    return Result(attack, baseline, during, grown, stage.said, stage.wrong)
