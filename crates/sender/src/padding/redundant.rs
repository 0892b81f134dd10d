//! Padding that the receiver can use: redundancy as the probe of any scheme (FBRA's idea, Vidaptive's footnote 1;
//! specs/fec.md 4).
//!
//! Padding is acknowledged and lost like any packet, so it may as well carry something. A media packet that left
//! recently and is not known to have arrived is still useful if it would arrive before its frame is shown. Padding is
//! made from these: a retransmission of a packet known to be lost, an FEC packet over packets any one of which may be
//! lost, or a packet without content if neither helps.

mod remembered;

use thalweg_control::{Feedback, PacketId};
use thalweg_types::{Content, Fragment, PacketSizes, Protected};
use thalweg_units::{Bytes, ConfigError, Span, Time, above, between, check};

use crate::repair::fec::{Due, Format, Written};
use remembered::{Remembered, Tracked};

/// Content of padding, and the time for which it is useful.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The kind of content.
    pub kind: Kind,
    /// The format of FEC packets.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Format::is_flexfec"))]
    pub format: Format,
    /// A frame is useless this long after its capture (specs/fbra.md 2, delay_max: 400 ms).
    pub deadline: Span,
    /// The min number of packets under one FEC packet (specs/fec.md 4: 2).
    pub min_group: u16,
    /// The max number of packets under one FEC packet (specs/fec.md 4: 14; FBRA's longest FEC interval).
    pub max_group: u16,
    /// An FEC packet protects as many packets as lose one on average, counting the loss as at least this, 0..1: without
    /// losses 1 / 0.02 = 50, and so `max_group` (specs/fec.md 4).
    pub min_loss: f64,
    /// The max number of FEC packets that protect one media packet; the second one's group crosses the first one's.
    /// specs/fec.md 4 has 2. With 4, padding that would otherwise be empty reduces the time in stalls from 13 % to 9 %
    /// where a tenth is lost (crates/lab/tests/scenarios/padding.rs), (R).
    pub fec_packets: u8,
    /// How often a packet may be retransmitted before it is known to be lost (R).
    pub retransmissions: u8,
    /// A keyframe may be forced once this share of recent packets was lost, 0..1 (specs/fec.md 4: 0.05).
    pub refresh_loss: f64,
    /// Min time between keyframes forced by padding and the last keyframe (specs/fec.md 4: 2 s).
    pub refresh_interval: Span,
    /// An FEC packet's own RTP header extensions, in addition to those it protects (see
    /// [`crate::repair::fec::Config::extensions`]).
    pub extensions: Bytes,
}

/// Content of padding; if there is nothing of that kind to send, it is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// FEC packets: XOR parity over several media packets.
    #[default]
    Fec,
    /// Retransmissions: first of packets known to be lost, then of those in flight.
    Rtx,
    /// An early keyframe, once the padding bytes since the last keyframe could have paid for it.
    Keyframe,
    /// Whatever helps most, in this order: FEC, which arrives before the receiver has to ask; second retransmissions of
    /// lost packets, since the receiver's request brings the first; retransmissions of packets in flight; and a
    /// keyframe as above.
    Best,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            kind: Kind::Fec,
            format: Format::Flexfec,
            deadline: Span::from_millis(400),
            min_group: 2,
            max_group: 14,
            min_loss: 0.02,
            fec_packets: 4,
            retransmissions: 1,
            refresh_loss: 0.05,
            refresh_interval: Span::from_secs(2),
            extensions: Bytes::new(8),
        }
    }
}

impl Config {
    /// Padding of this kind with the usual parameters.
    pub fn of(kind: Kind) -> Config {
        Config { kind, ..Config::default() }
    }

    /// The initial state for a new stream.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self, sizes: PacketSizes) -> Result<RedundantPadding, ConfigError> {
        check("padding_content.deadline", self.deadline).within(above(Span::ZERO), "400ms")?;
        check("padding_content.min_group", self.min_group).within(1..=self.max_group, "2")?;
        check("padding_content.max_group", self.max_group)
            .is(u64::from(self.max_group) <= Protected::LONGEST, "1 to 109, such as 14")?;
        for (name, share) in
            [("padding_content.min_loss", self.min_loss), ("padding_content.refresh_loss", self.refresh_loss)]
        {
            check(name, share).within(between(0.0, 1.0), "0.02")?;
        }
        check("padding_content.refresh_interval", self.refresh_interval).within(Span::ZERO.., "2s")?;
        let refresh = Refresh { last: Time::ZERO, cost: Bytes::ZERO, saved: Bytes::ZERO };
        let (among_media, remembered) = Default::default();
        Ok(RedundantPadding { config: self, sizes, among_media, remembered, refresh })
    }

    fn written(&self) -> Written {
        Written { format: self.format, extensions: self.extensions }
    }
}

