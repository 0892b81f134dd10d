//! The receiving peer: packets in, frames and reports out.
//!
//! [`Receiver`] is for the simulator, whose packets are values; [`rtp::Reception`] is for live RTP, whose packets are
//! bytes. They share the gap detection for NACK, the keyframe timeout, the reports, and the kept decoder states.

mod assembly;
mod drift;
mod gaps;
mod keyframe_timeout;
mod message;
mod missing;
mod order;
mod recovery;
mod reports;
pub mod rtp;
mod standard;
mod stateful;
mod wants;

use std::collections::VecDeque;

use thalweg_types::{Content, FeedbackStyle, Fragment, Packet, ReceiverKind, StateHash};
use thalweg_units::{Bytes, ConfigError, Seed, Span, Time, above, check};
use thalweg_wire::rtcp::{self, Pli};

pub use assembly::{Assembly, FrameInfo};
pub use drift::Drift;
pub use message::{About, Message, MessageReader};
use message::{MEDIA, RECEIVER, datagram};
use recovery::Recovery;
use reports::Reports;
use reports::path::{self, PathReports};
use standard::Standard;
pub use stateful::Moves;
use stateful::Stateful;

/// A receiver of one video.
#[derive(Debug)]
pub struct Receiver {
    reports: Reports,
    path: Option<PathReports>,
    recovery: Recovery<(), ()>,
    /// Packets recovered by FEC and not yet polled.
    recovered: VecDeque<u64>,
    frames: Frames,
    /// A frame that becomes decodable later than this after its capture is decoded but not shown.
    discard_after: Option<Span>,
}

/// How frames are handled.
#[derive(Debug)]
enum Frames {
    Standard(Standard),
    Stateful(Stateful),
}

impl Frames {
    fn on_packet(&mut self, now: Time, packet: &Packet) -> Vec<Ready> {
        match self {
            Frames::Standard(frames) => plain(frames.on_packet(now, packet)),
            Frames::Stateful(frames) => moving(frames.on_packet(now, packet)),
        }
    }

    fn on_recovered(&mut self, now: Time, sequence: u64, fragment: Fragment) -> Vec<Ready> {
        match self {
            Frames::Standard(frames) => plain(frames.on_recovered(now, sequence, fragment)),
            Frames::Stateful(frames) => moving(frames.on_recovered(now, fragment)),
        }
    }
}

fn plain(ready: Vec<FrameInfo>) -> Vec<Ready> {
    ready.into_iter().map(|info| Ready { info, moves: None, discarded: false }).collect()
}

fn moving(ready: Vec<(FrameInfo, Moves)>) -> Vec<Ready> {
    ready.into_iter().map(|(info, moves)| Ready { info, moves: Some(moves), discarded: false }).collect()
}

/// A frame that is ready to decode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The frame.
    pub info: FrameInfo,
    /// Changes to the decoder's states; `None` for a decoder with one state that goes from frame to frame.
    pub moves: Option<Moves>,
    /// True if it is too late to be shown ([`Receiver::discarding_after`]); it is still decoded, because later frames
    /// refer to it.
    pub discarded: bool,
}

/// The furthest that a receiver's clock is ahead: a year.
const LONGEST_OFFSET: Span = Span::from_secs(365 * 24 * 3600);

