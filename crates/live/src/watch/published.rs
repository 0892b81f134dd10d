//! Data of the publisher's page: the published media, and the offset of the publisher's clock.

use serde::Deserialize;
use thalweg_units::{Size, Span, Time};

use super::error::WatchError;
use super::place::Place;
use crate::measure::{Numbers, Source, wall_ms};
use crate::whip::{Client, Endpoint, WhipError};
use thalweg_emulate::clock::Clock;

/// The number of recent pings from which the best is chosen: as many as the page uses, one minute.
const KEPT: usize = 12;

/// Published media, from `/about` ([`crate::web::About`]); other fields are ignored.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Published {
    /// The page's heading.
    pub title: String,
    /// Width of the video in pixels; 0 if it is not known.
    pub width: u16,
    /// Height of the video in pixels; 0 if it is not known.
    pub height: u16,
    /// The interval between pictures, milliseconds; 0 if it is not known.
    pub frame_interval_ms: f64,
    /// True if pictures carry their number.
    pub barcodes: bool,
    /// When picture 0 was captured, milliseconds since 1970.
    pub epoch_ms: f64,
}

impl Published {
    /// Reads the JSON of `/about`.
    ///
    /// # Errors
    /// When it is none, or a time is out of range, with what it must be.
    pub fn read(text: &str) -> Result<Published, String> {
        /// As far from 1970 as dates of JavaScript go.
        const LAST_MS: f64 = 8.64e15;
        let published: Published = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let (interval, epoch) = (published.frame_interval_ms, published.epoch_ms);
        if interval != 0.0 && !(1.0..=10_000.0).contains(&interval) {
            return Err(format!("frame_interval_ms is {interval}, must be 0 or 1 to 10000"));
        }
        if !(0.0..=LAST_MS).contains(&epoch) {
            return Err(format!("epoch_ms is {epoch}, must be 0 to {LAST_MS}"));
        }
        Ok(published)
    }

    /// Asks the server; `None` if it is not a Thalweg server.
    ///
    /// # Errors
    /// When a page was given and `/about` fails.
    pub(super) fn ask(client: &Client, place: &Place) -> Result<Option<Published>, WatchError> {
        let Some(about) = &place.about else { return Ok(None) };
        let text = match client.get(about) {
            // Other servers may have anything at this address.
            Err(WhipError::Refused { status, .. }) if !place.is_page && status != 401 => return Ok(None),
            reported => reported?,
        };
        match Published::read(&text) {
            Ok(published) => Ok(Some(published)),
            Err(error) => {
                tracing::info!(%error, "what is published is not known: latency is by sender reports");
                Ok(None)
            }
        }
    }

    /// The video as its receiver knows it.
    pub(super) fn source(&self) -> Source {
        let numbers = if self.barcodes { Numbers::Since { epoch_ms: self.epoch_ms } } else { Numbers::None };
        Source { size: Size::new(self.width, self.height), frame_interval_ms: self.frame_interval_ms, numbers }
    }
}

/// The publisher's clock, measured by the ping with the shortest round trip: the error is at most half of that round
/// trip.
#[derive(Debug, Clone, Default)]
pub(super) struct Pings(std::collections::VecDeque<Ping>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ping {
    round_trip: Span,
    /// The publisher's clock minus ours, in milliseconds.
    offset_ms: f64,
}

impl Pings {
    /// Requests the publisher's time.
    ///
    /// # Errors
    /// When the server does not return it.
    pub(super) fn ping(&mut self, client: &Client, at: &Endpoint, clock: &Clock) -> Result<(), WatchError> {
        #[derive(Deserialize)]
        struct Clock {
            now_ms: f64,
        }
        let sent = clock.now();
        let text = client.get(at)?;
        let answered = clock.now();
        if let Ok(Clock { now_ms }) = serde_json::from_str(&text) {
            self.add(sent, answered, now_ms - wall_ms(clock, sent + (answered - sent) / 2));
        }
        Ok(())
    }

    fn add(&mut self, sent: Time, answered: Time, offset_ms: f64) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Ping { round_trip: answered - sent, offset_ms });
    }

    /// The publisher's clock minus ours, and the uncertainty of that, both in milliseconds.
    pub(super) fn offset_ms(&self) -> Option<(f64, f64)> {
        let best = self.0.iter().min_by_key(|ping| ping.round_trip)?;
        Some((best.offset_ms, best.round_trip.as_millis_f64() / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ping_that_took_the_least_tells_the_time_until_it_is_old() {
        let mut pings = Pings::default();
        assert_eq!(pings.offset_ms(), None);
        pings.add(Time::from_millis(0), Time::from_millis(4), 7.0);
        for turn in 0..KEPT as u64 - 1 {
            pings.add(Time::from_millis(turn), Time::from_millis(turn + 10), 9.0);
        }
        assert_eq!(pings.offset_ms(), Some((7.0, 2.0)));
        pings.add(Time::from_millis(90), Time::from_millis(100), 9.5);
        assert_eq!(pings.offset_ms(), Some((9.0, 5.0)));
    }

    #[test]
    fn pictures_are_numbered_from_the_epoch_on_if_the_publisher_says_so() {
        let text = r#"{"title":"x","epoch_ms":1000.5,"frame_interval_ms":33.25,"barcodes":true,"schemes":["gcc"]}"#;
        let published = Published::read(text).unwrap();
        assert!(published.barcodes && published.width == 0);
        let Source { frame_interval_ms, numbers, .. } = published.source();
        assert_eq!((frame_interval_ms, numbers), (33.25, Numbers::Since { epoch_ms: 1000.5 }));
    }

    #[test]
    fn times_that_cannot_be_are_refused_with_what_they_must_be() {
        for (text, named) in [
            (r#"{"frame_interval_ms":-33}"#, "0 or 1 to 10000"),
            (r#"{"frame_interval_ms":1e300}"#, "0 or 1 to 10000"),
            (r#"{"epoch_ms":-1}"#, "epoch_ms is -1"),
            (r#"{"epoch_ms":1e300}"#, "must be 0 to"),
            ("nothing", "expected"),
        ] {
            let error = Published::read(text).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        assert_eq!(Published::read("{}"), Ok(Published::default()));
    }
}
