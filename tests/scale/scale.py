"""How many viewers one core serves.

`scale.py [--viewers 50,100,...] [--all] [--seconds S] [WHAT ...]`, where WHAT is of

  file      `thalweg publish --encoded` of a VP8 file of 1.5 Mbps
  janus     Janus' streaming plugin, which is sent the same file by ffmpeg
  encoder   `thalweg publish --encoders 1` at 360p, by libvpx on the same core

and all of them without one. Each is started anew for each number of viewers, until one is too many: the audience gets less
than its video, or packets leave later than 5 ms after their time (of the viewer that fares worst, 99 %), or, as Janus knows no
such times, its frames come more than 100 ms after the least (99 %). Prints a table, and leaves every figure in target/scale/scale.json.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time
import urllib.request

SERVER_CORE, AUDIENCE_CORE = 0, 1
STEPS = {
    "file": [50, 100, 200, 300, 400, 500, 600],
    "janus": [50, 100, 150, 200, 300, 400, 500],
    "encoder": [10, 25, 50, 100],
}
# GCC's packet group: later than this, a packet would change what it measures.
LATEST_MS = 5.0
# Of the file's frames, those that a viewer gets at least.
COMPLETE = 0.98
FRAME_RATE = 30
# Where there is no pacer, frames that come later than this, beyond the least, have waited for the core.
LATEST_FRAME_MS = 100.0
# Above this share of a core the audience measures itself.
FULL = 0.9
PAGE, GATEWAY, MEDIA = 8095, 8096, 5104

TARGET = pathlib.Path(os.environ.get("SCALE_TARGET", "target/scale"))
CLIP = TARGET / "clip.ivf"


def on(core, *command):
    return ["taskset", "-c", str(core), *map(str, command)]


def clip():
    """A moving test picture, encoded as a live encoder does: constant rate, half a second of buffer, a keyframe in two seconds
    that is at most three times the mean frame."""
    if CLIP.exists():
        return
    rate = "1500k"
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=size=1280x720:rate={FRAME_RATE}", "-t", "20",
         "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0", "-b:v", rate, "-minrate", rate,
         "-maxrate", rate, "-bufsize", "750k", "-max-intra-rate", "300", "-g", str(2 * FRAME_RATE),
         "-keyint_min", str(2 * FRAME_RATE), CLIP],
        check=True,
    )


class Server:
    """Server of the audience, on a core of its own; and the sender to it, on the audience's."""

    def __init__(self, command, kind, url, ready, source=()):
        self.kind, self.url = kind, url
        self.log = open(TARGET / f"{kind}.log", "ab")
        start = lambda command: subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        self.process = start(on(SERVER_CORE, *command))
        self.source = None
        try:
            for _ in range(100):
                time.sleep(0.1)
                if self.process.poll() is not None:
                    sys.exit(f"{command[0]} ended: {self.log.name}")
                try:
                    urllib.request.urlopen(ready, timeout=3).read()
                    break
                except OSError:
                    pass
            else:
                sys.exit(f"{command[0]} does not answer at {ready}: {self.log.name}")
            self.source = start(on(AUDIENCE_CORE, *source)) if source else None
        except BaseException:
            self.end()
            raise

    def end(self):
        for process in filter(None, [self.source, self.process]):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.log.close()


def publisher(*arguments):
    page = f"127.0.0.1:{PAGE}"
    command = [os.environ["THALWEG"], "publish", *arguments, "--scheme", "gcc", "--audio", "none", "--listen", page,
               "--viewers", 1000]
    return Server(command, "whep", f"http://{page}", f"http://{page}/health")


def janus():
    folder = TARGET / "janus"
    folder.mkdir(exist_ok=True)
    written = {
        # One loop for all: a thread for each of hundreds of viewers would have them fight for one core.
        "janus.jcfg": "general: { session_timeout = 0, event_loops = 1, debug_level = 3 }\nmedia: {}\n",
        "janus.transport.http.jcfg": f'general: {{ http = true, port = {GATEWAY}, ip = "127.0.0.1", https = false }}\n'
        "admin: { admin_http = false }\n",
        "janus.plugin.streaming.jcfg": 'general: {}\nclip: { type = "rtp", id = 1, audio = false, video = true, '
        f'videoport = {MEDIA}, videopt = 96, videocodec = "vp8" }}\n',
    }
    for name, text in written.items():
        (folder / name).write_text(text)
    sender = ["ffmpeg", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", CLIP, "-c", "copy", "-payload_type", "96",
              "-f", "rtp", f"rtp://127.0.0.1:{MEDIA}?pkt_size=1200"]
    url = f"http://127.0.0.1:{GATEWAY}/janus"
    return Server(["janus", "-F", folder, "--disable-colors"], "janus", url, f"{url}/info", sender)


START = {
    "file": lambda: publisher(CLIP, "--encoded", "--max-rate", "3Mbps"),
    "janus": janus,
    "encoder": lambda: publisher("scene", "--size", "360p", "--encoders", "1", "--max-rate", "1Mbps"),
}