impl Receiver {
    /// Creates a receiver with this feedback style, whose clock is this far ahead of the sender's: 0 to 365 days, since times
    /// begin at 0. One that is behind has the same figures as one that is ahead, because only differences count.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(kind: ReceiverKind, style: FeedbackStyle, clock_offset: Span) -> Result<Receiver, ConfigError> {
        check("clock_offset", clock_offset).within(Span::ZERO..=LONGEST_OFFSET, "1.234s")?;
        let frames = match kind {
            ReceiverKind::Standard | ReceiverKind::Measures(_) => Frames::Standard(Standard::default()),
            ReceiverKind::Stateful(config) => Frames::Stateful(Stateful::new(config)?),
        };
        let path = match kind {
            ReceiverKind::Measures(config) => Some(PathReports::new(config)?),
            ReceiverKind::Standard | ReceiverKind::Stateful(_) => None,
        };
        let receiver = Receiver {
            path,
            reports: Reports::new(style, clock_offset),
            recovery: Recovery::default(),
            recovered: VecDeque::new(),
            frames,
            discard_after: None,
        };
        Ok(receiver.seeded(Seed::default()))
    }

    /// Sets what the intervals of randomised reports are drawn from
    /// ([`FeedbackStyle::ExtendedRandomised`]).
    #[must_use]
    pub fn seeded(mut self, seed: Seed) -> Receiver {
        self.reports.seed(seed);
        self
    }

    /// Sets how fast its clock runs, by which it stamps arrivals and reports, and measures the path. Its timers keep true
    /// time: a report that comes 1 % sooner is none that a sender can tell.
    #[must_use]
    pub fn drifting(mut self, drift: Drift) -> Receiver {
        self.reports.drift = drift;
        self
    }

    /// Sets a playout deadline: a frame whose last packet, or the last packet of a frame it refers to, arrives more
    /// than `age` after its capture is decoded but not shown, because a player with a fixed delay has moved on (FBRA:
    /// 400 ms). Capture and arrival are on the same clock here; with two clocks, capture is the RTP timestamp plus the
    /// smallest delay seen. `None` shows every frame.
    ///
    /// # Errors
    /// When `age` is not longer than 0.
    pub fn discarding_after(self, age: Option<Span>) -> Result<Receiver, ConfigError> {
        check("discard_after", age.unwrap_or(Span::MAX)).within(above(Span::ZERO), "400ms, or absent")?;
        Ok(Receiver { discard_after: age, ..self })
    }

    /// Lets it take each frame to need the one before it, whatever the sender knows better, as libwebrtc does where frames
    /// come without dependency descriptors (`rtp_frame_id_only_ref_finder.cc`). A stateful receiver is told by hashes.
    #[must_use]
    pub fn in_order(mut self, in_order: bool) -> Receiver {
        if let Frames::Standard(frames) = &mut self.frames {
            frames.in_order(in_order);
        }
        self
    }

    /// Sets the round-trip time, which is known where media is sent both ways or a sender answers extended reports; the
    /// default is 100 ms (libwebrtc).
    pub fn learn(&mut self, round_trip: Span) {
        self.reports.learn(round_trip);
        if let Frames::Standard(frames) = &mut self.frames {
            frames.learn(round_trip);
        }
    }

    /// Processes a packet; returns the frames that can be decoded now, in order.
    pub fn on_packet(&mut self, now: Time, packet: &Packet) -> Vec<Ready> {
        let is_new = self.reports.on_packet(now, packet);
        if let (true, Some(payload)) = (is_new, self.discarded(now, packet)) {
            self.reports.on_discarded(now, packet.sent.id, payload);
        }
        if let (true, Some(path)) = (is_new, &mut self.path) {
            path.on_packet(self.reports.drift.reads(now), packet);
        }
        self.recover(&packet.content);
        let ready = match &mut self.frames {
            // It measures the path by the times between arrivals, and a copy says nothing of those.
            Frames::Stateful(_) if !is_new => Vec::new(),
            frames => frames.on_packet(now, packet),
        };
        self.discarding(now, ready)
    }

    /// Recovers packets by FEC with the content of this packet.
    fn recover(&mut self, content: &Content) {
        match *content {
            Content::Padding | Content::Audio { .. } => return,
            Content::Media { sequence, .. } | Content::Retransmission { of: sequence, .. } => {
                self.recovery.on_media(sequence, ());
            }
            Content::Fec { protects } => self.recovery.on_fec(protects, ()),
        }
        let before = self.recovered.len();
        while let Some((sequence, ())) = self.recovery.next() {
            self.recovery.on_media(sequence, ());
            self.recovered.push_back(sequence);
        }
        self.recovered.make_contiguous()[before..].sort_unstable();
    }

    /// The next media packet recovered by FEC. Pass its content to [`Receiver::on_recovered`], which also stops
    /// requesting it.
    pub fn poll_recovered(&mut self) -> Option<u64> {
        self.recovered.pop_front()
    }

    /// Processes a media packet recovered by FEC; returns the frames that can be decoded now, in order.
    pub fn on_recovered(&mut self, now: Time, sequence: u64, fragment: Fragment) -> Vec<Ready> {
        let ready = self.frames.on_recovered(now, sequence, fragment);
        self.discarding(now, ready)
    }

    /// Marks frames that are too late to be shown.
    fn discarding(&self, now: Time, mut ready: Vec<Ready>) -> Vec<Ready> {
        if let Some(age) = self.discard_after {
            ready.iter_mut().for_each(|ready| ready.discarded = now - ready.info.captured > age);
        }
        ready
    }

    /// The payload size of a packet that is too late to be played.
    fn discarded(&self, now: Time, packet: &Packet) -> Option<Bytes> {
        let (Content::Media { fragment, .. } | Content::Retransmission { fragment, .. }) = packet.content else {
            return None;
        };
        let is_late = self.discard_after.is_some_and(|age| now - fragment.captured > age);
        is_late.then(|| Bytes::new(fragment.length.into()))
    }

    /// How many decoder states are kept; `None` if a frame is decoded from the one before.
    pub fn kept_states(&self) -> Option<usize> {
        match &self.frames {
            Frames::Stateful(frames) => Some(frames.kept_states()),
            Frames::Standard(_) => None,
        }
    }

    /// The decoder's state does not match the one a frame claimed.
    pub fn on_disagreement(&mut self, claimed: StateHash) {
        if let Frames::Stateful(frames) = &mut self.frames {
            frames.on_disagreement(claimed);
        }
    }

    /// The next report that is due, on arrivals or on the path.
    pub fn poll_report(&mut self, now: Time) -> Option<Message> {
        if let Some(report) = self.reports.poll(now) {
            let state = match &self.frames {
                Frames::Stateful(frames) => frames.report(),
                Frames::Standard(_) => None,
            };
            return Some(match state {
                Some(state) => report.led_by(rtcp::Packet::DecoderState(state)),
                None => report,
            });
        }
        let report = self.path.as_mut()?.poll(self.reports.drift.reads(now))?;
        Some(Message::new(About::Report { packets: 0 }, datagram(&[path::message(RECEIVER, MEDIA, &report)])))
    }

    /// The requests to send now.
    pub fn poll_requests(&mut self, now: Time) -> Vec<Message> {
        let Frames::Standard(frames) = &mut self.frames else { return Vec::new() };
        let wants = frames.poll(now);
        let nacks = wants.nacks(RECEIVER, MEDIA);
        let mut requests: Vec<Message> = nacks
            .map(|(nack, packets)| Message::new(About::Nack { packets }, datagram(&[rtcp::Packet::Nack(nack)])))
            .collect();
        if wants.keyframe {
            let loss = Pli { sender_ssrc: RECEIVER, media_ssrc: MEDIA };
            requests.push(Message::new(About::Pli, datagram(&[rtcp::Packet::Pli(loss)])));
        }
        requests
    }

    /// The next frame abandoned since the last call.
    pub fn poll_abandoned(&mut self) -> Option<u64> {
        match &mut self.frames {
            Frames::Standard(frames) => frames.poll_abandoned(),
            Frames::Stateful(frames) => frames.poll_abandoned(),
        }
    }

    /// When [`Receiver::poll_report`] or [`Receiver::poll_requests`] should be called next.
    pub fn next_event(&self) -> Time {
        let frames = match &self.frames {
            Frames::Standard(frames) => frames.next_event(),
            Frames::Stateful(_) => Time::NEVER,
        };
        let path = self.path.as_ref().map_or(Time::NEVER, PathReports::next_event);
        let path = self.reports.drift.when(path);
        self.reports.next_event().min(frames).min(path)
    }
}

#[cfg(test)]
mod tests;
