//! Answers of WHIP and WHEP servers beside SDP.

use thalweg_live::watch::Published;
use thalweg_live::whip::ice_servers;

/// The most servers that are kept.
const MOST: usize = 16;

/// Reads the lines as `Link` headers. Every server has an address of STUN or TURN that stands in the header between angle
/// brackets, and one written by itself is read as the same.
pub fn link_header(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let found = ice_servers(text.lines());
    assert!(found.len() <= MOST);
    for server in found {
        assert!(["stun:", "stuns:", "turn:", "turns:"].iter().any(|scheme| server.url.starts_with(scheme)));
        assert!(text.contains(&format!("<{}>", server.url)));
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut link = format!("<{}>; rel=\"ice-server\"", server.url);
        let credentials = [("username", &server.username), ("credential", &server.credential)];
        for (name, value) in credentials.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            link.push_str(&format!("; {name}=\"{}\"", quoted(value)));
        }
        assert_eq!(ice_servers([link.as_str()].into_iter()), [server], "{link}");
    }
}

/// Reads what is published. Every picture was taken at a time, and later ones later.
pub fn published(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match Published::read(text) {
        Err(error) => assert!(!error.is_empty()),
        Ok(published) => {
            for number in [0, 1, u64::from(u32::MAX), 1 << 53] {
                let taken_ms = |number: u64| published.epoch_ms + number as f64 * published.frame_interval_ms;
                let (this, next) = (taken_ms(number), taken_ms(number + (1 << 30)));
                assert!(this.is_finite() && next.is_finite() && this <= next, "{this} {next}");
            }
        }
    }
}
