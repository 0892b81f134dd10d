"""A WHEP viewer whose every datagram is ours: what it says, and from where, is the attack's to choose."""

import contextlib
import http.client
import os
import random
import re
import selectors
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pylibsrtp
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from OpenSSL import SSL

import rtcp
import stun
from stun import Address, Credentials

# SRTP_AES128_CM_SHA1_80 (RFC 5764 section 4.1.2): every browser has it. Key and salt in bytes.
KEY, SALT = 16, 14
# How often a path is checked: until there are keys, and after that, for consent (RFC 7675).
FIRST_CHECKS, CHECKS = 0.2, 2.0


class Identity:
    """A key and its certificate, signed by itself."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "attack")])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(name, name, self.key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        self.certificate = builder.sign(self.key, hashes.SHA256())

    @property
    def fingerprint(self) -> str:
        return self.certificate.fingerprint(hashes.SHA256()).hex(":").upper()


IDENTITY = Identity()


def offer(
    credentials: Credentials,
    *,
    fingerprint: str = IDENTITY.fingerprint,
    candidates: list[Address] | None = None,
    transport_wide: bool = True,
    more: str = "",
) -> str:
    """Offer of a viewer that wants VP8 with retransmissions."""
    lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0"]
    lines += ["m=video 9 UDP/TLS/RTP/SAVPF 97 98", "c=IN IP4 0.0.0.0", "a=mid:0", "a=recvonly", "a=rtcp-mux"]
    lines += ["a=rtpmap:97 VP8/90000", "a=rtcp-fb:97 nack", "a=rtcp-fb:97 nack pli"]
    lines += ["a=rtpmap:98 rtx/90000", "a=fmtp:98 apt=97"]
    if transport_wide:
        lines += ["a=rtcp-fb:97 transport-cc", f"a=extmap:{rtcp.TRANSPORT_WIDE_ID} {rtcp.TRANSPORT_WIDE}"]
    lines += [f"a=ice-ufrag:{credentials.ufrag}", f"a=ice-pwd:{credentials.password}"]
    lines += [f"a=fingerprint:sha-256 {fingerprint}", "a=setup:active"]
    for number, (host, port) in enumerate(candidates or []):
        lines.append(f"a=candidate:{number} 1 udp {2130706431 - number} {host} {port} typ host")
    return "\r\n".join(lines) + "\r\n" + more


def new_credentials() -> Credentials:
    return Credentials(os.urandom(4).hex(), os.urandom(16).hex())


@dataclass
class Joined:
    """Answer of a publisher to an offer."""

    status: int
    body: str
    location: str | None = None

    def of(self, name: str) -> str:
        found = re.search(rf"^a={name}[: ](\S+)", self.body, re.MULTILINE)
        if found is None:
            raise ValueError(f"no a={name} in the answer: {self.body!r}")
        return found[1]

    @property
    def credentials(self) -> Credentials:
        return Credentials(self.of("ice-ufrag"), self.of("ice-pwd"))

    @property
    def address(self) -> Address:
        """Where the publisher takes media's datagrams."""
        found = re.search(r"a=candidate:\S+ 1 udp \d+ (\S+) (\d+)", self.body, re.IGNORECASE)
        if found is None:
            raise ValueError(f"no candidate in the answer: {self.body!r}")
        return found[1], int(found[2])

    @property
    def media(self) -> int:
        """The SSRC of the video."""
        return int(self.of("ssrc-group:FID"))


