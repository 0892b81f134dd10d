//! ACE-N's token bucket (docs/papers/opponents.md): how much of each frame leaves at once.
//!
//! A frame gets as many tokens as the bucket holds. Packets leave at once while there are tokens, and at the pacing rate
//! afterwards. The bucket grows while frames use it up, gives back what the path has queued beyond a threshold, and
//! halves after a loss.

use thalweg_control::Feedback;
use thalweg_control::estimate::BaseDelay;
use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, above_to, check};

/// Bins of the time for which the delay of an empty path is remembered.
const BINS: usize = 10;

/// The bucket's parameters. A frame means as many bytes as the pacing rate sends in the time between two pictures.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The bucket before the first frame, in frames (0.5).
    pub start: f64,
    /// Growth with each frame that has used up its tokens, in frames (0.05).
    pub step: f64,
    /// Packets queued on the path above which the bucket gives back the excess (10).
    pub high: f64,
    /// Packets queued on the path up to which it counts as free (3).
    pub low: f64,
    /// Frames in a row that must find a free path before the bucket recovers at once (3).
    pub calm: u32,
    /// The share of what the queue has fallen by that the bucket may recover (0.8).
    pub recovery: f64,
    /// The factor after a loss (0.5).
    pub loss_factor: f64,
    /// The packet in which the queue on the path is counted (1200 B).
    pub packet: Bytes,
    /// The weight of a new sample in the capacity of the path (0.1).
    pub gain: f64,
    /// The shortest train of packets, from its first arrival to its last, that measures the capacity (4 ms).
    pub shortest: Span,
    /// How long the delay of an empty path is remembered (ours: 10 s; the source is silent).
    pub base_memory: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            start: 0.5,
            step: 0.05,
            high: 10.0,
            low: 3.0,
            calm: 3,
            recovery: 0.8,
            loss_factor: 0.5,
            packet: Bytes::new(1200),
            gain: 0.1,
            shortest: Span::from_millis(4),
            base_memory: Span::from_secs(10),
        }
    }
}

impl Config {
    /// A bucket before the first frame.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Bucket, ConfigError> {
        check("bucket.start", self.start).within(0.0..=100.0, "0.5")?;
        check("bucket.step", self.step).within(0.0..=10.0, "0.05")?;
        check("bucket queue", format_args!("low {}, high {}", self.low, self.high))
            .is(self.low >= 0.0 && self.high >= self.low && self.high <= 1e6, "0 <= low <= high <= 1000000")?;
        check("bucket.recovery", self.recovery).within(0.0..=1.0, "0.8")?;
        check("bucket.loss_factor", self.loss_factor).within(0.0..=1.0, "0.5")?;
        check("bucket.packet", self.packet).within(above(Bytes::ZERO), "1200B")?;
        check("bucket.gain", self.gain).within(above_to(0.0, 1.0), "0.1")?;
        check("bucket.shortest", self.shortest).within(above(Span::ZERO), "4ms")?;
        check("bucket.base_memory", self.base_memory).within(Span::from_millis(100).., "10s")?;
        Ok(Bucket {
            base: BaseDelay::new(BINS, self.base_memory.scale(1.0 / BINS as f64)),
            train: None,
            capacity: None,
            queue: 0.0,
            lost: false,
            frames: self.start,
            size: 0.0,
            tokens: 0.0,
            reached: 0.0,
            queue_at_excess: 0.0,
            calm: None,
            config: self,
        })
    }
}

/// Packets that left in the same millisecond.
#[derive(Debug, Clone, Copy)]
struct Train {
    left: u64,
    first: Time,
    last: Time,
    /// Bytes after the first packet.
    bytes: Bytes,
}

/// The bucket's state.
#[derive(Debug, Clone)]
pub struct Bucket {
    config: Config,
    base: BaseDelay,
    train: Option<Train>,
    /// The rate at which trains arrive, in bit/s.
    capacity: Option<f64>,
    /// Whole packets queued on the path.
    queue: f64,
    /// A packet was lost since the last frame.
    lost: bool,
    /// The bucket in frames, and in bytes as of the last frame.
    frames: f64,
    size: f64,
    /// Tokens that the last frame has left; below zero by part of a packet when it is used up.
    tokens: f64,
    /// The bytes that the bucket had reached by its last free growth.
    reached: f64,
    /// The queue when it last exceeded the threshold.
    queue_at_excess: f64,
    /// Frames in a row that found a free path since the last trouble; `None` once the bucket has recovered.
    calm: Option<u32>,
}

