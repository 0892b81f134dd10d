"""A viewer that falls silent, leaves without a word, moves, or lies about where it is."""

import os
import random
import socket
import time

import client
import stun
from client import IDENTITY, Client, Path, join, new_credentials, udp_socket
from harness import Attack, Stage

# RFC 7675 section 5.1: consent lasts 30 s after the last answer, which a check of every 2 s or so brings.
CONSENT_S = 30.0
# What a moved viewer may wait for: 2.5 s of silence on the old path, and a check.
MOVED_S = 3.5


def nothing(_: Client, __: float) -> None:
    """Reports nothing."""


def silent(stage: Stage) -> None:
    """Its socket is there, and it answers nothing: what it is sent gets less, and ends."""
    with Client(stage.publisher.page) as viewer:
        viewer.connect()
        time.sleep(3)
        begun = time.time()
        viewer.reports = nothing
        viewer.path.mute()
        before = viewer.bytes_between(begun - 2, begun) / 2
        time.sleep(CONSENT_S + 5)
        later = viewer.bytes_between(begun + 15, begun + 17) / 2
        last, total = viewer.last_media() - begun, viewer.bytes_between(begun, time.time())
        stage.say(f"{before / 1000:.0f} kB a second, {later / 1000:.0f} after 15 s, {total / 1000:.0f} kB in all")
        stage.say(f"the last after {last:.1f} s")
        stage.expect(last < CONSENT_S + 1.5, f"media for {last:.1f} s to a viewer that answers nothing")
        stage.expect(later < 0.5 * before, f"{later:.0f} bytes a second after 15 s of silence, {before:.0f} before")


def vanishes(stage: Stage) -> None:
    """Its socket is gone: so are its encoder and its place after the consent's time."""
    encoders = stage.publisher.encoders()
    viewer = Client(stage.publisher.page).connect()
    label = stage.publisher.newest_viewer()
    viewer.vanish()
    begun = time.time()
    while label in stage.publisher.metrics() and time.time() - begun < CONSENT_S + 10:
        time.sleep(0.5)
    took, left = time.time() - begun, stage.publisher.encoders() - encoders
    stage.say(f"forgotten after {took:.1f} s, {left} encoders left")
    stage.expect(took < CONSENT_S + 3, f"still there after {took:.1f} s")
    stage.expect(left <= 0, f"{left} encoders are left")


def moves(stage: Stage) -> None:
    """Its address is another one, which it nominates, with no word to the page's server."""
    with Client(stage.publisher.page) as viewer:
        viewer.connect()
        time.sleep(2)
        begun, path = time.time(), viewer.move()
        viewer.wait(lambda: bool(path.media), 40, "no media at the new address")
        took = path.media[0][0] - begun
        stage.say(f"media at the new address after {took:.1f} s")
        stage.expect(took < MOVED_S, f"media came to the new address only after {took:.1f} s")


def consent_of_another(stage: Stage) -> None:
    """Its address answers no more, but another of the viewer's, never nominated, answers every check."""
    with Client(stage.publisher.page) as viewer:
        viewer.connect()
        time.sleep(2)
        old, begun = viewer.path, time.time()
        old.mute()
        viewer.paths.append(Path(udp_socket(), asks="check"))
        time.sleep(CONSENT_S + 10)
        last = max(at for at, _ in old.media) - begun
        stage.say(f"media to the address that answers nothing ended after {last:.1f} s")
        stage.expect(last < CONSENT_S + 1.5, f"media for {last:.1f} s to an address that answers nothing")


def answers_to_another(stage: Stage) -> None:
    """Rightly signed checks from an address that never answers: what comes back is not more than what was sent."""
    with Client(stage.publisher.page) as viewer:
        viewer.connect()
        other, sent, came = udp_socket(), 0, 0
        for _ in range(2000):
            check = viewer.check(False)
            try:
                other.sendto(check, viewer.publisher)
                sent += len(check)
                time.sleep(0.002)
                while True:
                    came += len(other.recv(2000))
            except OSError:
                pass
        other.close()
        stage.say(f"{came / sent:.2f} bytes answered for each sent")
        stage.expect(came <= sent, f"{came} bytes for {sent}")


def another_certificate(stage: Stage) -> None:
    """The handshake shows another certificate than the offer named."""
    first = IDENTITY.fingerprint[:2]
    wrong = ("00" if first != "00" else "11") + IDENTITY.fingerprint[2:]
    with Client(stage.publisher.page, fingerprint=wrong) as viewer:
        label = stage.publisher.newest_viewer()
        time.sleep(6)
        is_there = label in stage.publisher.metrics()
        stage.say(f"{viewer.packets} packets of media, {'still there' if is_there else 'refused'}")
        stage.expect(viewer.packets == 0 and not is_there, "it is not refused")


def fragments(stage: Stage) -> None:
    """A viewer that has been checked, and then sends pieces of 200 handshake messages of 16 MB each."""
    credentials = new_credentials()
    joined = join(stage.publisher.page, client.offer(credentials))
    check, path = stun.checks(credentials, joined.credentials), udp_socket()

    def listen() -> None:
        try:
            while True:
                datagram, source = path.recvfrom(2000)
                if stun.is_request(datagram):
                    path.sendto(stun.answer(datagram, source, credentials.password), source)
        except OSError:
            pass

    for _ in range(5):
        path.sendto(check(True), joined.address)
        time.sleep(0.2)
        listen()
    total, length = 0xFFFF00, 1000
    for number in range(30_000):
        at = random.randrange(total - length)
        handshake = b"\x01" + total.to_bytes(3, "big") + (number % 200).to_bytes(2, "big")
        handshake += at.to_bytes(3, "big") + length.to_bytes(3, "big") + os.urandom(length)
        record = b"\x16\xfe\xfd\x00\x00" + number.to_bytes(6, "big") + len(handshake).to_bytes(2, "big") + handshake
        try:
            path.sendto(record, joined.address)
        except OSError:
            pass
        if number % 50 == 49:
            time.sleep(0.01)
            listen()
    path.close()
    status = client.leave(stage.publisher.page, joined)
    stage.say(f"30,000 fragments, the viewer was {'still there' if status == 200 else 'ended'}")


def candidates_inside(stage: Stage) -> None:
    """Candidates of services of this machine, in an offer to a publisher that is open to others: none hears of it."""
    services = []
    for number in range(32):
        service = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        service.bind((f"127.0.1.{number + 1}", 0))
        service.setblocking(False)
        services.append(service)
    candidates = [service.getsockname() for service in services]
    joined = join(stage.publisher.page, client.offer(new_credentials(), candidates=candidates))
    stage.expect(joined.status == 201, f"the offer was answered with {joined.status}: {joined.body}")
    time.sleep(4)
    heard = 0
    for service in services:
        try:
            while True:
                service.recv(2000)
                heard += 1
        except OSError:
            service.close()
    if joined.location:
        client.leave(stage.publisher.page, joined)
    stage.say(f"{heard} checks of 32 candidates on loopback")
    stage.expect(heard == 0, f"{heard} checks were sent to services on loopback")


ATTACKS = [
    Attack("A viewer answers nothing any more", silent, 24),
    Attack("A viewer vanishes", vanishes, 24),
    Attack("A viewer moves", moves, 24),
    Attack("Another address answers for the viewer's own", consent_of_another, 24),
    Attack("2,000 rightly signed checks from another address", answers_to_another, 24),
    Attack("Another certificate than the offer's", another_certificate, 24),
    Attack("30,000 fragments of handshake messages of 16 MB", fragments, 24),
]
OPEN = [Attack("32 candidates on loopback", candidates_inside, 8)]
