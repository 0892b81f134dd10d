"""Senders that others wrote, and our own, one after another over a link that drops, measured by one `thalweg receive`.

`senders.py [SENDER ...]`; `senders.py --table FILE` prints the table of an earlier run's senders.json. The link has
2 Mbps, from the 15th second after the sender joined 500 kbps, from the 30th 2 Mbps again. Fails if a sender does not
connect, is not decoded or is not in the report, or if a figure is out of its bounds.
"""

import dataclasses
import json
import os
import pathlib
import queue
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

import imageio_ffmpeg

from receiving import Receiver

HERE = pathlib.Path(__file__).parent
WIDE, NARROW, PHASE_S = 2_000_000, 500_000, 15
SECONDS = 3 * PHASE_S
LINK = ["--rate", f"{WIDE}bps/{NARROW}bps@{PHASE_S}s", "--delay", "25ms"]
# Of the first phase and of that at 500 kbps, the start is a way up or down; the rest is judged.
SETTLING_S = 5
# What those send who have no controller: the rates of Pion's file and of the encoders of ffmpeg and webrtcbin.
FIXED = 1_200_000
FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()


@dataclasses.dataclass
class Sender:
    """A program that joins, sends the clip for so many seconds and leaves."""

    # What it sends, after its version.
    label: str
    # Of a shell's form; what is in braces is in `places`.
    command: str
    # What is known of it: its codec, how it can be reported to, and what is received of it over 2 Mbps.
    codec: str
    feedback: str
    wide_mbps: tuple[float, float]
    # Whether anything in it slows down when the link does; if not, pictures are seconds old at the end of the 500 kbps.
    follows: bool
    # Prints the version as its first line, if the command itself does not.
    version: str = ""


FIXED_MBPS = (0.8, 1.6)
SENDERS = {
    "chromium": Sender(
        "the page's camera, which is a file",
        "node {here}/chromium.mjs '{page}?send&name=chromium' {clip} {seconds}",
        *("VP8", "twcc", (0.2, 2.05), True),
    ),
    "ffmpeg": Sender(
        "its WHIP muxer, libx264 at 1.2 Mbps",
        "{ffmpeg} -re -i {clip} -f lavfi -i sine -c:v libx264 -preset veryfast -tune zerolatency -profile:v baseline "
        "-bf 0 -g 90 -b:v {rate} -maxrate {rate} -bufsize {rate} -c:a libopus -ar 48000 -ac 2 -t {seconds} "
        "-f whip {whip}?name=ffmpeg",
        *("H264", "plain", FIXED_MBPS, False),
        version="{ffmpeg} -version",
    ),
    # Debian's Python, which has the bindings of Debian's GStreamer.
    "webrtcbin": Sender(
        "vp8enc at 1.2 Mbps",
        "/usr/bin/python3 {here}/gstreamer_sender.py {whip}?name=webrtcbin {clip} {seconds}",
        *("VP8", "plain", FIXED_MBPS, False),
    ),
    "pion": Sender(
        "a file of 1.2 Mbps",
        "{senders}/pion {whip}?name=pion {ivf} {seconds}",
        *("VP8", "twcc", FIXED_MBPS, False),
    ),
    "whip-whep": Sender(
        "over libwebrtc, with an ICE restart half way",
        "node {here}/../clients/node/sender.mjs {whip}?name=whip-whep {clip} {seconds}",
        *("VP8", "twcc", (0.2, 2.05), True),
    ),
    "aiortc": Sender(
        "its encoder, whose rate nothing asks to change",
        "{python} {here}/aiortc_sender.py {whip}?name=aiortc {clip} {seconds}",
        *("VP8", "plain", (0.3, 1.6), False),
    ),
    "thalweg": Sender(
        "`publish --whip --barcode`",
        "{thalweg} publish {clip} --barcode --listen 127.0.0.1:0 --whip {whip}?name=thalweg --duration {seconds}s",
        *("VP8", "twcc-on-request", (0.3, 2.05), True),
        version="{thalweg} --version",
    ),
}


