//! The answer to an offer.

use rtc_sdp::MediaDescription;

use super::capabilities::{Capabilities, Direction};
use super::choose::{Chosen, choose};
use super::error::{Refusal, SdpError};
use super::local::Local;
use super::negotiate::{Negotiator, Preference};
use super::negotiated::{Audio, Negotiated, Ssrcs, Video, mapped};
use super::read::{Document, Mapped, Section, dtls_role, extensions, remote};
use super::write::{Codec, SectionLines, TransportLines, audio_format, closed, session, video_formats};
use crate::parameters::{DtlsRole, Remote};

/// An answer, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The SDP to send back.
    pub text: String,
    /// The peer's parameters.
    pub remote: Remote,
    /// This endpoint's DTLS role.
    pub dtls: DtlsRole,
    /// The negotiated media.
    pub media: Negotiated,
    /// Sections that were rejected, with port 0 in the answer, and the reasons.
    pub refused: Vec<Refusal>,
}

/// Answers an offer: from a browser that wants to receive if `capabilities` say that we send, or from one that wants to
/// send if we receive. One video codec is chosen: by the order in `capabilities` if we send, by that of the offer if we
/// receive. Simulcast is declined by leaving it
/// out of the answer (RFC 8853 section 5.3.2): the offerer then sends one stream. Unsupported sections, such as data
/// channels, are rejected individually.
///
/// # Errors
/// [`SdpError`], which names the line, its content and what is required.
pub fn answer(offer: &str, local: &Local, capabilities: &Capabilities) -> Result<Answer, SdpError> {
    let document = Document::read(offer)?;
    let negotiator = Negotiator { local, capabilities, preference: Preference::of_sender(capabilities.direction) };
    let chosen = choose(&document, &negotiator)?;
    let remote = remote(&document, &chosen.tagged)?;
    let dtls = dtls_role(&chosen.tagged, Some(local.setup))?;
    let sections =
        document.sections().map(|section| section_lines(&section, &chosen, local, capabilities, dtls)).collect();
    let bundle: Vec<_> = chosen.bundle.iter().map(String::as_str).collect();
    Ok(Answer {
        text: session(local, document.allows_mixed(), &bundle, sections),
        dtls,
        remote,
        media: chosen.negotiated(&negotiator),
        refused: chosen.refused,
    })
}

fn section_lines(
    section: &Section<'_>,
    chosen: &Chosen<'_>,
    local: &Local,
    capabilities: &Capabilities,
    dtls: DtlsRole,
) -> MediaDescription {
    let setup = match dtls {
        DtlsRole::Client => "active",
        DtlsRole::Server => "passive",
    };
    let transport = TransportLines { local, setup, with_candidates: section.index == chosen.tagged.index };
    let direction = capabilities.direction;
    let protocol = section.media.media_name.protos.clone();
    // As they were offered, for one direction or both.
    let offered = extensions(section, direction);
    let agreed = |ids| -> Vec<Mapped<'_>> {
        let of = |mapped: Mapped<'_>| offered.iter().find(|offered| offered.is(&mapped)).copied();
        mapped(ids).into_iter().filter_map(of).collect()
    };
    let sent = |streams| if direction == Direction::SendOnly { streams } else { Ssrcs::default() };
    match (&chosen.video, &chosen.audio) {
        (Some((index, video)), _) if *index == section.index => {
            let Video { codec, h264, av1, payload_type, retransmission, redundancy, .. } = *video;
            SectionLines {
                kind: "video",
                mid: &video.mid,
                protocol,
                direction,
                formats: video_formats(
                    &[Codec { codec, h264, av1, payload_type, retransmission }],
                    video.fec,
                    redundancy,
                    video.feedback,
                ),
                extensions: agreed(&video.extensions),
                extended: video.feedback.extended,
                reduced_size: chosen.reduced_size,
                only_multiplexed: false,
                streams: sent(video.streams),
                transport,
            }
            .section()
        }
        (_, Some((index, audio))) if *index == section.index => {
            let Audio { mid, payload_type, feedback, .. } = audio;
            SectionLines {
                kind: "audio",
                mid,
                protocol,
                direction,
                formats: vec![audio_format(*payload_type, *feedback)],
                extensions: agreed(&audio.extensions),
                extended: feedback.extended,
                reduced_size: chosen.reduced_size,
                only_multiplexed: false,
                streams: sent(audio.streams),
                transport,
            }
            .section()
        }
        _ => closed(section),
    }
}