/// The last keyframe and the bytes spent on padding since.
#[derive(Debug, Clone, Copy)]
struct Refresh {
    last: Time,
    /// Its bytes on the wire.
    cost: Bytes,
    saved: Bytes,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct RedundantPadding {
    config: Config,
    sizes: PacketSizes,
    /// FEC packets sent so far that used numbers of the media stream.
    among_media: u64,
    remembered: Remembered,
    refresh: Refresh,
}

impl RedundantPadding {
    /// A media packet of wire size `size` left.
    pub fn on_media(&mut self, now: Time, id: PacketId, (sequence, fragment): (u64, Fragment), size: Bytes) {
        if fragment.keyframe {
            if fragment.index == 0 {
                self.refresh = Refresh { last: now, cost: Bytes::ZERO, saved: Bytes::ZERO };
            }
            self.refresh.cost += size;
        }
        self.remembered.forget(|packet| packet.arrived || packet.fragment.captured + self.config.deadline < now);
        let place = sequence + self.among_media;
        self.remembered.push(Tracked::new(id, (sequence, place), fragment, size));
    }

    /// An FEC packet left, of this module or of repair.
    pub fn on_fec(&mut self) {
        self.among_media += u64::from(self.config.format == Format::Ulpfec);
    }

    /// Takes feedback.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.remembered.on_feedback(feedback);
    }

    /// Padding of this wire size left.
    pub fn on_padding(&mut self, size: Bytes) {
        self.refresh.saved += size;
    }

    /// The content that would help most now and takes at most `max` bytes of the wire, with its wire size; a packet
    /// takes half of `path_rtt` to arrive. The answer is the same until something changes or
    /// [`RedundantPadding::on_sent`] is called.
    pub fn head(&self, now: Time, path_rtt: Span, max: Bytes) -> Option<(Content, Bytes)> {
        let deadline = self.config.deadline;
        let in_time = |packet: &&Tracked| packet.fragment.captured + deadline > now + path_rtt / 2;
        let found = match self.config.kind {
            Kind::Fec => self.fec(in_time),
            Kind::Rtx => self.lost(in_time).or_else(|| self.under_way(in_time)),
            Kind::Keyframe => None,
            Kind::Best => self.fec(in_time).or_else(|| self.lost(in_time)).or_else(|| self.under_way(in_time)),
        };
        found.filter(|(_, size)| *size <= max)
    }

    /// The content that [`RedundantPadding::head`] returned has left.
    pub fn on_sent(&mut self, content: &Content) {
        match content {
            Content::Fec { protects } => self.remembered.under_sum(protects),
            Content::Retransmission { of, .. } => self.remembered.retransmitted(*of),
            _ => {}
        }
    }

    /// Returns true if the next frame should be a keyframe.
    pub fn wants_keyframe(&self, now: Time) -> bool {
        matches!(self.config.kind, Kind::Keyframe | Kind::Best)
            && self.remembered.loss() > self.config.refresh_loss
            && now - self.refresh.last >= self.config.refresh_interval
            && self.refresh.saved >= self.refresh.cost
    }

    /// The share of recent media packets that were lost, 0..=1.
    pub fn loss(&self) -> f64 {
        self.remembered.loss()
    }

    /// How many packets an FEC packet protects: as many as lose one on average (specs/fec.md 4).
    fn group(&self) -> usize {
        let loss = self.remembered.loss().max(self.config.min_loss);
        let packets = libm::round(1.0 / loss) as u16;
        usize::from(packets.clamp(self.config.min_group, self.config.max_group))
    }

    fn lost(&self, in_time: impl Fn(&&Tracked) -> bool) -> Option<(Content, Bytes)> {
        let lost = |packet: &&Tracked| packet.lost && !packet.again;
        self.remembered.packets().filter(in_time).find(lost).map(|packet| self.retransmission(packet))
    }

    /// The oldest: its feedback is due soonest, and a burst of losses that hit the packets after it is over.
    fn under_way(&self, in_time: impl Fn(&&Tracked) -> bool) -> Option<(Content, Bytes)> {
        let waits =
            |packet: &&Tracked| !packet.arrived && !packet.lost && packet.retransmissions < self.config.retransmissions;
        self.remembered.packets().filter(in_time).find(waits).map(|packet| self.retransmission(packet))
    }

    fn retransmission(&self, packet: &Tracked) -> (Content, Bytes) {
        let content = Content::Retransmission { of: packet.sequence, fragment: packet.fragment };
        (content, packet.size + self.sizes.retransmission)
    }

    /// An FEC packet over those packets in flight that the fewest FEC packets protect so far. Of the FEC packets over a
    /// packet, the first and the third protect it with packets far apart, so that a burst of losses takes one of each
    /// group; the second and the fourth with its neighbours, so that a burst leaves most groups untouched.
    fn fec(&self, in_time: impl Fn(&&Tracked) -> bool + Copy) -> Option<(Content, Bytes)> {
        let group = self.group();
        (0..self.config.fec_packets).find_map(|level| {
            let open = |packet: &&Tracked| !packet.arrived && !packet.lost && packet.fec_packets == level;
            let candidates = || self.remembered.packets().filter(in_time).filter(open);
            let stride = if level % 2 == 0 { candidates().count().div_ceil(group).max(1) } else { 1 };
            let first = candidates().next()?.place;
            let near = |packet: &&Tracked| packet.place - first < self.config.format.longest();
            let members = || candidates().take_while(near).step_by(stride).take(group);
            let due = Due::over(members().map(Tracked::member), self.config.written())?;
            Some((due.content(), due.size))
        })
    }
}

#[cfg(test)]
mod tests;
