"""STUN as ICE uses it: binding requests and their answers (RFC 8489, RFC 8445)."""

import hashlib
import hmac
import os
import socket
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

Address = tuple[str, int]

COOKIE = 0x2112A442
REQUEST, RESPONSE = 0x0001, 0x0101
USERNAME, MESSAGE_INTEGRITY, XOR_MAPPED_ADDRESS, PRIORITY = 0x0006, 0x0008, 0x0020, 0x0024
USE_CANDIDATE, FINGERPRINT, ICE_CONTROLLING = 0x0025, 0x8028, 0x802A
# Of a peer-reflexive candidate: RFC 8445 section 5.1.2.1 with a type preference of 110.
PEER_REFLEXIVE = 110 << 24 | 0xFFFFFF


@dataclass(frozen=True)
class Credentials:
    ufrag: str
    password: str


def is_request(datagram: bytes) -> bool:
    return datagram[:2] == b"\x00\x01"


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack(">HH", kind, len(value)) + value + bytes(-len(value) % 4)


def _message(kind: int, transaction: bytes, attributes: bytes, password: str) -> bytes:
    """With MESSAGE-INTEGRITY and FINGERPRINT, each over a header that counts it already."""

    def header(length: int) -> bytes:
        return struct.pack(">HHI", kind, length, COOKIE) + transaction

    signed = header(len(attributes) + 24) + attributes
    attributes += _attribute(MESSAGE_INTEGRITY, hmac.new(password.encode(), signed, hashlib.sha1).digest())
    checksum = zlib.crc32(header(len(attributes) + 8) + attributes) ^ 0x5354554E
    attributes += _attribute(FINGERPRINT, struct.pack(">I", checksum))
    return header(len(attributes)) + attributes


def request(username: str, password: str, *, nominate: bool = False) -> bytes:
    """A check of a controlling agent."""
    attributes = _attribute(USERNAME, username.encode())
    attributes += _attribute(PRIORITY, struct.pack(">I", PEER_REFLEXIVE)) + _attribute(ICE_CONTROLLING, b"\xff" * 8)
    if nominate:
        attributes += _attribute(USE_CANDIDATE, b"")
    return _message(REQUEST, os.urandom(12), attributes, password)


def answer(to: bytes, source: Address, password: str) -> bytes:
    """The answer to a check from `source`."""
    (host,) = struct.unpack(">I", socket.inet_aton(source[0]))
    mapped = struct.pack(">BBHI", 0, 1, source[1] ^ COOKIE >> 16, host ^ COOKIE)
    return _message(RESPONSE, to[8:20], _attribute(XOR_MAPPED_ADDRESS, mapped), password)


def checks(ours: Credentials, theirs: Credentials) -> Callable[[bool], bytes]:
    """Makes checks of `ours` for `theirs`; the argument says whether they nominate."""
    return lambda nominate: request(f"{theirs.ufrag}:{ours.ufrag}", theirs.password, nominate=nominate)
