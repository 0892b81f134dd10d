//! What a connection is made with.

use thalweg_units::{ConfigError, Span, check};

use crate::DtlsRole;

/// Which DTLS is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DtlsVersions {
    /// 1.3 where the peer can, else 1.2.
    #[default]
    Best,
    /// Only 1.2 (RFC 6347).
    Only12,
    /// Only 1.3 (RFC 9147).
    Only13,
}

/// How a connection behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Whether this end chooses the path: the offerer does (RFC 8445 section 6.1.1). An end that is not lite does so in any
    /// case where [`crate::Remote::lite`] says that the other is.
    pub controlling: bool,
    /// Whether this end only answers checks (RFC 8445 section 2.5): for a server with a public address.
    pub lite: bool,
    /// Who begins the handshake; [`crate::Connection::set_dtls_role`] when it is known later.
    pub dtls: DtlsRole,
    /// Which versions of it are spoken.
    pub versions: DtlsVersions,
    /// Nothing authentic heard for so long is [`crate::Event::Disconnected`]. 5 s, between libwebrtc's 2.5 s and the 5 s
    /// of pion; checks of a quiet path go every 3 s.
    pub disconnect_timeout: Span,
    /// No answer to a check for so long is [`crate::Event::Closed`]: consent to be sent to has expired. 30 s (RFC 7675
    /// section 5.1).
    pub give_up: Span,
    /// Not connected so long after [`crate::Connection::set_remote`] is [`crate::Event::Failed`]. 30 s: the retransmissions
    /// of a check (RFC 8445 section 14.3) are spent by then.
    pub connect: Span,
    /// How long a flight of the handshake waits for its answer before it is sent again; then twice as long, and so on.
    /// 250 ms: one second, which RFC 6347 section 4.2.4.1 and RFC 9147 section 5.8.2 take for a path that nothing is known
    /// of, leaves too few flights before [`Config::connect`] on a path that loses a fifth. ICE has just answered over this
    /// one, for which libwebrtc (`dtls_transport.cc`) takes twice its round trip. 10 ms to 10 s.
    pub flight: Span,
    /// Streams (SSRCs) that may be received and sent, each way. 16: a video with its retransmissions and its FEC and
    /// an audio, four times over. 1 to 1024.
    pub max_streams: usize,
    /// Addresses of the peer that are known of, candidates or discovered. 32. 1 to 100, which is how many pairs
    /// RFC 8445 section 6.1.2.5 lets an agent check.
    pub max_addresses: usize,
    /// Packets back from the newest that may still come, per stream. 1024 as in libwebrtc's `srtp_session.cc`; RFC 3711
    /// section 3.3.2 wants at least 64. 64 to 16384.
    pub replay_window: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            controlling: false,
            lite: false,
            dtls: DtlsRole::Client,
            versions: DtlsVersions::Best,
            disconnect_timeout: Span::from_secs(5),
            give_up: Span::from_secs(30),
            connect: Span::from_secs(30),
            flight: Span::from_millis(250),
            max_streams: 16,
            max_addresses: 32,
            replay_window: 1024,
        }
    }
}

impl Config {
    /// Refuses what cannot work.
    ///
    /// # Errors
    /// With the field, its value and its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let spans =
            [("disconnect_timeout", self.disconnect_timeout), ("give_up", self.give_up), ("connect", self.connect)];
        for (field, span) in spans {
            check(field, span).within(Span::from_millis(100)..=Span::from_secs(300), "the default")?;
        }
        check("flight", self.flight).within(Span::from_millis(10)..=Span::from_secs(10), "the default")?;
        check("give_up", self.give_up).within(self.disconnect_timeout.., "the default")?;
        check("controlling", true).is(!self.lite || !self.controlling, "false for an end that is lite")?;
        let counts = [
            ("max_streams", self.max_streams, 1..=1024),
            ("max_addresses", self.max_addresses, 1..=100),
            ("replay_window", self.replay_window as usize, 64..=16384),
        ];
        for (field, count, range) in counts {
            check(field, count).is(range.contains(&count), format_args!("{} to {}", range.start(), range.end()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_work_and_what_cannot_is_refused_by_name() {
        assert_eq!(Config::default().check(), Ok(()));
        let bad = [
            (Config { disconnect_timeout: Span::ZERO, ..Config::default() }, "disconnect_timeout"),
            (Config { give_up: Span::from_secs(1), ..Config::default() }, "give_up"),
            (Config { connect: Span::from_secs(301), ..Config::default() }, "connect"),
            (Config { flight: Span::ZERO, ..Config::default() }, "flight"),
            (Config { max_streams: 0, ..Config::default() }, "max_streams"),
            (Config { max_addresses: 101, ..Config::default() }, "max_addresses"),
            (Config { replay_window: 63, ..Config::default() }, "replay_window"),
            (Config { lite: true, controlling: true, ..Config::default() }, "controlling"),
        ];
        for (config, field) in bad {
            assert!(config.check().unwrap_err().to_string().starts_with(field), "{config:?}");
        }
    }
}
