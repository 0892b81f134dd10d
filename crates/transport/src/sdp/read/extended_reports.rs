//! Which extended reports may be made: `a=rtcp-xr` (RFC 3611 section 5.1).

use super::document::Section;
use crate::sdp::write::EXTENDED_REPORTS;

/// A block never has more bytes than fit into a datagram; who takes no more than these takes none of ours.
const LONGEST_BLOCK: u32 = 1_200;

/// Whether the section, or where it says nothing of it the session, has every block that reports arrivals, as long as they come
/// (`pkt-loss-rle=400` takes no longer ones). Blocks that are not known here are passed over.
pub(crate) fn has_extended_reports(section: &Section<'_>) -> bool {
    let takes = |name: &str| {
        section.inherited("rtcp-xr").flat_map(str::split_whitespace).any(|block| match block.split_once('=') {
            None => block == name,
            Some((block, max)) => block == name && max.parse().is_ok_and(|max: u32| max >= LONGEST_BLOCK),
        })
    };
    EXTENDED_REPORTS.into_iter().all(takes)
}