def metrics(page):
    with urllib.request.urlopen(page + "metrics", timeout=10) as answer:
        return dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if not line.startswith("#"))


def sample(page, name):
    """State of a sender at this moment; None before it has joined."""
    at, found = time.monotonic(), {}
    for key, value in metrics(page).items():
        if labels := re.fullmatch(r"thalweg_(\w+)\{sender=\"" + name + r"-\d+\"\}", key):
            found[labels[1]] = float(value)
    return {"at": at, **found} if found else None


def play(receiver, name, command):
    """Output of the program, its figures twice a second, and those when it had left."""
    samples = []
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            end = time.monotonic() + SECONDS + 60
            while process.poll() is None and time.monotonic() < end:
                if found := sample(receiver.page, name):
                    samples.append(found)
                time.sleep(0.5)
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        said = output.read()
    try:
        # A sender that says no goodbye is given up after 30 s.
        return said, process.returncode, samples, receiver.left.get(timeout=40)
    except queue.Empty:
        return said, process.returncode, samples, None


def phases(samples):
    """The samples by phase: those before, at and after 500 kbps, each since the first."""
    begin = samples[0]["at"]
    found = ([], [], [])
    for sample in samples:
        narrow = sample["link_bytes_per_second"] * 8 < (WIDE + NARROW) / 2
        phase = 1 if narrow else 2 if found[1] else 0
        found[phase].append({**sample, "since": sample["at"] - begin})
    return found


def of_phase(samples):
    """Rates received and shown in the settled part of a phase, if there is one: Mbps, and pictures a second."""
    settled = [sample for sample in samples if sample["since"] - samples[0]["since"] >= SETTLING_S]
    if len(settled) < 4:
        return None
    length = settled[-1]["at"] - settled[0]["at"]
    rates = [8 * sample["wire_bytes_per_second"] for sample in settled]
    return {
        "mbps": sum(rates) / len(rates) / 1e6,
        "fps": (settled[-1]["frames_decoded_total"] - settled[0]["frames_decoded_total"]) / length,
    }


def judge(sender, row):
    """Faults of the figures, as sentences."""
    wrong = []

    def holds(what, value, least, most):
        if value is None or not least <= value <= most:
            wrong.append(f"{what} is {value}, which is not within {least} and {most}")

    seen, summary, (before, during, after) = row["figures"], row["summary"], row["phases"]
    if (seen["codec"], seen["feedback"]) != (sender.codec, sender.feedback):
        wrong.append(f"{seen['codec']} and {seen['feedback']} are agreed on, not {sender.codec} and {sender.feedback}")
    if not (before and during and after):
        return [*wrong, "it was not there long enough"]
    holds("frames a second before the drop", before["fps"], 12, 32)
    holds("Mbps before the drop", before["mbps"], *sender.wide_mbps)
    # Nobody gets more through 500 kbps than that; who does not follow fills it.
    holds("Mbps at 500 kbps", during["mbps"], 0.1 if sender.follows else 0.4, 0.6)
    holds("frames a second at the end", after["fps"], 5, 60)
    holds("frames that could not be decoded", seen["frames_undecodable"], 0, 0)
    holds("P50 of the latency, ms", summary["latency_p50_ms"], 25, 1000 if sender.follows else 6000)
    # Who sends 1.2 Mbps is 9 s late after the 15 s.
    holds("P95 of the latency, ms", summary["latency_p95_ms"], *((30, 5000) if sender.follows else (1000, 12_000)))
    holds("of the link", seen["utilization"], 0.15, 1.02)
    holds("packets lost", seen["packet_loss_ratio"], 0, 0.02)
    return wrong


