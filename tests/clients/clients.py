"""Plays `thalweg publish` to clients that others wrote, and prints a table of what each showed.

Each client is a program that is given the page's address and seconds, and the token by THALWEG_TOKEN, and prints one line of JSON: its `version`, and
`frames` as pairs of when each was shown (ms since 1970, this machine's clock) and its barcode's number, null if it has
no picture to read one from. Fails if one shows fewer than 24 of 30 frames a second or stands for half a second.
"""

import argparse
import json
import os
import pathlib
import re
import secrets
import statistics
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
NPM = ["werift", "wrtc", "node-datachannel", "whip-whep"]
PYTHON = f"{os.environ['CLIENTS']}/bin/python"
CLIENTS = {
    "chromium": ["node", str(HERE / "chromium.mjs")],
    "firefox": [PYTHON, str(HERE / "firefox.py")],
    "aiortc": [PYTHON, str(HERE / "aiortc_viewer.py")],
    # Debian's own, which has the bindings of Debian's GStreamer.
    "gstreamer": ["/usr/bin/python3", str(HERE / "gstreamer.py")],
    "pion": [f"{os.environ['CLIENTS']}/pion"],
    **{name: ["node", str(HERE / "node/viewer.mjs"), name] for name in NPM},
}
# Those whose only reports are receiver reports are played gcc:loss, whatever was asked for.
DEFAULT = ["chromium", "firefox", "aiortc", "aiortc:vidaptive", "aiortc:camel", "gstreamer", "pion", *NPM]
REPORTS_ONLY = ("aiortc",)
FPS, LONGEST_MS = 24, 500
# Start-up: one keyframe, and a rate that begins at 300 kbps.
SETTLED_MS = 3000


def publish(scheme):
    """A publisher of the built-in scene at 360p30 without an emulated link, and its address."""
    command = [os.environ["THALWEG"], "publish", "scene", "--size", "640x360", "--barcode"]
    command += ["--listen", "0.0.0.0:0"] + (["--scheme", scheme] if scheme else [])
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    if found is None:
        process.kill()
        raise SystemExit(f"no address in what the publisher says: {line!r}")
    return process, re.sub(r"//[^:/]+|#.*", lambda part: "//10.77.0.1" if part[0].startswith("//") else "", found[0])


def get(url):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {os.environ['THALWEG_TOKEN']}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def watch(client, url, seconds):
    """Output of the client, and the publisher's metrics while it watches."""
    command = [*CLIENTS[client], url, str(seconds + SETTLED_MS / 1000)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(SETTLED_MS / 1000 + seconds / 2)
        # These are for this machine alone.
        metrics = get(url.replace("10.77.0.1", "127.0.0.1") + "metrics")
        try:
            said, _ = process.communicate(timeout=seconds / 2 + 60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SystemExit(f"{client} did not end") from None
    if process.returncode != 0 or not said.strip():
        raise SystemExit(f"{client} failed with {process.returncode}: {said}")
    return json.loads(said.splitlines()[-1]), metrics


def share(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def judge(about, frames, seconds):
    """Figures of a client by name; times from the first frame on."""
    first = frames[0][0] if frames else 0
    settled = [(at, number) for at, number in frames if SETTLED_MS <= at - first <= SETTLED_MS + 1000 * seconds]
    if len(settled) < 2:
        return {"fps": 0.0, "freezes": 1, "longest_ms": 1000 * seconds, "latency_ms": None, "latency_p95_ms": None}
    gaps = [after[0] - before[0] for before, after in zip(settled, settled[1:])]
    taken = [at - about["epoch_ms"] - number * about["frame_interval_ms"] for at, number in settled if number is not None]
    return {
        "fps": 1000 * len(gaps) / (settled[-1][0] - settled[0][0]),
        "freezes": sum(gap >= LONGEST_MS for gap in gaps),
        "longest_ms": max(gaps),
        "latency_ms": statistics.median(taken) if taken else None,
        "latency_p95_ms": share(taken, 0.95) if taken else None,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("clients", nargs="*", default=DEFAULT)
    arguments = parser.parse_args()
    os.environ["THALWEG_TOKEN"] = secrets.token_hex(16)
    print("| client | scheme asked for | fps | freezes of 500 ms | longest gap, ms | latency P50 / P95, ms | |")
    print("|---|---|---|---|---|---|---|", flush=True)
    good = True
    for asked in arguments.clients:
        client, _, scheme = asked.partition(":")
        publisher, url = publish(scheme)
        try:
            about = json.loads(get(url + "about"))
            said, metrics = watch(client, url, arguments.seconds)
        finally:
            publisher.terminate()
            publisher.wait(10)
        found = judge(about, said["frames"], arguments.seconds)
        wrong = []
        if found["fps"] < FPS or found["freezes"]:
            wrong.append("TOO FEW FRAMES")
        if client in REPORTS_ONLY and "thalweg_scheme_replaced{" not in metrics:
            wrong.append("/metrics DOES NOT SAY THAT ANOTHER SCHEME IS PLAYED")
        good = good and not wrong
        late = "-" if found["latency_ms"] is None else f"{found['latency_ms']:.0f} / {found['latency_p95_ms']:.0f}"
        row = [said["version"], scheme or "default", f"{found['fps']:.1f}", found["freezes"], f"{found['longest_ms']:.0f}", late]
        print("|", " | ".join(map(str, [*row, " ".join(wrong)])), "|", flush=True)
    print(f"load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
