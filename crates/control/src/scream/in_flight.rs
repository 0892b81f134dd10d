//! The recent max of bytes in flight: shows how much of the window is used.

use thalweg_units::{Bytes, Span, Time};

/// max_bytes_in_flight of this round trip and of the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InFlight {
    since: Time,
    this: Bytes,
    before: Bytes,
}

impl InFlight {
    /// Records the bytes in flight now.
    pub(super) fn note(&mut self, now: Time, bytes: Bytes, srtt: Span) {
        if now - self.since >= srtt {
            (self.since, self.before, self.this) = (now, self.this, Bytes::ZERO);
        }
        self.this = self.this.max(bytes);
    }

    /// The max over both round trips.
    pub(super) fn max(&self) -> Bytes {
        self.this.max(self.before)
    }

    /// max_bytes_in_flight_prev.
    pub(super) fn before(&self) -> Bytes {
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_in_flight_is_remembered_for_one_to_two_round_trips() {
        let mut in_flight = InFlight::default();
        let srtt = Span::from_millis(50);
        for (at, bytes, max, before) in [
            (0, 9000, 9000, 0),
            (40, 2000, 9000, 0),
            (50, 1000, 9000, 9000),
            (99, 3000, 9000, 9000),
            (100, 1, 3000, 3000),
        ] {
            in_flight.note(Time::from_millis(at), Bytes::new(bytes), srtt);
            assert_eq!((in_flight.max(), in_flight.before()), (Bytes::new(max), Bytes::new(before)), "{at} ms");
        }
    }
}
