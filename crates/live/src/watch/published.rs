//! What the page knows too: what is published, and the offset of the publisher's clock.

use serde::Deserialize;
use thalweg_units::{Span, Time};

use super::error::WatchError;
use super::place::Place;
use crate::clock::Clock;
use crate::whip::{Client, Endpoint, WhipError};

/// The number of recent pings from which the best is chosen: as many as the page uses, one minute.
const KEPT: usize = 12;

/// What is published, from `/about` ([`crate::web::About`]); other fields are ignored.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Published {
    pub(super) title: String,
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) frame_interval_ms: f64,
    pub(super) barcodes: bool,
    pub(super) epoch_ms: f64,
}

impl Published {
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
        match serde_json::from_str(&text) {
            Ok(published) => Ok(Some(published)),
            Err(error) => {
                tracing::info!(%error, "what is published is not known: latency is by sender reports");
                Ok(None)
            }
        }
    }

    /// When picture `number` was taken, in milliseconds since 1970 by the publisher's clock.
    pub(super) fn taken_ms(&self, number: u64) -> f64 {
        self.epoch_ms + number as f64 * self.frame_interval_ms
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

/// A time in milliseconds since 1970 by our clock.
pub(super) fn wall_ms(clock: &Clock, time: Time) -> f64 {
    let since = clock.wall(time).duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as f64 / 1e6
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
    fn pictures_were_taken_an_interval_apart_from_the_epoch_on() {
        let text = r#"{"title":"x","epoch_ms":1000.5,"frame_interval_ms":33.25,"barcodes":true,"schemes":["gcc"]}"#;
        let published: Published = serde_json::from_str(text).unwrap();
        assert!(published.barcodes && published.width == 0);
        assert_eq!(published.taken_ms(4), 1133.5);
    }
}
