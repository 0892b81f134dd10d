"""Figures of ``--json`` computed again from the events of their runs, by docs/reference/metrics.md without its code."""

import functools
import itertools
import json
import math

import numpy as np
import pyarrow.parquet
import pytest

SCHEMES = ["gcc", "copa", "vidaptive", "camel", "salsify", "fbra", "rebera", "nada", "scream", "thalweg"]
# Seconds, options of the command, and the least of the link's hops: its rate in Mbps in each second, or the name of its
# opportunities.
LINKS = {
    "constant": (20, ["--rate", "2Mbps"], [2.0] * 20),
    "square": (20, ["--rate", "2Mbps/500kbps@5s"], ([2.0] * 5 + [0.5] * 5) * 2),
    "finite": (
        20,
        ["--rate", "1500kbps/400kbps@7s", "--queue", "60kB", "--delay", "40ms"],
        [1.5] * 7 + [0.4] * 7 + [1.5] * 6,
    ),
    "two": (20, ["--rate", "3Mbps", "--then", "1Mbps", "--loss", "2%"], "1Mbps"),
    "cellular": (20, ["--trace", "lte-driving"], "lte-driving"),
    # A tenth of packets comes twice, half of those before the link, and a tenth of reports; and a clock that is fast.
    "copies": (
        20,
        [
            *("--rate", "2Mbps", "--set", "scenario.clock_drift_ppm=200", "--set"),
            'scenario.forward.hops=[{duplicate={probability=0.05,after="5ms"}},{rate={rate="2Mbps"}},'
            '{delay={delay="25ms"}},{duplicate={probability=0.05}},{loss={random={probability=0.02}}}]',
            *("--set", 'scenario.reverse.hops=[{duplicate={probability=0.1}},{delay={delay="25ms"}}]'),
        ],
        [2.0] * 20,
    ),
}


class Opportunities:
    """Milliseconds in which 1500 bytes may leave, in a loop; and whether another hop has a rate."""

    def __init__(self, path, seconds, among_rates):
        once = [int(line) for line in path.read_text().split()]
        rounds = 1 + 1000 * seconds // once[-1]
        self.times = [at + turn * once[-1] for turn in range(rounds) for at in once]
        self.among_rates = among_rates


def percentile(values, share):
    """Between the two nearest ranks (type 7)."""
    return float(np.percentile(np.asarray(values, dtype=float), 100 * share)) if len(values) else None


class Events:
    """The events of flow 0 by kind."""

    def __init__(self, path):
        table = pyarrow.parquet.read_table(path)
        self.rows = {}
        for row in table.to_pylist():
            if row["flow"] == 0:
                self.rows.setdefault(row["event"], []).append(row)

    def of(self, kind):
        return self.rows.get(kind, [])


def latencies(captured, shown):
    """Milliseconds from each capture to the next picture shown that is not older; how many have none."""
    at = {row["picture"]: row["time_ns"] for row in shown}
    found, following, missing = [], None, 0
    for picture in sorted(captured, reverse=True):
        following = at.get(picture, following)
        if following is None:
            missing += 1
        else:
            found.append((following - captured[picture]) / 1e6)
    return found, missing


def available(rates, trace, second):
    if rates is not None:
        return rates[second] * 1e6
    return 12_000 * sum(1 for at in trace.times if 1000 * second <= at < 1000 * (second + 1))


def counted(seconds, capacity):
    """Seconds in which the estimate is judged: not the five after a change by a tenth, unless too few are left."""
    changed = [k == 0 or abs(capacity[k] - capacity[k - 1]) > 0.1 * capacity[k - 1] for k in range(seconds)]
    left = [not any(changed[max(0, k - 4) : k + 1]) for k in range(seconds)]
    return left if sum(left) >= 0.25 * seconds else [k >= 5 for k in range(seconds)]


