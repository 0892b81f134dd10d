//! A connection over a path in virtual time.

use std::time::{Duration, Instant};

use thalweg_netsim::{Link, Path};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

use crate::links::{self, Paths};
use crate::stack::{Ends, Packet, Received};

/// IPv4 and UDP around each payload.
const HEADERS: u64 = 28;
/// How long frames may take that are under way at the end.
const ARRIVAL: Span = Span::from_secs(300);
/// Least duration of a timer.
const TIMER: Span = Span::from_micros(1);
/// The time between two frames.
pub const INTERVAL: Span = Span::from_millis(33);
/// Pictures are skipped while more frames than this wait in the sender. Of one, two and three, two had the best goodput for
/// its delay over the tuning set (docs/quic.md).
const WAITING: u64 = 2;
/// The number that datagrams of padding carry.
const PADDING: u32 = u32::MAX;
/// The share of an estimate that frames get: what QUIC adds to them is 2 to 3 %.
pub const MEDIA_SHARE: f64 = 0.95;

/// How a frame travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Carriage {
    /// A stream for each frame.
    Streams,
    /// Datagrams, as many as it needs.
    Datagrams,
}

/// Kind of traffic.
#[derive(Debug, Clone, Copy)]
pub enum Workload {
    /// A frame each 33 ms, as large as the rate that the application is given allows, within these rates.
    Media { carriage: Carriage, min: Rate, max: Rate },
    /// One stream of so many bytes.
    Bulk(u64),
}

/// One frame.
#[derive(Debug, Clone, Copy)]
struct Frame {
    captured: Time,
    size: u64,
    missing: u64,
    complete: Option<Time>,
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// From capture to the last byte read; `None` for frames that never were complete. In order of capture.
    pub delays: Vec<Option<Span>>,
    /// Pictures that became no frame.
    pub skipped: u64,
    /// Bytes of the frames that were complete within the run, or of the stream.
    pub received: Bytes,
    /// How long the run took: to its end, or until everything was received.
    pub took: Span,
    /// The round trip of each packet: its way there, and the empty way back.
    pub round_trips: Vec<Span>,
    pub dropped: u64,
    /// Window and smoothed round trip at each frame interval.
    pub windows: Vec<(Time, Bytes, Span)>,
}

impl Outcome {
    pub fn goodput(&self) -> Rate {
        self.received.per(self.took)
    }

    /// The `share`-quantile of the frames' delays; `None` if that frame never was complete.
    pub fn delay(&self, share: f64) -> Option<Span> {
        let mut delays = self.delays.clone();
        delays.sort_by_key(|delay| delay.unwrap_or(Span::from_secs(i64::from(i32::MAX))));
        let rank = (share * delays.len() as f64).ceil() as usize;
        *delays.get(rank.checked_sub(1)?)?
    }

    /// The `share`-quantile of the packets' round trips.
    pub fn round_trip(&self, share: f64) -> f64 {
        let all: Vec<f64> = self.round_trips.iter().map(|rtt| rtt.as_millis_f64()).collect();
        thalweg_units::percentile(&all, share).unwrap_or(f64::NAN)
    }

    pub fn incomplete(&self) -> usize {
        self.delays.iter().filter(|delay| delay.is_none()).count()
    }
}

struct Run {
    ends: Ends,
    epoch: Instant,
    now: Time,
    forward: Path<(Time, Packet)>,
    reverse: Path<Packet>,
    frames: Vec<Frame>,
    next_frame: Time,
    received: u64,
    outcome: Outcome,
    began: bool,
    ended: bool,
}

/// Plays a workload for `duration`, or until a bulk is through. `make` makes both ends of a connection that begins then.
pub fn play(
    make: &dyn Fn(Instant) -> anyhow::Result<Ends>,
    paths: &Paths,
    workload: Workload,
    duration: Span,
) -> anyhow::Result<Outcome> {
    // Virtual time needs an instant to count from; nothing depends on which.
    #[allow(clippy::disallowed_methods)]
    let epoch = Instant::now();
    let end = Time::ZERO + duration;
    let mut find = |name: &str| links::link(name, duration);
    let back = paths.reverse.build::<Packet, String>(Seed::new(1), &mut find)?;
    let mut run = Run {
        ends: make(epoch)?,
        epoch,
        now: Time::ZERO,
        forward: paths.forward.build::<(Time, Packet), String>(Seed::new(1), &mut find)?,
        reverse: back,
        frames: Vec::new(),
        next_frame: Time::ZERO,
        received: 0,
        outcome: Outcome {
            delays: Vec::new(),
            received: Bytes::ZERO,
            skipped: 0,
            took: duration,
            round_trips: Vec::new(),
            dropped: 0,
            windows: Vec::new(),
        },
        began: false,
        ended: false,
    };
    run.step(workload);
    // Frames that are under way at the end arrive.
    while run.next() <= end || (run.next() <= end + ARRIVAL && run.frames.iter().any(|frame| frame.complete.is_none()))
    {
        run.now = run.next();
        run.ended = run.now > end;
        run.step(workload);
        if matches!(workload, Workload::Bulk(size) if run.received >= size) {
            run.outcome.took = run.now.since_start();
            break;
        }
    }
    let mut outcome = run.outcome;
    outcome.delays = run.frames.iter().map(|frame| frame.complete.map(|at| at - frame.captured)).collect();
    outcome.received = match workload {
        Workload::Media { .. } => {
            let in_time = |frame: &&Frame| frame.complete.is_some_and(|at| at <= end);
            Bytes::new(run.frames.iter().filter(in_time).map(|frame| frame.size).sum())
        }
        Workload::Bulk(_) => Bytes::new(run.received),
    };
    Ok(outcome)
}

