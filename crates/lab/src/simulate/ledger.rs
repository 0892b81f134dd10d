//! The outcome of each media packet, and the effect of redundancy on it. The event records do not contain the packets'
//! content.

use thalweg_control::Payload;
use thalweg_sender::{Content, Event, Fragment, Packet};
use thalweg_types::Protected;
use thalweg_units::{Bytes, Span, Time};

use crate::metrics::{Delivery, Probes, Redundancy, abu, ffre};
use crate::outcome::Series;
use crate::record::Bins;

/// How a media packet was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// By the packet itself.
    Itself,
    /// By a requested retransmission.
    Retransmission,
    /// By a retransmission sent as padding.
    Padding,
    /// By FEC.
    Fec,
}

/// A media packet that was sent.
#[derive(Debug, Clone, Copy)]
struct Media {
    fragment: Fragment,
    size: Bytes,
    dropped: bool,
    /// True if an FEC packet that protects it was sent.
    protected: bool,
    /// How it was first obtained.
    came: Option<By>,
    late: bool,
}

impl Media {
    fn is_missing(&self) -> bool {
        self.dropped && self.came.is_none()
    }
}

/// The media packets of a flow by sequence number, and totals of other packets.
pub(super) struct Ledger {
    deadline: Span,
    media: Vec<Media>,
    /// Payload delivered in time.
    in_time: Bytes,
    in_time_by_bin: Bins,
    /// Media packets delivered too late.
    late: u64,
    media_bytes: Bytes,
    fec: Bytes,
    padding: Bytes,
    probes: Probes,
}

impl Ledger {
    /// An empty ledger; packets that arrive later than `deadline` after their capture are too late.
    pub(super) fn new(deadline: Span) -> Ledger {
        Ledger {
            deadline,
            media: Vec::new(),
            in_time: Bytes::ZERO,
            in_time_by_bin: Bins::default(),
            late: 0,
            media_bytes: Bytes::ZERO,
            fec: Bytes::ZERO,
            padding: Bytes::ZERO,
            probes: Probes::default(),
        }
    }

    /// A packet was sent.
    pub(super) fn sent(&mut self, packet: &Packet) {
        let size = packet.sent.size;
        match packet.content {
            Content::Media { sequence, fragment } => self.sent_media(sequence, fragment, size),
            Content::Fec { protects } => self.sent_fec(&protects, size),
            _ if packet.sent.payload == Payload::Padding => self.padding += size,
            _ => {}
        }
    }

    fn sent_media(&mut self, sequence: u64, fragment: Fragment, size: Bytes) {
        debug_assert_eq!(sequence, self.media.len() as u64, "media packets have a gap");
        self.media_bytes += size;
        let (dropped, protected, came, late) = (false, false, None, false);
        self.media.push(Media { fragment, size, dropped, protected, came, late });
    }

    fn sent_fec(&mut self, protects: &Protected, size: Bytes) {
        self.fec += size;
        for sequence in protects.iter() {
            if let Some(media) = self.media.get_mut(sequence as usize) {
                media.protected = true;
            }
        }
    }

    /// A packet arrived.
    pub(super) fn arrived(&mut self, now: Time, packet: &Packet) {
        match packet.content {
            Content::Media { sequence, .. } => self.came(now, sequence, By::Itself),
            Content::Retransmission { of, .. } => {
                let by = if packet.sent.payload == Payload::Padding { By::Padding } else { By::Retransmission };
                self.came(now, of, by);
            }
            Content::Fec { .. } | Content::Audio { .. } | Content::Padding => {}
        }
    }

    /// FEC recovered a media packet; returns its content, if it was sent.
    pub(super) fn recovered(&mut self, now: Time, sequence: u64) -> Option<Fragment> {
        self.came(now, sequence, By::Fec);
        self.media.get(sequence as usize).map(|media| media.fragment)
    }

    fn came(&mut self, now: Time, sequence: u64, by: By) {
        let Some(media) = self.media.get_mut(sequence as usize).filter(|media| media.came.is_none()) else { return };
        media.came = Some(by);
        if now - media.fragment.captured > self.deadline {
            media.late = true;
            self.late += 1;
        } else {
            let payload = Bytes::new(media.fragment.length.into());
            self.in_time += payload;
            self.in_time_by_bin.add(now, payload);
        }
    }

    /// A packet was dropped on the path.
    pub(super) fn dropped(&mut self, packet: &Packet) {
        if let Content::Media { sequence, .. } = packet.content
            && let Some(media) = self.media.get_mut(sequence as usize)
        {
            media.dropped = true;
        }
    }

    /// An event occurred at the sender.
    pub(super) fn on_event(&mut self, event: &Event) {
        if let Event::Decision(decision) = event {
            self.probes.on_decision(decision.what);
        }
    }

    /// The figures of a flow that was active from `from` to `until` seconds, over a path of the series' capacity.
    pub(super) fn figures(self, series: &Series, (from, until): (f64, f64)) -> (Delivery, Option<Redundancy>) {
        let rate = |bytes: Bytes| bytes.bits() as f64 / (until - from);
        let frames = |of: fn(&Media) -> bool| {
            let mut frames: Vec<u64> =
                self.media.iter().filter(|media| of(media)).map(|media| media.fragment.frame).collect();
            frames.dedup();
            frames.len() as u64
        };
        let delivery = Delivery {
            goodput_bps: rate(self.in_time),
            discard_ratio: self.late as f64 / self.media.len().max(1) as f64,
            lost_frames: frames(Media::is_missing),
            lost_or_late_frames: frames(|media| media.is_missing() || media.late),
            abu: abu(
                &self.in_time_by_bin.values(series.capacity_mbps.len()),
                &series.capacity_mbps,
                series.bin_s,
                (from, until),
            ),
        };
        let lost = || self.media.iter().filter(|media| media.protected && media.dropped);
        let recovered = lost().filter(|media| media.came == Some(By::Fec)).count() as u64;
        let useful = self.media.iter().filter(|media| matches!(media.came, Some(By::Fec | By::Padding)));
        let useful: Bytes = useful.map(|media| media.size).sum();
        let redundancy = Redundancy {
            fec_bitrate_bps: rate(self.fec),
            fec_share: self.fec.as_f64() / self.media_bytes.as_f64().max(1.0),
            ffre: ffre(recovered, lost().count() as u64 - recovered),
            protected_lost_frames: frames(|media| media.protected && media.dropped),
            useful_padding_ratio: useful.as_f64() / (self.fec + self.padding).as_f64().max(1.0),
            frcc: self.probes.frcc(),
            probes: self.probes.ended(),
        };
        (delivery, (self.fec > Bytes::ZERO).then_some(redundancy))
    }
}

#[cfg(test)]
mod tests;
