"""The page's server: seats, offers, requests that two readers may read differently."""

import http.client
import os
import re
import socket
import time

import client
from client import Joined, join, leave, new_credentials
from harness import Attack, Stage
from stun import Address

# As in crates/live/src/web/connections.rs: seats in all, of one address, and seconds for a request's head.
SEATS, SEATS_OF_ADDRESS, HEAD_S = 256, 64, 10
# How many of one address may be there without a connection (crates/live/src/publish/admission.rs).
UNCONNECTED = 8
HOST = b"Host: 127.0.0.1\r\n"
SDP = b"Content-Type: application/sdp\r\n"


def connect(page: Address, source: str = "127.0.0.1") -> socket.socket:
    made = socket.socket()
    made.settimeout(3)
    made.bind((source, 0))
    made.connect(page)
    return made


def ask(page: Address, request: bytes, source: str = "127.0.0.1", seconds: float = 1.0) -> list[int]:
    """The codes of all answers that come."""
    answered = b""
    with connect(page, source) as made:
        made.settimeout(seconds)
        try:
            made.sendall(request)
            while piece := made.recv(65536):
                answered += piece
        except OSError:
            pass
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3})", answered)]


def ordinary(stage: Stage, source: str, bearer: str = "") -> str:
    """How an ordinary request fares meanwhile."""
    begun = time.time()
    shown = f"Authorization: Bearer {bearer}\r\n".encode() if bearer else b""
    try:
        request = b"GET /clock HTTP/1.1\r\n" + HOST + shown + b"Connection: close\r\n\r\n"
        codes = ask(stage.publisher.page, request, source, 3)
    except OSError as error:
        codes, reason = [], str(error)
    else:
        reason = f"{codes}"
    took = time.time() - begun
    stage.expect(codes == [200] and took < 1, f"an ordinary request: {reason} after {took:.1f} s")
    return f"an ordinary request in {1000 * took:.0f} ms"


def is_closed(made: socket.socket) -> bool:
    try:
        made.setblocking(False)
        return made.recv(1000) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def half_open(stage: Stage, first: bytes) -> None:
    """A thousand connections that ask for nothing: all but an address's share end at once, those after their time."""
    begun = time.time()
    made = [connect(stage.publisher.page, "127.0.0.9") for _ in range(1000)]
    for one in made:
        try:
            one.sendall(first)
        except OSError:
            pass
    stage.say(ordinary(stage, "127.0.0.1"))
    stage.say(ordinary(stage, "127.0.0.9"))
    at_once, left = sum(map(is_closed, made)), made
    while time.time() - begun < HEAD_S + 8 and (left := [one for one in left if not is_closed(one)]):
        time.sleep(0.5)
    stage.say(f"{at_once} closed at once, {len(left)} left after {time.time() - begun:.0f} s")
    stage.expect(at_once >= 1000 - SEATS_OF_ADDRESS, f"{1000 - at_once} are left at once, {SEATS_OF_ADDRESS} may be")
    stage.expect(not left, f"{len(left)} are left after {time.time() - begun:.0f} s")
    for one in made:
        one.close()


