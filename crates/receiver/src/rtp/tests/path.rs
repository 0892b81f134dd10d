use super::*;
use thalweg_control::PathReport;
use thalweg_control::estimate::{MeasurementConfig, Short};
use thalweg_units::{Ecn, Span};
use thalweg_wire::rtp::BytesBefore;

/// Overhead per RTP packet in these tests.
const AROUND: u64 = 20 + 8 + 16;
/// The negotiated id of [`BytesBefore`].
const BEFORE: u8 = 7;

fn measuring() -> Config {
    let mut config = with_video(|video| {
        video.extensions.bytes_before = Some(BEFORE);
        video.feedback = Feedback { path: true, ..Feedback::default() };
    });
    config.audio.iter_mut().for_each(|audio| audio.extensions.bytes_before = Some(BEFORE));
    config.measures = Some(MeasurementConfig { short: Short::LeftOut, ..MeasurementConfig::default() });
    config
}

/// Sends packets that carry the bytes sent before them.
struct Counting {
    sender: Sender,
    total: u64,
}

impl Counting {
    fn new() -> Counting {
        Counting { sender: Sender::new(), total: 0 }
    }

    /// Builds the sender's packet with the bytes sent before it.
    fn say(&mut self, packet: impl FnOnce(&mut Sender, &[Extension<'_>]) -> Vec<u8>) -> Vec<u8> {
        let before = BytesBefore::of(Bytes::new(self.total)).to_bytes();
        let packet = packet(&mut self.sender, &[Extension { id: BEFORE, data: &before }]);
        self.total += packet.len() as u64 + AROUND;
        packet
    }

    /// A packet of a VP8 frame whose content is never decoded.
    fn media(&mut self, timestamp: u32, marker: bool, length: usize) -> Vec<u8> {
        self.say(|sender, more| {
            let header = sender.header(marker, timestamp);
            let payload: Vec<u8> = std::iter::once(0x10).chain(vec![0; length]).collect();
            sender.packet(header, &payload, 0, more)
        })
    }
}

fn reports(outputs: &[Output]) -> Vec<rtcp::PathReport> {
    let of = |packet| if let Rtcp::PathReport(report) = packet { Some(report) } else { None };
    rtcp(outputs).into_iter().filter_map(of).collect()
}

/// The reports produced by this time without further packets.
fn later(reception: &mut Reception, millis: u64) -> Vec<rtcp::PathReport> {
    reception.on_timeout(at(millis));
    reports(&drain(reception))
}

#[test]
fn frames_are_trains_and_their_spacing_is_told_every_tenth_of_a_second_as_long_as_anything_comes() {
    let (mut reception, mut sender) = (Reception::new(measuring()).unwrap(), Counting::new());
    let (mut reported, mut size) = (Vec::new(), 0);
    for frame in 0..10u64 {
        // The second of its packets arrives 20 ms after the first.
        for (place, marker) in [(0, false), (1, true)] {
            let packet = sender.media(3000 * frame as u32, marker, 900);
            size = packet.len() as u64 + AROUND;
            reception.on_rtp(at(40 * frame + 20 * place), Ecn::NotCapable, &packet);
            reported
                .extend(reports(&drain(&mut reception)).into_iter().map(|report| (40 * frame + 20 * place, report)));
        }
    }
    let times: Vec<u64> = reported.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 100, 200, 300]);
    let rate = Bytes::new(size).per(Span::from_millis(20));
    let expected = |capacity, packets| rtcp::PathReport {
        sender_ssrc: OURS,
        media_ssrc: MEDIA_SSRC,
        capacity,
        received: Bytes::new(packets * size),
        lost: Bytes::ZERO,
    };
    assert_eq!(reported[0].1, expected(None, 1));
    assert_eq!(reported[1].1, expected(Some(rate), 6));
    assert_eq!(later(&mut reception, 400), [expected(Some(rate), 20)]);
    let path = reception.statistics().path;
    assert_eq!(path, Some(PathReport { capacity: Some(rate), received: Bytes::new(20 * size), lost: Bytes::ZERO }));
    assert_eq!(later(&mut reception, 5_000), []);
}

