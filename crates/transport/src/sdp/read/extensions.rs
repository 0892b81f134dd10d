//! Header extensions: `a=extmap` (RFC 8285 section 5).

use super::document::Section;
use crate::sdp::Direction;

/// A header extension and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mapped<'a> {
    pub(crate) id: u8,
    pub(crate) uri: &'a str,
    /// True if it is named for one direction alone, which an answer repeats from its own end (RFC 8285 section 7).
    pub(crate) one_way: bool,
}

impl<'a> Mapped<'a> {
    /// An extension named without a direction.
    pub(crate) fn new(id: u8, uri: &'a str) -> Mapped<'a> {
        Mapped { id, uri, one_way: false }
    }

    /// Returns true if both are one extension by one id, whatever their directions.
    pub(crate) fn is(&self, other: &Mapped<'_>) -> bool {
        (self.id, self.uri) == (other.id, other.uri)
    }
}

/// The extensions of a section that may be used for media in `direction`, seen from this endpoint; of several with one
/// id or one URI the first. Ids above 255 are placeholders for which the answerer chooses another (RFC 8285 section 6);
/// they are left out.
pub(crate) fn extensions<'a>(section: &Section<'a>, direction: Direction) -> Vec<Mapped<'a>> {
    let mut found: Vec<Mapped<'a>> = Vec::new();
    for line in section.values("extmap") {
        let mut words = line.split_whitespace();
        let (Some(number), Some(uri)) = (words.next(), words.next()) else { continue };
        let (number, way) = number.split_once('/').unwrap_or((number, "sendrecv"));
        let Some(id) = number.parse().ok().filter(|id| matches!(id, 1..=14 | 16..=255)) else { continue };
        let is_open = way == "sendrecv" || way == direction.reverse().name();
        if is_open && !found.iter().any(|mapped| mapped.id == id || mapped.uri == uri) {
            found.push(Mapped { id, uri, one_way: way != "sendrecv" });
        }
    }
    found
}