def busy():
    """Seconds that this machine's cores worked so far, and those that the host took from it."""
    fields = [int(field) / os.sysconf("SC_CLK_TCK") for field in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    user, nice, system, _idle, _wait, interrupt, soft, steal = fields[:8]
    return user + nice + system + interrupt + soft, steal


def used(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(what, viewers, seconds):
    load = os.getloadavg()[0]
    server = START[what]()
    try:
        ours = [process for process in (server.process, server.source) if process]
        before, began, children = busy(), time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        already = sum(map(used, ours))
        arguments = [server.kind, server.url, viewers, seconds, server.process.pid]
        audience = subprocess.run(on(AUDIENCE_CORE, os.environ["AUDIENCE"], *arguments), capture_output=True, text=True)
        after, passed, now = busy(), time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if audience.returncode != 0:
            return {"what": what, "asked": viewers, "error": audience.stderr.strip() or audience.stdout.strip()}
        spent = sum(map(used, ours)) - already + now.ru_utime + now.ru_stime - children.ru_utime - children.ru_stime
    finally:
        server.end()
    found = json.loads(audience.stdout)
    elsewhere = (after[0] - before[0] - spent) / passed
    found |= {"what": what, "load_before": load, "cores_elsewhere": elsewhere, "cores_stolen": (after[1] - before[1]) / passed}
    return found


def why_not(found):
    """Why this was too much, if it was."""
    if "error" in found:
        return found["error"].splitlines()[-1]
    if found["viewers"] < found["asked"]:
        return f"{found['viewers']} of {found['asked']} stayed"
    if found["audience"]["cores"] > FULL:
        return "the audience's core is full"
    if found["frames_a_second_each"] < COMPLETE * FRAME_RATE and found["what"] != "encoder":
        return f"{found['frames_a_second_each']:.1f} frames a second"
    lateness = found["metrics"] and found["metrics"]["lateness_ms"]["p99"]["most"]
    if lateness is not None and lateness > LATEST_MS:
        return f"packets {lateness:.1f} ms late"
    transit = found["frame_transit_ms"]["p99"]
    if found["metrics"] is None and transit is not None and transit > LATEST_FRAME_MS:
        return f"frames {transit:.0f} ms late"
    return None


COLUMNS = [
    ("", lambda f: f["what"]),
    ("viewers", lambda f: f["viewers"]),
    ("Mbps each", lambda f: f"{f['mbps_each']:.2f}"),
    ("frames a second", lambda f: f"{f['frames_a_second_each']:.1f}"),
    ("packets a second", lambda f: f"{f['packets_a_second']:.0f}"),
    ("of a core", lambda f: f"{100 * f['server']['cores']:.0f} %"),
    ("us a packet", lambda f: f"{f['server']['us_a_packet'] or 0:.1f}"),
    ("CPU ms a viewer's second", lambda f: f"{f['server']['ms_a_viewer_second'] or 0:.2f}"),
    ("MB", lambda f: f"{f['server']['memory_mb']:.0f}"),
    ("calls that send, a datagram", lambda f: f"{f['metrics']['calls_a_datagram']['sent']:.2f}" if f["metrics"] else ""),
    ("late ms P50 / P99 (worst)", lambda f: late(f["metrics"]["lateness_ms"]) if f["metrics"] else ""),
    ("frame's transit ms P50 / P99", lambda f: f"{f['frame_transit_ms']['p50']:.1f} / {f['frame_transit_ms']['p99']:.1f}"),
    ("audience's core", lambda f: f"{100 * f['audience']['cores']:.0f} %"),
    ("elsewhere", lambda f: f"{100 * f['cores_elsewhere']:.0f} %"),
    ("too much", lambda f: f["too_much"] or ""),
]


def late(of):
    milliseconds = [of["p50"]["median"], of["p99"]["median"], of["p99"]["most"]]
    half, most, worst = ["-" if value is None else f"{value:.2f}" for value in milliseconds]
    return f"{half} / {most} ({worst})"


def row(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="WHAT", help="file, janus, encoder")
    parser.add_argument("--viewers", help="other steps, such as 50,100")
    parser.add_argument("--all", action="store_true", help="go on after what is too much")
    parser.add_argument("--seconds", type=int, default=20, help="how long each is measured, once it has settled")
    arguments = parser.parse_args()
    if unknown := [what for what in arguments.what if what not in START]:
        parser.error(f"{unknown[0]!r} is unknown: {', '.join(START)}")
    if missing := [name for name in ("ffmpeg", "taskset", "janus") if not shutil.which(name)]:
        sys.exit(f"not installed: {', '.join(missing)}")
    TARGET.mkdir(parents=True, exist_ok=True)
    clip()
    found, most = [], {}
    row(name for name, _ in COLUMNS)
    row("---" for _ in COLUMNS)
    for what in arguments.what or START:
        for viewers in [int(step) for step in arguments.viewers.split(",")] if arguments.viewers else STEPS[what]:
            one = measure(what, viewers, arguments.seconds)
            one["too_much"] = why_not(one)
            found.append(one)
            (TARGET / "scale.json").write_text(json.dumps(found, indent=1))
            if "error" in one:
                row([what, viewers, one["error"]])
            else:
                row(value(one) for _, value in COLUMNS)
            if not one["too_much"]:
                most[what] = one
            elif not arguments.all:
                break
    print()
    for what, one in most.items():
        print(f"{what}: {one['viewers']} viewers of {one['mbps_each']:.2f} Mbps, {one['server']['us_a_packet']:.1f} us a packet")
    if {"file", "janus"} <= most.keys():
        ours, theirs = most["file"], most["janus"]
        viewers = ours["viewers"] / theirs["viewers"]
        cost = theirs["server"]["us_a_packet"] / ours["server"]["us_a_packet"]
        print(f"thalweg to Janus: {viewers:.2f} times the viewers; Janus' packet costs {cost:.2f} times ours")


if __name__ == "__main__":
    main()