#[test]
fn what_is_lost_is_told_by_the_next_packet_of_any_stream_and_copies_are_no_news() {
    let (mut reception, mut sender) = (Reception::new(measuring()).unwrap(), Counting::new());
    let frame: Vec<Vec<u8>> = (0..4).map(|place| sender.media(0, place == 3, 500)).collect();
    let size = frame[0].len() as u64 + AROUND;
    for packet in [&frame[0], &frame[0], &frame[1]] {
        reception.on_rtp(at(1), Ecn::NotCapable, packet);
    }
    assert_eq!(reports(&drain(&mut reception))[0].received, Bytes::new(size));
    // The third and fourth are lost, which is not known yet.
    let counts = |reports: Vec<rtcp::PathReport>| {
        reports.iter().map(|report| (report.received.get(), report.lost.get())).collect::<Vec<_>>()
    };
    assert_eq!(counts(later(&mut reception, 101)), [(2 * size, 0)]);
    let audio = sender.say(|sender, more| {
        let header = Header { marker: false, payload_type: AUDIO, sequence: 1, timestamp: 0, ssrc: AUDIO_SSRC };
        sender.packet(header, &[0xfc, 0xff, 0xfe], 0, more)
    });
    let of_audio = audio.len() as u64 + AROUND;
    reception.on_rtp(at(150), Ecn::NotCapable, &audio);
    assert_eq!(counts(later(&mut reception, 201)), [(2 * size + of_audio, 2 * size)]);
    // One of them was reordered, which the next packet corrects.
    reception.on_rtp(at(210), Ecn::NotCapable, &frame[2]);
    reception.on_rtp(at(211), Ecn::NotCapable, &sender.media(3000, true, 500));
    assert_eq!(counts(later(&mut reception, 301)), [(4 * size + of_audio, size)]);
}

#[test]
fn retransmissions_and_padding_count_and_measure_nothing() {
    let (mut reception, mut sender) = (Reception::new(measuring()).unwrap(), Counting::new());
    let mut sizes = 0;
    for place in 0..20u64 {
        let packet = sender.say(|sender, more| {
            let header = if place % 2 == 0 { sender.rtx_header(false, 0) } else { sender.header(false, 0) };
            sender.packet(header, &[], 200, more)
        });
        sizes += packet.len() as u64 + AROUND;
        reception.on_rtp(at(20 * place), Ecn::NotCapable, &packet);
    }
    let last = *reports(&drain(&mut reception)).last().expect("four came due");
    assert_eq!((last.capacity, last.lost), (None, Bytes::ZERO));
    assert_eq!(later(&mut reception, 401).last().map(|report| report.received), Some(Bytes::new(sizes)));
}

#[test]
fn nothing_is_measured_that_was_not_agreed_on_nor_said() {
    let unsaid = || {
        let mut sender = Sender::new();
        (0..2).flat_map(|_| sender.frame(0, &picture(true, 1, 200))).collect::<Vec<_>>()
    };
    let mut reception = Reception::new(measuring()).unwrap();
    assert_eq!(reports(&give(&mut reception, 1, &unsaid())), []);
    for change in [
        (|config| config.measures = None) as fn(&mut Config),
        |config| config.video.iter_mut().for_each(|video| video.feedback.path = false),
        |config| config.video.iter_mut().for_each(|video| video.extensions.bytes_before = None),
    ] {
        let mut config = measuring();
        change(&mut config);
        let mut reception = Reception::new(config).unwrap();
        let packet = Counting::new().media(0, true, 100);
        assert_eq!(reports(&give(&mut reception, 1, [&packet])), []);
        assert_eq!(later(&mut reception, 1000), []);
        assert_eq!(reception.statistics().path, None);
    }
    let wrong = MeasurementConfig { interval: Span::ZERO, ..MeasurementConfig::default() };
    let config = Config { measures: Some(wrong), ..measuring() };
    assert!(Reception::new(config).unwrap_err().to_string().contains("rebera.interval"));
}

#[test]
fn whatever_a_sender_says_of_what_it_sent_a_report_can_be_written() {
    let mut reception = Reception::new(measuring()).unwrap();
    let mut sender = Sender::new();
    let mut reported = 0;
    for place in 0..3_000u32 {
        let before = place.wrapping_mul(0x9e37_79b9).to_be_bytes();
        let header = sender.header(place % 3 == 0, place.wrapping_mul(0x7fff_1234));
        let packet = sender.packet(header, &[0x10, 0], 0, &[Extension { id: BEFORE, data: &before }]);
        // Each report is parsed from its bytes.
        reported += reports(&give(&mut reception, u64::from(place), [&packet])).len();
    }
    assert_eq!(reported, 30);
}
