//! Writes sections, and the session around them.

use std::fmt::Display;

use rtc_sdp::description::common::{Address, Attribute, ConnectionInformation};
use rtc_sdp::description::media::{MediaName, RangedPort};
use rtc_sdp::description::session::{Origin, TimeDescription};
use rtc_sdp::{MediaDescription, SessionDescription};

use super::formats::FormatLines;
use crate::sdp::capabilities::Direction;
use crate::sdp::local::Local;
use crate::sdp::negotiated::{Kinds, Ssrcs};
use crate::sdp::read::{Mapped, Section};

/// The port of a section whose address ICE determines (RFC 8840 section 4.1.1).
const DISCARD: isize = 9;

/// The blocks of extended reports that congestion control needs, by their names in `a=rtcp-xr` (RFC 3611 section 5.1):
/// which packets arrived, and when. Reports on packets too late to be played (RFC 7097, RFC 7243) are sent in addition
/// and need no negotiation.
pub(crate) const EXTENDED_REPORTS: [&str; 2] = ["pkt-loss-rle", "pkt-rcpt-times"];

/// The transport lines of a section.
pub(crate) struct TransportLines<'a> {
    pub(crate) local: &'a Local,
    /// The value of `a=setup`.
    pub(crate) setup: &'static str,
    /// Includes candidates: only in the section that describes the bundle's transport.
    pub(crate) with_candidates: bool,
}

/// The lines of a section.
pub(crate) struct SectionLines<'a> {
    pub(crate) kind: &'static str,
    pub(crate) mid: &'a str,
    /// The parts of its protocol's name: in an answer the offer's (RFC 8829 section 5.1.2).
    pub(crate) protocol: Vec<String>,
    pub(crate) direction: Direction,
    pub(crate) formats: Vec<FormatLines>,
    pub(crate) extensions: Vec<Mapped<'a>>,
    /// Allows extended reports for it.
    pub(crate) extended: bool,
    /// Lets RTCP be of reduced size (RFC 5506): in an answer if it was offered.
    pub(crate) reduced_size: bool,
    /// Rules out a port of its own for RTCP: in an offer (RFC 8858 section 4.2), never in an answer (4.3).
    pub(crate) only_multiplexed: bool,
    /// SSRCs of what is sent; empty if nothing is.
    pub(crate) streams: Ssrcs,
    pub(crate) transport: TransportLines<'a>,
}

impl SectionLines<'_> {
    pub(crate) fn section(&self) -> MediaDescription {
        let numbers = self.formats.iter().map(|format| format.payload_type.to_string()).collect();
        let mut section = empty(self.kind, DISCARD, self.protocol.clone(), numbers);
        let lines = &mut Lines(&mut section.attributes);
        self.transport.write(lines);
        lines.value("mid", self.mid);
        for Mapped { id, uri, one_way } in &self.extensions {
            let way = if *one_way { format!("/{}", self.direction.name()) } else { String::new() };
            lines.value("extmap", format_args!("{id}{way} {uri}"));
        }
        lines.flag(self.direction.name());
        let cname = &self.transport.local.cname;
        if self.direction == Direction::SendOnly {
            lines.value("msid", format_args!("{cname} {}", self.kind));
        }
        lines.flag("rtcp-mux");
        if self.only_multiplexed {
            lines.flag("rtcp-mux-only");
        }
        if self.reduced_size {
            lines.flag("rtcp-rsize");
        }
        if self.extended {
            lines.value("rtcp-xr", EXTENDED_REPORTS.join(" "));
        }
        for FormatLines { payload_type, map, parameters, feedback } in &self.formats {
            lines.value("rtpmap", format_args!("{payload_type} {map}"));
            for kind in feedback.names() {
                lines.value("rtcp-fb", format_args!("{payload_type} {kind}"));
            }
            if let Some(parameters) = parameters {
                lines.value("fmtp", format_args!("{payload_type} {parameters}"));
            }
        }
        if let (Direction::SendOnly, Ssrcs { media: Some(media), retransmission, fec }) = (self.direction, self.streams)
        {
            for (semantics, id) in [("FID", retransmission), ("FEC-FR", fec)] {
                if let Some(id) = id {
                    lines.value("ssrc-group", format_args!("{semantics} {media} {id}"));
                }
            }
            for id in [Some(media), retransmission, fec].into_iter().flatten() {
                lines.value("ssrc", format_args!("{id} cname:{cname}"));
                lines.value("ssrc", format_args!("{id} msid:{cname} {}", self.kind));
            }
        }
        section
    }
}

impl TransportLines<'_> {
    fn write(&self, lines: &mut Lines<'_>) {
        let Local { credentials, fingerprint, .. } = self.local;
        if self.with_candidates {
            for candidate in self.local.candidate_lines() {
                lines.value("candidate", candidate);
            }
            // There will be no candidates other than host candidates.
            lines.flag("end-of-candidates");
        }
        lines.value("ice-ufrag", &credentials.ufrag);
        lines.value("ice-pwd", &credentials.password);
        lines.value("ice-options", "trickle");
        lines.value("fingerprint", fingerprint);
        lines.value("setup", self.setup);
    }
}

/// The answer for a rejected section: its own line with port 0 (RFC 3264 section 6).
pub(crate) fn closed(section: &Section<'_>) -> MediaDescription {
    let name = &section.media.media_name;
    let mut closed = empty(&name.media, 0, name.protos.clone(), name.formats.clone());
    let lines = &mut Lines(&mut closed.attributes);
    if let Ok(mid) = section.mid() {
        lines.value("mid", mid);
    }
    lines.flag("inactive");
    closed
}

/// The complete SDP: sections on one transport, described by the first of `bundle`.
pub(crate) fn session(local: &Local, allow_mixed: bool, bundle: &[&str], sections: Vec<MediaDescription>) -> String {
    let origin = Origin {
        username: "-".to_owned(),
        session_id: local.session(),
        session_version: 1,
        network_type: "IN".to_owned(),
        address_type: "IP4".to_owned(),
        unicast_address: "127.0.0.1".to_owned(),
    };
    let mut session = SessionDescription {
        origin,
        session_name: "-".to_owned(),
        time_descriptions: vec![TimeDescription::default()],
        media_descriptions: sections,
        ..SessionDescription::default()
    };
    let lines = &mut Lines(&mut session.attributes);
    if !bundle.is_empty() {
        lines.value("group", format_args!("BUNDLE {}", bundle.join(" ")));
    }
    if allow_mixed {
        lines.flag("extmap-allow-mixed");
    }
    if local.lite {
        lines.flag("ice-lite");
    }
    lines.value("msid-semantic", " WMS *");
    session.marshal()
}

fn empty(kind: &str, port: isize, protos: Vec<String>, formats: Vec<String>) -> MediaDescription {
    let address = Address { address: "0.0.0.0".to_owned(), ttl: None, range: None };
    let connection =
        ConnectionInformation { network_type: "IN".to_owned(), address_type: "IP4".to_owned(), address: Some(address) };
    MediaDescription {
        media_name: MediaName {
            media: kind.to_owned(),
            port: RangedPort { value: port, range: None },
            protos,
            formats,
        },
        connection_information: Some(connection),
        ..MediaDescription::default()
    }
}

/// Appends `a=` lines in order.
struct Lines<'a>(&'a mut Vec<Attribute>);

impl Lines<'_> {
    fn flag(&mut self, key: &str) {
        self.0.push(Attribute::new(key.to_owned(), None));
    }

    fn value(&mut self, key: &str, value: impl Display) {
        self.0.push(Attribute::new(key.to_owned(), Some(value.to_string())));
    }
}
