"""A certificate of ECDSA for GStreamer's webrtcbin.

By itself GStreamer (1.22) makes one of RSA, which our DTLS does not know, so the handshake fails. ECDSA on P-256 is
what every end must know (RFC 8827 section 6.5).
"""

import hashlib
import re
import ssl
import subprocess

KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=webrtcbin -keyout -"
PEM = subprocess.run(["openssl", "req", "-x509", *KEY.split()], capture_output=True, text=True, check=True).stdout


def give(pipeline):
    """Gives it to the pipeline's connections as they are made."""

    def on_element(_, __, element):
        factory = element.get_factory()
        if factory and factory.get_name() == "dtlssrtpdec":
            element.set_property("pem", PEM)

    pipeline.connect("deep-element-added", on_element)


def announced(offer):
    """The offer with the certificate's fingerprint: webrtcbin takes that of the key with it."""
    certificate = PEM[PEM.index("-----BEGIN CERTIFICATE") :]
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).digest()
    return re.sub(r"(a=fingerprint:sha-256 ).*?(?=\r?\n)", lambda line: line[1] + digest.hex(":").upper(), offer)
