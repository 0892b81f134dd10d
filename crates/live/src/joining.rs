//! Joining and restarting, for viewers of a publisher and senders to a receiver alike: their session's id, the tag of
//! its ICE session, the names of their streams, and how they are refused.

use thalweg_transport::Remote;
use thalweg_transport::sdp::StreamIds;
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_units::Seed;

use crate::web::{Condition, Refused, RefusedKind};

pub(crate) fn unavailable(error: impl ToString) -> Refused {
    Refused::new(RefusedKind::Unavailable, error.to_string())
}

pub(crate) fn bad(error: impl ToString) -> Refused {
    Refused::new(RefusedKind::BadOffer, error.to_string())
}

/// Refuses to let anybody join a session.
pub(crate) fn is_session() -> Refused {
    Refused::new(RefusedKind::IsSession, "the address is that of a session: send candidates by PATCH, end it by DELETE")
}

/// 64 random bits from the system, hard to guess.
pub(crate) fn random_bits() -> Result<u64, Refused> {
    getrandom::u64().map_err(|error| unavailable(format!("no random bytes from the system: {error}")))
}

/// The id of a session, which nobody can guess.
pub(crate) fn session_id() -> Result<String, Refused> {
    Ok(format!("{:016x}{:016x}", random_bits()?, random_bits()?))
}

/// The tag of the ICE session after so many restarts.
pub(crate) fn etag(restarts: u64) -> String {
    format!("ice-{restarts}")
}

/// Refuses a fragment for another ICE session than the one after so many restarts. Without a tag the peer's credentials
/// in it (`names_session`) say as well which it is for: whip-whep's viewer sends no other.
pub(crate) fn is_for(condition: &Condition, restarts: u64, names_session: bool) -> Result<(), Refused> {
    match condition {
        Condition::None if !names_session => Err(Refused::new(
            RefusedKind::Unconditional,
            "a fragment without If-Match, with another ufrag or password than the session's: send the session's ETag, or * to \
             restart ICE",
        )),
        Condition::Tag(tag) if *tag != etag(restarts) => {
            let message = format!("the ICE session is {:?} now, not {tag:?}", etag(restarts));
            Err(Refused::new(RefusedKind::Stale, message))
        }
        Condition::Tag(_) | Condition::Any | Condition::None => Ok(()),
    }
}

/// The peer's parameters with those of this fragment: what it restarts with.
pub(crate) fn renewed(remote: &Remote, theirs: &Fragment) -> Remote {
    let (credentials, candidates) = (theirs.credentials.clone(), theirs.candidates.clone());
    Remote { credentials, candidates, ..remote.clone() }
}

/// A CNAME that says nothing about who it is of, and is another one in each session (RFC 7022 section 4.2).
pub(crate) fn cname(seed: Seed) -> String {
    format!("{:016x}", seed.child("cname").get())
}

/// Random SSRCs, all different.
pub(crate) fn stream_ids(seed: Seed) -> StreamIds {
    let mut random = seed.child("ssrc").random();
    let mut taken: Vec<u32> = Vec::new();
    let mut next = || loop {
        let ssrc = random.bits() as u32;
        if ssrc != 0 && !taken.contains(&ssrc) {
            taken.push(ssrc);
            return ssrc;
        }
    };
    StreamIds { video: next(), retransmission: next(), fec: next(), audio: next() }
}
