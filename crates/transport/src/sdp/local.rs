//! This endpoint's own parameters, for signalling.

use std::net::SocketAddr;

use crate::parameters::{Credentials, DtlsRole, Fingerprint};

/// SSRCs of this endpoint's streams: of its media if it sends, of its reports if it receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamIds {
    /// Video.
    pub video: u32,
    /// Retransmissions of video.
    pub retransmission: u32,
    /// FEC packets over video.
    pub fec: u32,
    /// Audio.
    pub audio: u32,
}

/// Parameters of this endpoint for a new connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// The credentials that the peer's checks must use.
    pub credentials: Credentials,
    /// Fingerprint of this endpoint's certificate.
    pub fingerprint: Fingerprint,
    /// Addresses at which this endpoint's socket is reachable; unspecified ones (`0.0.0.0`) are left out.
    pub candidates: Vec<SocketAddr>,
    /// True if this agent is lite and only answers checks.
    pub lite: bool,
    /// Which side starts the DTLS handshake, if the peer leaves it open.
    pub setup: DtlsRole,
    /// SSRCs, all different.
    pub streams: StreamIds,
    /// The CNAME of streams that are played together (RFC 7022), also the name of their MediaStream: letters, digits
    /// and `-`.
    pub cname: String,
}

impl Local {
    /// The values of `a=candidate` lines: [`host_candidates`] without their prefix.
    pub(super) fn candidate_lines(&self) -> Vec<String> {
        values(&self.candidates)
    }

    /// The session id in `o=`: random because SSRCs are, and positive as JSEP requires.
    pub(super) fn session(&self) -> u64 {
        (u64::from(self.streams.video) << 32 | u64::from(self.streams.audio)) & i64::MAX as u64
    }
}

/// Host candidates for these addresses in the format of a fragment, `candidate:...` (RFC 8839 section 5.1), the first
/// preferred. Unspecified addresses (`0.0.0.0`) are left out.
pub fn host_candidates(addresses: &[SocketAddr]) -> Vec<String> {
    values(addresses).into_iter().map(|value| format!("candidate:{value}")).collect()
}

fn values(addresses: &[SocketAddr]) -> Vec<String> {
    // The type preference of host candidates (RFC 8445 section 5.1.2.2), component 1.
    const HOST: u32 = 126;
    let known: Vec<_> = addresses.iter().filter(|address| !address.ip().is_unspecified()).collect();
    let line = |(index, address): (usize, &&SocketAddr)| {
        // Candidates of one base and type share their foundation, others must not.
        let foundation = known.iter().position(|other| other.ip() == address.ip()).unwrap_or(index) + 1;
        let priority = HOST << 24 | (65_535 - u32::try_from(index).unwrap_or(0).min(65_535)) << 8 | 255;
        format!("{foundation} 1 udp {priority} {} {} typ host", address.ip(), address.port())
    };
    known.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::local;
    use super::*;

    #[test]
    fn candidates_are_host_candidates_in_order_of_preference_and_unspecified_addresses_are_none() {
        let addresses = ["192.0.2.1:5000", "0.0.0.0:5000", "[2001:db8::1]:5000", "192.0.2.1:5001"];
        let candidates = addresses.iter().map(|address| address.parse().expect("an address")).collect();
        let lines = Local { candidates, ..local(1) }.candidate_lines();
        assert_eq!(
            lines,
            [
                "1 1 udp 2130706431 192.0.2.1 5000 typ host",
                "2 1 udp 2130706175 2001:db8::1 5000 typ host",
                "1 1 udp 2130705919 192.0.2.1 5001 typ host",
            ]
        );
    }
}