impl Bucket {
    /// Takes feedback: losses, the capacity that trains of packets show, and the queue on the path.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for report in feedback.reports {
            let Some(at) = report.arrival() else {
                self.lost = true;
                continue;
            };
            self.base.add(feedback.now, at - report.packet.at);
            self.measure(report.packet.at.as_millis(), at, report.packet.size);
        }
        if let (Some(delay), Some(base), Some(capacity)) = (feedback.newest_delay, self.base.get(), self.capacity) {
            let bits = (delay - base).max(Span::ZERO).as_secs_f64() * capacity;
            self.queue = libm::trunc(bits / (8.0 * self.config.packet.as_f64()));
        }
    }

    fn measure(&mut self, left: u64, at: Time, size: Bytes) {
        if let Some(train) = self.train.as_mut().filter(|train| train.left == left) {
            (train.last, train.bytes) = (train.last.max(at), train.bytes + size);
            return;
        }
        let next = Train { left, first: at, last: at, bytes: Bytes::ZERO };
        let Some(Train { first, last, bytes, .. }) = self.train.replace(next) else { return };
        if last - first >= self.config.shortest && bytes > Bytes::ZERO {
            let sample = bytes.per(last - first).as_bps_f64();
            self.capacity =
                Some(self.capacity.map_or(sample, |capacity| capacity + (sample - capacity) * self.config.gain));
        }
    }

    /// A frame joins the queue: its tokens, where the pacer sends at `rate` and pictures are `interval` apart.
    pub fn on_frame(&mut self, rate: Rate, interval: Span) {
        let frame = rate.over(interval).as_f64().max(1.0);
        self.adapt(frame);
        self.size = self.frames * frame;
        self.tokens = self.size;
    }

    fn adapt(&mut self, frame: f64) {
        let Config { low, high, step, calm, .. } = self.config;
        if self.lost || self.queue > high {
            self.shrink(frame);
        } else if self.queue > low || self.calm.is_none_or(|frames| frames + 1 < calm) {
            if self.tokens <= 0.0 {
                self.frames += step;
            }
            match &mut self.calm {
                None => self.reached = frame * self.frames,
                Some(frames) if self.queue > low => *frames = 0,
                Some(frames) => *frames += 1,
            }
        } else {
            self.recover(frame);
        }
    }

    fn shrink(&mut self, frame: f64) {
        let (before, excess) = (self.frames, self.queue - self.config.high);
        if excess > 0.0 {
            self.frames = (self.size - excess * self.config.packet.as_f64()).max(0.0) / frame;
        }
        if self.lost {
            self.frames = self.frames.min(before * self.config.loss_factor);
        } else {
            self.queue_at_excess = self.queue;
        }
        (self.lost, self.calm) = (false, Some(0));
    }

    /// Returns to the bucket before the trouble, as far as the queue has fallen, and to a frame at least.
    fn recover(&mut self, frame: f64) {
        let Config { packet, recovery, .. } = self.config;
        let room = (self.queue_at_excess - self.queue) * packet.as_f64() * recovery;
        self.frames = (self.reached.min(room).max(self.size) / frame).max(1.0);
        self.calm = None;
    }

    /// Returns true if the next packet may leave at once.
    pub fn has_tokens(&self) -> bool {
        self.tokens > 0.0
    }

    /// Takes the tokens of a packet that leaves; false if there are none, and the pacer must count it.
    pub fn spend(&mut self, size: Bytes) -> bool {
        let has_tokens = self.has_tokens();
        if has_tokens {
            self.tokens -= size.as_f64();
        }
        has_tokens
    }

    /// Passes the variables worth charting to `see`.
    pub fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("bucket_bytes", self.size);
        see("bucket_queue_packets", self.queue);
        if let Some(capacity) = self.capacity {
            see("bucket_capacity_bps", capacity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use thalweg_control::{Acknowledgement, History, PacketId, SentPacket};

    /// A frame of 12,000 bytes: 3.2 Mbps for 30 ms.
    const RATE: Rate = Rate::from_kbps(3200);
    const INTERVAL: Span = Span::from_millis(30);

    fn bucket() -> Bucket {
        Config::default().build().unwrap()
    }

    /// The next frame finds so many packets queued on the path, and uses up its tokens.
    fn frame(bucket: &mut Bucket, queue: f64) -> f64 {
        bucket.queue = queue;
        bucket.on_frame(RATE, INTERVAL);
        bucket.tokens = 0.0;
        bucket.size
    }

    fn is(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-6, "{actual}, not {expected}");
    }

    #[test]
    fn the_bucket_begins_at_half_a_frame_and_grows_by_a_twentieth_with_each_frame_that_uses_it_up() {
        let mut bucket = bucket();
        for expected in [6600.0, 7200.0, 7800.0] {
            is(frame(&mut bucket, 0.0), expected);
        }
        bucket.tokens = 1.0;
        bucket.on_frame(RATE, INTERVAL);
        is(bucket.size, 7800.0);
    }

    #[test]
    fn packets_queued_beyond_ten_are_given_back() {
        let mut bucket = bucket();
        for _ in 0..10 {
            frame(&mut bucket, 0.0);
        }
        is(bucket.size, 12_000.0);
        // Two packets too many: 12,000 - 2 * 1200.
        is(frame(&mut bucket, 12.0), 9600.0);
        is(frame(&mut bucket, 100.0), 0.0);
        assert!(!bucket.has_tokens());
    }

    #[test]
    fn a_loss_halves_it_and_three_calm_frames_bring_back_what_the_queue_has_fallen_by() {
        let mut bucket = bucket();
        for _ in 0..20 {
            frame(&mut bucket, 0.0);
        }
        is(bucket.size, 18_000.0);
        is(frame(&mut bucket, 14.0), 13_200.0);
        bucket.lost = true;
        is(frame(&mut bucket, 2.0), 6600.0);
        // Two calm frames grow as always; with the third, the queue has fallen from 14 to 0 packets: 0.8 * 14 * 1200.
        is(frame(&mut bucket, 0.0), 7200.0);
        is(frame(&mut bucket, 0.0), 7800.0);
        is(frame(&mut bucket, 0.0), 13_440.0);
        is(frame(&mut bucket, 0.0), 14_040.0);
    }

    #[test]
    fn a_queue_of_more_than_three_packets_starts_the_count_of_calm_frames_again() {
        let mut bucket = bucket();
        frame(&mut bucket, 11.0);
        for queue in [0.0, 0.0, 4.0, 0.0, 0.0] {
            frame(&mut bucket, queue);
            assert!(bucket.calm.is_some(), "{queue}");
        }
        // A frame is the least that recovery brings.
        is(frame(&mut bucket, 0.0), 12_000.0);
        assert_eq!(bucket.calm, None);
    }

    #[test]
    fn trains_of_packets_measure_the_capacity_and_delay_above_the_least_the_queue() {
        let mut bucket = bucket();
        let mut history = History::default();
        let mut report = |bucket: &mut Bucket, first: u64, sent: u64, arrivals: &[u64]| {
            let numbers = first..first + arrivals.len() as u64;
            for number in numbers.clone() {
                history.on_sent(SentPacket::new(PacketId(number), Time::from_millis(sent), Bytes::new(1200)));
            }
            let reported: alloc::vec::Vec<_> = numbers
                .zip(arrivals)
                .map(|(number, at)| Acknowledgement::new(PacketId(number), Some(Time::from_millis(*at))))
                .collect();
            bucket.on_feedback(&history.on_report(Time::from_millis(sent + 60), &reported, None));
        };
        // 2400 bytes after the first packet in 6 ms: 3.2 Mbps; the next packet ends the train.
        report(&mut bucket, 0, 0, &[20, 23, 26]);
        assert_eq!(bucket.capacity, None);
        report(&mut bucket, 3, 100, &[120]);
        is(bucket.capacity.unwrap(), 3.2e6);
        // A train of 2 ms is too short to measure; its last packet is 32 ms late: 12,800 bytes are ten packets.
        report(&mut bucket, 4, 200, &[250, 252]);
        report(&mut bucket, 6, 300, &[352]);
        is(bucket.capacity.unwrap(), 3.2e6);
        is(bucket.queue, 10.0);
        assert!(!bucket.lost);
    }

    #[test]
    fn a_parameter_out_of_range_is_named() {
        let problem = |config: Config| config.build().err().unwrap().to_string();
        assert!(problem(Config { gain: 0.0, ..Config::default() }).starts_with("bucket.gain is 0"));
        assert!(problem(Config { low: 11.0, ..Config::default() }).contains("0 <= low <= high"));
        assert!(problem(Config { loss_factor: 2.0, ..Config::default() }).starts_with("bucket.loss_factor is 2"));
    }
}