def join(page: Address, sdp: str, *, scheme: str | None = None, source: str = "", token: str | None = None) -> Joined:
    """Offers `sdp` to the publisher, from the address `source` of this machine."""
    connection = http.client.HTTPConnection(*page, timeout=20, source_address=(source, 0) if source else None)
    headers = {"Content-Type": "application/sdp"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        connection.request("POST", "/whep" + (f"?scheme={scheme}" if scheme else ""), sdp, headers)
        answer = connection.getresponse()
        return Joined(answer.status, answer.read().decode(), answer.getheader("Location"))
    finally:
        connection.close()


def leave(page: Address, joined: Joined) -> int:
    connection = http.client.HTTPConnection(*page, timeout=20)
    try:
        connection.request("DELETE", joined.location or "")
        return connection.getresponse().status
    finally:
        connection.close()


@dataclass
class Path:
    """A socket, what is done there by itself, and what came."""

    socket: socket.socket
    # Whether checks are answered, and which are sent: none, "check", or "nominate".
    answers: bool = True
    asks: str | None = "nominate"
    # When media came, and how much.
    media: list[tuple[float, int]] = field(default_factory=list)
    others: int = 0
    checked: float = 0.0

    def bytes_between(self, begin: float, end: float) -> int:
        return sum(length for at, length in self.media if begin <= at < end)

    def mute(self) -> None:
        self.answers, self.asks = False, None


def udp_socket() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    made.bind(("127.0.0.1", 0))
    made.setblocking(False)
    return made


class Client:
    """A viewer, served by a thread of its own until it is closed.

    `reports(client, now)` is called there every 10 ms once there are keys; `acknowledge` is an honest one.
    """

    def __init__(
        self,
        page: Address,
        *,
        scheme: str | None = None,
        fingerprint: str = IDENTITY.fingerprint,
        reports: Callable[["Client", float], None] | None = None,
    ) -> None:
        self.page = page
        self.credentials = new_credentials()
        sdp = offer(self.credentials, fingerprint=fingerprint)
        self.joined = join(page, sdp, scheme=scheme, source=f"127.0.0.{random.randint(2, 250)}")
        if self.joined.status != 201:
            raise RuntimeError(f"a viewer was refused: {self.joined.status} {self.joined.body}")
        self.publisher = self.joined.address
        self.check = stun.checks(self.credentials, self.joined.credentials)
        self.paths = [Path(udp_socket())]
        self.reports = reports or acknowledge
        self.numbers: list[int] = []
        self.newest_number: int | None = None
        self.newest_sequence = 0
        self.reported: int | None = None
        self.report_count = 0
        self.reported_at = 0.0
        self.ended = False
        self.sender: pylibsrtp.Session | None = None
        self._stop = threading.Event()
        self._ssl = self._handshake()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        return self.paths[-1]

    @property
    def is_connected(self) -> bool:
        return self.sender is not None

    @property
    def packets(self) -> int:
        return sum(len(path.media) for path in self.paths)

    def connect(self, seconds: float = 15.0) -> "Client":
        """Waits for the first packets of media."""
        self.wait(lambda: self.packets > 30, seconds, "no media came")
        return self

    def wait(self, until: Callable[[], bool], seconds: float, otherwise: str) -> float:
        """Waits for a condition; returns how long."""
        begun = time.time()
        while not until():
            if time.time() - begun > seconds:
                raise TimeoutError(f"{otherwise} within {seconds} s")
            time.sleep(0.02)
        return time.time() - begun

    def send(self, datagram: bytes) -> None:
        """A datagram from the address that the publisher knows."""
        try:
            self.path.socket.sendto(datagram, self.publisher)
        except OSError:
            # The buffer is full: lost, as it would be on any path.
            pass

    def rtcp(self, *packets: bytes) -> None:
        """A compound packet; of the client's own thread only."""
        if self.sender is not None:
            self.send(self.sender.protect_rtcp(rtcp.empty_report() + b"".join(packets)))

    def last_media(self) -> float:
        """When media came last."""
        return max((path.media[-1][0] for path in self.paths if path.media), default=0.0)

    def bytes_between(self, begin: float, end: float) -> int:
        return sum(path.bytes_between(begin, end) for path in self.paths)

    def move(self) -> Path:
        """To another address; nothing is left at the old one."""
        old = self.path
        self.paths.append(Path(udp_socket()))
        old.mute()
        old.socket.close()
        return self.path

    def close(self) -> None:
        self._stop.set()
        self._thread.join(5)
        if self.joined.location:
            leave(self.page, self.joined)
        for path in self.paths:
            path.socket.close()

    def vanish(self) -> None:
        """Ends without a word."""
        self._stop.set()
        self._thread.join(5)
        for path in self.paths:
            path.socket.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _handshake(self) -> SSL.Connection:
        context = SSL.Context(SSL.DTLS_METHOD)
        context.set_verify(SSL.VERIFY_PEER, lambda *_: True)
        context.use_certificate(IDENTITY.certificate)
        context.use_privatekey(IDENTITY.key)
        context.set_tlsext_use_srtp(b"SRTP_AES128_CM_SHA1_80")
        ssl = SSL.Connection(context)
        ssl.set_connect_state()
        ssl.set_ciphertext_mtu(1200)
        return ssl

    def _run(self) -> None:
        handshaking = False
        while not self._stop.is_set():
            now = time.time()
            selector = selectors.DefaultSelector()
            for path in list(self.paths):
                # The socket of a path that the viewer has left is closed.
                with contextlib.suppress(ValueError, OSError):
                    selector.register(path.socket, selectors.EVENT_READ, path)
            for key, _ in selector.select(0.01):
                handshaking |= self._receive(key.data, now)
            selector.close()
            for path in list(self.paths):
                interval = CHECKS if self.is_connected and path.media else FIRST_CHECKS
                if path.asks and now - path.checked > interval:
                    path.checked = now
                    self._send(path, self.check(path.asks == "nominate"))
            if handshaking and not self.is_connected:
                self._shake_hands()
            if self.is_connected and not self.ended:
                self.reports(self, now)

    def _send(self, path: Path, datagram: bytes, to: Address | None = None) -> None:
        try:
            path.socket.sendto(datagram, to or self.publisher)
        except OSError:
            pass

    def _receive(self, path: Path, now: float) -> bool:
        """Takes what has come; returns whether the path has been checked, so that the handshake may begin."""
        checked = False
        while True:
            try:
                datagram, source = path.socket.recvfrom(2000)
            except OSError:
                return checked
            if rtcp.is_media(datagram):
                path.media.append((now, len(datagram)))
                self._took(datagram)
            elif stun.is_request(datagram):
                path.others += len(datagram)
                if path.answers:
                    self._send(path, stun.answer(datagram, source, self.credentials.password), source)
                    checked = True
            elif 20 <= datagram[0] < 64:
                self._ssl.bio_write(datagram)
                self._read_alert()
            else:
                path.others += len(datagram)

    def _took(self, packet: bytes) -> None:
        self.newest_sequence = int.from_bytes(packet[2:4], "big")
        number = rtcp.transport_number(packet)
        if number is not None:
            # Of 16 bits, without their wrap.
            last = self.newest_number if self.newest_number is not None else number
            number = last + (number - last + 0x8000 & 0xFFFF) - 0x8000
            self.numbers.append(number)
            self.newest_number = max(last, number)

    def _read_alert(self) -> None:
        if not self.is_connected:
            return
        try:
            self._ssl.recv(2000)
        except SSL.WantReadError:
            pass
        except SSL.Error:
            self.ended = True

    def _shake_hands(self) -> None:
        try:
            self._ssl.do_handshake()
        except SSL.WantReadError:
            if self._ssl.DTLSv1_get_timeout() == 0:
                self._ssl.DTLSv1_handle_timeout()
        except SSL.Error:
            self.ended = True
        else:
            keys = self._ssl.export_keying_material(b"EXTRACTOR-dtls_srtp", 2 * (KEY + SALT))
            policy = pylibsrtp.Policy(
                key=keys[:KEY] + keys[2 * KEY : 2 * KEY + SALT],
                ssrc_type=pylibsrtp.Policy.SSRC_ANY_OUTBOUND,
                srtp_profile=pylibsrtp.Policy.SRTP_PROFILE_AES128_CM_SHA1_80,
            )
            self.sender = pylibsrtp.Session(policy)
        while True:
            try:
                self.send(self._ssl.bio_read(1500))
            except SSL.Error:
                return


def acknowledge(client: Client, now: float) -> None:
    """Reports what came, 16 times a second, as arrived when it is reported."""
    if now - client.reported_at < 0.062 or client.newest_number is None:
        return
    client.reported_at = now
    came, client.numbers = client.numbers, []
    begin = client.reported if client.reported is not None else min(came, default=0)
    end = client.newest_number + 1
    for base in range(begin, end, 400):
        count = min(400, end - base)
        missing = frozenset(range(count)) - {number - base for number in came}
        if len(missing) < count:
            client.rtcp(rtcp.transport_feedback(client.joined.media, base, count, client.report_count, now, missing))
            client.report_count += 1
    client.reported = end
