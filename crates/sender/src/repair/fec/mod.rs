//! FEC: XOR parity over media packets, from which the receiver restores lost ones without asking (RFC 8627;
//! specs/fec.md).
//!
//! The amount is a share of what is sent: every packet that leaves earns that share of its size, an FEC packet costs
//! its own size, and at the end of a frame as many FEC packets are made as come nearest to what was earned, so that the
//! share holds in the long run. They leave right after the frame. Of n FEC packets, number i protects the packets
//! numbered i modulo n, so that a burst of losses is spread over all of them.
//!
//! Or each frame gets as many as it needs at the measured loss, and most packets come under two of them (`residual`).
//!
//! If the controller probes with FEC (FBRA), there is instead one FEC packet after every N media packets (`intervals`).

mod format;
mod intervals;
mod residual;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_control::Feedback;
use thalweg_types::{Content, Fragment, Protected};
use thalweg_units::{Bytes, ConfigError, Span, Time, above, above_to, check};

pub use format::{Format, Written};
use intervals::Interval;
use residual::Loss;

/// How much FEC, and over which packets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How much.
    pub amount: Amount,
    /// The format of FEC packets.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Format::is_flexfec"))]
    pub format: Format,
    /// FEC protects no two packets this far apart or farther: 46, so that the header has the middle of FlexFEC's masks,
    /// or 1 to 109.
    pub packets: u64,
    /// A packet that got no FEC yet may still get some within this time and within a round trip, after which a
    /// retransmission is quicker (specs/fec.md 3); zero to protect every frame separately (R).
    pub reach: Span,
    /// Max FEC packets per media packet. One means duplicates; where half is lost, half of the duplicates are too, and
    /// the part of the wire that retransmissions do not need is better spent on more of them (R).
    pub max_per_packet: f64,
    /// A frame is useless this long after its capture, and so is FEC for it: its packets are left out. `None` for
    /// receivers that show every frame, however late.
    pub deadline: Option<Span>,
    /// How much more a keyframe is protected than other frames: its bytes and packets count this many times, 1 to 10.
    /// All later frames depend on it (specs/fec.md 4; unequal protection).
    pub keyframe_weight: f64,
    /// Weights of the temporal layers, from the base up, each 0 to 10; the last one applies to all layers above it. No
    /// frame refers to the highest layer, so a loss there costs one picture; at 0 a layer is not protected.
    pub layer_weights: [f64; LAYERS],
    /// The FEC packet's own RTP header extensions, in addition to those it protects: transport-wide-cc-01 in the
    /// one-byte form.
    pub extensions: Bytes,
    /// A packet that arrives after it was declared lost counts as lost no longer: the path reorders. For
    /// [`Amount::Residual`].
    pub takes_back: bool,
}

/// Temporal layers that can be protected unequally: as many as RFC 7741 numbers.
pub const LAYERS: usize = 4;

/// How much FEC is sent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Amount {
    /// The share that the budget grants, depending on the losses.
    #[default]
    Granted,
    /// This share of what is sent, whatever the loss: 0 to 0.9.
    Share(f64),
    /// One packet after every N media packets, as the controller asks (`SendLimits::fec_interval`): FBRA's probe.
    Asked,
    /// As many with each frame as leave it incomplete with about this probability at most (residual loss), were the
    /// measured losses independent: above 0 and up to 1. None where nothing is lost.
    Residual(f64),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            amount: Amount::Granted,
            format: Format::Flexfec,
            packets: 46,
            reach: Span::from_millis(100),
            max_per_packet: 3.0,
            deadline: None,
            keyframe_weight: 1.0,
            layer_weights: [1.0; LAYERS],
            extensions: Bytes::new(8),
            takes_back: false,
        }
    }
}