def table(results):
    """Rows of docs/receive.md."""
    yield (
        "| sender | codec, reports | Mbps before, during, after | of the link | fps | latency P50, P95 "
        "| freezes, longest | lost |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for row in results["senders"].values():
        seen, summary = row["figures"], row["summary"]
        rates = ", ".join(f"{part['mbps']:.2f}" if part else "-" for part in row["phases"])
        link, lost = f"{100 * seen['utilization']:.0f} %", f"{100 * seen['packet_loss_ratio']:.1f} %"
        latency = f"{summary['latency_p50_ms']:.0f}, {summary['latency_p95_ms']:.0f} ms"
        freezes = f"{seen['freezes']}, {seen['longest_freeze_ms']:.0f} ms"
        name, reports = f"{row['version']}, {row['label']}", f"{seen['codec']}, {seen['feedback']}"
        cells = [name, reports, rates, link, f"{seen['frame_rate_fps']:.1f}", latency, freezes, lost]
        yield f"| {' | '.join(cells)} |"


def clips(folder):
    """The numbered scene as a camera's file, long enough for nobody to play it twice, and as what Pion plays."""
    clip, ivf = folder / "clip.y4m", folder / "clip.ivf"
    with clip.open("wb") as file:
        subprocess.run([os.environ["BARCODES"], "640x360", "0", str(30 * (SECONDS + 3))], stdout=file, check=True)
    encoder = f"-c:v libvpx -deadline realtime -cpu-used 8 -b:v {FIXED} -minrate {FIXED} -maxrate {FIXED} -g 90"
    subprocess.run([FFMPEG, "-loglevel", "error", "-i", str(clip), *encoder.split(), str(ivf)], check=True)
    return {"clip": clip, "ivf": ivf}


def run(names, out, folder):
    receiver = Receiver(out, *LINK)
    places = {"here": HERE, "senders": os.environ["SENDERS"], "thalweg": os.environ["THALWEG"], "ffmpeg": FFMPEG}
    places |= {"python": sys.executable, "page": receiver.page, "whip": receiver.whip}
    places |= {"rate": FIXED, **clips(folder)}

    results, wrong = {"load_at_begin": os.getloadavg()[0], "cores": os.cpu_count(), "link": LINK, "senders": {}}, []
    try:
        for name in names:
            sender = SENDERS[name]
            command = sender.command.format(**places, seconds=SECONDS)
            said, code, samples, seen = play(receiver, name, shlex.split(command))
            if code != 0:
                wrong.append(f"{name} ended with {code}: {said[-2000:]}")
            if seen is None or not seen["frames_decoded"] or not samples:
                wrong.append(f"{name}: nothing was decoded: {said[-2000:]}")
                continue
            if sender.version:
                command = shlex.split(sender.version.format(**places))
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            version = said.splitlines()[0].split(" Copyright")[0].replace(" version", "")
            parts = [of_phase(part) for part in phases(samples)]
            results["senders"][name] = {"label": sender.label, "version": version, "phases": parts, "figures": seen}
            print(f"{name}: {version}, load {os.getloadavg()[0]:.1f}", flush=True)
    finally:
        if receiver.end() != 0:
            wrong.append("the receiver does not end as it should")
    report = (out / "report.html").read_text() if results["senders"] else ""
    for name, row in results["senders"].items():
        full = row["figures"]["name"]
        row["summary"] = json.loads((out / full / "summary.json").read_text())
        row["captured_by"] = json.loads((out / full / "sender.json").read_text())["captured_by"]
        if row["summary"]["scheme"] != full or full not in report:
            wrong.append(f"{name}: it is not in the report")
        wrong += [f"{name}: {what}" for what in judge(SENDERS[name], row)]
    results["load_at_end"] = os.getloadavg()[0]
    return results, wrong


def main():
    if sys.argv[1:2] == ["--table"]:
        print(*table(json.loads(pathlib.Path(sys.argv[2]).read_text())), sep="\n")
        return 0
    out = pathlib.Path(os.environ["SENDERS"]) / "out"
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        results, wrong = run(sys.argv[1:] or list(SENDERS), out, pathlib.Path(folder))
    (out.parent / "senders.json").write_text(json.dumps(results, indent=2) + "\n")
    print(*table(results), sep="\n")
    print(f"load {results['load_at_begin']:.1f} to {results['load_at_end']:.1f} on {results['cores']} cores")
    print(f"{out}/report.html")
    print(*(f"FAILED: {what}" for what in wrong), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
