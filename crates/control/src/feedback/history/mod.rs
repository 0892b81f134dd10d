//! The history of sent packets, and the counters that all controllers share.
//!
//! * [`config`](Config): when the history declares losses and probes for feedback;
//! * `packets`: the packets sent and the outcome of each;
//! * `round_trips`: round-trip times, with and without the wait for reports;
//! * `marks`: which packets may still turn out to have been marked;
//! * `loss`: which packets are declared lost, because later ones overtook them or because of a feedback timeout.

mod config;
mod loss;
mod marks;
mod packets;
mod round_trips;

use alloc::vec::Vec;

use thalweg_units::{Bytes, Span, Time};

use super::earlier::Earlier;
use super::timeout::{FeedbackTimeout, Then};
use super::{Acknowledgement, Cause, Fate, Feedback, Report};
use crate::packet::{PacketId, SentPacket};
pub use config::Config;
use loss::Loss;
use marks::Marks;
use packets::Packets;
use round_trips::{Newest, RoundTrips};

/// A wait doubles at most this often: the feedback timeout of 2 s to a minute, the max of RFC 6298 section 2.4.
const MAX_DOUBLINGS: u32 = 5;

/// By how much a wait is longer after this many expirations.
fn doubled(times: u32) -> i64 {
    1 << times.min(MAX_DOUBLINGS)
}

/// State of knowledge about the packets sent so far.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Bytes that have arrived or are lost.
    settled: Bytes,
    delivered: Bytes,
    delivered_at: Option<Time>,
}

/// Remembers every packet sent until its fate is known, and tracks bytes in flight, bytes delivered and round-trip
/// times.
#[derive(Debug, Clone)]
pub struct History {
    config: Config,
    packets: Packets,
    round_trips: RoundTrips,
    loss: Loss,
    marks: Marks,
    timeout: FeedbackTimeout,
    last_sent: Time,
    /// When the wait for arrivals began that now lasts: with the last arrival, or with what was sent into an idle path.
    waiting_since: Time,
    /// When the last probe timeout was; its packets may have to wait for the pacer.
    last_probe: Time,
    /// Probe timeouts since the last arrival.
    probe_timeouts: u32,
    /// True if the feedback timeout has expired since the last arrival.
    timed_out: bool,
    /// Outages and feedback timeouts since the last round-trip sample.
    outages: u32,
    known: Known,
    earlier: Earlier<Known>,
    sent: Bytes,
    /// The packet after the last one that a report named.
    named: Option<u64>,
    reports: Vec<Report>,
}

impl Default for History {
    fn default() -> History {
        History::new(Config::default())
    }
}

impl History {
    /// An empty history.
    pub fn new(config: Config) -> History {
        History {
            timeout: FeedbackTimeout::new(config.feedback_timeout, config.feedback_timeout_rtts, Then::Same),
            config,
            packets: Packets::default(),
            round_trips: RoundTrips::default(),
            loss: Loss::default(),
            marks: Marks::default(),
            last_sent: Time::ZERO,
            waiting_since: Time::ZERO,
            last_probe: Time::ZERO,
            probe_timeouts: 0,
            timed_out: false,
            outages: 0,
            known: Known::default(),
            earlier: Earlier::default(),
            sent: Bytes::ZERO,
            named: None,
            reports: Vec::new(),
        }
    }

    /// Changes when losses are declared and the path is probed, from now on.
    pub fn set_config(&mut self, config: Config) {
        self.timeout.set_wait(config.feedback_timeout, config.feedback_timeout_rtts);
        self.config = config;
    }

    /// Records a packet as it leaves and fills in its `in_flight`, `delivered` and `delivered_at`. Packet numbers must
    /// be consecutive. A packet that left before the last report gets what was known when it left.
    #[inline]
    pub fn on_sent(&mut self, packet: SentPacket) -> SentPacket {
        if self.packets.in_flight() == Bytes::ZERO {
            self.timeout.restart(packet.at);
            if !self.timed_out {
                self.waiting_since = packet.at;
            }
        }
        self.last_sent = packet.at;
        self.sent += packet.size;
        let Known { settled, delivered, delivered_at } = self.earlier.at(packet.at).unwrap_or(self.known);
        let (in_flight, delivered_at) = (self.sent - settled, delivered_at.unwrap_or(packet.at));
        let packet = SentPacket { in_flight, delivered, delivered_at, ..packet };
        self.packets.push(packet);
        self.forget(packet.at);
        packet
    }