impl Config {
    /// The initial state for a new stream.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Fec, ConfigError> {
        check("repair.fec.packets", self.packets).within(1..=Protected::LONGEST, "46")?;
        check("repair.fec.reach", self.reach).within(Span::ZERO.., "100ms")?;
        check("repair.fec.max_per_packet", self.max_per_packet).within(above_to(0.0, 10.0), "3")?;
        if let Amount::Share(share) = self.amount {
            check("repair.fec.amount.share", share).is((0.0..=0.9).contains(&share), "0 to 0.9: media is left")?;
        }
        if let Amount::Residual(residual) = self.amount {
            check("repair.fec.amount.residual", residual).within(above_to(0.0, 1.0), "0.01")?;
        }
        check("repair.fec.deadline", self.deadline.unwrap_or(Span::MAX)).within(above(Span::ZERO), "400ms, or none")?;
        check("repair.fec.keyframe_weight", self.keyframe_weight).within(1.0..=10.0, "2")?;
        for weight in self.layer_weights {
            check("repair.fec.layer_weights", weight).within(0.0..=10.0, "1")?;
        }
        let (interval, loss, losses_ended, uncovered, waiting) = Default::default();
        Ok(Fec { config: self, interval, loss, losses_ended, earned: 0.0, among_media: 0, uncovered, waiting })
    }

    fn written(&self) -> Written {
        Written { format: self.format, extensions: self.extensions }
    }
}

/// A media packet as FEC takes it.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Its number among the media packets.
    pub sequence: u64,
    /// Its sequence number on the wire, where FEC packets may be in between, or another number with the same
    /// differences.
    pub place: u64,
    /// Its wire size.
    pub size: Bytes,
}

/// A media packet that no FEC packet protects yet.
#[derive(Debug, Clone, Copy)]
struct Uncovered {
    sequence: u64,
    place: u64,
    at: Time,
    fragment: Fragment,
    size: Bytes,
}

impl Uncovered {
    fn member(&self) -> Member {
        Member { sequence: self.sequence, place: self.place, size: self.size }
    }

    /// Returns true if its frame can still be shown in time if FEC leaves now, over a path with this round trip.
    fn is_of_use(&self, now: Time, path_rtt: Span, deadline: Option<Span>) -> bool {
        deadline.is_none_or(|deadline| self.fragment.captured + deadline > now + path_rtt / 2)
    }
}

/// The round trip, with and without the receiver's delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrips {
    /// Including the wait for a report: the least time in which a retransmission can arrive.
    pub smoothed: Span,
    /// Excluding it: half of this is what FEC needs to arrive.
    pub path: Span,
}

/// An FEC packet that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The media packets it protects.
    pub protects: Protected,
    /// Its wire size.
    pub size: Bytes,
}

impl Due {
    /// FEC over these media packets, in the order of their numbers: as large as the longest, its header and its own
    /// extensions. `None` for no packets, or packets too far apart.
    pub fn over(members: impl Iterator<Item = Member> + Clone, written: Written) -> Option<Due> {
        let protects = Protected::of(members.clone().map(|member| member.sequence))?;
        let first = members.clone().next()?.place;
        let numbers = members.clone().last()?.place - first + 1;
        let longest = members.map(|member| member.size).max().unwrap_or(Bytes::ZERO);
        let size = longest + written.around(numbers);
        (numbers <= written.format.longest()).then_some(Due { protects, size })
    }

