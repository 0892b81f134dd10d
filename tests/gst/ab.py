"""Unmodified webrtcsink over emulated links, once with its own rtpgccbwe and once with ours under that name.

`ab.py [--links NAME,...] [--with SCHEME,...] [--runs N] [--seconds S] [--size WxH] [--together] [--check]`;
`ab.py --table FILE` prints the table of an earlier run. Everything else is the same: plugins, clip, receiver
(`thalweg receive`), link. Which of two plugins has the element's name is decided by the order of GST_PLUGIN_PATH.
--check fails if ours is behind on a link.
"""

import argparse
import json
import os
import pathlib
import queue
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent / "senders"))

from receiving import Receiver  # noqa: E402

THEIRS = "rtpgccbwe"
# That of docs/receive.md: a queue without end, so who does not follow is late.
LINKS = {"square": ["--rate", "2Mbps/500kbps@15s"]}
# Recorded links by the way of the video and that of the reports.
RECORDED = ("Verizon-LTE-short.up", "ATT-LTE-driving-2016.up")


def links(names):
    for name in names:
        if name in LINKS:
            yield name, [*LINKS[name], "--delay", "25ms"]
        else:
            back = name.replace(".up", ".back").replace(".down", ".up").replace(".back", ".down")
            traces = pathlib.Path(os.environ["TRACES"])
            yield name, ["--up", str(traces / name), "--down", str(traces / back), "--delay", "25ms"]


def environment(contestant, registry):
    """Which plugins there are, and which of the two that have rtpgccbwe comes last and so has it."""
    plugins = pathlib.Path(os.environ["PLUGINS"])
    ours, theirs = str(plugins / "thalweg"), str(plugins / "rsrtp")
    order = [ours, theirs] if contestant == THEIRS else [theirs, ours]
    scheme = {} if contestant == THEIRS else {"THALWEG_AS_RTPGCCBWE": contestant}
    path = os.pathsep.join([str(plugins / "rswebrtc"), *order])
    return {**os.environ, "GST_PLUGIN_PATH": path, "GST_REGISTRY": str(registry), **scheme}


def start(receiver, contestant, name, clip, seconds, registry):
    """The sender, whose words go to a file."""
    sender, endpoint = HERE / "webrtcsink_sender.py", f"{receiver.whip}?name={name}"
    command = ["/usr/bin/python3", sender, endpoint, clip, str(seconds)]
    words = tempfile.TemporaryFile("w+")
    process = subprocess.Popen(
        command, env=environment(contestant, registry), stdout=words, stderr=subprocess.STDOUT, text=True
    )
    return process, words


def finish(contestant, name, process, words, seconds):
    """Output of the sender, after a check that it was the right one."""
    try:
        process.wait(seconds + 60)
    finally:
        process.kill()
    words.seek(0)
    text = words.read()
    said = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    plugin = next((line["rtpgccbwe"] for line in said if "rtpgccbwe" in line), None)
    if plugin != ("rsrtp" if contestant == THEIRS else "thalweg"):
        raise SystemExit(f"{name}: the element was made by {plugin}: {text[-3000:]}")
    return said


def play(receiver, names, clip, seconds, folder):
    """The calls of these contestants at once: what was measured of each, and what it said."""
    begun = {
        contestant: start(receiver, contestant, name, clip, seconds, folder / f"registry-{contestant}")
        for contestant, name in names.items()
    }
    said = {contestant: finish(contestant, names[contestant], *one, seconds) for contestant, one in begun.items()}
    seen = {}
    for _ in names:
        try:
            figures = receiver.left.get(timeout=40)
        except queue.Empty:
            raise SystemExit(f"nothing was received of one of {', '.join(names)}") from None
        seen[figures["name"].rsplit("-", 1)[0]] = figures
    return {contestant: (seen[name], said[contestant]) for contestant, name in names.items()}


