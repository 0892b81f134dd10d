//! SSRCs: `a=ssrc` and `a=ssrc-group` (RFC 5576, RFC 5956 for FEC-FR).

use super::document::Section;
use crate::sdp::negotiated::Ssrcs;

/// The SSRCs that the peer sends with. Of several media streams the first; JSEP allows an endpoint to give none.
pub(crate) fn streams(section: &Section<'_>) -> Ssrcs {
    let group = |semantics: &str| {
        section.values("ssrc-group").find_map(|line| {
            let mut words = line.split_whitespace();
            if words.next()? != semantics {
                return None;
            }
            let mut ids = words.map_while(|word| word.parse::<u32>().ok());
            Some((ids.next()?, ids.next()?))
        })
    };
    let (rtx, fec) = (group("FID"), group("FEC-FR"));
    let listed = || section.values("ssrc").find_map(|line| line.split_whitespace().next()?.parse().ok());
    let media = rtx.or(fec).map(|(media, _)| media).or_else(listed);
    let beside = |pair: Option<(u32, u32)>| pair.filter(|(of, _)| Some(*of) == media).map(|(_, id)| id);
    Ssrcs { media, retransmission: beside(rtx), fec: beside(fec) }
}
