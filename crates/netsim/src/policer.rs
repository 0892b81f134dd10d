//! A policer: a token bucket that drops what exceeds it, and delays nothing.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, check};

use crate::{Departure, Drop, DropReason, Link};

/// Tokens are counted in bits per second times nanoseconds, so that no arrival rounds.
const PER_BIT: u128 = 1_000_000_000;

/// Drops packets that find fewer tokens than they have bytes. Tokens come at a rate into a bucket that begins full and
/// loses what exceeds it: the single-rate meter of RFC 2697 without its excess burst, as the providers of Flach et al.
/// 2016 ("An Internet-Wide Analysis of Traffic Policing") and libwebrtc's tests (specs/rmcat.md 8.2: 256 kbps, 16,384
/// bytes) have it. It has no queue, and [`Change::Rate`](crate::Change::Rate) leaves it as it is.
#[derive(Debug, Clone)]
pub struct Policer<P> {
    rate: Rate,
    bucket: u128,
    tokens: u128,
    /// When `tokens` was right.
    updated: Time,
    departed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

impl<P> Policer<P> {
    /// A policer with a full bucket. Sizes count from the IP header upwards.
    ///
    /// # Errors
    /// When the rate is 0, or the bucket too small for a packet of 1500 bytes.
    pub fn new(rate: Rate, bucket: Bytes) -> Result<Policer<P>, ConfigError> {
        check("policer.rate", rate).within(above(Rate::ZERO), "256kbps")?;
        check("policer.bucket", bucket).within(Bytes::new(1500).., "16384B")?;
        let bucket = u128::from(bucket.bits()) * PER_BIT;
        let (departed, dropped) = (VecDeque::new(), VecDeque::new());
        Ok(Policer { rate, bucket, tokens: bucket, updated: Time::ZERO, departed, dropped })
    }
}

impl<P> Link<P> for Policer<P> {
    fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        let since = (now - self.updated).max(Span::ZERO).as_nanos().unsigned_abs();
        self.tokens = self.bucket.min(self.tokens + u128::from(self.rate.as_bps()) * u128::from(since));
        self.updated = now;
        match self.tokens.checked_sub(u128::from(size.bits()) * PER_BIT) {
            Some(left) => {
                self.tokens = left;
                self.departed.push_back(Departure { at: now, size, queued: Span::ZERO, packet });
            }
            None => self.dropped.push_back(Drop { at: now, size, why: DropReason::Policed, packet }),
        }
    }

    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        if self.departed.front()?.at <= now { self.departed.pop_front() } else { None }
    }

    fn next_event(&self) -> Time {
        self.departed.front().map_or(Time::NEVER, |departure| departure.at)
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.dropped.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn policer() -> Policer<u64> {
        Policer::new(Rate::from_kbps(256), Bytes::new(16_384)).unwrap()
    }

    /// The packets that passed and those that were dropped.
    fn outcome(policer: &mut Policer<u64>) -> (Vec<u64>, Vec<u64>) {
        let passed = core::iter::from_fn(|| policer.poll(Time::NEVER)).map(|left| left.packet).collect();
        let dropped = core::iter::from_fn(|| policer.poll_drop());
        (passed, dropped.inspect(|lost| assert_eq!(lost.why, DropReason::Policed)).map(|lost| lost.packet).collect())
    }

    #[test]
    fn a_burst_passes_as_far_as_the_bucket_goes_and_then_as_fast_as_tokens_come() {
        let mut policer = policer();
        (0..20).for_each(|number| policer.offer(Time::ZERO, Bytes::new(1000), number));
        assert_eq!(outcome(&mut policer), ((0..16).collect(), (16..20).collect()));
        // 384 bytes are left; 1000 are there after 19.25 ms at 32 bytes a millisecond, and a smaller packet passes
        // before.
        policer.offer(Time::from_micros(19_249), Bytes::new(1000), 20);
        policer.offer(Time::from_micros(19_250), Bytes::new(1000), 21);
        policer.offer(Time::from_micros(19_251), Bytes::new(1), 22);
        policer.offer(Time::from_micros(19_282), Bytes::new(1), 23);
        assert_eq!(outcome(&mut policer), ([21, 23].into(), [20, 22].into()));
        // However long it waits, the bucket holds no more.
        (0..20).for_each(|number| policer.offer(Time::from_secs_f64(1e6), Bytes::new(1000), number));
        assert_eq!(outcome(&mut policer).0.len(), 16);
    }

    #[test]
    fn a_bucket_without_room_for_a_packet_is_refused() {
        let error = Policer::<u64>::new(Rate::from_kbps(256), Bytes::new(1000)).unwrap_err().to_string();
        assert!(error.contains("policer.bucket is 1kB") && error.contains("16384B"), "{error}");
        assert!(Policer::<u64>::new(Rate::ZERO, Bytes::new(16_384)).is_err());
    }

    proptest! {
        /// In any stretch of time no more passes than the bucket and the tokens of that time, and nothing is dropped
        /// that would have fitted.
        #[test]
        fn what_passes_stays_below_the_bucket_and_the_rate(
            offers in proptest::collection::vec((0u64..200_000, 40u64..1500), 1..200),
        ) {
            let mut policer = policer();
            let (mut now, mut passed) = (Time::ZERO, Vec::<(Time, u64)>::new());
            for (gap, size) in offers {
                now += Span::from_micros(gap as i64);
                policer.offer(now, Bytes::new(size), 0);
                // The fullest stretch that ends now, with this packet.
                let mut sum = 8.0 * size as f64;
                let mut over = sum - 131_072.0;
                for (at, size) in passed.iter().rev() {
                    sum += 8.0 * *size as f64;
                    over = over.max(sum - 131_072.0 - 256_000.0 * (now - *at).as_secs_f64());
                }
                let came = policer.poll(now).is_some();
                prop_assert!(if came { over <= 1e-3 } else { over >= -1e-3 }, "{} bits too many, {}", over, came);
                if came { passed.push((now, size)); }
            }
        }
    }
}