def media_packets(events):
    """Frame and payload of each packet of media; events name neither.

    A sender sends frame after frame: packets of media in the order in which they left are those of the frames in
    order of queueing, less those flushed. A packet is its part of the frame's payload and headers of one size; the
    first of a frame may have some bytes more.
    """
    flushed = {row["frame"]: row["count"] for row in events.of("frame-flushed")}
    media = iter([row for row in events.of("packet-sent") if row["what"] == "media"])
    left, headers = [], {}
    for row in events.of("frame-queued"):
        packets = [packet for _, packet in zip(range(row["count"] - flushed.get(row["frame"], 0)), media, strict=False)]
        if len(packets) == row["count"]:
            headers.setdefault(row["count"], set()).add(sum(packet["bytes"] for packet in packets) - row["bytes"])
        left.append((row["frame"], packets))
    assert next(media, None) is None and all(len(sizes) == 1 for sizes in headers.values())
    least, most = min(headers), max(headers)
    all_of = {count: sizes.pop() for count, sizes in headers.items()}
    each = (all_of[most] - all_of[least]) // (most - least)
    first = all_of[least] - (least - 1) * each
    assert all(size == first + (count - 1) * each for count, size in all_of.items())
    return {
        packet["packet"]: (frame, packet["bytes"] - (each if place else first))
        for frame, packets in left
        for place, packet in enumerate(packets)
    }


