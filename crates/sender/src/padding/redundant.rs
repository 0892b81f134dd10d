//! Padding that the receiver may have a use for: redundancy as the probe of any scheme (FBRA's idea, Vidaptive's footnote 1; specs/fec.md 4).
//!
//! What probes the path is acknowledged and lost like anything else, so it may as well carry something. Of the media packets that left
//! lately and are not known to have arrived, one is still of use if it would be there before its frame is to be shown. Padding is made of
//! those: a packet known to be lost again, an FEC packet of packets of which any one may be lost, or nothing, where nothing helps.

mod remembered;

use thalweg_control::{Feedback, PacketId};
use thalweg_media::{Content, Fragment, PacketSizes, Protected};
use thalweg_units::{Bytes, ConfigError, Span, Time, above, between, check};

use crate::repair::fec::{Due, Format, Written};
use remembered::{Remembered, Tracked};

/// What padding is made of, and for how long it is of use.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// What of.
    pub kind: Kind,
    /// How it is written.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Format::is_flexfec"))]
    pub format: Format,
    /// A frame is of no use this long after it was captured (specs/fbra.md 2, delay_max: 400 ms).
    pub deadline: Span,
    /// The fewest packets under one FEC packet (specs/fec.md 4: 2).
    pub min_group: u16,
    /// The most packets under one FEC packet (specs/fec.md 4: 14; FBRA's longest FEC interval).
    pub max_group: u16,
    /// An FEC packet is of as many packets as lose one at this loss at least, 0..1: without losses, of 1 / 0.02 = 50 and so of `max_group`
    /// (specs/fec.md 4).
    pub min_loss: f64,
    /// How many FEC packets a packet is under at most; the second goes across the first. specs/fec.md 4 has 2; with 4, padding that would otherwise be
    /// of nothing leaves 9 % of the time in stalls instead of 13 % where a tenth is lost (crates/lab/tests/scenarios/padding.rs), (R).
    pub fec_packets: u8,
    /// How often a packet is retransmitted before it is known to be lost (R).
    pub retransmissions: u8,
    /// A keyframe is of use once this share of packets was lost lately, 0..1 (specs/fec.md 4: 0.05).
    pub refresh_loss: f64,
    /// And not within this time of the last one (specs/fec.md 4: 2 s).
    pub refresh_interval: Span,
    /// An FEC packet's own RTP header extensions, besides those it protects (see [`crate::repair::fec::Config::extensions`]).
    pub extensions: Bytes,
}

/// What padding is made of; where that has nothing, of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// Sums of packets.
    #[default]
    Fec,
    /// Packets once more: those known to be lost, then those under way.
    Rtx,
    /// An early keyframe, once what would have filled the path since the last one could have paid for it.
    Keyframe,
    /// Whichever helps most: FEC, which is there before anybody asks; then what is lost, a second time, since who misses it asks for the
    /// first; then what is under way; and a keyframe as above.
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
    /// Padding of this kind and the usual parameters.
    pub fn of(kind: Kind) -> Config {
        Config { kind, ..Config::default() }
    }

    /// Padding for a stream that begins.
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

/// What is known of keyframes and what was spent on padding since the last.
#[derive(Debug, Clone, Copy)]
struct Refresh {
    last: Time,
    /// What it took of the wire.
    cost: Bytes,
    saved: Bytes,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct RedundantPadding {
    config: Config,
    sizes: PacketSizes,
    /// FEC packets that left and took numbers of media.
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

    /// An FEC packet left, of this or of repair.
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

    /// What would help most now and takes at most `max` of the wire; a packet takes half of `path_rtt` to arrive. The same until
    /// something happens or [`RedundantPadding::on_sent`] says that it left.
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

    /// What [`RedundantPadding::head`] gave has left.
    pub fn on_sent(&mut self, content: &Content) {
        match content {
            Content::Fec { protects } => self.remembered.under_sum(protects),
            Content::Retransmission { of, .. } => self.remembered.retransmitted(*of),
            _ => {}
        }
    }

    /// Whether the next frame had better be a keyframe.
    pub fn wants_keyframe(&self, now: Time) -> bool {
        matches!(self.config.kind, Kind::Keyframe | Kind::Best)
            && self.remembered.loss() > self.config.refresh_loss
            && now - self.refresh.last >= self.config.refresh_interval
            && self.refresh.saved >= self.refresh.cost
    }

    /// The share of media packets lost lately, 0..=1.
    pub fn loss(&self) -> f64 {
        self.remembered.loss()
    }

    /// How many packets an FEC packet is of: as many as lose one on average (specs/fec.md 4).
    fn group(&self) -> usize {
        let loss = self.remembered.loss().max(self.config.min_loss);
        let packets = libm::round(1.0 / loss) as u16;
        usize::from(packets.clamp(self.config.min_group, self.config.max_group))
    }

    fn lost(&self, in_time: impl Fn(&&Tracked) -> bool) -> Option<(Content, Bytes)> {
        let lost = |packet: &&Tracked| packet.lost && !packet.again;
        self.remembered.packets().filter(in_time).find(lost).map(|packet| self.retransmission(packet))
    }

    /// The oldest: feedback on it is due soonest, and what has hit those behind it is over.
    fn under_way(&self, in_time: impl Fn(&&Tracked) -> bool) -> Option<(Content, Bytes)> {
        let waits =
            |packet: &&Tracked| !packet.arrived && !packet.lost && packet.retransmissions < self.config.retransmissions;
        self.remembered.packets().filter(in_time).find(waits).map(|packet| self.retransmission(packet))
    }

    fn retransmission(&self, packet: &Tracked) -> (Content, Bytes) {
        let content = Content::Retransmission { of: packet.sequence, fragment: packet.fragment };
        (content, packet.size + self.sizes.retransmission)
    }

    /// An FEC packet of packets under way that are under the fewest so far: the first FEC packets are of packets far apart, so that a burst of losses
    /// takes one of each, the second of neighbours, which a burst leaves alone.
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
