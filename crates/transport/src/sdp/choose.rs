//! Chooses the sections of an SDP that this endpoint accepts.

use super::error::{Refusal, SdpError};
use super::negotiate::Negotiator;
use super::negotiated::{Audio, Negotiated, Video};
use super::read::{Document, Section};

/// The accepted sections: at most one of video and one of audio.
pub(super) struct Chosen<'a> {
    pub(super) video: Option<(usize, Video)>,
    pub(super) audio: Option<(usize, Audio)>,
    pub(super) refused: Vec<Refusal>,
    /// MIDs of the accepted sections that share a transport, starting with the one that describes it; empty if the peer
    /// does not bundle.
    pub(super) bundle: Vec<String>,
    /// The section that describes the transport.
    pub(super) tagged: Section<'a>,
    /// True if all of them allow RTCP of reduced size.
    pub(super) reduced_size: bool,
}

impl Chosen<'_> {
    pub(super) fn negotiated(&self, negotiator: &Negotiator<'_>) -> Negotiated {
        Negotiated {
            direction: negotiator.capabilities.direction,
            video: self.video.as_ref().map(|(_, video)| video.clone()),
            audio: self.audio.as_ref().map(|(_, audio)| audio.clone()),
            reduced_size: self.reduced_size,
            local: negotiator.local.streams,
        }
    }
}

/// Accepts the first suitable video section, then the first suitable audio section on the same transport.
///
/// # Errors
/// [`SdpError::NothingInCommon`] if there is neither.
pub(super) fn choose<'a>(document: &'a Document, negotiator: &Negotiator<'_>) -> Result<Chosen<'a>, SdpError> {
    let mut refused = Vec::new();
    let mut refuse = |section: &Section<'_>, why: String| {
        refused.push(Refusal { section: section.place(), why, is_media: negotiator.is_meant(section) });
    };
    let mut video: Option<(Section<'_>, Video)> = None;
    for section in document.sections().filter(|section| section.kind() == "video") {
        match negotiator.video(&section) {
            _ if video.is_some() => refuse(&section, "another section of video is taken".to_owned()),
            Ok(found) => video = Some((section, found)),
            Err(why) => refuse(&section, why),
        }
    }
    let beside = video.as_ref().map(|(_, video)| video);
    let mut audio: Option<(Section<'_>, Audio)> = None;
    for section in document.sections().filter(|section| section.kind() == "audio") {
        match negotiator.audio(&section, beside) {
            _ if audio.is_some() => refuse(&section, "another section of audio is taken".to_owned()),
            Ok(found) if beside.is_some_and(|video| !share(document, &video.mid, &found.mid)) => {
                refuse(&section, "is in no BUNDLE group with the video: both must go over one transport".to_owned());
            }
            Ok(found) => audio = Some((section, found)),
            Err(why) => refuse(&section, why),
        }
    }
    for section in document.sections().filter(|section| !matches!(section.kind(), "video" | "audio")) {
        refuse(&section, "is neither video nor audio".to_owned());
    }
    let mut taken: Vec<(Section<'_>, &str)> = Vec::new();
    taken.extend(video.as_ref().map(|(section, video)| (*section, video.mid.as_str())));
    taken.extend(audio.as_ref().map(|(section, audio)| (*section, audio.mid.as_str())));
    taken.sort_by_key(|(section, _)| section.index);
    let Some((_, first)) = taken.first() else {
        return Err(SdpError::NothingInCommon(refused));
    };
    let group = document.bundles().find(|group| group.contains(first));
    // The group's first section describes the transport; if it is rejected, the first accepted one does (RFC 9143
    // section 7.3.1).
    let tag = group.as_ref().and_then(|group| group.first().copied());
    taken.sort_by_key(|(_, mid)| Some(*mid) != tag);
    let tagged = taken[0].0;
    let reduced_size = taken.iter().all(|(section, _)| section.has("rtcp-rsize"));
    let bundle = if group.is_some() { taken.iter().map(|(_, mid)| (*mid).to_owned()).collect() } else { Vec::new() };
    let video = video.map(|(section, video)| (section.index, video));
    let audio = audio.map(|(section, audio)| (section.index, audio));
    Ok(Chosen { video, audio, refused, bundle, tagged, reduced_size })
}

/// Returns true if two sections share a transport.
fn share(document: &Document, one: &str, other: &str) -> bool {
    document.bundles().any(|group| group.contains(&one) && group.contains(&other))
}
