//! Session descriptions on their way through the mailbox: their candidates are replaced, so that media passes the relay.
//!
//! The receiver gets no candidate at all and learns the relay's address from the first check that comes through it, as a
//! peer-reflexive candidate (RFC 8445 section 7.3.1.3); the sender gets the relay's address alone.

use std::net::{IpAddr, SocketAddr};

/// `a=candidate:FOUNDATION COMPONENT TRANSPORT PRIORITY ADDRESS PORT typ TYPE ...` (RFC 8839 section 5.1).
const CANDIDATE: &str = "a=candidate:";
const END: &str = "a=end-of-candidates";

/// The description without its candidates.
pub fn without_candidates(sdp: &str) -> String {
    kept(sdp).map(|line| format!("{line}\r\n")).collect()
}

/// The description with `address` as its only candidate.
pub fn leading_to(sdp: &str, address: SocketAddr) -> String {
    // The priority of a host candidate (RFC 8445 section 5.1.2.1).
    let priority = (126 << 24) | (65_535 << 8) | 255;
    let (ip, port) = (address.ip(), address.port());
    let candidate = format!("{CANDIDATE}1 1 udp {priority} {ip} {port} typ host\r\n{END}\r\n");
    let mut written = String::new();
    let (mut sections, mut is_written) = (0, false);
    for line in kept(sdp) {
        written.push_str(&format!("{line}\r\n"));
        sections += u32::from(line.starts_with("m="));
        // After the first section's connection line; bundled sections use its candidates (RFC 8843 section 7.3.4).
        if sections == 1 && !is_written && line.starts_with("c=") {
            written.push_str(&candidate);
            is_written = true;
        }
    }
    written
}

/// Where the peer of this description listens for UDP: on loopback if it does, else at its first address of IPv4.
pub fn address(sdp: &str) -> Option<SocketAddr> {
    let addresses = sdp.lines().filter_map(|line| {
        let words: Vec<&str> = line.trim_end().strip_prefix(CANDIDATE)?.split(' ').collect();
        let [_, component, transport, _, ip, port, _, kind, ..] = words[..] else { return None };
        let is_host = component == "1" && transport.eq_ignore_ascii_case("udp") && kind == "host";
        let ip: IpAddr = ip.parse().ok().filter(IpAddr::is_ipv4)?;
        is_host.then_some(SocketAddr::new(ip, port.parse().ok()?))
    });
    let addresses: Vec<SocketAddr> = addresses.collect();
    addresses.iter().find(|address| address.ip().is_loopback()).or(addresses.first()).copied()
}

/// The payload types of retransmissions (RFC 4588 section 8.1).
pub fn retransmissions(sdp: &str) -> Vec<u8> {
    let mapped = sdp.lines().filter_map(|line| line.trim_end().strip_prefix("a=rtpmap:")?.split_once(' '));
    mapped.filter(|(_, name)| name.starts_with("rtx/")).filter_map(|(number, _)| number.parse().ok()).collect()
}

fn kept(sdp: &str) -> impl Iterator<Item = &str> {
    let is_kept = |line: &&str| !line.is_empty() && !line.starts_with(CANDIDATE) && *line != END;
    sdp.lines().map(str::trim_end).filter(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Chromium 156 writes them, shortened.
    const OFFER: &str = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\nm=video 36187 UDP/TLS/RTP/SAVPF 96 97\r\n\
        c=IN IP4 192.0.2.7\r\na=candidate:3 1 udp 2122260223 192.0.2.7 36187 typ host generation 0\r\n\
        a=candidate:2 1 udp 2122194687 127.0.0.1 49717 typ host generation 0 network-id 2\r\n\
        a=candidate:1 1 udp 2122129151 ::1 49718 typ host generation 0\r\n\
        a=candidate:6 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active\r\na=end-of-candidates\r\na=ice-ufrag:abcd\r\n\
        a=rtpmap:96 VP8/90000\r\na=rtpmap:97 rtx/90000\r\nm=video 9 UDP/TLS/RTP/SAVPF 98 99\r\nc=IN IP4 0.0.0.0\r\n\
        a=rtpmap:99 rtx/90000\r\n";

    #[test]
    fn the_receiver_gets_no_candidate_and_everything_else() {
        let rest = without_candidates(OFFER);
        assert!(!rest.contains("candidate"), "{rest}");
        assert_eq!(rest.lines().count(), OFFER.lines().count() - 5);
        assert!(rest.contains("\r\na=ice-ufrag:abcd\r\n"));
    }

    #[test]
    fn the_sender_gets_the_relay_alone_in_the_first_section() {
        let led = leading_to(OFFER, "127.0.0.1:5000".parse().unwrap());
        let candidates: Vec<&str> = led.lines().filter(|line| line.contains("candidate")).collect();
        assert_eq!(candidates, ["a=candidate:1 1 udp 2130706431 127.0.0.1 5000 typ host", "a=end-of-candidates"]);
        assert!(led.find("candidate").unwrap() < led.rfind("m=video").unwrap(), "{led}");
        assert_eq!(without_candidates(&led), without_candidates(OFFER));
    }

    #[test]
    fn a_peer_is_reached_on_loopback_first_and_never_over_tcp_or_by_a_name() {
        assert_eq!(address(OFFER), Some("127.0.0.1:49717".parse().unwrap()));
        let elsewhere = OFFER.replace("127.0.0.1 49717", "198.51.100.1 49717");
        assert_eq!(address(&elsewhere), Some("192.0.2.7:36187".parse().unwrap()));
        let hidden =
            "a=candidate:1 1 udp 2122260223 0f1e.local 5000 typ host\r\na=candidate:6 1 tcp 1 127.0.0.1 9 typ host\r\n";
        assert_eq!(address(hidden), None);
    }

    #[test]
    fn retransmissions_are_known_by_their_names() {
        assert_eq!(retransmissions(OFFER), [97, 99]);
    }
}
