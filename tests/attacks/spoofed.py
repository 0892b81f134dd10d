"""Packets that somebody on the path can send in the name of a viewer: from its address, without its keys."""

import os
import struct
import time
from collections.abc import Callable

import floods
import strangers
from client import Client
from harness import Attack, Stage

# The connection goes on if media came so shortly before the end of the flood.
LATEST_MEDIA_S = 0.5


def of_a_viewer(make: Callable[[int], bytes], count: int, per_second: float) -> Callable[[Stage], None]:
    """The viewer's connection stands, and its media goes on."""

    def run(stage: Stage) -> None:
        with Client(stage.publisher.page) as viewer:
            viewer.connect()
            rate = floods.flood(make, count, per_second, viewer.send)
            end = time.time()
            time.sleep(1)
            silent = end - max((at for path in viewer.paths for at, _ in path.media if at <= end), default=0.0)
            stage.say(f"{rate:.0f} a second, media came {1000 * silent:.0f} ms before the end")
            stage.expect(silent < LATEST_MEDIA_S, f"no media for {silent:.1f} s")
            stage.expect(viewer.last_media() > end and not viewer.ended, "the connection ended")

    return run


def rtp(payload: int = 97, synchronisation: Callable[[int], int] = lambda _: 0) -> Callable[[int], bytes]:
    def make(number: int) -> bytes:
        return struct.pack(">BBHII", 0x80, payload, number & 0xFFFF, number, synchronisation(number)) + os.urandom(200)

    return make


def alert(number: int) -> bytes:
    """A fatal handshake_failure, or close_notify, in the clear, of the first epoch or claiming the second."""
    level, description = (1, 0) if number % 3 == 0 else (2, 40)
    return b"\x15\xfe\xfd" + struct.pack(">H", number % 2) + os.urandom(6) + b"\x00\x02" + bytes([level, description])


def change_cipher_spec(_: int) -> bytes:
    return b"\x14\xfe\xfd\x00\x00" + os.urandom(6) + b"\x00\x01\x01"


def unified_header(number: int) -> bytes:
    """DTLS 1.3's, which begins with 001 (RFC 9147 section 4)."""
    return bytes([0x2C | number % 4]) + os.urandom(60)


ATTACKS = [
    Attack("From a viewer's address: 50,000 RTP packets", of_a_viewer(rtp(), 50_000, 10_000), 24),
    Attack("From a viewer's address: 50,000 RTCP packets", of_a_viewer(rtp(201), 50_000, 10_000), 24),
    Attack(
        "From a viewer's address: 50,000 RTP packets of 1,000 streams",
        of_a_viewer(rtp(97, lambda number: number), 50_000, 10_000),
        24,
    ),
    Attack(
        "From a viewer's address: 20,000 broken DTLS records",
        of_a_viewer(floods.garbage(b"\x16\xfe\xfd", 60, 200), 20_000, 10_000),
        24,
    ),
    Attack("From a viewer's address: 3,000 alerts in the clear", of_a_viewer(alert, 3_000, 1_000), 24),
    Attack("From a viewer's address: 5,000 ClientHellos", of_a_viewer(strangers.client_hello, 5_000, 1_000), 24),
    Attack("From a viewer's address: 5,000 ChangeCipherSpecs", of_a_viewer(change_cipher_spec, 5_000, 2_000), 24),
    Attack("From a viewer's address: 5,000 records of DTLS 1.3", of_a_viewer(unified_header, 5_000, 2_000), 24),
]
