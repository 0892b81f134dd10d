"""HTTP requests of a WHIP client (RFC 9725); of the standard library, so that any Python has it."""

import urllib.parse
import urllib.request


def join(endpoint, offer):
    """The answer to an offer, and the address of the session."""
    asked = urllib.request.Request(endpoint, offer.encode(), {"Content-Type": "application/sdp"}, method="POST")
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return answer.read().decode(), urllib.parse.urljoin(endpoint, answer.headers["Location"])


def leave(session):
    urllib.request.urlopen(urllib.request.Request(session, method="DELETE"), timeout=10).close()