def delivered(events, seconds, capacity):
    """``delivery.*``, and ``redundancy.*`` of FEC for repair; what of it made good a loss only where nothing was lost,
    since no event says which packets FEC protects."""
    media = media_packets(events)
    packets = list(media.values())
    number = {packet: sequence for sequence, packet in enumerate(media)}
    number |= {row["packet"]: int(row["value"]) for row in events.of("packet-sent") if row["value"] is not None}
    captured = {row["picture"]: row["time_ns"] for row in events.of("picture-read")}
    begun = {row["frame"]: captured[row["picture"]] for row in events.of("frame-queued")}
    came = [(row["time_ns"], number[row["packet"]]) for row in events.of("packet-arrived") if row["packet"] in number]
    came += [(row["time_ns"], row["packet"]) for row in events.of("packet-recovered")]
    first = {sequence: at for at, sequence in sorted(came, reverse=True)}
    lost = {number[row["packet"]] for row in events.of("packet-dropped") if row["what"] == "media"}
    in_time, late = [0] * seconds, []
    for sequence, at in first.items():
        frame, payload = packets[sequence]
        if at - begun[frame] <= 400_000_000:
            in_time[at // 10**9] += 8 * payload
        else:
            late.append(frame)
    lost_frames = {packets[sequence][0] for sequence in lost - set(first)}
    figures = {
        "delivery.goodput_bps": sum(in_time) / seconds,
        "delivery.abu": float(np.mean([bits / can for bits, can in zip(in_time, capacity, strict=True) if can])),
        "delivery.discard_ratio": len(late) / len(media),
        "delivery.lost_frames": len(lost_frames),
        "delivery.lost_or_late_frames": len(lost_frames.union(late)),
    }
    bytes_of = lambda what: sum(  # noqa: E731
        row["bytes"] for row in events.of("packet-sent") if row["what"] == what and row["value"] is None
    )
    if fec := bytes_of("repair"):
        figures["redundancy.fec_bitrate_bps"] = 8 * fec / seconds
        figures["redundancy.fec_share"] = fec / bytes_of("media")
        if not lost:
            figures["redundancy.ffre"] = None
            figures["redundancy.protected_lost_frames"] = 0
        decisions = [row["what"] for row in events.of("decision")]
        ended = [after for what, after in itertools.pairwise(decisions) if what == "probe" != after]
        figures["redundancy.probes"] = len(ended)
        figures["redundancy.frcc"] = sum(what in ("raise", "stay") for what in ended) / len(ended) if ended else None
    return figures


def share_of_bound(summary, curve):
    """The share of the bitrate that the curve has at the run's latency; ``None`` where it has less or begins later."""
    at = summary["latency_p95_ms"]
    times, most = ([point[key] for point in curve] for key in ("latency_p95_ms", "video_bitrate_bps"))
    share = summary["video_bitrate_bps"] / float(np.interp(at, times, most)) if at >= times[0] else None
    return None if share is None or share > 1.001 else min(share, 1.0)


def recomputed(events, outcome, seconds, rates, trace):
    end_ns = seconds * 10**9
    captured = {row["picture"]: row["time_ns"] for row in events.of("picture-read")}
    shown = events.of("frame-displayed")
    payload = {row["frame"]: row["bytes"] for row in events.of("frame-queued")}
    sent, arrived = events.of("packet-sent"), events.of("packet-arrived")
    left = {row["packet"]: row["time_ns"] for row in sent}
    each, missing = latencies(captured, shown)
    times = sorted(row["time_ns"] for row in shown)
    displays, last = 0, None
    for at in times:
        if last is None or at - last >= 8_000_000:
            displays, last = displays + 1, at
    gaps = np.diff([*times, end_ns]) if times else []
    stalled = sum(int(gap) for gap in gaps if gap > 200_000_000)
    due = [picture for picture, at in captured.items() if at + 400_000_000 <= end_ns]
    latency_of = {row["picture"]: row["span_ns"] for row in shown}
    in_time = sum(1 for picture in due if latency_of.get(picture, math.inf) <= 400_000_000)
    bytes_of = lambda rows, *kinds: sum(row["bytes"] for row in rows if not kinds or row["what"] in kinds)  # noqa: E731
    figures = {
        "latency_p50_ms": percentile(each, 0.5),
        "latency_p95_ms": percentile(each, 0.95),
        "latency_mean_ms": sum(each) / len(each),
        "tail_missing": missing,
        "frame_rate_fps": len(times) / seconds,
        "shown_fps": displays / seconds,
        "in_time_ratio": in_time / len(due),
        "stall_ratio": stalled / (end_ns - times[0]),
        "video_bitrate_bps": 8 * sum(payload[row["frame"]] for row in shown) / seconds,
        "wire_bitrate_bps": 8 * bytes_of(sent) / seconds,
        "padding_bitrate_bps": 8 * bytes_of(sent, "padding") / seconds,
        "packet_loss_ratio": len(events.of("packet-dropped")) / len(sent),
        "queue_delay_p95_ms": percentile([row["span_ns"] / 1e6 for row in arrived], 0.95),
        "one_way_delay_mean_ms": float(np.mean([(row["time_ns"] - left[row["packet"]]) / 1e6 for row in arrived])),
        "psnr_db": float(np.mean([row["value"] for row in shown if row["value"] is not None])),
    }
    if rates is None:
        # Mahimahi's packet information counts where every hop has opportunities.
        information = 0 if trace.among_rates else 4
        opportunities = sum(1 for at in trace.times if at < 1000 * seconds)
        figures["utilization"] = (bytes_of(arrived) + information * len(arrived)) / (
            (1500 + information) * opportunities
        )
    else:
        figures["utilization"] = 8 * bytes_of(arrived) / (sum(rates) * 1e6)
    capacity = [available(rates, trace, second) for second in range(seconds)]
    judged = counted(seconds, capacity)
    off = [
        (row["value"] - capacity[second]) / capacity[second]
        for row in events.of("variable")
        if row["what"] == "capacity_bps"
        and (second := row["time_ns"] // 10**9) < seconds
        and judged[second]
        and capacity[second]
    ]
    figures["estimate_accuracy"] = float(np.mean([max(0.0, 1 - abs(one)) for one in off])) if off else None
    figures["estimate_bias"] = float(np.mean(off)) if off else None
    # SSIM is no event: of the frames in outcome.json.
    ssim = [frame["ssim"] for frame in outcome["frames"] if frame["displayed_s"] is not None]
    figures["ssim_db"] = -10 * math.log10(1 - float(np.mean(ssim)))
    figures["ssim_p25_db"] = percentile([-10 * math.log10(1 - one) for one in ssim], 0.25)
    clamp = lambda value: min(5.0, max(1.0, value))  # noqa: E731
    screen = outcome["screen"]
    figures["screen_ssim_db"] = -10 * math.log10(1 - float(np.mean([moment["ssim"] for moment in screen])))
    figures["screen_psnr_db"] = float(np.mean([moment["psnr_db"] for moment in screen]))
    figures |= delivered(events, seconds, capacity)
    figures["qoe_call"] = clamp(-6.39e-4 * figures["latency_mean_ms"] + 6.22e-2 * figures["ssim_db"] + 3.30)
    figures["qoe_driving"] = clamp(-1.92e-3 * figures["latency_mean_ms"] + 0.101 * figures["ssim_db"] + 2.67)
    return figures


@pytest.mark.parametrize("link", LINKS)
def test_figures_are_what_the_events_say_to_the_sixth_digit(command_line, tmp_path, link):
    seconds, options, rates = LINKS[link]
    schemes = ["--scheme", ",".join(SCHEMES), "--encoder", "model", "--duration", f"{seconds}s"]
    told = json.loads(command_line("compare", *schemes, *options, "--out", tmp_path / "out", "--json", "-q"))
    trace = None
    if isinstance(rates, str):
        command_line("trace", "convert", rates, tmp_path / "link", "--duration", f"{seconds}s", "--as", "mahimahi")
        trace, rates = Opportunities(tmp_path / "link", seconds, "--rate" in options), None
    wrong, compared = [], 0
    for summary in told["runs"]:
        folder = tmp_path / "out" / summary["scheme"].replace(":", "-")
        outcome = json.loads((folder / "outcome.json").read_text())
        figures = recomputed(Events(folder / "events.parquet"), outcome, seconds, rates, trace)
        if curve := outcome.get("bound"):
            figures["bound_share"] = share_of_bound(summary, curve)
        compared += len(figures)
        wrong += differing(summary, figures)
    # The delivery of each, and what redundancy costs: FBRA's, and of three schemes where packets are lost; where none
    # are, also the share of the bound, and what FEC made good.
    more = 4 * 3 if link in ("two", "copies") else len(SCHEMES) + 6
    assert compared == 29 * len(SCHEMES) + more and not wrong, "\n".join(wrong)


def differing(summary, figures):
    """Figures that are not those of the summary to six digits."""
    for name, ours in figures.items():
        theirs = functools.reduce(lambda of, key: (of or {}).get(key), name.split("."), summary)
        same = ours is theirs if None in (ours, theirs) else math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-9)
        if not same:
            yield f"{summary['scheme']} {name}: {theirs}, by its events {ours}"


def test_shares_of_flows_are_what_the_events_of_each_say(command_line, tmp_path):
    seconds, begin = 20, {0: 0, 1: 4, 2: 6}
    others = 'scenario.competitors=[{sender={scheme="copa",from="4s"}},{tcp={from="6s"}}]'
    schemes = ["--scheme", "gcc,thalweg,fbra", "--encoder", "model", "--duration", f"{seconds}s"]
    options = ["--rate", "6Mbps", "--queue", "100kB", "--set", others, "--out", tmp_path / "out", "--json", "-q"]
    wrong = []
    for summary in json.loads(command_line("compare", *schemes, *options))["runs"]:
        table = pyarrow.parquet.read_table(tmp_path / "out" / summary["scheme"] / "events.parquet")
        came = np.zeros((3, seconds))
        for row in table.to_pylist():
            if row["event"] in ("packet-arrived", "segment-arrived"):
                came[row["flow"], row["time_ns"] // 10**9] += 8 * row["bytes"]
        together = came[:, max(begin.values()) :]
        jain = lambda rates: float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))  # noqa: E731
        figures = {
            "sharing.from_s": max(begin.values()),
            "sharing.until_s": seconds,
            "sharing.jain": jain(together.sum(axis=1)),
            "sharing.jain_by_second": float(np.mean([jain(second) for second in together.T])),
            "tcp.throughput_bps": came[2].sum() / (seconds - begin[2]),
            "tcp.tfs": came[2].sum() / (seconds - begin[2]) / (6e6 / 3),
            "tcp.tfs_of_tcp_alone": came[2].sum() / (seconds - begin[2]) / 6e6,
        }
        wrong += differing(summary, figures)
        for flow, portion in enumerate(summary["sharing"]["flows"]):
            ours = {
                "throughput_bps": together[flow].sum() / together.shape[1],
                "share": together[flow].sum() / together.sum(),
            }
            wrong += differing({"scheme": f"{summary['scheme']}, flow {flow}", **portion}, ours)
    assert not wrong, "\n".join(wrong)
