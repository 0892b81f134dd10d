//! Groups packets that left together into bursts, and collects their outcome.
//!
//! A burst is a frame, or a slice of a frame of at most M bytes. A new one begins with another frame, when M would be
//! exceeded, and when the sender paused without being blocked by the window.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Span, Time};

use super::train::Train;
use crate::feedback::{Fate, Report};
use crate::packet::{PacketId, Payload, SentPacket};

/// Packets with a larger gap between them did not leave together, by a real sender's clock (R).
pub(super) const GAP: Span = Span::from_millis(1);
/// Max number of bursts, and of packets: beyond it the oldest are dropped (a receiver that never reports).
const MAX_BURSTS: usize = 1 << 13;
const MAX_PACKETS: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Arrived,
    Lost,
}

/// A packet of a burst: its offset in the burst, and its outcome.
#[derive(Debug, Clone, Copy)]
struct Place {
    offset: Bytes,
    state: State,
}

/// The first or last of the packets that count for bandwidth: number, departure, arrival, size.
#[derive(Debug, Clone, Copy)]
struct End {
    id: PacketId,
    sent: Time,
    arrived: Time,
    size: Bytes,
}

/// The packets that have arrived, without retransmissions.
#[derive(Debug, Clone, Copy)]
struct Arrivals {
    first: End,
    last: End,
    latest: Time,
    packets: u32,
    bytes: Bytes,
}

impl Arrivals {
    fn of(end: End) -> Arrivals {
        Arrivals { first: end, last: end, latest: end.arrived, packets: 1, bytes: end.size }
    }

    fn with(self, end: End) -> Arrivals {
        Arrivals {
            first: if end.id < self.first.id { end } else { self.first },
            last: if end.id > self.last.id { end } else { self.last },
            latest: self.latest.max(end.arrived),
            packets: self.packets + 1,
            bytes: self.bytes + end.size,
        }
    }
}

/// A burst.
#[derive(Debug, Clone, Copy)]
struct Burst {
    frame: Option<u64>,
    probe: Option<u32>,
    first: u64,
    packets: u64,
    size: Bytes,
    /// M when it began.
    max: Bytes,
    in_flight_before: Bytes,
    first_at: Time,
    last_at: Time,
    /// The window was full after its last packet.
    held_up: bool,
    /// No further packets will be added.
    over: bool,
    reported: u64,
    arrivals: Option<Arrivals>,
    judged: bool,
}

impl Burst {
    fn continues_with(&self, packet: &SentPacket) -> bool {
        if self.over || packet.probe != self.probe {
            return false;
        }
        let together = packet.at - self.last_at <= GAP;
        let fits = self.size + packet.size <= self.max;
        match (self.frame, packet.place) {
            _ if packet.probe.is_some() => together,
            (Some(frame), Some(place)) => frame == place.frame && fits && (together || self.held_up),
            // Packets without a position in a frame (retransmissions and padding) join the burst.
            (_, None) => together && fits,
            (None, Some(_)) => false,
        }
    }

    /// The measurement of a burst whose packets all have a known outcome; called only once per burst.
    fn judge(&mut self) -> Option<Train> {
        self.judged = true;
        let Arrivals { first, last, latest, packets, bytes } = self.arrivals?;
        Some(Train {
            packets,
            frame: self.frame,
            numbers: (self.first, self.first + self.packets),
            first: first.size,
            sent: first.sent,
            arrived: first.arrived,
            bytes: bytes - first.size,
            span: latest - first.arrived,
            send_span: last.sent - first.sent,
        })
    }

    fn judge_if_complete(&mut self) -> Option<Train> {
        (self.over && !self.judged && self.reported == self.packets).then(|| self.judge()).flatten()
    }
}

/// The report on a packet, in terms of its burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BurstReport {
    /// The packet's offset in its burst.
    pub(super) offset: Bytes,
    /// The size of the burst, as far as it was sent.
    pub(super) size: Bytes,
    /// For the first packet of a burst: bytes in flight before it.
    pub(super) first: Option<Bytes>,
    /// True if it belongs to the burst of a frame. Repair or padding that left alone behind a burst meets the queue
    /// that the burst has filled, and does not show the loss at the beginning or end of a burst.
    pub(super) of_frame: bool,
    /// It had been declared lost.
    pub(super) was_lost: bool,
    /// The burst, if this report completed it.
    pub(super) train: Option<Train>,
}