    /// The content of the packet.
    pub fn content(&self) -> Content {
        Content::Fec { protects: self.protects }
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Fec {
    config: Config,
    interval: Interval,
    loss: Loss,
    /// When losses last ended that say nothing of those to come.
    losses_ended: Option<Time>,
    /// Bytes of FEC that may be sent; negative when more was sent than earned.
    earned: f64,
    /// FEC packets sent so far that used numbers of the media stream.
    among_media: u64,
    uncovered: VecDeque<Uncovered>,
    waiting: VecDeque<Due>,
}

impl Fec {
    /// The share of what is sent that is FEC, when the budget grants `granted`.
    pub fn share(&self, granted: f64) -> f64 {
        match self.config.amount {
            Amount::Granted => granted,
            Amount::Share(share) => share,
            Amount::Asked | Amount::Residual(_) => 0.0,
        }
    }

    /// Takes feedback on sent packets.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.loss.on_feedback(feedback, self.config.takes_back);
    }

    /// Sets when losses last ended that what was sent had caused: none is measured any more.
    pub fn set_losses_ended(&mut self, ended: Option<Time>) {
        if ended > self.losses_ended {
            (self.loss, self.losses_ended) = (Loss::default(), ended);
        }
    }

    /// Media packet `sequence` of wire size `size` left; sequences come without gaps. `granted` is what the budget
    /// grants.
    pub fn on_media(
        &mut self,
        now: Time,
        (sequence, fragment): (u64, Fragment),
        size: Bytes,
        granted: f64,
        round_trips: RoundTrips,
    ) {
        let place = sequence + self.among_media;
        let packet = Uncovered { sequence, place, at: now, fragment, size };
        if self.config.amount == Amount::Asked {
            return self.count(now, packet, round_trips.path);
        }
        let weight = self.weight(&fragment);
        if weight == 0.0 {
            return;
        }
        let reach = self.config.reach.min(round_trips.smoothed);
        let longest = self.config.format.longest();
        let useless = |packet: &Uncovered| {
            place - packet.place >= longest
                || packet.fragment.frame != fragment.frame && packet.at + reach < now
                || !packet.is_of_use(now, round_trips.path, self.config.deadline)
        };
        while self.uncovered.front().is_some_and(useless) {
            self.uncovered.pop_front();
        }
        self.earned += self.share(granted) * weight * size.as_f64();
        self.uncovered.push_back(packet);
        if fragment.index + 1 >= fragment.count || self.uncovered.len() as u64 == self.config.packets {
            self.cover(granted);
        }
        if self.uncovered.len() as u64 == self.config.packets {
            self.uncovered.pop_front();
        }
    }

    /// How many times the packet counts.
    fn weight(&self, fragment: &Fragment) -> f64 {
        let layer = self.config.layer_weights[usize::from(fragment.layer).min(LAYERS - 1)];
        if fragment.keyframe { self.config.keyframe_weight } else { layer }
    }

    /// An FEC packet left, of this module or of padding.
    pub fn on_fec(&mut self) {
        self.among_media += u64::from(self.config.format == Format::Ulpfec);
    }

    /// Another packet left that is neither media nor padding: a retransmission.
    pub fn on_other(&mut self, size: Bytes, granted: f64) {
        self.earned += self.share(granted) * size.as_f64();
    }

    /// Makes as many FEC packets as were earned over the unprotected packets.
    fn cover(&mut self, granted: f64) {
        let all = self.uncovered.iter().map(Uncovered::member);
        let Some(Due { size, .. }) = Due::over(all, self.config.written()) else { return };
        // An FEC packet earns its share too.
        let cost = size.as_f64() * (1.0 - self.share(granted));
        let max = libm::floor(self.uncovered.len() as f64 * self.config.max_per_packet).max(1.0);
        let count = match self.config.amount {
            Amount::Residual(residual) => self.loss.needs(self.uncovered.len(), residual).min(max as usize),
            _ => libm::round(self.earned / cost).clamp(0.0, max) as usize,
        };
        if count == 0 {
            return;
        }
        let packets: Vec<Uncovered> = self.uncovered.drain(..).collect();
        if matches!(self.config.amount, Amount::Residual(_)) {
            for number in 0..count {
                let under = |packet: &(usize, &Uncovered)| residual::protects(number, packet.0, count);
                self.make(packets.iter().enumerate().filter(under).map(|(_, packet)| packet), granted);
            }
            return;
        }
        let mut left = count;
        while left > 0 {
            let groups = left.min(packets.len());
            left -= groups;
            (0..groups).for_each(|first| self.make(packets.iter().skip(first).step_by(groups), granted));
        }
        // What could not be spent is not carried over to later frames.
        self.earned = self.earned.min(cost);
    }

    /// FEC over these packets.
    fn make<'a>(&mut self, packets: impl Iterator<Item = &'a Uncovered> + Clone, granted: f64) {
        let members = packets.map(Uncovered::member);
        if let Some(due) = Due::over(members, self.config.written()) {
            self.earned -= due.size.as_f64() * (1.0 - self.share(granted));
            self.waiting.push_back(due);
        }
    }

    /// The next FEC packet that is due.
    pub fn head(&self) -> Option<&Due> {
        self.waiting.front()
    }

    /// Removes it.
    pub fn pop(&mut self) -> Option<Due> {
        self.waiting.pop_front()
    }

    /// The frames in flight were abandoned.
    pub fn flush(&mut self) {
        self.uncovered.clear();
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests;
