//! Validates the answer to our offer.

use super::choose::choose;
use super::error::{Refusal, SdpError};
use super::negotiate::{Negotiator, Preference};
use super::negotiated::Negotiated;
use super::offer::{Offer, Offered};
use super::read::{Document, Section, dtls_role, extensions, formats, remote};
use crate::parameters::{DtlsRole, Remote, excerpt};
use crate::sdp::capabilities::Direction;

/// The result of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The peer's parameters.
    pub remote: Remote,
    /// This endpoint's DTLS role.
    pub dtls: DtlsRole,
    /// The negotiated media.
    pub media: Negotiated,
    /// Sections that the peer rejected, or answered unusably, and the reasons.
    pub refused: Vec<Refusal>,
}

impl Offer {
    /// Processes an answer: it must have the sections of the offer in their order, and use only payload types and
    /// header extensions of the offer, with their meaning. If the answer leaves several codecs, a sender uses the one
    /// it prefers, a receiver the one the peer prefers.
    ///
    /// # Errors
    /// [`SdpError`], which names the line, its content and what is required.
    pub fn accept(&self, answer: &str) -> Result<Accepted, SdpError> {
        let document = Document::read(answer)?;
        let sections: Vec<_> = document.sections().collect();
        if sections.len() != self.sections.len() {
            return Err(SdpError::Wrong {
                place: super::Place::Session,
                found: format!("{} sections after it", sections.len()),
                needed: format!("{}, as the offer has", self.sections.len()),
            });
        }
        for (section, offered) in sections.iter().zip(&self.sections) {
            offered.check(section, self.capabilities.direction)?;
        }
        let preference = Preference::of_sender(self.capabilities.direction);
        let negotiator = Negotiator { local: &self.local, capabilities: &self.capabilities, preference };
        let chosen = choose(&document, &negotiator)?;
        let remote = remote(&document, &chosen.tagged)?;
        Ok(Accepted {
            dtls: dtls_role(&chosen.tagged, None)?,
            remote,
            media: chosen.negotiated(&negotiator),
            refused: chosen.refused,
        })
    }
}

impl Offered {
    /// Checks that a section can answer this one.
    fn check(&self, section: &Section<'_>, direction: Direction) -> Result<(), SdpError> {
        let wrong = |found: String, needed: String| {
            Err(SdpError::Wrong { place: section.place(), found: excerpt(&found), needed })
        };
        if section.kind() != self.kind {
            return wrong(format!("m={}", section.kind()), format!("m={}, as the offer has there", self.kind));
        }
        if section.is_closed() {
            return Ok(());
        }
        let mid = section.mid()?;
        if mid != self.mid {
            return wrong(format!("a=mid:{mid}"), format!("a=mid:{}, as the offer has there", self.mid));
        }
        for format in formats(section) {
            let offered = self.formats.iter().find(|(number, _)| *number == format.payload_type);
            if !offered.is_some_and(|(_, map)| format.is(map)) {
                let meant = offered.map_or("no payload type of the offer".to_owned(), |(_, map)| map.clone());
                let found = format!("a=rtpmap:{} {}", format.payload_type, format.map);
                return wrong(found, format!("the meaning the offer gives that number: {meant}"));
            }
        }
        for mapped in extensions(section, direction) {
            if !self.extensions.iter().any(|offered| offered.is(&mapped)) {
                let found = format!("a=extmap:{} {}", mapped.id, mapped.uri);
                return wrong(found, "a header extension of the offer with the offer's number".to_owned());
            }
        }
        Ok(())
    }
}