/// The bursts whose packets do not all have a known outcome.
#[derive(Debug, Clone, Default)]
pub(super) struct Bursts {
    bursts: VecDeque<Burst>,
    /// Their packets, starting at number `base`.
    places: VecDeque<Place>,
    base: u64,
    /// The number of the frame being sent, its size so far, and the size of the frame before.
    frame: (Option<u64>, Bytes),
    last_frame: Bytes,
}

impl Bursts {
    /// The frame size: that of the last complete frame, or what was sent of the current frame if that is already more.
    pub(super) fn frame_size(&self) -> Bytes {
        self.last_frame.max(self.frame.1)
    }

    /// Records a sent packet, under burst length `max` and window `window`; returns the burst before it if the outcome
    /// of all of its packets was already known.
    pub(super) fn on_sent(&mut self, packet: &SentPacket, max: Bytes, window: Option<Bytes>) -> Option<Train> {
        self.measure_frame(packet);
        if packet.id.0 != self.base + self.places.len() as u64 {
            *self = Bursts { base: packet.id.0, frame: self.frame, last_frame: self.last_frame, ..Bursts::default() };
        }
        let continues = self.bursts.back().is_some_and(|burst| burst.continues_with(packet));
        let mut train = None;
        if !continues {
            if let Some(burst) = self.bursts.back_mut() {
                burst.over = true;
                train = burst.judge_if_complete();
            }
            self.bursts.push_back(Burst {
                frame: packet.place.map(|place| place.frame),
                probe: packet.probe,
                first: packet.id.0,
                packets: 0,
                size: Bytes::ZERO,
                max,
                in_flight_before: packet.in_flight.saturating_sub(packet.size),
                first_at: packet.at,
                last_at: packet.at,
                held_up: false,
                over: false,
                reported: 0,
                arrivals: None,
                judged: false,
            });
        }
        if let Some(burst) = self.bursts.back_mut() {
            self.places.push_back(Place { offset: burst.size, state: State::Unknown });
            burst.packets += 1;
            burst.size += packet.size;
            burst.last_at = packet.at;
            burst.held_up = window.is_some_and(|window| packet.in_flight + packet.size > window);
            burst.over = packet.place.is_some_and(|place| place.last);
        }
        while self.bursts.len() > MAX_BURSTS || self.places.len() > MAX_PACKETS && self.bursts.len() > 1 {
            self.drop_oldest();
        }
        train
    }

    fn measure_frame(&mut self, packet: &SentPacket) {
        let Some(place) = packet.place else { return };
        if self.frame.0 != Some(place.frame) {
            if self.frame.0.is_some() {
                self.last_frame = self.frame.1;
            }
            self.frame = (Some(place.frame), Bytes::ZERO);
        }
        self.frame.1 += packet.size;
    }

    fn drop_oldest(&mut self) {
        if let Some(burst) = self.bursts.pop_front() {
            self.places.drain(..burst.packets as usize);
            self.base = burst.first + burst.packets;
        }
    }

    /// Processes the report on a packet; `None` if its burst is not kept here or the report is not new.
    pub(super) fn on_report(&mut self, report: &Report) -> Option<BurstReport> {
        let id = report.packet.id.0;
        let place = self.places.get_mut(usize::try_from(id.checked_sub(self.base)?).ok()?)?;
        let (before, offset) = (place.state, place.offset);
        place.state = match report.fate {
            Fate::Arrived { .. } => State::Arrived,
            Fate::Lost => State::Lost,
        };
        if before == place.state || before == State::Arrived {
            place.state = before;
            return None;
        }
        let index = self.bursts.partition_point(|burst| burst.first <= id).checked_sub(1)?;
        let burst = self.bursts.get_mut(index)?;
        if before == State::Unknown {
            burst.reported += 1;
        }
        if let Some(arrived) = report.arrival()
            && !matches!(report.packet.payload, Payload::Repair | Payload::Audio)
        {
            let end = End { id: report.packet.id, sent: report.packet.at, arrived, size: report.packet.size };
            burst.arrivals = Some(burst.arrivals.map_or(Arrivals::of(end), |arrivals| arrivals.with(end)));
        }
        let first = (id == burst.first).then_some(burst.in_flight_before);
        let (size, of_frame) = (burst.size, burst.frame.is_some());
        let train = burst.judge_if_complete();
        Some(BurstReport { offset, size, first, of_frame, was_lost: before == State::Lost, train })
    }

