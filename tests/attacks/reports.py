"""A viewer whose reports are lies or floods."""

import time
from collections.abc import Callable

import rtcp
from client import Client, acknowledge
from harness import Attack, Stage

SECONDS = 8.0
# Requests closer together count as one (crates/sender/src/engine/mod.rs, KEYFRAME_REQUEST_INTERVAL).
KEYFRAME_INTERVAL_S = 0.3
ENDED = "thalweg_viewers_ended_total"


def blindly(client: Client, now: float) -> None:
    """Acknowledges everything up to far ahead, as arrived just now, whether it came or was ever sent."""
    if client.newest_number is None:
        return
    for base in range(client.newest_number - 20, client.newest_number + 940, 240):
        client.rtcp(rtcp.transport_feedback(client.joined.media, base, 240, client.report_count, now, frozenset()))
        client.report_count += 1


def false_acknowledgements(stage: Stage, scheme: str) -> None:
    """The publisher skips numbers now and then: who acknowledges those is ended."""
    before = stage.publisher.metric(ENDED, 'why="false_acknowledgements"')
    with Client(stage.publisher.page, scheme=scheme, reports=acknowledge) as liar:
        liar.connect()
        liar.reports, begun = blindly, time.time()
        took = liar.wait(lambda: liar.ended, 20, "the liar was not ended")
        stage.say(f"ended after {1000 * took:.0f} ms and {liar.bytes_between(begun, time.time()) / 1000:.0f} kB")
    ended = stage.publisher.metric(ENDED, 'why="false_acknowledgements"') - before
    stage.expect(ended == 1, f"{ENDED} counts {ended:.0f} more, must be one")


def of_the_future(stage: Stage) -> None:
    """Report on numbers that may be sent in a minute or never."""

    def ahead(client: Client, now: float) -> None:
        acknowledge(client, now)
        if client.newest_number is not None:
            base = client.newest_number + 2000 + client.report_count * 200 % 28_000
            client.rtcp(rtcp.transport_feedback(client.joined.media, base, 200, client.report_count, now, frozenset()))
            client.report_count += 1

    with Client(stage.publisher.page) as liar:
        liar.connect()
        begun, liar.reports = time.time(), ahead
        time.sleep(SECONDS)
        rate = liar.bytes_between(begun, time.time()) * 8 / SECONDS / 1e6
        stage.say(f"{rate:.1f} Mbps, {'ended' if liar.ended else 'goes on'}")
        stage.expect(rate < 6, f"{rate:.1f} Mbps to a viewer of 320x180 whose reports are lies")


def picture_losses(stage: Stage) -> None:
    def flood(client: Client, now: float) -> None:
        acknowledge(client, now)
        for _ in range(9):
            client.rtcp(rtcp.picture_loss(client.joined.media))

    with Client(stage.publisher.page) as liar:
        liar.connect()
        label = stage.publisher.newest_viewer()

        def counted(name: str) -> float:
            return stage.publisher.metric(name, label)

        keyframes, requests = counted("thalweg_keyframes_total"), counted("thalweg_keyframe_requests_total")
        liar.reports, begun = flood, time.time()
        time.sleep(SECONDS)
        seconds = time.time() - begun
        keyframes = counted("thalweg_keyframes_total") - keyframes
        requests = counted("thalweg_keyframe_requests_total") - requests
        stage.say(f"{requests / seconds:.0f} heard a second, {keyframes:.0f} keyframes in {seconds:.1f} s")
        stage.expect(requests > 100 * seconds, f"{requests:.0f} requests were heard: too few to be a flood")
        most = seconds / KEYFRAME_INTERVAL_S + 2
        stage.expect(keyframes <= most, f"{keyframes:.0f} keyframes in {seconds:.1f} s, at most {most:.0f}")


def repeats(make: Callable[[int], list[tuple[int, int]]]) -> Callable[[Stage], None]:
    """Requests for `make(newest)` of packets that have come: they are part of what the path carries, and no more."""

    def run(stage: Stage) -> None:
        def flood(client: Client, now: float) -> None:
            acknowledge(client, now)
            for _ in range(6):
                client.rtcp(rtcp.nack(client.joined.media, make(client.newest_sequence)))

        publisher = stage.publisher
        with Client(publisher.page) as liar:
            liar.connect()
            label = publisher.newest_viewer()
            liar.reports, before, begun, believed = flood, publisher.metrics(), time.time(), []
            while time.time() - begun < SECONDS:
                time.sleep(0.5)
                believed.append(publisher.metric("thalweg_capacity_bytes_per_second", label))
            seconds, after = time.time() - begun, publisher.metrics()

            def rate(name: str, *labels: str) -> float:
                now, then = (publisher.metric(name, label, *labels, text=text) for text in (after, before))
                return (now - then) / seconds

            sent, repair = rate("thalweg_sent_bytes_total"), rate("thalweg_sent_bytes_total", 'payload="repair"')
            capacity = sum(believed) / len(believed)
            stage.say(
                f"{rate('thalweg_nacks_total'):.0f} requests heard a second, {8e-6 * sent:.2f} Mbps sent, "
                f"{8e-6 * repair:.2f} of them repeats, {8e-6 * capacity:.2f} believed"
            )
            stage.expect(
                sent <= max(believed), f"{8e-6 * sent:.2f} Mbps, more than the path was ever believed to carry"
            )

    return run


ATTACKS = [
    Attack("Acknowledges whatever may have been sent, `bbr`", lambda stage: false_acknowledgements(stage, "bbr"), 24),
    Attack(
        "Acknowledges whatever may have been sent, `scream`", lambda stage: false_acknowledgements(stage, "scream"), 24
    ),
    Attack("Acknowledges numbers far ahead", of_the_future, 24),
    Attack("Some 900 requests for a keyframe a second", picture_losses, 24),
    Attack(
        "Requests for the latest thousand packets, 600 a second",
        repeats(lambda newest: [(newest - 17 * block, 0xFFFF) for block in range(1, 60)]),
        24,
    ),
    Attack("Requests for one packet, 600 a second", repeats(lambda newest: [(newest - 3, 0)]), 24),
]
