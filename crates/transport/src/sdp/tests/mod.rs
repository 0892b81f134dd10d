//! Negotiation with other implementations' SDP, and with our own.

mod answers;
mod kinds;
mod offers;
mod required;
mod wrong;

use super::*;
use crate::parameters::{Credentials, DtlsRole, Fingerprint};

/// Offers of Chromium 156, written by the browser on a page that requests one; only its current addresses were removed.
const CHROMIUM: &str = include_str!("data/chromium-recvonly.sdp");
const CHROMIUM_VIDEO: &str = include_str!("data/chromium-video-only.sdp");
const CHROMIUM_DATA: &str = include_str!("data/chromium-with-data.sdp");
const CHROMIUM_SENDS: &str = include_str!("data/chromium-sendonly.sdp");
const CHROMIUM_SIMULCAST: &str = include_str!("data/chromium-simulcast.sdp");
/// With the field trial for RFC 8888 enabled.
const CHROMIUM_CCFB: &str = include_str!("data/chromium-rfc8888.sdp");
/// Handwritten after Firefox's known format: session lines that apply to all sections, directions of extensions, other
/// ids, lower case in the fingerprint.
const FIREFOX: &str = include_str!("data/firefox-like.sdp");

/// The answer of the server of `tests/whip/server` (Pion 4.1.4) to `offer(&local(1), &sender())`.
const PION: &str = include_str!("data/pion-answer.sdp");

/// Chromium's answers to `offer(&local(1), &sender())`, and, with a canvas and silence to send, to `offer(&local(1),
/// &receiver())`.
const CHROMIUM_RECEIVES: &str = include_str!("data/chromium-answer-receives.sdp");
const CHROMIUM_ANSWERS: &str = include_str!("data/chromium-answer-sends.sdp");

const ALL: [&str; 8] =
    [CHROMIUM, CHROMIUM_VIDEO, CHROMIUM_DATA, CHROMIUM_SENDS, CHROMIUM_SIMULCAST, CHROMIUM_CCFB, FIREFOX, PION];

/// An endpoint, identified by the number.
pub(super) fn local(number: u32) -> Local {
    Local {
        credentials: Credentials { ufrag: format!("frag{number}"), password: format!("{number:022}") },
        fingerprint: Fingerprint::new([number as u8; 32]),
        candidates: vec!["127.0.0.1:4000".parse().expect("an address")],
        lite: false,
        setup: DtlsRole::Client,
        streams: StreamIds {
            video: number * 10 + 1,
            retransmission: number * 10 + 2,
            fec: number * 10 + 3,
            audio: number * 10 + 4,
        },
        cname: format!("thalweg-{number}"),
    }
}

fn sender() -> Capabilities {
    Capabilities::all(Direction::SendOnly)
}

fn receiver() -> Capabilities {
    Capabilities::all(Direction::ReceiveOnly)
}

/// The lines of the section with this number, from 0.
fn section(text: &str, number: usize) -> Vec<&str> {
    text.lines().skip_while(|line| !line.starts_with("m=")).fold(Vec::new(), |mut sections: Vec<Vec<&str>>, line| {
        if line.starts_with("m=") {
            sections.push(Vec::new());
        }
        sections.last_mut().expect("begun by m=").push(line);
        sections
    })[number]
        .clone()
}
