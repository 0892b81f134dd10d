"""SOAK_MINUTES (30) of viewers who join, move, lie, fall silent and vanish, of strangers and of idle connections, with
a disk that is full: a viewer in Chromium is not disturbed, and memory stays flat.

What Chromium shows in a minute in which others took the machine is said, and not judged; there must be others.
"""

import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

import client
import floods
import paths
import reports
import rtcp
import signalling
import strangers
from client import Client, acknowledge, join, new_credentials
from harness import LONGEST_GAP_S, Publisher, Stage, Viewer, Window, cpu_seconds, usage
from stun import Address

MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))
TARGET = Path(os.environ["ATTACKS_TARGET"])
SCHEMES = ["gcc", "vidaptive", "camel", "copa"]
GUESTS = 4
# Of Chromium's frames in a minute: the camera's thirty but for two, as beside each attack alone.
LEAST_FPS = 28.0
# The second half's mean memory over the first's, once the allocator's arenas, histories and buffers have grown.
SETTLED, MOST_GROWTH = 0.2, 0.05
# What one file of the publisher may have: its qlogs then fail as on a full disk, and its capture fails at once.
FILE_BYTES = 256 << 10
DISK_FULL = ["--pcap", "/dev/full"]
# Where those come from who never watch.
THERE = "127.0.0.9"


