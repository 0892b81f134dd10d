//! The receiver's half: frames, filter, detector and rate, by the receiver's clock.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

use super::detector::{Detector, Usage};
use super::kalman::{Delta, Kalman};
use super::rate::{Input, RateControl, Region};
use super::scalar::Scalar;
use super::{Config, FilterConfig};
use crate::packet::SentPacket;
use crate::reporting::{Frame, Frames};

/// The filter in use.
#[derive(Debug, Clone)]
enum Filter {
    Kalman(Kalman),
    Scalar(Scalar),
}

impl Filter {
    fn new(config: &Config) -> Filter {
        match config.filter {
            FilterConfig::Kalman(filter) => Filter::Kalman(Kalman::new(filter, config.detector.weighing)),
            FilterConfig::Scalar(config) => Filter::Scalar(Scalar::new(config)),
        }
    }

    fn update(&mut self, delta: &Delta, usage: Usage, threshold: f64) {
        match self {
            Filter::Kalman(kalman) => kalman.update(delta, usage, threshold),
            Filter::Scalar(scalar) => scalar.update(delta),
        }
    }

    /// m, the number of frames seen, and the noise variance.
    fn current(&self) -> (f64, u32, f64) {
        match self {
            Filter::Kalman(kalman) => (kalman.offset, kalman.frames, kalman.noise),
            Filter::Scalar(scalar) => (scalar.offset, scalar.frames, scalar.noise),
        }
    }
}

/// The receiver's half of a 2012 implementation.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    config: Config,
    frames: Frames,
    /// The last complete frame.
    last: Option<Frame>,
    filter: Filter,
    detector: Detector,
    pub(super) rate: RateControl,
    /// All arrivals in the window, including media and repair.
    arrived: VecDeque<(Time, Bytes)>,
    bytes: Bytes,
    /// The first arrival since the start, and the newest.
    first: Option<Time>,
    newest: Option<Time>,
}

impl Receiver {
    pub(super) fn new(config: Config) -> Receiver {
        Receiver {
            frames: Frames::default(),
            last: None,
            filter: Filter::new(&config),
            detector: Detector::new(config.detector),
            rate: RateControl::new(config.receiver, config.start),
            arrived: VecDeque::new(),
            bytes: Bytes::ZERO,
            first: None,
            newest: None,
            config,
        }
    }

    /// A packet arrived at `at` by the receiver's clock. Returns why A_r changed, if it did.
    pub(super) fn on_arrival(&mut self, at: Time, packet: &SentPacket, rtt: Span, min: Rate) -> Option<&'static str> {
        if self.newest.is_some_and(|newest| (at - newest).abs() > self.config.receiver.forget_after) {
            self.begin_anew();
        }
        let now = self.newest.map_or(at, |newest| newest.max(at));
        self.newest = Some(now);
        self.first.get_or_insert(now);
        self.count(now, packet.size);
        let new_overuse = self.frames.on_arrival(at, packet).is_some_and(|frame| self.on_frame(frame));
        let due = match self.rate.ran() {
            Some(ran) => now - ran >= self.config.receiver.period,
            None => true,
        };
        if !due && !new_overuse {
            return None;
        }
        let (usage, received, noise) = (self.detector.usage(), self.received(), self.filter.current().2);
        self.rate.run(&Input { now, usage, received, rtt, noise, min })
    }

    /// Restarts after a silent period or a clock jump.
    fn begin_anew(&mut self) {
        self.frames.clear();
        self.last = None;
        self.filter = Filter::new(&self.config);
        self.detector = Detector::new(self.config.detector);
        self.rate.forget_times();
        self.arrived.clear();
        self.bytes = Bytes::ZERO;
        self.first = None;
        self.newest = None;
    }

    fn count(&mut self, now: Time, size: Bytes) {
        self.arrived.push_back((now, size));
        self.bytes += size;
        while let Some((_, size)) =
            self.arrived.front().copied().filter(|(at, _)| *at + self.config.receiver.window <= now)
        {
            self.arrived.pop_front();
            self.bytes -= size;
        }
    }

    /// R: the rate of arrivals over the window, or since the first packet if that is shorter; zero at the first moment.
    pub(super) fn received(&self) -> Rate {
        let window = self.config.receiver.window;
        let known = self.first.zip(self.newest).map_or(Span::ZERO, |(first, newest)| newest - first);
        self.bytes.per(known.clamp(window / 2, window))
    }

    /// Takes a complete frame; returns whether overuse has just begun.
    fn on_frame(&mut self, frame: Frame) -> bool {
        let Some(last) = self.last.replace(frame) else { return false };
        let sent = (frame.captured - last.captured).as_millis_f64();
        let delay = (frame.arrived - last.arrived).as_millis_f64() - sent;
        let delta = Delta { delay, sent, size: frame.size.as_f64() - last.size.as_f64() };
        let threshold = self.threshold();
        self.filter.update(&delta, self.detector.usage(), threshold);
        let (offset, frames, _) = self.filter.current();
        self.detector.judge(offset, frames, sent, threshold)
    }

    /// theta, in ms.
    pub(super) fn threshold(&self) -> f64 {
        self.detector.threshold(self.rate.region() != Region::Unknown)
    }

    pub(super) fn usage(&self) -> Usage {
        self.detector.usage()
    }

    /// m in ms, the number of frames seen, and the noise variance in ms^2.
    pub(super) fn current(&self) -> (f64, u32, f64) {
        self.filter.current()
    }
}