    /// Takes a report; `hold` is how long the receiver held the report after its newest packet arrived, if known.
    pub fn on_report(&mut self, now: Time, acknowledgements: &[Acknowledgement], hold: Option<Span>) -> Feedback<'_> {
        self.begin(now);
        let unreported = self.unreported_before(acknowledgements);
        let newest = self.take_arrivals(now, acknowledgements);
        let round_trip = newest.map(|newest| {
            self.end_wait(now);
            self.round_trips.on_report(now, newest, hold, &self.reports)
        });
        if !self.round_trips.is_restarting() {
            self.outages = 0;
        }
        self.loss.judge_overtaken(&mut self.packets, &self.config, &mut self.reports);
        if !self.reports.is_sorted_by_key(|report| report.packet.id) {
            self.reports.sort_by_key(|report| report.packet.id);
        }
        self.forget(now);
        self.timeout.on_reports(now, self.srtt(), self.packets.in_flight() > Bytes::ZERO);
        Feedback {
            rtt: round_trip.map(|(rtt, _)| rtt),
            path_rtt: round_trip.and_then(|(_, path_rtt)| path_rtt),
            newest_delay: newest.map(|newest| newest.delay()),
            unreported,
            ..self.feedback(now, Cause::Report)
        }
    }

    /// Declares these packets lost, because the caller knows it by a rule of its own (a QUIC stack's, whose verdict is
    /// final). Packets whose fate is known, that were never sent or are forgotten are ignored. It is no sign of life of
    /// the receiver: the feedback timeout goes on.
    pub fn declare_lost(&mut self, now: Time, lost: &[PacketId]) -> Feedback<'_> {
        self.begin(now);
        let known = self.packets.first()..self.packets.next();
        for id in lost.iter().filter(|id| known.contains(&id.0)) {
            let lost = self.packets.lose(id.0).map(|packet| Report { packet: *packet, fate: Fate::Lost });
            self.reports.extend(lost);
        }
        self.reports.sort_by_key(|report| report.packet.id);
        self.forget(now);
        self.feedback(now, Cause::Report)
    }

    /// Something arrived. If that took so long that it was an outage, only what is sent from now on gives samples.
    fn end_wait(&mut self, now: Time) {
        let gap = self.round_trips.outage() * doubled(self.outages);
        if self.timed_out || now - self.waiting_since > gap {
            self.round_trips.restart(PacketId(self.packets.next()));
            self.outages += u32::from(!self.timed_out);
        }
        (self.waiting_since, self.timed_out, self.probe_timeouts) = (now, false, 0);
    }

    /// Takes which of the packets sent a report names; returns how many before them are in none.
    fn unreported_before(&mut self, acknowledgements: &[Acknowledgement]) -> u64 {
        let ids = acknowledgements.iter().map(|acknowledgement| acknowledgement.id.0);
        let ids = ids.filter(|id| *id < self.packets.next());
        let Some((first, last)) = ids.clone().min().zip(ids.max()) else { return 0 };
        let before = self.named.map_or(0, |named| first.saturating_sub(named));
        self.named = self.named.max(Some(last + 1));
        if self.config.unreported_are_lost { 0 } else { before }
    }

    /// Reports the new arrivals among these; returns the packet of them that was sent last.
    fn take_arrivals(&mut self, now: Time, acknowledgements: &[Acknowledgement]) -> Option<Newest> {
        let mut newest: Option<Newest> = None;
        for acknowledgement in acknowledgements {
            let Some(arrival) = acknowledgement.arrival else {
                self.packets.miss(acknowledgement.id);
                continue;
            };
            self.marks.on_acknowledgement(acknowledgement.id, acknowledgement.ecn);
            let Some((packet, was_lost)) = self.packets.arrive(acknowledgement.id) else { continue };
            self.marks.on_arrival(acknowledgement.id, acknowledgement.ecn);
            self.known.delivered += packet.size;
            self.known.delivered_at = Some(now);
            self.loss.on_arrival(packet.id);
            if newest.is_none_or(|newest| packet.id > newest.id) {
                newest = Some(Newest { id: packet.id, sent: packet.at, arrival });
            }
            let fate = Fate::Arrived { at: arrival, ecn: acknowledgement.ecn, was_lost };
            self.reports.push(Report { packet: *packet, fate });
        }
        newest
    }

    /// When to call [`History::on_timeout`]; [`Time::NEVER`] while nothing is in flight. The wait doubles with each
    /// outage until a round trip is known again: on a path whose round trip has become longer than the timeout, every
    /// packet would otherwise be declared lost before its feedback arrives (RFC 6298 section 5.5).
    pub fn next_timeout(&self) -> Time {
        if self.packets.in_flight() == Bytes::ZERO {
            return Time::NEVER;
        }
        self.timeout.deadline() + self.timeout.wait() * (doubled(self.outages) - 1)
    }

    /// When to call [`History::on_probe_timeout`]: a probe timeout after the last packet, twice as long after each
    /// further one (RFC 9002 section 6.2.1) up to [`Config::max_probe_interval`]; [`Time::NEVER`] while nothing is in
    /// flight.
    pub fn next_probe(&self) -> Time {
        if self.packets.in_flight() == Bytes::ZERO || self.config.probe_packets == 0 {
            return Time::NEVER;
        }
        let base = self.round_trips.probe_timeout();
        let since = self.last_sent.max(self.last_probe);
        since + (base * doubled(self.probe_timeouts)).min(self.config.max_probe_interval.max(base * 2))
    }

    /// Returns how many packets are to leave in spite of the window because no feedback came for so long, and counts
    /// the timeout. Nothing is declared lost: what the probes bring back decides.
    pub fn on_probe_timeout(&mut self, now: Time) -> u32 {
        if self.next_probe() > now {
            return 0;
        }
        self.probe_timeouts += 1;
        self.last_probe = now;
        self.config.probe_packets
    }

    /// Declares everything in flight lost if no feedback has arrived for too long. It is an outage: the round trips of
    /// what was sent before its end do not count.
    pub fn on_timeout(&mut self, now: Time) -> Option<Feedback<'_>> {
        if self.next_timeout() > now {
            return None;
        }
        self.begin(now);
        self.timeout.stop();
        (self.timed_out, self.outages) = (true, self.outages + 1);
        self.loss.judge_all(&mut self.packets, &mut self.reports);
        self.forget(now);
        Some(self.feedback(now, Cause::FeedbackTimeout))
    }

    /// The packet number that a 16-bit transport-wide sequence number stands for: the one nearest to the newest sent.
    pub fn resolve(&self, sequence: u16) -> PacketId {
        let next = self.packets.next();
        let ahead = sequence.wrapping_sub(next as u16) as i16;
        PacketId(next.saturating_add_signed(i64::from(ahead)))
    }

    /// The oldest packet remembered: what is said of earlier ones is ignored.
    pub fn oldest(&self) -> PacketId {
        PacketId(self.packets.first())
    }

    /// How much longer than the fastest ones recent reports took on the reverse path: its queue, decaying by a sixteenth
    /// with each report.
    pub fn reverse_queueing(&self) -> Span {
        self.round_trips.reverse_queueing()
    }

    /// Bytes sent and neither acknowledged nor declared lost.
    pub fn in_flight(&self) -> Bytes {
        self.packets.in_flight()
    }

    /// Smoothed time from sending a packet to receiving feedback on it (gain 1/8); `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.round_trips.srtt()
    }

    /// The round-trip time of the newest reported packet without the wait for its report ([`Feedback::path_rtt`]);
    /// `None` before the first sample.
    pub fn path_rtt(&self) -> Option<Span> {
        self.round_trips.path()
    }

    /// Fates become known.
    fn begin(&mut self, now: Time) {
        self.reports.clear();
        self.marks.begin();
        self.earlier.on_report(now, self.known);
    }

    fn forget(&mut self, now: Time) {
        self.packets.forget(now, self.loss.judged(), &self.config);
        self.known.settled = self.sent - self.packets.in_flight();
    }

    fn feedback(&self, now: Time, cause: Cause) -> Feedback<'_> {
        Feedback {
            srtt: self.round_trips.srtt(),
            min_rtt: self.round_trips.min(),
            late_marks: self.marks.late(),
            in_flight: self.packets.in_flight(),
            delivered: self.known.delivered,
            first: self.round_trips.first(),
            ..Feedback::new(now, cause, &self.reports)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use thalweg_units::Ecn;

    pub(super) fn sent(history: &mut History, id: u64, at_ms: u64) -> SentPacket {
        history.on_sent(SentPacket::new(PacketId(id), Time::from_millis(at_ms), Bytes::new(1000)))
    }

    pub(super) fn arrived(id: u64, at: Time) -> Acknowledgement {
        Acknowledgement::new(PacketId(id), Some(at))
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
    fn a_departure_reported_late_was_made_with_what_was_known_then() {
        let (mut history, ms) = (History::default(), Time::from_millis);
        (0..4).for_each(|id| {
            sent(&mut history, id, 10 * id);
        });
        for (id, now) in [(0, 50), (1, 60)] {
            history.on_report(ms(now), &[arrived(id, ms(now - 25))], None);
        }
        // Number 4 left at 45 ms, when nothing was reported yet: five packets of 1000 bytes were in flight.
        let sent = [(4, 45), (5, 50), (6, 55), (7, 60)].map(|(id, at)| {
            let packet = sent(&mut history, id, at);
            (packet.in_flight.get(), packet.delivered.get(), packet.delivered_at)
        });
        assert_eq!(sent, [(5000, 0, ms(45)), (5000, 1000, ms(50)), (6000, 1000, ms(50)), (6000, 2000, ms(60))]);
        assert_eq!(history.in_flight(), Bytes::new(6000));
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
    }

    #[test]
    fn a_packet_that_is_reported_again_with_a_mark_is_a_mark_once_and_no_arrival() {
        let mut history = History::new(Config::default());
        (0..4).for_each(|id| {
            sent(&mut history, id, id);
        });
        let with = |id, ecn| Acknowledgement { ecn, ..arrived(id, Time::from_millis(25)) };
        let first = [with(0, Ecn::Ect1), with(1, Ecn::Ce), with(2, Ecn::NotCapable)];
        let feedback = history.on_report(Time::from_millis(50), &first, None);
        assert_eq!((feedback.reports.len(), feedback.late_marks, feedback.marks()), (3, 0, 1));
        // A mark of a packet whose first report said nothing of ECN is no news of a queue, and one again is none either.
        let again = [with(0, Ecn::Ce), with(1, Ecn::Ce), with(2, Ecn::Ce), with(3, Ecn::Ce)];
        let feedback = history.on_report(Time::from_millis(60), &again, None);
        assert_eq!((feedback.reports.len(), feedback.late_marks, feedback.marks()), (1, 1, 2));
        assert_eq!(feedback.delivered, Bytes::new(4000));
        assert_eq!(history.on_report(Time::from_millis(70), &again, None).marks(), 0);
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

    /// The same arrivals, reported in three formats.
    #[test]
    fn per_packet_batched_and_rfc_8888_reports_tell_the_same_story() {
        let lost = |id: u64| id % 17 == 5;
        let arrival = |id: u64| Time::from_micros(id * 4_000 + 25_000 + (id * 7919) % 300);
        let report = |batch: Span, tick: Span, knows_hold: bool| {
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
                // All arrivals up to `due` are reported 25 ms after `due`; here the report is evaluated at `due`.
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
                    rtts.push(history.round_trips.min().unwrap());
                }
            }
            (fates, history.known.delivered, rtts)
        };
        let each = report(Span::ZERO, Span::from_nanos(1), false);
        let twcc = report(Span::from_millis(62), Span::from_micros(250), false);
        let ccfb = report(Span::from_millis(31), Span::from_nanos(976_562), true);
        for id in 0..250 {
            assert_eq!(each.0[id], Some(lost(id as u64)), "packet {id}");
            assert_eq!(each.0[id], twcc.0[id]);
            assert_eq!(each.0[id], ccfb.0[id]);
        }
        let rtt = |reported: &(Vec<Option<bool>>, Bytes, Vec<Span>)| *reported.2.last().unwrap();
        // RFC 8888 states the hold time, so its RTT is as good as with per-packet feedback; TWCC's RTT includes the
        // wait for the batch.
        assert!((rtt(&ccfb) - rtt(&each)).abs() <= Span::from_millis(5), "{} {}", rtt(&ccfb), rtt(&each));
        assert!(rtt(&twcc) >= rtt(&each) - Span::from_millis(1));
    }
}
