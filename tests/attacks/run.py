"""Every attack of the audit against `thalweg publish`, with a viewer in Chromium beside it.

`run.py [--page FILE] [--patience SECONDS] [NAME ...]`: the attacks whose names contain one of these, or all. Fails if a
bound is broken. The table is written to target/attacks/table.txt, and into FILE after its line `## Measured`.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import paths
import reports
import signalling
import spoofed
import strangers
from harness import HEAD, THALWEG, Attack, Publisher, Result, Viewer, play

TARGET = Path(os.environ["ATTACKS_TARGET"])
TOKEN = "0123456789abcdef0123456789abcdef"
# What plays together has one publisher, one browser and these options of `publish`.
FAMILIES: dict[str, tuple[tuple[str, ...], list[Attack]]] = {
    "strangers": ((), strangers.ATTACKS),
    "spoofed": ((), spoofed.ATTACKS),
    "signalling": ((), signalling.ATTACKS),
    "token": (("--token", TOKEN), signalling.WITH_TOKEN),
    "reports": ((), reports.ATTACKS),
    "paths": ((), paths.ATTACKS),
    "open": (("--udp", "0.0.0.0:0"), paths.OPEN),
}


def family(name: str, options: tuple[str, ...], attacks: list[Attack], patience_s: float) -> list[Result]:
    publisher = Publisher(TARGET / "logs" / f"{name}.log", *options)
    try:
        viewer = Viewer(publisher.link)
        try:
            results = []
            # Memory of the allocator, of histories and of buffers grows in the first seconds.
            time.sleep(5)
            for attack in attacks:
                results.append(play(attack, publisher, viewer, patience_s))
                print(results[-1].line(), flush=True)
            return results
        finally:
            viewer.stop()
    finally:
        if publisher.is_running() and (code := publisher.stop()) != 0:
            print(f"{name}: the publisher ended with {code}", flush=True)


def table(results: list[Result]) -> str:
    version = subprocess.run([THALWEG, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    build = "debug" if "/debug/" in THALWEG else "release"
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    day = time.strftime("%Y-%m-%d")
    cores = os.cpu_count()
    # Of this session against others' (sched(7)).
    group = Path("/proc/self/autogroup")
    priority = group.read_text().split()[-1] if group.exists() else "0"
    return (
        f"{day}, {version}, {build} build, {cores} cores, autogroup at nice {priority}; load over 1, 5 and 15 minutes\n"
        f"at the end: {load}.\n\n" + HEAD + "\n".join(result.row() for result in results) + "\n"
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--page", type=Path)
    # How long a repetition waits for the machine to become quiet.
    arguments.add_argument("--patience", type=float, default=180.0)
    arguments.add_argument("names", nargs="*")
    asked = arguments.parse_args()
    # So that publisher and browser are ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results = []
    for name, (options, attacks) in FAMILIES.items():
        if asked.names and name not in asked.names:
            attacks = [attack for attack in attacks if any(part in attack.name for part in asked.names)]
        if attacks:
            results += family(name, options, attacks, asked.patience)
    text = table(results)
    (TARGET / "table.txt").write_text(text)
    if asked.page:
        head, found, _ = asked.page.read_text().partition("## Measured\n")
        if not found:
            raise SystemExit(f"{asked.page} has no line `## Measured`")
        asked.page.write_text(head + found + "\n" + text)
    failed = [result for result in results if result.wrong]
    print(f"{len(results)} attacks, {len(failed)} broke a bound" + "".join(f"\n  {result.line()}" for result in failed))
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