def all_seats(stage: Stage) -> None:
    """Every address's share from as many addresses as fill all seats."""
    made = []
    for source in range(SEATS // SEATS_OF_ADDRESS):
        made += [connect(stage.publisher.page, f"127.0.0.{source + 10}") for _ in range(SEATS_OF_ADDRESS)]
    time.sleep(0.5)
    stage.say(ordinary(stage, "127.0.0.1"))
    time.sleep(5)
    stage.say(ordinary(stage, "127.0.0.200"))
    for one in made:
        one.close()


def all_seats_without_token(stage: Stage) -> None:
    """The same by requests that were answered, without the token, and connections that stay open after them."""
    made = []
    for source in range(SEATS // SEATS_OF_ADDRESS):
        for _ in range(SEATS_OF_ADDRESS):
            one = connect(stage.publisher.page, f"127.0.0.{source + 10}")
            one.sendall(b"GET /clock HTTP/1.1\r\n" + HOST + b"\r\n")
            made.append(one)
    time.sleep(0.5)
    stage.say(ordinary(stage, "127.0.0.1", stage.publisher.token))
    for one in made:
        one.close()


def offers(stage: Stage) -> None:
    """Ten thousand offers of one address, and nobody connects: others join, no encoder begins, all is forgotten."""
    page, encoders = stage.publisher.page, stage.publisher.encoders()
    connection = http.client.HTTPConnection(*page, timeout=20, source_address=("127.0.0.9", 0))
    sdp, begun = client.offer(new_credentials()), time.time()
    codes: dict[int, int] = {}
    for _ in range(10_000):
        connection.request("POST", "/whep", sdp, {"Content-Type": "application/sdp"})
        answer = connection.getresponse()
        answer.read()
        codes[answer.status] = codes.get(answer.status, 0) + 1
    took = time.time() - begun
    connection.close()
    came = stage.publisher.encoders() - encoders
    other = join(page, sdp, source="127.0.0.1")
    if other.location:
        leave(page, other)
    most = UNCONNECTED + UNCONNECTED * took / 30
    stage.say(f"{codes.get(201, 0)} joined, {codes.get(503, 0)} refused, {1000 * took / 10_000:.2f} ms each")
    stage.say(f"{came} encoders began")
    stage.expect(set(codes) <= {201, 503} and codes.get(201, 0) <= most, f"answers {codes}")
    stage.expect(came <= 0, f"{came} encoders began for viewers who never connected")
    stage.expect(other.status == 201, f"another address was refused: {other.status} {other.body}")
    while stage.publisher.metric("thalweg_viewers") > 1 and time.time() - begun < took + 40:
        time.sleep(1)
    stage.say(f"forgotten after {time.time() - begun - took:.0f} s")
    stage.expect(stage.publisher.metric("thalweg_viewers") == 1, "some of them are still there after 40 s")


def odd_offers(stage: Stage) -> None:
    """Offers that are too long, broken or ask for much: each is answered as it should be, within a second."""
    credentials = new_credentials()
    usual = client.offer(credentials)
    sections = "".join(f"m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:{number}\r\n" for number in range(1, 1500))
    many = [(f"192.0.2.{number % 250}", 40_000 + number) for number in range(1000)]
    cases: dict[str, tuple[str, set[int]]] = {
        "54 kB of unknown lines": (usual + "a=x:y\r\n" * 6_000, {201}),
        "1 MB": (usual + "a=x:y\r\n" * 150_000, {413}),
        "1,500 sections": (usual + sections, {400}),
        "1,000 candidates": (client.offer(credentials, candidates=many), {201}),
        "2,000 codecs": (usual + "".join(f"a=rtpmap:{at % 128} VP8/90000\r\n" for at in range(2000)), {201, 400}),
        "20,000 bundled names": (usual.replace("BUNDLE 0", "BUNDLE 0 " + "1 " * 20_000), {201, 400}),
        "a user name of 257": (usual.replace(credentials.ufrag, "a" * 257), {400}),
        "a user name of two lines": (usual.replace(credentials.ufrag, "abcd\r\nx"), {400}),
        "no fingerprint": (re.sub(r"a=fingerprint.*\r\n", "", usual), {400}),
        "a fingerprint of SHA-1": (usual.replace("sha-256", "sha-1"), {400}),
        "nothing": ("", {400}),
        "a zero byte": ("v=0\0\r\n", {400}),
    }
    slowest = 0.0
    for name, (sdp, codes) in cases.items():
        begun = time.time()
        try:
            joined = join(stage.publisher.page, sdp, source="127.0.0.9")
        except OSError:
            # Too long: the answer may be lost when the connection is closed while the offer is still being written.
            joined = Joined(413, "")
        took = time.time() - begun
        slowest = max(slowest, took)
        if joined.location:
            leave(stage.publisher.page, joined)
        stage.expect(joined.status in codes, f"{name}: {joined.status} {joined.body[:80]!r}, must be {codes}")
        stage.expect(took < 1, f"{name}: answered after {took:.1f} s")
    stage.say(f"{len(cases)} offers, each answered as it should be within {1000 * slowest:.0f} ms")


def ambiguous(stage: Stage) -> None:
    """Requests that a proxy in front could read differently, of other sites, and for what is not there."""
    second = b"GET /about HTTP/1.1\r\n" + HOST + b"\r\n"

    def post(more: bytes, body: bytes = b"v=0") -> bytes:
        return b"POST /whep HTTP/1.1\r\n" + HOST + SDP + more + b"\r\n\r\n" + body

    def get(path: bytes, head: bytes = HOST) -> bytes:
        return b"GET " + path + b" HTTP/1.1\r\n" + head + b"\r\n"

    cases: dict[str, tuple[bytes, list[int]]] = {
        "no Host": (get(b"/about", b""), [400]),
        "two Hosts": (get(b"/about", HOST + b"Host: other.example\r\n"), [400]),
        "another Host": (get(b"/about", b"Host: other.example\r\n"), [403]),
        "another host in the address": (get(b"http://other.example/about"), [403]),
        "no Origin's": (post(b"Origin: null\r\nContent-Length: 3"), [403]),
        "another site's": (post(b"Origin: http://other.example\r\nContent-Length: 3"), [403]),
        "length and chunks": (post(b"Content-Length: 4\r\nTransfer-Encoding: chunked", b"0\r\n\r\n" + second), [400]),
        "two lengths": (post(b"Content-Length: 3\r\nContent-Length: 30", b"v=0" + second), [400]),
        "chunks of another kind": (post(b"Transfer-Encoding: xchunked", b"0\r\n\r\n"), [400]),
        "a space before the colon": (post(b"Transfer-Encoding : chunked", b"0\r\n\r\n"), [400]),
        "a length of +3": (post(b"Content-Length: +3"), [400]),
        "a line that goes on": (get(b"/about", HOST + b"X: a\r\n b\r\n"), [400]),
        "a chunk of 2^68": (post(b"Transfer-Encoding: chunked", b"FFFFFFFFFFFFFFFFF\r\nv=0\r\n"), [413]),
        "200 headers": (get(b"/about", HOST + b"".join(b"X-%d: y\r\n" % number for number in range(200))), [431]),
        "a head of 20 kB": (get(b"/about", HOST + b"X: " + b"y" * 20_000 + b"\r\n"), [431]),
        "a body of 10 MB": (post(b"Content-Length: 10000000", b"v=0\r\n" * 20_000), [413]),
        "a body of text": (post(b"", b"").replace(b"application/sdp", b"text/plain"), [415]),
        "a path upwards": (get(b"/../../etc/passwd"), [404]),
        "an encoded path upwards": (get(b"/%2e%2e/%2e%2e/etc/passwd"), [404]),
    }
    for name, (request, codes) in cases.items():
        found = ask(stage.publisher.page, request)
        stage.expect(found == codes, f"{name}: {found}, must be {codes}")
    stage.say(f"{len(cases)} requests, each refused with its code and no second answer")


def guessed(stage: Stage) -> None:
    """Other viewers' sessions by guesses of their names."""
    connection, codes = http.client.HTTPConnection(*stage.publisher.page, timeout=20), set()
    fragment = "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789abcdef012345\r\nm=video 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"
    headers = {"Content-Type": "application/trickle-ice-sdpfrag", "If-Match": "*"}
    for _ in range(1000):
        for method, body in [("DELETE", None), ("PATCH", fragment)]:
            connection.request(method, "/whep/" + os.urandom(16).hex(), body, headers if body else {})
            answer = connection.getresponse()
            answer.read()
            codes.add(answer.status)
    connection.close()
    stage.say(f"2,000 guesses: {', '.join(map(str, sorted(codes)))}")
    stage.expect(codes == {404}, f"answers {codes}, must be 404")


ATTACKS = [
    Attack(
        "1,000 connections that begin a request",
        lambda stage: half_open(stage, b"GET / HTTP/1.1\r\n" + HOST + b"X: "),
        16,
    ),
    Attack("1,000 connections that send nothing", lambda stage: half_open(stage, b""), 16),
    Attack("Idle connections for every seat", all_seats, 16),
    Attack("10,000 offers of one address", offers, 16),
    Attack("Odd offers", odd_offers, 16),
    Attack("Ambiguous and foreign requests", ambiguous, 8),
    Attack("Guessed names of sessions", guessed, 8),
]
WITH_TOKEN = [Attack("Requests without the token for every seat", all_seats_without_token, 16)]
