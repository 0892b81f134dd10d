//! A receiver that keeps its decoder's states (Salsify section 3.2; specs/salsify.md 2).
//!
//! Frames are decoded in order, each from the state it names: the decoder's current state or a kept one. Once a packet
//! of a newer frame arrives, an incomplete older frame is finished as it is. Instructions to the decoder are data
//! ([`Moves`]); this module follows state hashes only, so it also works for a model, which has no pictures.
//!
//! The paper's receiver knows no reordering. With a [`StatefulReceiver::reordering_window`], newer frames are held back for
//! as long as packets came late in the last seconds.

mod lateness;

use std::collections::{BTreeMap, VecDeque};

use thalweg_control::salsify::Average;
use thalweg_types::{Content, Fragment, Packet, StateHash, StatefulReceiver};
use thalweg_units::{ConfigError, Span, Time, check};
use thalweg_wire::rtcp::DecoderState;
use thalweg_wire::rtp::{FragmentGrace, FrameFragment};

use super::assembly::FrameInfo;
use super::message::{MEDIA, RECEIVER};
use lateness::Lateness;

/// Min number of kept states: a frame's source and target.
const MIN_STATES: usize = 2;
/// Max number of kept states: what fits in a report of 1200 bytes ([`DecoderState`]).
const MAX_STATES: usize = 145;

/// Max number of abandoned frames reported after a gap, the newest ones: more than can be in flight, and few enough for
/// memory when the first frame number received is large.
const MAX_ABANDONED: u64 = 4096;

/// Max number of packets held back: 100 ms of 100 Mbps.
const MAX_HELD: usize = 1024;

/// Steps of a decoder for a frame, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moves {
    /// Forget these states.
    pub forget: Vec<StateHash>,
    /// Load this state.
    pub load: Option<StateHash>,
    /// Decode this many of the frame's bytes; `None` for all.
    pub length: Option<u32>,
    /// After decoding, the decoder is in this state and keeps it; `None` if the frame cannot be decoded as intended.
    pub target: Option<StateHash>,
}

#[derive(Debug)]
struct Partial {
    template: Fragment,
    received: Vec<Option<Fragment>>,
}

impl Partial {
    fn is_whole(&self) -> bool {
        self.received.iter().all(Option::is_some)
    }

    /// Number of the frame's bytes received without a gap.
    fn prefix(&self) -> u32 {
        self.received.iter().map_while(|fragment| *fragment).map(|fragment| fragment.length).sum()
    }
}

/// Frames, states and interarrival times.
#[derive(Debug)]
pub(super) struct Stateful {
    config: StatefulReceiver,
    /// The next expected frame, or the incomplete one.
    next_frame: u64,
    partial: Option<Partial>,
    /// Packets of newer frames, by frame and fragment, and when each arrived.
    held: BTreeMap<(u64, u16), (Time, Fragment)>,
    lateness: Lateness,
    current: StateHash,
    /// The kept states, the newest last.
    kept: VecDeque<StateHash>,
    /// The mean interarrival time, tau.
    interarrival: Average,
    last_arrival: Option<Time>,
    /// The newest packet of a frame, as frame and fragment.
    newest: Option<(u64, u16)>,
    abandoned: VecDeque<u64>,
}

impl Stateful {
    pub(super) fn new(config: StatefulReceiver) -> Result<Stateful, ConfigError> {
        check("receiver.max_states", config.max_states).within(MIN_STATES..=MAX_STATES, "64")?;
        check("receiver.reordering_window", config.reordering_window)
            .within(Span::ZERO..=Span::from_secs(1), "100ms")?;
        Ok(Stateful {
            config,
            next_frame: 0,
            partial: None,
            held: BTreeMap::new(),
            lateness: Lateness::new(config.reordering_window),
            current: StateHash::UNKNOWN,
            kept: VecDeque::new(),
            interarrival: config.smoothing.build()?,
            last_arrival: None,
            newest: None,
            abandoned: VecDeque::new(),
        })
    }

