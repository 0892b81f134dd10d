"""RTCP that a receiver sends, and what of RTP it is about."""

import struct

TRANSPORT_WIDE = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
# The number by which our offer asks for that header extension.
TRANSPORT_WIDE_ID = 9
# The SSRC of a receiver that sends nothing else.
OURS = 1


def is_media(datagram: bytes) -> bool:
    """RTP, by its first bytes (RFC 7983, RFC 5761)."""
    return len(datagram) >= 12 and 127 < datagram[0] < 192 and not 192 <= datagram[1] <= 223


def transport_number(packet: bytes) -> int | None:
    """The transport-wide sequence number of an RTP packet, from its one-byte header extensions (RFC 8285)."""
    if not packet[0] & 0x10:
        return None
    at = 12 + 4 * (packet[0] & 15)
    profile, words = struct.unpack_from(">HH", packet, at)
    end = at + 4 + 4 * words
    at += 4
    while profile == 0xBEDE and at < end:
        if packet[at] == 0:
            at += 1
            continue
        number, length = packet[at] >> 4, (packet[at] & 15) + 1
        if number == TRANSPORT_WIDE_ID:
            return int.from_bytes(packet[at + 1 : at + 1 + length], "big")
        at += 1 + length
    return None


def empty_report() -> bytes:
    """With which a compound packet begins (RFC 3550 section 6.1)."""
    return struct.pack(">BBHI", 0x80, 201, 1, OURS)


def picture_loss(media: int) -> bytes:
    return struct.pack(">BBHII", 0x81, 206, 2, OURS, media)


def nack(media: int, requests: list[tuple[int, int]]) -> bytes:
    """Requests of a sequence number and, by a mask, of the sixteen after it (RFC 4585 section 6.2.1)."""
    body = b"".join(struct.pack(">HH", first & 0xFFFF, mask) for first, mask in requests)
    return struct.pack(">BBHII", 0x81, 205, 2 + len(requests), OURS, media) + body


def transport_feedback(media: int, base: int, count: int, report: int, now: float, missing: frozenset[int]) -> bytes:
    """`count` transport-wide numbers from `base` on, which arrived now, but for the offsets `missing`."""
    symbols = [0 if offset in missing else 1 for offset in range(count)]
    symbols += [0] * (-count % 14)
    # Vectors of fourteen symbols of a bit: absent, or after a small delta.
    vectors = ("".join(map(str, symbols[at : at + 14])) for at in range(0, len(symbols), 14))
    chunks = b"".join(struct.pack(">H", 0x8000 | int(vector, 2)) for vector in vectors)
    reference = int(now * 1000 / 64) & 0xFFFFFF
    body = struct.pack(">HHI", base & 0xFFFF, count, reference << 8 | report & 0xFF) + chunks
    body += bytes(sum(symbols))
    padding = -len(body) % 4
    body += bytes(padding)
    return struct.pack(">BBHII", 0x8F, 205, 2 + len(body) // 4, OURS, media) + body
