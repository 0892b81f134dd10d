//! The extended reports that may be sent: `a=rtcp-xr` (RFC 3611 section 5.1).

use super::document::Section;
use crate::sdp::write::EXTENDED_REPORTS;

/// Max size of our blocks in bytes, limited by the datagram; a peer that accepts only smaller ones accepts none of
/// ours.
const LONGEST_BLOCK: u32 = 1_200;

/// Returns true if the section (or the session, if the section has no such line) allows every block that reports
/// arrivals, at any length we use (`pkt-loss-rle=400` limits it). Unknown blocks are ignored.
pub(crate) fn has_extended_reports(section: &Section<'_>) -> bool {
    let takes = |name: &str| {
        section.inherited("rtcp-xr").flat_map(str::split_whitespace).any(|block| match block.split_once('=') {
            None => block == name,
            Some((block, max)) => block == name && max.parse().is_ok_and(|max: u32| max >= LONGEST_BLOCK),
        })
    };
    EXTENDED_REPORTS.into_iter().all(takes)
}