def run(options, out, folder):
    clip = folder / "clip.y4m"
    with clip.open("wb") as file:
        count = str(30 * (options.seconds + 8))
        subprocess.run([os.environ["BARCODES"], options.size, "0", count], stdout=file, check=True)
    contestants = [THEIRS, *options.schemes]
    results = {"options": {"seconds": options.seconds, "size": options.size}, "links": {}}
    results["cores"] = os.cpu_count()
    for link, arguments in links(options.links):
        receiver = Receiver(out / link, "--codec", "vp8", "--senders", "16", *arguments)
        rows = results["links"].setdefault(link, {"arguments": arguments, "runs": []})
        try:
            # One after another, by turns, or all at once: so that what the machine does meanwhile meets all.
            turns = [contestants] if options.together else [[contestant] for contestant in contestants]
            for number in range(options.runs):
                for turn in turns:
                    names = {one: f"{re.sub('[^a-z0-9]', '-', one)}-{number}" for one in turn}
                    load = os.getloadavg()[0]
                    for contestant, (seen, said) in play(receiver, names, clip, options.seconds, folder).items():
                        results.setdefault("version", said[0]["version"])
                        one = {"contestant": contestant, "load": load, "figures": seen}
                        rows["runs"].append({**one, "said": said[1:]})
        finally:
            receiver.end()
        # The receiver writes what it measured after a sender has left, and is done with that when it ends.
        for one in rows["runs"]:
            one["summary"] = json.loads((out / link / one["figures"]["name"] / "summary.json").read_text())
            figures = {key: round(value, 2) for key, value in of_run(one).items()}
            print(f"{link} {one['contestant']}: {figures}, load {one['load']:.1f}", flush=True)
        (out.parent / "ab.json").write_text(json.dumps(results, indent=1) + "\n")
    return results


def of_run(one):
    seen, summary = one["figures"], one["summary"]
    return {
        "mbps": summary["video_bitrate_bps"] / 1e6,
        "p50": summary["latency_p50_ms"],
        "p95": summary["latency_p95_ms"],
        "fps": seen["frame_rate_fps"],
        "lost": 100 * seen["packet_loss_ratio"],
        "stalled": 100 * seen["stall_ratio"],
    }


def figures(rows, contestant):
    """Each figure of a contestant: its mean, least and most over the runs."""
    runs = [of_run(one) for one in rows["runs"] if one["contestant"] == contestant]
    columns = {key: [run[key] for run in runs] for key in runs[0]}
    return {key: (statistics.fmean(values), min(values), max(values)) for key, values in columns.items()}


def contestants(results):
    return list(dict.fromkeys(one["contestant"] for rows in results["links"].values() for one in rows["runs"]))


def table(results):
    """Rows of docs/gstreamer.md: mean, and in brackets least and most over the runs."""
    yield "| link | controller | Mbps | of theirs | latency P50 | P95 | of theirs | fps | stalled | lost |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for link, rows in results["links"].items():
        base = figures(rows, THEIRS)
        for contestant in contestants(results):
            row = figures(rows, contestant)

            def cell(key, digits, row=row):
                mean, least, most = (f"{value:.{digits}f}" for value in row[key])
                return f"{mean} ({least}-{most})"

            mbps, p95 = (row[key][0] / base[key][0] for key in ("mbps", "p95"))
            cells = [link, f"`{contestant}`", cell("mbps", 2), f"{mbps:.2f}", f"{row['p50'][0]:.0f} ms"]
            cells += [f"{cell('p95', 0)} ms", f"{p95:.2f}", cell("fps", 1)]
            cells += [f"{row['stalled'][0]:.1f} %", f"{row['lost'][0]:.1f} %"]
            yield f"| {' | '.join(cells)} |"


def behind(results, rate, latency):
    """Where none of ours has so many times their bitrate at so many times their latency, as sentences."""
    for link, rows in results["links"].items():
        base = figures(rows, THEIRS)
        ours = {name: figures(rows, name) for name in contestants(results) if name != THEIRS}
        meets = [
            name
            for name, row in ours.items()
            if row["mbps"][0] >= rate * base["mbps"][0] and row["p95"][0] <= latency * base["p95"][0]
        ]
        if not meets:
            yield f"{link}: none of {', '.join(ours)} has {rate} times the bitrate at {latency} times the P95 latency"


def main():
    parser = argparse.ArgumentParser()
    words = {"type": lambda text: text.split(",")}
    parser.add_argument("--links", **words, default=["square", *RECORDED])
    parser.add_argument("--with", dest="schemes", **words, default=["gcc", "copa", "scream"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--together", action="store_true", help="the contestants of a round at once, at most four")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rate", type=float, default=1.3)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--table", type=pathlib.Path)
    options = parser.parse_args()
    if options.table:
        results = json.loads(options.table.read_text())
    else:
        out = pathlib.Path(os.environ["OUT"]) / "runs"
        shutil.rmtree(out, ignore_errors=True)
        with tempfile.TemporaryDirectory() as folder:
            results = run(options, out, pathlib.Path(folder))
    print(*table(results), sep="\n")
    loads = [one["load"] for rows in results["links"].values() for one in rows["runs"]]
    print(f"{results['version']}; load {min(loads):.1f} to {max(loads):.1f} on {results['cores']} cores")
    wrong = list(behind(results, options.rate, options.latency))
    print(*(f"BEHIND: {what}" for what in wrong), sep="\n")
    return 1 if wrong and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
