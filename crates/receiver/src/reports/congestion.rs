//! RFC 8888 feedback: which packets of each RTP stream arrived, and how long ago (libwebrtc
//! `modules/remote_bitrate_estimator/congestion_control_feedback_generator.cc`).

use std::collections::BTreeMap;

use thalweg_units::{Ecn, Span, Time};
use thalweg_wire::rtcp::Packet;
use thalweg_wire::rtcp::ccfb;

use super::arrivals::{Arrivals, Memory};

/// Chromium's interval for RFC 8888 feedback (specs/measured.md 1).
pub(crate) const INTERVAL: Span = Span::from_millis(31);
/// Number of arrivals remembered for it (libwebrtc `congestion_control_feedback_tracker.cc`,
/// `kMaxPacketsToKeepForReorderCalculation`).
const MEMORY: Memory = Memory::Newest(64);

/// Arrivals by stream, and the messages that report them.
#[derive(Debug)]
pub(crate) struct Congestion {
    streams: BTreeMap<u32, Stream>,
    builder: ccfb::Builder,
}

/// Arrivals of one stream.
#[derive(Debug)]
struct Stream {
    arrivals: Arrivals,
    /// The ECN fields of those that arrived with one that is not 0.
    fields: BTreeMap<u64, Ecn>,
}

impl Stream {
    fn new() -> Stream {
        Stream { arrivals: Arrivals::new(MEMORY), fields: BTreeMap::new() }
    }

    /// Records a packet; of copies the first one's time counts, and the mark of any (RFC 8888 section 3.1): a mark that
    /// comes with a later copy is reported again.
    fn on_packet(&mut self, (here, ecn): (Time, Ecn), sequence: u64) -> bool {
        let is_new = self.arrivals.on_packet(here, sequence);
        let is_marked = self.fields.get(&sequence) == Some(&Ecn::Ce);
        let is_news = ecn == Ecn::Ce && !is_marked && (is_new || self.arrivals.report_again(sequence));
        if is_news || is_new && ecn.is_capable() {
            self.fields.insert(sequence, ecn);
        }
        is_new || is_news
    }

    fn take(&mut self, ssrc: u32) -> impl Iterator<Item = ccfb::Received> {
        let taken = self.arrivals.take();
        let field = |sequence: &u64| self.fields.get(sequence).copied().unwrap_or_default();
        let received: Vec<ccfb::Received> = taken
            .into_iter()
            .map(|(sequence, at)| ccfb::Received { ssrc, sequence, arrival: at.map(|at| (at, field(&sequence))) })
            .collect();
        self.fields = self.fields.split_off(&self.arrivals.first());
        received.into_iter()
    }
}

impl Congestion {
    /// Creates feedback sent by `sender_ssrc`.
    pub(crate) fn new(sender_ssrc: u32) -> Congestion {
        let Ok(builder) = (ccfb::Config { sender_ssrc, ..ccfb::Config::default() }).build() else {
            unreachable!("the default limits can be built")
        };
        Congestion { streams: BTreeMap::new(), builder }
    }

    /// Packet `sequence`, unwrapped, of stream `ssrc` arrived with this ECN field; returns whether there is something to
    /// report. The caller must limit the number of streams.
    pub(crate) fn on_packet(&mut self, arrival: (Time, Ecn), ssrc: u32, sequence: u64) -> bool {
        self.streams.entry(ssrc).or_insert_with(Stream::new).on_packet(arrival, sequence)
    }

    /// Removes stream `ssrc`.
    pub(crate) fn forget(&mut self, ssrc: u32) {
        self.streams.remove(&ssrc);
    }

    /// Messages with everything not yet reported, which they mark as reported.
    pub(crate) fn messages(&mut self, here: Time) -> Vec<Packet> {
        let packets: Vec<_> = self.streams.iter_mut().flat_map(|(ssrc, stream)| stream.take(*ssrc)).collect();
        let messages = self.builder.messages(here, &packets).unwrap_or_default();
        messages.into_iter().map(Packet::CongestionFeedback).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ECN fields of the next report, from its first packet on; `None` for what did not arrive.
    fn reported(congestion: &mut Congestion) -> Vec<Option<Ecn>> {
        let messages = congestion.messages(Time::from_millis(50));
        let [Packet::CongestionFeedback(feedback)] = &messages[..] else { return Vec::new() };
        let field = |status: &ccfb::Status| match status {
            ccfb::Status::Arrived { ecn, .. } => Some(*ecn),
            ccfb::Status::Missing => None,
        };
        feedback.streams[0].statuses.iter().map(field).collect()
    }

    #[test]
    fn reports_carry_the_field_of_each_packet() {
        let mut congestion = Congestion::new(1);
        for (sequence, ecn) in [(10, Ecn::Ect1), (11, Ecn::Ce), (13, Ecn::NotCapable), (14, Ecn::Ect0)] {
            assert!(congestion.on_packet((Time::from_millis(40), ecn), 7, sequence));
        }
        let expected = [Some(Ecn::Ect1), Some(Ecn::Ce), None, Some(Ecn::NotCapable), Some(Ecn::Ect0)];
        assert_eq!(reported(&mut congestion), expected);
    }

    #[test]
    fn the_mark_of_a_copy_counts_and_is_reported_again_once() {
        let mut congestion = Congestion::new(1);
        let copy = |congestion: &mut Congestion, ecn| congestion.on_packet((Time::from_millis(40), ecn), 7, 10);
        assert!(
            copy(&mut congestion, Ecn::Ect1) && copy(&mut congestion, Ecn::Ce) && !copy(&mut congestion, Ecn::Ect1)
        );
        assert_eq!(reported(&mut congestion), [Some(Ecn::Ce)]);
        assert!(!copy(&mut congestion, Ecn::Ce) && reported(&mut congestion).is_empty());
        congestion.on_packet((Time::from_millis(41), Ecn::Ect1), 7, 11);
        assert_eq!(reported(&mut congestion), [Some(Ecn::Ect1)]);
        assert!(congestion.on_packet((Time::from_millis(42), Ecn::Ce), 7, 11));
        assert_eq!(reported(&mut congestion), [Some(Ecn::Ce)]);
    }

    #[test]
    fn fields_are_forgotten_with_their_packets() {
        let mut congestion = Congestion::new(1);
        for sequence in 0..1000 {
            congestion.on_packet((Time::from_millis(40), Ecn::Ce), 7, sequence);
        }
        reported(&mut congestion);
        let Memory::Newest(most) = MEMORY else { panic!("memory is a count") };
        assert!(congestion.streams[&7].fields.len() <= most);
    }
}