    /// Gives up an old burst of which some packets arrived and the rest were not reported within `timeout` of its
    /// beginning, and returns its measurement; call until `None`. A burst without any report is kept: it may still be
    /// in flight on a path that became slow.
    pub(super) fn pop_expired(&mut self, now: Time, timeout: Span) -> Option<Train> {
        loop {
            let burst = self.bursts.front_mut()?;
            let done = burst.over && burst.reported == burst.packets;
            let expired = burst.arrivals.is_some() && now - burst.first_at > timeout;
            if !done && !expired {
                return None;
            }
            let train = if burst.judged { None } else { burst.judge() };
            self.drop_oldest();
            if train.is_some() {
                return train;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{place, whole};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const MAX: Bytes = Bytes::new(6144);

    fn packet(id: u64, frame: u64, at: Time, size: u64) -> SentPacket {
        SentPacket { place: Some(place(frame, false, at)), ..SentPacket::new(PacketId(id), at, Bytes::new(size)) }
    }

    #[test]
    fn a_stall_on_the_window_goes_on_with_the_burst_and_a_pause_begins_another() {
        let lengths = |window: u64| {
            let mut bursts = Bursts::default();
            for (id, at_ms) in [(0, 0), (1, 0), (2, 20), (3, 20)] {
                let sent = SentPacket {
                    in_flight: Bytes::new(1000 * (id + 1)),
                    ..packet(id, 0, Time::from_millis(at_ms), 1000)
                };
                bursts.on_sent(&sent, MAX, Some(Bytes::new(window)));
            }
            bursts.bursts.iter().map(|burst| burst.packets).collect::<Vec<u64>>()
        };
        assert_eq!(lengths(2500), [4], "a third packet did not fit");
        assert_eq!(lengths(100_000), [2, 2]);
    }

    #[test]
    fn repair_behind_a_frame_is_told_from_the_bursts_of_frames() {
        let mut bursts = Bursts::default();
        let media = SentPacket { place: Some(whole(0, Time::ZERO)), ..packet(0, 0, Time::ZERO, 1000) };
        let repair = SentPacket { place: None, ..packet(1, 0, Time::ZERO, 1000) };
        let kinds = [media, repair].map(|sent| {
            bursts.on_sent(&sent, MAX, None);
            let report = Report { packet: sent, fate: Fate::Lost };
            bursts.on_report(&report).map(|burst_report| (burst_report.first.is_some(), burst_report.of_frame))
        });
        assert_eq!(kinds, [Some((true, true)), Some((true, false))]);
    }

    proptest! {
        #[test]
        fn bursts_hold_at_most_m_and_measure_the_same_in_whatever_order_they_are_told_of(
            frames in prop::collection::vec(prop::collection::vec((100u64..1500, 0i64..20_000), 1..12), 1..8),
            order in any::<u64>(),
        ) {
            let mut sent = Vec::new();
            for (frame, packets) in (0u64..).zip(&frames) {
                let at = Time::from_millis(frame * 33);
                for (size, delay_us) in packets {
                    let arrival = at + Span::from_millis(30) + Span::from_micros(*delay_us);
                    sent.push((packet(sent.len() as u64, frame, at, *size), arrival));
                }
            }
            let report = |order: u64| {
                let mut bursts = Bursts::default();
                for (packet, _) in &sent {
                    bursts.on_sent(packet, MAX, None);
                }
                let sizes: Vec<(u64, Bytes)> = bursts.bursts.iter().map(|burst| (burst.packets, burst.size)).collect();
                let mut reported = sent.clone();
                // A deterministic shuffle by packet number.
                reported.sort_by_key(|(packet, _)| packet.id.0.wrapping_mul(order | 1).rotate_left(17));
                let mut trains: Vec<(u64, Train)> = Vec::new();
                for (packet, at) in reported {
                    let fate = Fate::arrived(at);
                    let burst_report = bursts.on_report(&Report { packet, fate }).expect("each is reported once");
                    if let Some(train) = burst_report.train {
                        trains.push((bursts.bursts.partition_point(|burst| burst.first <= packet.id.0) as u64, train));
                    }
                }
                trains.sort_by_key(|(burst, _)| *burst);
                (sizes, trains)
            };
            let (sizes, trains) = report(1);
            prop_assert!(sizes.iter().all(|(packets, size)| *size <= MAX || *packets == 1));
            prop_assert_eq!(trains.len(), sizes.len() - 1, "the last burst may go on");
            for ((_, train), (packets, size)) in trains.iter().zip(&sizes) {
                prop_assert_eq!(u64::from(train.packets), *packets);
                prop_assert!(train.bytes < *size && train.send_span == Span::ZERO);
            }
            prop_assert_eq!(report(order).1, trains);
        }
    }
}
