//! The history of what was sent, and the accounts that all controllers share.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Bytes, Span, Time};

use super::{Acknowledgement, Cause, Fate, Feedback, Report};
use crate::packet::{PacketId, SentPacket};

/// The least return delay is held to grow by this share of the time, as it seems to when the receiver's clock is slow. A window
/// would forget it all at once, and the jump would look like a queue.
const CLOCK_DRIFT: f64 = 100e-6;

/// When a packet counts as lost, and how long it is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// A packet is lost once one sent this many places after it has arrived (RFC 9002 section 6.1.1).
    pub reorder_packets: u64,
    /// Everything in flight is lost when nothing was heard for the larger of this and `silence_rtts` smoothed round trips
    /// (copa.md section 9, rocc.md section 5).
    pub silence: Span,
    /// See `silence`.
    pub silence_rtts: i64,
    /// How long a lost packet may still turn out to have been late.
    pub remember: Span,
    /// At most this many packets are remembered, so that a receiver that never reports costs bounded memory.
    pub capacity: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            reorder_packets: 3,
            silence: Span::from_secs(2),
            silence_rtts: 4,
            remember: Span::from_secs(10),
            capacity: 1 << 17,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Arrived,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    packet: SentPacket,
    state: State,
}

/// Remembers every packet sent until its fate is known, and keeps bytes in flight, bytes delivered and round-trip times.
#[derive(Debug)]
pub struct History {
    config: Config,
    /// Packets by number: `entries[i]` is number `first + i`.
    entries: VecDeque<Entry>,
    first: u64,
    /// Everything below this number has been looked at for loss.
    judged: u64,
    newest_arrived: Option<u64>,
    in_flight: Bytes,
    delivered: Bytes,
    delivered_at: Option<Time>,
    srtt: Option<Span>,
    min_rtt: Option<Span>,
    /// From arrival by the receiver's clock to news of it by ours: the return path, the hold and the clocks' offset.
    least_return: Option<(Time, Span)>,
    quiet_since: Time,
    unknown: u64,
    reports: Vec<Report>,
}

impl History {
    /// An empty history.
    pub fn new(config: Config) -> History {
        History {
            config,
            entries: VecDeque::new(),
            first: 0,
            judged: 0,
            newest_arrived: None,
            in_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
            delivered_at: None,
            srtt: None,
            min_rtt: None,
            least_return: None,
            quiet_since: Time::ZERO,
            unknown: 0,
            reports: Vec::new(),
        }
    }

    /// Notes a packet as it leaves and fills in its `in_flight`, `delivered` and `delivered_at`. Numbers must follow one
    /// another without gaps.
    pub fn on_sent(&mut self, packet: SentPacket) -> SentPacket {
        if self.entries.is_empty() {
            self.first = packet.id.0;
            self.judged = packet.id.0;
        }
        debug_assert_eq!(packet.id.0, self.first + self.entries.len() as u64, "packet numbers have a gap");
        if self.in_flight == Bytes::ZERO {
            self.quiet_since = packet.at;
        }
        self.in_flight += packet.size;
        let packet = SentPacket {
            in_flight: self.in_flight,
            delivered: self.delivered,
            delivered_at: self.delivered_at.unwrap_or(packet.at),
            ..packet
        };
        self.entries.push_back(Entry { packet, state: State::InFlight });
        self.forget(packet.at);
        packet
    }

