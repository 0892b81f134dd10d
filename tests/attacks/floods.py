"""Datagrams at a rate, and what comes back."""

import os
import random
import socket
import time
from collections.abc import Callable

import stun
from stun import Address

# Made beforehand, and sent in turn: what is made for each would cost the machine more than what is measured.
DIFFERENT = 1000


def flood(make: Callable[[int], bytes], count: int, per_second: float, send: Callable[[bytes], None]) -> float:
    """Sends `count` datagrams by `send`; returns how many a second that were."""
    datagrams = [make(number) for number in range(min(count, DIFFERENT))]
    begun = time.time()
    for number in range(count):
        send(datagrams[number % len(datagrams)])
        if number % 50 == 49:
            time.sleep(max(0.0, begun + number / per_second - time.time()))
    return count / (time.time() - begun)


class Stranger:
    """A socket that the publisher does not know, and what came back to it."""

    def __init__(self, publisher: Address) -> None:
        self.publisher = publisher
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.answered = 0

    def send(self, datagram: bytes) -> None:
        try:
            self.socket.sendto(datagram, self.publisher)
        except OSError:
            # The buffer is full: lost, as it would be on any path.
            pass

    def listen(self) -> None:
        try:
            while True:
                self.answered += len(self.socket.recv(2000))
        except OSError:
            pass

    def close(self) -> None:
        self.socket.close()


def from_strangers(to: Address, make: Callable[[int], bytes], count: int, per_second: float) -> tuple[float, int]:
    """From forty addresses in turn; returns how many a second that were, and the bytes that were answered."""
    strangers = [Stranger(to) for _ in range(40)]
    turn = iter(range(count))
    rate = flood(make, count, per_second, lambda datagram: strangers[next(turn) % 40].send(datagram))
    time.sleep(0.5)
    for stranger in strangers:
        stranger.listen()
        stranger.close()
    return rate, sum(stranger.answered for stranger in strangers)


def garbage(first: bytes = b"", shortest: int = 0, longest: int = 1400) -> Callable[[int], bytes]:
    """Random bytes after `first`."""
    return lambda _: first + os.urandom(random.randint(shortest, longest))


def forged_check(ufrag: str, password: str) -> Callable[[int], bytes]:
    return lambda _: stun.request(f"{ufrag}:{os.urandom(4).hex()}", password)
