"""Datagrams of addresses that the publisher does not know."""

import os
import struct
from collections.abc import Callable

import client
import floods
from client import join, leave, new_credentials
from harness import Attack, Stage
from stun import Address

COUNT, PER_SECOND = 100_000, 20_000.0
UNKNOWN = "thalweg_unknown_source_datagrams_total"
LOST = "thalweg_udp_lost_datagrams_total"


def media_address(stage: Stage) -> Address:
    """Where the publisher takes datagrams, as any answer says."""
    joined = join(stage.publisher.page, client.offer(new_credentials()))
    leave(stage.publisher.page, joined)
    return joined.address


def silence(
    make: Callable[[Stage], Callable[[int], bytes]], count: int, is_counted: bool = True
) -> Callable[[Stage], None]:
    """Nothing is answered, and all is counted: as of an unknown source, unless it names a viewer, or lost in the
    kernel."""

    def run(stage: Stage) -> None:
        publisher = stage.publisher
        datagrams, before = make(stage), publisher.metrics()
        rate, answered = floods.from_strangers(media_address(stage), datagrams, count, PER_SECOND)
        after = publisher.metrics()

        def came(name: str) -> float:
            return publisher.metric(name, text=after) - publisher.metric(name, text=before)

        counted, lost = came(UNKNOWN), came(LOST)
        stage.say(f"{rate:.0f} a second, {answered} bytes answered, {lost:.0f} datagrams lost in the kernel")
        stage.expect(answered == 0, f"{answered} bytes were answered to strangers")
        if is_counted:
            # A datagram that the sender's own buffer had no room for is counted by nobody.
            stage.expect(counted + lost >= 0.99 * count, f"{counted:.0f} of {count} are in {UNKNOWN}, {lost:.0f} lost")

    return run


def client_hello(_: int) -> bytes:
    """A DTLS record with what looks like a ClientHello."""
    body = b"\xfe\xfd" + os.urandom(82)
    length = len(body).to_bytes(3, "big")
    # One message, of number 0, in one fragment from its first byte on.
    record = b"\x01" + length + bytes(5) + length + body
    return b"\x16\xfe\xff" + bytes(8) + struct.pack(">H", len(record)) + record


def wrong_name(_: Stage) -> Callable[[int], bytes]:
    return lambda _: floods.forged_check(os.urandom(4).hex(), os.urandom(12).hex())(0)


def right_name(stage: Stage) -> Callable[[int], bytes]:
    """Chromium's own, as anyone on its path can read it, but not the key."""
    return floods.forged_check(stage.viewer.ufrag, os.urandom(12).hex())


ATTACKS = [
    Attack("100,000 datagrams of random bytes", silence(lambda _: floods.garbage(), COUNT), 16),
    Attack("100,000 STUN checks for nobody", silence(wrong_name, COUNT), 16),
    Attack("100,000 ClientHellos of strangers", silence(lambda _: client_hello, COUNT), 16),
    Attack("50,000 STUN checks for Chromium's own user name, wrongly signed", silence(right_name, 50_000, False), 16),
]