    /// Takes in what a report says; `hold` is how long the receiver held the newest packet's report, where known.
    pub fn on_report(&mut self, now: Time, acknowledgements: &[Acknowledgement], hold: Option<Span>) -> Feedback<'_> {
        self.reports.clear();
        self.quiet_since = now;
        let mut newest: Option<(Time, Span, u64)> = None;
        for acknowledgement in acknowledgements {
            let Some(arrival) = acknowledgement.arrival else { continue };
            let Some(entry) = self.entry(acknowledgement.id) else { continue };
            if entry.state == State::Arrived {
                continue;
            }
            let was_lost = entry.state == State::Lost;
            entry.state = State::Arrived;
            let packet = entry.packet;
            if !was_lost {
                self.in_flight -= packet.size;
            }
            self.delivered += packet.size;
            self.delivered_at = Some(now);
            self.newest_arrived = self.newest_arrived.max(Some(packet.id.0));
            if newest.is_none_or(|(_, _, id)| packet.id.0 > id) {
                newest = Some((arrival, arrival - packet.at, packet.id.0));
            }
            let fate = Fate::Arrived { at: arrival, ce: acknowledgement.ce, was_lost };
            self.reports.push(Report { packet, fate });
        }
        let rtt = newest.map(|(_, _, id)| {
            let sent = self.entries[(id - self.first) as usize].packet.at;
            (now - sent - hold.unwrap_or(Span::ZERO)).max(Span::from_nanos(1))
        });
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
            let flight = self.mean_flight(now);
            self.srtt = Some(self.srtt.map_or(flight, |srtt| srtt + (flight - srtt) / 8));
        }
        let newest_delay = newest.map(|(_, delay, _)| delay);
        let path_rtt = if hold.is_some() { rtt } else { newest_delay.and_then(|delay| self.path_rtt(now, delay)) };
        self.judge();
        if !self.reports.is_sorted_by_key(|report| report.packet.id) {
            self.reports.sort_by_key(|report| report.packet.id);
        }
        self.forget(now);
        Feedback { rtt, path_rtt, newest_delay, ..self.feedback(now, Cause::Report) }
    }

    /// Mean time from sending to hearing of it, over the packets of a report.
    fn mean_flight(&self, now: Time) -> Span {
        let flights = self.reports.iter().map(|report| now - report.packet.at);
        (flights.sum::<Span>() / self.reports.len().max(1) as i64).max(Span::from_nanos(1))
    }

    /// Forward delay of the newest packet and the least recent return delay, for reports that do not tell their hold.
    fn path_rtt(&mut self, now: Time, newest_delay: Span) -> Option<Span> {
        let last = self.reports.iter().filter_map(Report::arrival).max()?;
        let fresh = now - last;
        let least = self.least_return.map_or(fresh, |(at, least)| fresh.min(least + (now - at).scale(CLOCK_DRIFT)));
        // Without any delay left, the receiver's clock was set back: what was learnt of it is void.
        let least = if newest_delay + least > Span::ZERO { least } else { fresh };
        self.least_return = Some((now, least));
        Some((newest_delay + least).max(Span::from_nanos(1)))
    }

    /// When [`History::on_timeout`] wants to be called; [`Time::NEVER`] while nothing is in flight.
    pub fn next_timeout(&self) -> Time {
        if self.in_flight == Bytes::ZERO { Time::NEVER } else { self.quiet_since + self.patience() }
    }

    /// Declares everything in flight lost if nothing was heard for too long.
    pub fn on_timeout(&mut self, now: Time) -> Option<Feedback<'_>> {
        if self.next_timeout() > now {
            return None;
        }
        self.reports.clear();
        self.quiet_since = now;
        for entry in self.entries.iter_mut().filter(|entry| entry.state == State::InFlight) {
            entry.state = State::Lost;
            self.reports.push(Report { packet: entry.packet, fate: Fate::Lost });
        }
        self.in_flight = Bytes::ZERO;
        self.judged = self.first + self.entries.len() as u64;
        self.forget(now);
        Some(self.feedback(now, Cause::Silence))
    }

    /// The number of the packet that a 16-bit transport-wide sequence number stands for: the one nearest to the newest sent.
    pub fn resolve(&self, sequence: u16) -> PacketId {
        let next = self.first + self.entries.len() as u64;
        let ahead = sequence.wrapping_sub(next as u16) as i16;
        PacketId(next.saturating_add_signed(i64::from(ahead)))
    }

    /// Bytes sent and neither acknowledged nor declared lost.
    pub fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// Smoothed time from sending a packet to hearing of it (gain 1/8); `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.srtt
    }

    /// How many acknowledgements named packets that were never sent or are forgotten: a confused or lying receiver.
    pub fn unknown_acknowledgements(&self) -> u64 {
        self.unknown
    }

    fn patience(&self) -> Span {
        self.config.silence.max(self.srtt.unwrap_or(Span::ZERO) * self.config.silence_rtts)
    }

    fn entry(&mut self, id: PacketId) -> Option<&mut Entry> {
        let index = id.0.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        let found = index.filter(|index| *index < self.entries.len());
        if found.is_none() {
            self.unknown += 1;
        }
        self.entries.get_mut(found?)
    }

    /// Declares lost what later packets have overtaken.
    fn judge(&mut self) {
        let Some(newest) = self.newest_arrived else { return };
        let until = (newest + 1).saturating_sub(self.config.reorder_packets);
        while self.judged < until {
            let entry = &mut self.entries[(self.judged - self.first) as usize];
            if entry.state == State::InFlight {
                entry.state = State::Lost;
                self.in_flight -= entry.packet.size;
                self.reports.push(Report { packet: entry.packet, fate: Fate::Lost });
            }
            self.judged += 1;
        }
    }

    /// Drops what is settled from the old end.
    fn forget(&mut self, now: Time) {
        while let Some(front) = self.entries.front() {
            let settled = match front.state {
                State::Arrived => true,
                State::Lost => front.packet.at + self.config.remember < now,
                State::InFlight => false,
            };
            // The newest stays, so that numbers keep their meaning.
            let crowded = self.entries.len() > self.config.capacity;
            if self.entries.len() == 1 || !(settled && self.first < self.judged || crowded) {
                break;
            }
            if front.state == State::InFlight {
                self.in_flight -= front.packet.size;
            }
            self.entries.pop_front();
            self.first += 1;
            self.judged = self.judged.max(self.first);
        }
    }

    fn feedback(&self, now: Time, cause: Cause) -> Feedback<'_> {
        Feedback {
            now,
            cause,
            reports: &self.reports,
            rtt: None,
            newest_delay: None,
            path_rtt: None,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            in_flight: self.in_flight,
            delivered: self.delivered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn sent(history: &mut History, id: u64, at_ms: u64) -> SentPacket {
        history.on_sent(SentPacket::new(PacketId(id), Time::from_millis(at_ms), Bytes::new(1000)))
    }

    fn arrived(id: u64, at: Time) -> Acknowledgement {
        Acknowledgement { id: PacketId(id), arrival: Some(at), ce: false }
    }

    #[test]
    fn bytes_in_flight_and_delivered_follow_the_acknowledgements() {
        let mut history = History::new(Config::default());
        sent(&mut history, 0, 0);
        assert_eq!(sent(&mut history, 1, 1).in_flight, Bytes::new(2000));
        let feedback = history.on_report(Time::from_millis(50), &[arrived(0, Time::from_millis(25))], None);
        assert_eq!((feedback.in_flight, feedback.delivered), (Bytes::new(1000), Bytes::new(1000)));
        assert_eq!(feedback.rtt, Some(Span::from_millis(50)));
        let third = sent(&mut history, 2, 60);
        assert_eq!((third.delivered, third.delivered_at), (Bytes::new(1000), Time::from_millis(50)));
    }

    #[test]
    fn a_packet_is_lost_when_the_third_after_it_arrives_and_late_when_it_arrives_after_all() {
        let mut history = History::new(Config::default());
        (0..4).for_each(|id| {
            sent(&mut history, id, id);
        });
        let two = [arrived(1, Time::from_millis(26)), arrived(2, Time::from_millis(27))];
        let feedback = history.on_report(Time::from_millis(52), &two, None);
        assert!(feedback.reports.iter().all(|report| report.fate != Fate::Lost));
        let feedback = history.on_report(Time::from_millis(53), &[arrived(3, Time::from_millis(28))], None);
        assert_eq!(feedback.reports.iter().filter(|report| report.fate == Fate::Lost).count(), 1);
        assert_eq!(feedback.reports[0].packet.id, PacketId(0));
        assert_eq!(feedback.in_flight, Bytes::ZERO);
        let feedback = history.on_report(Time::from_millis(60), &[arrived(0, Time::from_millis(35))], None);
        assert!(matches!(feedback.reports[0].fate, Fate::Arrived { was_lost: true, .. }));
        assert_eq!((feedback.in_flight, feedback.delivered), (Bytes::ZERO, Bytes::new(4000)));
    }

    #[test]
    fn duplicates_and_acknowledgements_of_packets_never_sent_change_nothing() {
        let mut history = History::new(Config::default());
        sent(&mut history, 0, 0);
        sent(&mut history, 1, 0);
        let ack = arrived(0, Time::from_millis(25));
        history.on_report(Time::from_millis(50), &[ack, ack], None);
        let feedback = history.on_report(Time::from_millis(51), &[ack, arrived(900, Time::NEVER)], None);
        assert!(feedback.reports.is_empty() && feedback.rtt.is_none());
        assert_eq!((feedback.delivered, feedback.in_flight), (Bytes::new(1000), Bytes::new(1000)));
        assert!(history.unknown_acknowledgements() >= 1);
    }

    #[test]
    fn silence_declares_everything_lost_and_rearms_with_the_next_packet() {
        let mut history = History::new(Config::default());
        assert_eq!(history.next_timeout(), Time::NEVER);
        sent(&mut history, 0, 100);
        assert_eq!(history.next_timeout(), Time::from_millis(2100));
        assert!(history.on_timeout(Time::from_millis(2099)).is_none());
        let feedback = history.on_timeout(Time::from_millis(2100)).unwrap();
        assert_eq!((feedback.cause, feedback.reports.len()), (Cause::Silence, 1));
        assert_eq!(history.next_timeout(), Time::NEVER);
        sent(&mut history, 1, 3000);
        assert_eq!(history.next_timeout(), Time::from_millis(5000));
    }

    #[test]
    fn a_receiver_that_never_reports_costs_bounded_memory() {
        let mut history = History::new(Config { capacity: 100, ..Config::default() });
        (0..1000).for_each(|id| {
            sent(&mut history, id, id);
        });
        assert!(history.entries.len() <= 101);
        assert!(history.in_flight() <= Bytes::new(101_000));
    }

    #[test]
    fn sixteen_bit_numbers_are_resolved_around_the_newest_packet() {
        let mut history = History::new(Config::default());
        (65_530..65_540).for_each(|id| {
            sent(&mut history, id, 0);
        });
        assert_eq!(history.resolve(65_535), PacketId(65_535));
        assert_eq!(history.resolve(3), PacketId(65_539));
    }

    #[test]
    fn the_wait_for_a_batch_is_no_delay_of_the_path_but_counts_in_srtt() {
        let mut history = History::new(Config::default());
        // 25 ms each way, a clock 100 s ahead; the first report leaves as its packet arrives, the second 40 ms after.
        let clock = |ms: u64| Time::from_millis(ms + 100_000);
        sent(&mut history, 0, 0);
        let feedback = history.on_report(Time::from_millis(50), &[arrived(0, clock(25))], None);
        assert_eq!((feedback.path_rtt, feedback.mean_held()), (Some(Span::from_millis(50)), Some(Span::ZERO)));
        sent(&mut history, 1, 100);
        sent(&mut history, 2, 110);
        let both = [arrived(1, clock(125)), arrived(2, clock(145))];
        let feedback = history.on_report(Time::from_millis(210), &both, None);
        let near = |told: Option<Span>, ms: i64| (told.unwrap() - Span::from_millis(ms)).abs() < Span::from_micros(20);
        assert_eq!(feedback.rtt, Some(Span::from_millis(100)));
        assert!(near(feedback.path_rtt, 60), "{:?}", feedback.path_rtt);
        assert!(near(feedback.rtt_of(&feedback.reports[0]), 50));
        assert!(near(feedback.held(&feedback.reports[0]), 60) && near(feedback.mean_held(), 50));
        // Mean flight of the two is 105 ms, an eighth of the way from 50.
        assert_eq!(feedback.srtt, Some(Span::from_micros(56_875)));
    }

    #[test]
    fn a_receiver_that_acknowledges_before_a_packet_can_have_arrived_leaves_no_round_trip_of_nothing() {
        let mut history = History::new(Config::default());
        sent(&mut history, 0, 100);
        let feedback = history.on_report(Time::from_millis(100), &[arrived(0, Time::from_millis(100))], None);
        assert!(feedback.rtt > Some(Span::ZERO) && feedback.path_rtt > Some(Span::ZERO));
        assert!(feedback.srtt > Some(Span::ZERO));
    }

    #[test]
    fn a_receiver_clock_set_back_is_noticed() {
        let mut history = History::new(Config::default());
        sent(&mut history, 0, 0);
        history.on_report(Time::from_millis(50), &[arrived(0, Time::from_millis(100_025))], None);
        sent(&mut history, 1, 100);
        let feedback = history.on_report(Time::from_millis(150), &[arrived(1, Time::from_millis(125))], None);
        assert_eq!(feedback.path_rtt, Some(Span::from_millis(50)));
    }

    /// The same arrivals told in three ways.
    #[test]
    fn per_packet_batched_and_rfc_8888_reports_tell_the_same_story() {
        let lost = |id: u64| id % 17 == 5;
        let arrival = |id: u64| Time::from_micros(id * 4_000 + 25_000 + (id * 7919) % 300);
        let tell = |batch: Span, tick: Span, knows_hold: bool| {
            let mut history = History::new(Config::default());
            let mut fates = vec![None; 300];
            let mut rtts = Vec::new();
            let mut next = 0;
            for id in 0..300 {
                sent(&mut history, id, id * 4);
                let now = Time::from_millis(id * 4);
                let due = if batch == Span::ZERO {
                    now
                } else {
                    Time::from_nanos(now.as_nanos() / batch.as_nanos() as u64 * batch.as_nanos() as u64)
                };
                // Everything that arrived by `due` is reported 25 ms after `due`; here the report is read as it is made.
                let mut report = Vec::new();
                let mut newest = Time::ZERO;
                while next < id && arrival(next) <= due {
                    let ticks = arrival(next).as_nanos() / tick.as_nanos() as u64 * tick.as_nanos() as u64;
                    if !lost(next) {
                        report.push(arrived(next, Time::from_nanos(ticks)));
                        newest = arrival(next);
                    }
                    next += 1;
                }
                let hold = knows_hold.then_some(now - newest);
                for report in history.on_report(now, &report, hold).reports {
                    fates[report.packet.id.0 as usize] = Some(report.fate == Fate::Lost);
                }
                if !report.is_empty() {
                    rtts.push(history.min_rtt.unwrap());
                }
            }
            (fates, history.delivered, rtts)
        };
        let each = tell(Span::ZERO, Span::from_nanos(1), false);
        let twcc = tell(Span::from_millis(62), Span::from_micros(250), false);
        let ccfb = tell(Span::from_millis(31), Span::from_nanos(976_562), true);
        for id in 0..250 {
            assert_eq!(each.0[id], Some(lost(id as u64)), "packet {id}");
            assert_eq!(each.0[id], twcc.0[id]);
            assert_eq!(each.0[id], ccfb.0[id]);
        }
        let rtt = |told: &(Vec<Option<bool>>, Bytes, Vec<Span>)| *told.2.last().unwrap();
        // The hold time is known in RFC 8888, so its RTT is as good as per packet; TWCC's has the wait for the batch in it.
        assert!((rtt(&ccfb) - rtt(&each)).abs() <= Span::from_millis(5), "{} {}", rtt(&ccfb), rtt(&each));
        assert!(rtt(&twcc) >= rtt(&each) - Span::from_millis(1));
    }
}