    /// A packet arrived; returns the frames to decode now, in order, each with its instructions.
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) -> Vec<(FrameInfo, Moves)> {
        let fragment = match packet.content {
            Content::Padding | Content::Audio { .. } | Content::Fec { .. } => None,
            Content::Media { fragment, .. } | Content::Retransmission { fragment, .. } => Some(fragment),
        };
        if let Content::Media { fragment, .. } = packet.content {
            self.lateness.on_packet(now, fragment.frame);
        }
        // A packet too late to be decoded does not enter the measurement of the path either.
        if fragment.is_some_and(|fragment| fragment.frame < self.next_frame) {
            return Vec::new();
        }
        self.on_arrival(now, packet, fragment);
        fragment.map_or_else(Vec::new, |fragment| self.in_order(now, fragment))
    }

    /// Takes a fragment, and all up to the first that has to wait for packets of older frames.
    fn in_order(&mut self, now: Time, fragment: Fragment) -> Vec<(FrameInfo, Moves)> {
        self.held.entry((fragment.frame, fragment.index)).or_insert((now, fragment));
        let mut ready = Vec::new();
        while let Some(entry) = self.held.first_entry() {
            let (arrived, fragment) = *entry.get();
            let waits = fragment.frame > self.next_frame && arrived + self.lateness.get(now) > now;
            if waits && self.held.len() <= MAX_HELD {
                break;
            }
            self.held.pop_first();
            ready.extend(self.on_fragment(fragment));
        }
        ready
    }

    /// A media packet was recovered by FEC: it does not enter the measurement of the path, which uses received packets
    /// only.
    pub(super) fn on_recovered(&mut self, now: Time, fragment: Fragment) -> Vec<(FrameInfo, Moves)> {
        if fragment.frame < self.next_frame { Vec::new() } else { self.in_order(now, fragment) }
    }

    /// The first frame that a packet may still belong to.
    pub(super) fn next_frame(&self) -> u64 {
        self.next_frame
    }

    /// How many states are kept.
    pub(super) fn kept_states(&self) -> usize {
        self.kept.len()
    }

    /// Updates the interarrival time, less the grace period, which the header extension carries.
    fn on_arrival(&mut self, now: Time, packet: &Packet, fragment: Option<Fragment>) {
        let begins = fragment.is_none_or(|fragment| fragment.index == 0);
        let grace = self.config.grace.of(begins, read_grace(packet.grace, fragment));
        match self.last_arrival {
            Some(last) => self.interarrival.add(now - last - grace, packet.sent.size),
            None => self.interarrival.begin(),
        }
        self.last_arrival = Some(now);
    }

    fn on_fragment(&mut self, fragment: Fragment) -> Vec<(FrameInfo, Moves)> {
        let mut ready = Vec::new();
        if fragment.frame < self.next_frame {
            return ready;
        }
        if fragment.frame > self.next_frame {
            ready.extend(self.give_up());
            self.abandoned.extend(self.next_frame.max(fragment.frame.saturating_sub(MAX_ABANDONED))..fragment.frame);
            self.current = StateHash::UNKNOWN;
            self.next_frame = fragment.frame;
        }
        if let (0, Some(transition)) = (fragment.frame, fragment.transition) {
            // The initial state of every decoder.
            self.current = transition.source;
        }
        self.newest = self.newest.max(Some((fragment.frame, fragment.index)));
        let partial = self
            .partial
            .get_or_insert_with(|| Partial { template: fragment, received: vec![None; fragment.count.into()] });
        if let Some(place) = partial.received.get_mut(usize::from(fragment.index)) {
            *place = Some(fragment);
        }
        if partial.is_whole() {
            // On the wire only the first fragment names the target state.
            let first = partial.received.first().copied().flatten().unwrap_or(fragment);
            self.partial = None;
            self.next_frame = first.frame + 1;
            match self.moves(first) {
                Some(moves) => ready.push((info(&first), moves)),
                None => self.abandoned.push_back(first.frame),
            }
        }
        ready
    }

    /// A newer frame begins: returns what was received of the incomplete frame, to be decoded as it is.
    fn give_up(&mut self) -> Option<(FrameInfo, Moves)> {
        let partial = self.partial.take().filter(|_| self.config.shows_damage)?;
        let prefix = partial.prefix();
        if prefix == 0 {
            return None;
        }
        self.next_frame = partial.template.frame + 1;
        let moves = Moves { length: Some(prefix), ..Moves::default() };
        Some((info(&partial.template), moves))
    }

    /// How to decode a complete frame; `None` if it is not to be decoded.
    fn moves(&mut self, fragment: Fragment) -> Option<Moves> {
        let Some(transition) = fragment.transition else {
            self.current = StateHash::UNKNOWN;
            return Some(Moves::default());
        };
        let position = self.kept.iter().position(|kept| *kept == transition.source);
        let mut moves = Moves::default();
        if !fragment.keyframe && position.is_none() {
            // The state it refers to never existed here, or is no longer kept.
            self.current = StateHash::UNKNOWN;
            return self.config.shows_damage.then_some(moves);
        }
        if self.current != transition.source {
            moves.load = Some(transition.source);
        }
        // The sender codes from this state, so it will not refer to older ones.
        moves.forget.extend(self.kept.drain(..position.unwrap_or(0)));
        // A static frame may lead to a state that is already kept.
        self.kept.retain(|kept| *kept != transition.target);
        if self.kept.len() >= self.config.max_states {
            // Never drop the state just used: a sender that is recovering names it again.
            moves.forget.extend(self.kept.remove(1));
        }
        self.current = transition.target;
        self.kept.push_back(transition.target);
        moves.target = Some(transition.target);
        Some(moves)
    }

    /// The decoder did not reach the state that a frame claimed: the receiver reports this.
    pub(super) fn on_disagreement(&mut self, claimed: StateHash) {
        self.current = StateHash::UNKNOWN;
        self.kept.retain(|kept| *kept != claimed);
    }

    /// The decoder state to send with a report; `None` before there is an interarrival time.
    pub(super) fn report(&self) -> Option<DecoderState> {
        let (frame, fragment) = self.newest?;
        let interarrival = self.interarrival.value()?;
        Some(DecoderState {
            sender_ssrc: RECEIVER,
            media_ssrc: MEDIA,
            frame: frame as u32,
            fragment,
            interarrival,
            current: self.current.0,
            complete: self.kept.iter().map(|kept| kept.0).collect(),
        })
    }

    pub(super) fn poll_abandoned(&mut self) -> Option<u64> {
        self.abandoned.pop_front()
    }
}

fn info(fragment: &Fragment) -> FrameInfo {
    FrameInfo { frame: fragment.frame, picture: fragment.picture, captured: fragment.captured }
}

/// The grace period as read from the wire.
fn read_grace(grace: Span, fragment: Option<Fragment>) -> Span {
    let fragment = fragment.map(|fragment| FrameFragment {
        frame: fragment.frame as u32,
        fragment: fragment.index,
        fragments: fragment.count,
    });
    let element = FragmentGrace { grace, fragment };
    let read = element.to_bytes().ok().and_then(|bytes| FragmentGrace::parse(&bytes[..element.size()]).ok());
    debug_assert!(read.is_some(), "{element:?} can be written and read");
    read.map_or(Span::ZERO, |element| element.grace)
}

#[cfg(test)]
mod tests;
