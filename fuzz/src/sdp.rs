//! Signalling from a peer that is not authenticated yet.

use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{Capabilities, Direction, Local, StreamIds, answer, offer};
use thalweg_transport::{Credentials, DtlsRole, Fingerprint};

/// Parses the bytes as an offer, as the answer to an offer of ours, and as a fragment. Our own answer, parsed as an
/// offer, must leave the peer no choice.
pub fn sdp(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for direction in [Direction::SendOnly, Direction::ReceiveOnly] {
        let (local, ours, theirs) = (local(), Capabilities::all(direction), Capabilities::all(direction.reverse()));
        if let Ok(given) = answer(&text, &local, &ours) {
            let taken = answer(&given.text, &local, &theirs).expect("our answer is an SDP");
            let codec = |media: &thalweg_transport::sdp::Negotiated| {
                media.video.as_ref().map(|video| (video.codec, video.payload_type, video.retransmission, video.fec))
            };
            assert_eq!(codec(&taken.media), codec(&given.media));
            assert_eq!(taken.media.audio.is_some(), given.media.audio.is_some());
        }
        let _ = offer(&local, &ours).accept(&text);
    }
    if let Ok(fragment) = Fragment::read(&text) {
        assert_eq!(Fragment::read(&fragment.to_string()), Ok(fragment));
    }
}

fn local() -> Local {
    Local {
        credentials: Credentials { ufrag: "ufrag".to_owned(), password: "0123456789012345678901".to_owned() },
        fingerprint: Fingerprint::new([7; 32]),
        candidates: vec!["127.0.0.1:9".parse().expect("an address")],
        lite: false,
        setup: DtlsRole::Client,
        streams: StreamIds { video: 1, retransmission: 2, fec: 3, audio: 4 },
        cname: "thalweg".to_owned(),
    }
}
