//! Configuration of a connection.

use thalweg_units::{ConfigError, Span, check};

use crate::DtlsRole;

/// The DTLS versions allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DtlsVersions {
    /// 1.3 if the peer supports it, otherwise 1.2.
    #[default]
    Best,
    /// Only 1.2 (RFC 6347).
    Only12,
    /// Only 1.3 (RFC 9147).
    Only13,
}

/// Settings of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// True if this agent is controlling and nominates the candidate pair: the offerer is (RFC 8445 section 6.1.1). A
    /// full agent is controlling in any case if [`crate::Remote::lite`] says that the peer is lite.
    pub controlling: bool,
    /// True if this agent is lite and only answers connectivity checks (RFC 8445 section 2.5): for a server with a
    /// public address.
    pub lite: bool,
    /// Which side starts the DTLS handshake; use [`crate::Connection::set_dtls_role`] if it becomes known later.
    pub dtls: DtlsRole,
    /// The DTLS versions allowed.
    pub versions: DtlsVersions,
    /// Time without authenticated input until [`crate::Event::Disconnected`]. 7 s: an idle path is checked every 4 to 6 s
    /// (RFC 7675 section 5.1), and the answer takes a round trip.
    pub disconnect_timeout: Span,
    /// Time without an answer to a check until [`crate::Event::Closed`], because consent has expired. 30 s (RFC 7675
    /// section 5.1).
    pub give_up: Span,
    /// Time from [`crate::Connection::set_remote`] without a connection until [`crate::Event::Failed`]. 30 s: the
    /// retransmissions of a check (RFC 8445 section 14.3) are exhausted by then.
    pub connect: Span,
    /// Timeout before a flight of the handshake is retransmitted; it doubles with each retransmission. 250 ms: the one
    /// second that RFC 6347 section 4.2.4.1 and RFC 9147 section 5.8.2 use for an unknown path allows too few flights
    /// before [`Config::connect`] on a path with 20 % loss. ICE has just received answers over this path, for which
    /// libwebrtc (`dtls_transport.cc`) uses twice its round-trip time. 10 ms to 10 s.
    pub flight: Span,
    /// Max number of streams (SSRCs) received and sent, each way. 16: a video with its retransmissions and its FEC and
    /// an audio, four times over. 1 to 1024.
    pub max_streams: usize,
    /// Max number of remote addresses, candidates or discovered. 32. 1 to 100, the number of pairs that RFC 8445
    /// section 6.1.2.5 lets an agent check.
    pub max_addresses: usize,
    /// Size of the replay window per stream: how many packets behind the newest are still accepted. 1024 as in
    /// libwebrtc's `srtp_session.cc`; RFC 3711 section 3.3.2 requires at least 64. 64 to 16384.
    pub replay_window: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            controlling: false,
            lite: false,
            dtls: DtlsRole::Client,
            versions: DtlsVersions::Best,
            disconnect_timeout: Span::from_secs(7),
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
    /// Rejects invalid settings.
    ///
    /// # Errors
    /// With the field, its value and its allowed range.
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