def limit_files() -> None:
    """Runs in the publisher before it begins: a write beyond the limit is an error instead of the end."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


class Guest:
    """A viewer beside Chromium for some seconds, who ends as chance will have it."""

    def __init__(self, stage: Stage, chance: random.Random) -> None:
        self.chance = chance
        self.client = Client(stage.publisher.page, scheme=chance.choice(SCHEMES))
        self.until = time.time() + chance.uniform(8, 25)

    def act(self) -> str:
        """Something that viewers do or that liars would."""
        one = self.client

        def garbage() -> None:
            for _ in range(200):
                one.send(os.urandom(200))

        deeds: list[tuple[str, Callable[[], object]]] = [
            ("moves", one.move),
            ("is mute", one.path.mute),
            ("asks for keyframes", lambda: setattr(one, "reports", asking_for_keyframes)),
            ("asks for repeats", lambda: setattr(one, "reports", asking_for_repeats)),
            ("acknowledges blindly", lambda: setattr(one, "reports", reports.blindly)),
            ("says nothing", lambda: setattr(one, "reports", paths.nothing)),
            ("sends garbage", garbage),
        ]
        name, deed = self.chance.choice(deeds)
        deed()
        return name

    def end(self) -> str:
        if self.chance.random() < 0.5:
            self.client.close()
            return "leaves"
        self.client.vanish()
        return "vanishes"


def asking_for_keyframes(one: Client, now: float) -> None:
    acknowledge(one, now)
    one.rtcp(rtcp.picture_loss(one.joined.media))


def asking_for_repeats(one: Client, now: float) -> None:
    acknowledge(one, now)
    one.rtcp(rtcp.nack(one.joined.media, [(one.newest_sequence - 17 * block, 0xFFFF) for block in range(1, 20)]))


def strange(page: Address, media: Address, chance: random.Random) -> str:
    """Something that nobody who watches does."""

    def idle() -> None:
        made = [signalling.connect(page, THERE) for _ in range(200)]
        for one in made:
            one.close()

    deeds: list[tuple[str, Callable[[], object]]] = [
        ("garbage", lambda: floods.from_strangers(media, floods.garbage(), 4000, 4000)),
        ("idle connections", idle),
        ("unconnected joins", lambda: [join(page, client.offer(new_credentials()), source=THERE) for _ in range(20)]),
        ("broken offers", lambda: [join(page, text, source=THERE) for text in ["", "v=0\0", "a=x\r\n" * 9000]]),
    ]
    name, deed = chance.choice(deeds)
    deed()
    return name


def soak(stage: Stage) -> list[str]:
    chance, publisher = random.Random(1), stage.publisher
    media = strangers.media_address(stage)
    guests: list[Guest] = []
    counts: dict[str, int] = {}
    memory: list[tuple[float, float]] = []
    minutes: list[Window] = []

    def count(what: str) -> None:
        counts[what] = counts.get(what, 0) + 1

    begun = time.time()
    minute, cpu = usage(), cpu_seconds(publisher.pid)
    while time.time() - begun < 60 * MINUTES and publisher.is_running():
        time.sleep(1)
        for guest in [guest for guest in guests if guest.until < time.time()]:
            guests.remove(guest)
            count(guest.end())
        try:
            if len(guests) < GUESTS:
                guests.append(Guest(stage, chance))
                count("joins")
            elif chance.random() < 0.2:
                count(chance.choice(guests).act())
            elif chance.random() < 0.05:
                count(strange(publisher.page, media, chance))
        except (OSError, RuntimeError, HTTPException):
            # All places are taken: by those who do not connect, or who have vanished and are not given up yet.
            count("refused")
        memory.append((time.time() - begun, publisher.memory_mb()))
        if time.time() - minute.at > min(60.0, 20 * MINUTES):
            minutes.append(stage.window(minute, cpu))
            print(
                f"{memory[-1][0]:.0f} s: {memory[-1][1]:.0f} MB, {publisher.encoders()} encoders; {minutes[-1]}",
                flush=True,
            )
            minute, cpu = usage(), cpu_seconds(publisher.pid)
    for guest in guests:
        guest.client.vanish()
    print(f"in {MINUTES:g} minutes: {', '.join(f'{number} {what}' for what, number in sorted(counts.items()))}")
    stage.expect(publisher.is_running(), "the publisher has ended")
    judge_memory(stage, memory)
    judge_chromium(stage, minutes)
    return stage.wrong


def judge_memory(stage: Stage, memory: list[tuple[float, float]]) -> None:
    settled = [megabytes for at, megabytes in memory if at >= SETTLED * 60 * MINUTES]
    if len(settled) < 2:
        return stage.expect(False, "too short for its memory")
    half = len(settled) // 2
    first, second = sum(settled[:half]) / half, sum(settled[half:]) / (len(settled) - half)
    print(
        f"memory once settled: {min(settled):.1f} to {max(settled):.1f} MB, {second / first - 1:+.1%} from half to half"
    )
    stage.expect(second <= (1 + MOST_GROWTH) * first, f"memory grows: {first:.1f} MB, then {second:.1f}")


def judge_chromium(stage: Stage, minutes: list[Window]) -> None:
    quiet = [window for window in minutes if not window.is_disturbed]
    longest = max((window.longest_gap_s for window in minutes), default=0.0)
    rates = [window.fps for window in minutes]
    if rates:
        print(f"Chromium: {min(rates):.1f} to {max(rates):.1f} fps, longest gap {1000 * longest:.0f} ms")
    print(f"{len(minutes) - len(quiet)} of {len(minutes)} minutes disturbed by others")
    stage.expect(bool(quiet), "others took the machine all the time: what Chromium shows was not judged")
    for window in quiet:
        stage.expect(window.fps >= LEAST_FPS, f"Chromium: {window.fps:.1f} fps in a quiet minute")
        gap = window.longest_gap_s
        stage.expect(gap <= LONGEST_GAP_S, f"Chromium: {1000 * gap:.0f} ms without a frame in a quiet minute")
    states = [state for window in minutes for state in window.states if state not in ("connecting", "connected")]
    stage.expect(not states, f"Chromium's connection became {', '.join(states)}")


def main() -> int:
    # So that publisher and browser are ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    log = TARGET / "logs" / "soak.log"
    qlog = TARGET / "soak-qlog"
    publisher = Publisher(log, *DISK_FULL, "--qlog", str(qlog), prepare=limit_files)
    try:
        viewer = Viewer(publisher.link)
        stage = Stage(publisher, viewer)
        wrong = soak(stage)
        viewer.stop()
    finally:
        code = publisher.stop()
    said = log.read_text()
    for what in ["capture", "qlog"]:
        if what not in said:
            wrong.append(f"the log does not say that the {what} ended on a full disk: {log}")
    if code != 0:
        wrong.append(f"the publisher ended with {code}")
    print("\n".join(wrong) or "nobody was disturbed, and memory is flat")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