impl Run {
    fn instant(&self, at: Time) -> Instant {
        self.epoch + Duration::from_nanos(at.as_nanos())
    }

    /// An end's timeout. One that is due when all was done takes a moment, as timers do.
    fn timeout(&self, at: Option<Instant>) -> Time {
        let time = |at: Instant| Time::from_nanos(at.saturating_duration_since(self.epoch).as_nanos() as u64);
        at.map_or(Time::NEVER, |at| time(at).max(self.now + TIMER))
    }

    fn next(&mut self) -> Time {
        let [sender, receiver] = [self.ends.sender.next_timeout(), self.ends.receiver.next_timeout()];
        let timeouts = self.timeout(sender).min(self.timeout(receiver));
        let frame = if self.ends.sender.is_connected() && !self.ended { self.next_frame } else { Time::NEVER };
        timeouts.min(frame).min(self.forward.next_event()).min(self.reverse.next_event())
    }

    /// Everything due now.
    fn step(&mut self, workload: Workload) {
        let now = self.instant(self.now);
        while let Some(left) = self.forward.poll(self.now) {
            let (sent, packet) = left.packet;
            // The way back is as long as the empty way there.
            self.outcome.round_trips.push((left.at - sent) + links::DELAY);
            self.ends.receiver.on_packet(now, packet);
        }
        while self.forward.poll_drop().is_some() {
            self.outcome.dropped += 1;
        }
        while let Some(left) = self.reverse.poll(self.now) {
            self.ends.sender.on_packet(now, left.packet);
        }
        for end in [&mut self.ends.sender, &mut self.ends.receiver] {
            if end.next_timeout().is_some_and(|at| at <= now) {
                end.on_timeout(now);
            }
        }
        for received in self.ends.receiver.receive() {
            self.take(received, workload);
        }
        if self.ends.sender.is_connected() && self.next_frame <= self.now && !self.ended {
            self.next_frame = self.now + INTERVAL;
            let (window, srtt) = self.ends.sender.window();
            self.outcome.windows.push((self.now, window, srtt));
            match workload {
                Workload::Media { carriage, min, max } => self.capture(carriage, min, max, window.per(srtt)),
                Workload::Bulk(size) if !self.began => self.ends.sender.send_stream(0, size),
                Workload::Bulk(_) => {}
            }
            self.began = true;
        }
        while let Some(packet) = self.ends.sender.poll_transmit(now) {
            let size = Bytes::new(packet.payload.len() as u64 + HEADERS);
            self.forward.offer(self.now, size, (self.now, packet));
        }
        while let Some(packet) = self.ends.receiver.poll_transmit(now) {
            let size = Bytes::new(packet.payload.len() as u64 + HEADERS);
            self.reverse.offer(self.now, size, packet);
        }
    }

    /// An encoder that meets its rate exactly: our controller's target, or what the stack's own window sustains. A picture
    /// becomes no frame while more than [`WAITING`] frames wait in the sender.
    fn capture(&mut self, carriage: Carriage, min: Rate, max: Rate, sustained: Rate) {
        let estimate = self.ends.handle.as_ref().map_or(sustained, |handle| handle.snapshot().target);
        let rate = estimate.scale(MEDIA_SHARE).clamp(min, max);
        let (number, size) = (self.frames.len() as u32, rate.over(INTERVAL).get().max(4));
        if self.ends.sender.waiting() > WAITING * size {
            self.outcome.skipped += 1;
            return;
        }
        self.frames.push(Frame { captured: self.now, size, missing: size, complete: None });
        match carriage {
            Carriage::Streams => self.ends.sender.send_stream(number, size),
            Carriage::Datagrams => self.ends.sender.send_datagrams(number, size),
        }
        // What our controller wants sent beside media, as datagrams in both cases.
        let wanted = self.ends.handle.as_ref().map_or(Rate::ZERO, |handle| handle.snapshot().padding);
        self.ends.sender.send_datagrams(PADDING, wanted.over(INTERVAL).get().saturating_sub(size));
    }

    fn take(&mut self, received: Received, workload: Workload) {
        let (frame, size) = match received {
            Received::Datagram { frame, size } => (Some(frame), size),
            Received::Stream { first, size, .. } => (first, size),
        };
        if frame == Some(PADDING) {
            return;
        }
        self.received += size;
        if let (Workload::Media { .. }, Some(frame)) = (workload, frame) {
            let frame = &mut self.frames[frame as usize];
            frame.missing = frame.missing.saturating_sub(size);
            if frame.missing == 0 && frame.complete.is_none() {
                frame.complete = Some(self.now);
            }
        }
    }
}
