//! The cap on the rate of an encoder that meets sizes instead of a rate.

use thalweg_units::{Bytes, Rate, Span, Time};

/// Unspent time that frames may use later, and that the first has: a token bucket of this depth. A frame may so be six
/// times an interval's share at 30 fps, which a key frame or a cut needs (libvpx's key frames are up to nine times it,
/// repaid within its buffer of 600 ms), and in any time T no more than `rate * (T + CAP_DEPTH)` is sent: the cap in a second
/// that follows a busy one, up to a fifth more in one that follows a pause. 200 ms is the window in which the functional
/// codec itself keeps a target rate (`functional::Settings::rate_window` of the codecs crate).
pub const CAP_DEPTH: Span = Span::from_millis(200);

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Cap {
    rate: Option<Rate>,
    /// Until when the rate is spent: after now by a frame that was sent although there was no room. `None` before the
    /// first frame, which has the whole depth.
    spent_until: Option<Time>,
}

impl Cap {
    /// `None` for no cap.
    pub(super) fn new(rate: Option<Rate>) -> Cap {
        Cap { rate, spent_until: None }
    }

    /// How large a frame may be.
    pub(super) fn room(&self, now: Time) -> Bytes {
        let unspent = self.spent_until.map_or(CAP_DEPTH, |until| (now - until).min(CAP_DEPTH));
        self.rate.map_or(Bytes::MAX, |rate| rate.over(unspent))
    }

    /// A frame was queued.
    pub(super) fn on_queued(&mut self, now: Time, size: Bytes) {
        if let Some(rate) = self.rate {
            let full = now - CAP_DEPTH;
            self.spent_until = Some(self.spent_until.map_or(full, |until| until.max(full)) + rate.time_for(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 Mbps are 50 kB in an interval of 30 fps and 300 kB in 200 ms.
    const RATE: Rate = Rate::from_kbps(12_000);

    fn picture(number: u64) -> Time {
        Time::from_secs_f64(10.0 + number as f64 / 30.0)
    }

    #[test]
    fn a_frame_that_follows_a_pause_may_be_six_times_the_share_that_each_has_in_the_long_run() {
        let mut cap = Cap::new(Some(RATE));
        let taken = (0..31).map(|number| {
            let room = cap.room(picture(number));
            cap.on_queued(picture(number), room);
            room.get()
        });
        let taken: alloc::vec::Vec<u64> = taken.collect();
        assert_eq!(taken[0], 300_000);
        assert!(taken[1..].iter().all(|bytes| bytes.abs_diff(50_000) <= 1), "{taken:?}");
        // A second of pictures after the first has the cap to the byte, give or take what rounding leaves.
        assert!(taken[1..].iter().sum::<u64>().abs_diff(1_500_000) <= 31);
    }

    #[test]
    fn a_frame_sent_without_room_is_repaid_before_the_next_has_any() {
        let mut cap = Cap::new(Some(RATE));
        cap.on_queued(picture(0), Bytes::new(400_000));
        // 100 kB too many: two intervals.
        assert_eq!([1, 2].map(|number| cap.room(picture(number)).get()), [0, 0]);
        assert!(cap.room(picture(3)).get().abs_diff(50_000) <= 1);
        assert_eq!(cap.room(picture(300)), Bytes::new(300_000), "a long pause saves no more");
        assert_eq!(Cap::new(None).room(picture(0)), Bytes::MAX);
    }
}
