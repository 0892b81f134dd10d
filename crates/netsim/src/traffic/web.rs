//! Web browsing: a page, then an idle time, then the next page (specs/cubic.md 2).

use thalweg_units::{Bytes, ConfigError, Random, Span, Time, above, check};

use super::tcp::ConnectionConfig;
use super::times::check_flows;

/// TCP flows that transfer pages, each on a new connection, and are idle between pages.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct WebConfig {
    /// The number of these flows, each with pages and idle times of its own.
    pub count: u16,
    /// How many of them begin with a page; the others with an idle time (RFC 8867's short transfers: 2 of 10,
    /// specs/rmcat.md 4.7).
    pub busy: u16,
    /// When the first page or idle time of each begins, since the start of the run.
    pub from: Span,
    /// When they stop, since the start of the run; `None` never.
    pub until: Option<Span>,
    /// Min page size; sizes are uniformly distributed.
    pub smallest: Bytes,
    /// Max page size.
    pub largest: Bytes,
    /// Mean idle time between pages; idle times are exponentially distributed.
    pub mean_idle: Span,
    /// How their connections behave.
    pub connection: ConnectionConfig,
}

impl Default for WebConfig {
    /// One flow during the whole run, pages of 100 kB to 1.5 MB, 10 s between them on average (FBRA's background
    /// traffic, specs/fbra.md).
    fn default() -> WebConfig {
        WebConfig {
            count: 1,
            busy: 0,
            from: Span::ZERO,
            until: None,
            smallest: Bytes::new(100_000),
            largest: Bytes::new(1_500_000),
            mean_idle: Span::from_secs(10),
            connection: ConnectionConfig::default(),
        }
    }
}

impl WebConfig {
    /// # Errors
    /// When a field is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_flows("web", self.count, (self.from, self.until))?;
        self.connection.check()?;
        check("web.busy", self.busy).is(self.busy <= self.count, format_args!("at most web.count, {}", self.count))?;
        check("web.smallest", self.smallest).within(above(Bytes::ZERO), "100kB")?;
        check("web.largest", self.largest).within(self.smallest.., "1500kB")?;
        check("web.mean_idle", self.mean_idle).within(above(Span::ZERO), "10s")
    }

    /// The size of a page at `share` (0 to 1) of the distribution.
    fn size_at(&self, share: f64) -> Bytes {
        self.smallest + (self.largest - self.smallest).scale(share)
    }

    /// The idle time at `share` (0 to below 1) of the distribution.
    fn idle_at(&self, share: f64) -> Span {
        self.mean_idle.scale(-libm::log(1.0 - share))
    }
}

/// A page or file whose transfer is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Its size.
    pub size: Bytes,
    /// When it was requested.
    pub asked: Time,
    /// The time from the opening of the connection until the sender knew that the last byte had arrived.
    pub took: Span,
}

/// Draws pages and idle times.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    config: WebConfig,
    random: Random,
}

impl Reader {
    pub(super) fn new(config: WebConfig, random: Random) -> Reader {
        Reader { config, random }
    }

    /// Draws the idle time between the end of a page and the next.
    pub(super) fn idle(&mut self) -> Span {
        self.config.idle_at(self.random.unit())
    }

    /// Draws the size of the next page.
    pub(super) fn size(&mut self) -> Bytes {
        self.config.size_at(self.random.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::super::TcpFlow;
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use thalweg_units::Seed;

    #[test]
    fn pages_are_uniform_and_idle_times_exponential() {
        let config = WebConfig::default();
        let drawn = [0.1, 0.5, 0.9].map(|share| (config.size_at(share).get(), config.idle_at(share)));
        let millis = |(size, idle): (u64, Span)| (size, libm::round(idle.as_millis_f64() * 10.0) / 10.0);
        assert_eq!(drawn.map(millis), [(240_000, 1053.6), (800_000, 6931.5), (1_360_000, 23025.9)]);
    }

    #[test]
    fn ten_readers_begin_at_ten_times_and_the_same_seed_gives_the_same() {
        let begin = |seed| -> Vec<Time> {
            let config = WebConfig { count: 10, ..WebConfig::default() };
            TcpFlow::reading(&config, Seed::new(seed)).unwrap().iter().map(TcpFlow::next_event).collect()
        };
        let mut first = begin(1);
        assert!(first == begin(1) && first != begin(2));
        first.sort();
        first.dedup();
        assert_eq!(first.len(), 10);
    }

    #[test]
    fn the_busy_ones_begin_at_once_and_the_others_as_without_them() {
        let begin = |busy| -> Vec<Time> {
            let config = WebConfig { count: 10, busy, from: Span::from_secs(5), ..WebConfig::default() };
            TcpFlow::reading(&config, Seed::new(1)).unwrap().iter().map(TcpFlow::next_event).collect()
        };
        assert_eq!(begin(2)[..2], [Time::from_millis(5_000); 2]);
        assert_eq!(begin(2)[2..], begin(0)[2..]);
        assert!(begin(0).iter().all(|begin| *begin > Time::from_millis(5_000)));
        let eleven = WebConfig { count: 10, busy: 11, ..WebConfig::default() };
        let error = TcpFlow::reading(&eleven, Seed::new(1)).unwrap_err().to_string();
        assert!(error.contains("web.busy is 11, must be at most web.count, 10"), "{error}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_range() {
        let small = WebConfig { largest: Bytes::new(10), ..WebConfig::default() };
        let error = TcpFlow::reading(&small, Seed::new(1)).unwrap_err().to_string();
        assert!(error.contains("web.largest is 10B") && error.contains("1500kB"), "{error}");
    }
}
