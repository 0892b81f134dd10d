//! Extended reports (RFC 3611) as FBRA's feedback, from a live receiver to the sender's engine.

use std::collections::BTreeSet;

use thalweg_wire::rtcp::{self, Compound, XrBlock};

use super::*;

/// A world in which `scheme` got extended reports as feedback for 10 s, with a capture of the unprotected packets.
fn with_extended_reports(scheme: &str, loss: f64) -> World {
    played(known(scheme), &path(loss), 10, |receiver| receiver.congestion = vec![CongestionFeedback::Extended])
}

/// The streams whose losses the receiver reported in run lengths, and those whose receipt times it reported.
fn streams_reported(world: &mut World) -> (BTreeSet<u32>, BTreeSet<u32>) {
    let (mut losses, mut times) = (BTreeSet::new(), BTreeSet::new());
    for plain in world.outgoing.take_plain().iter().filter(|plain| !plain.leaves) {
        for packet in Compound::new(&plain.bytes) {
            let rtcp::Packet::Xr(report) = packet.expect("the receiver's RTCP can be read") else { continue };
            for block in &report.blocks {
                match block {
                    XrBlock::Losses(packets) if packets.sequences(false).next().is_some() => {
                        losses.insert(packets.ssrc);
                    }
                    XrBlock::ReceiptTimes(stretch) => {
                        times.insert(stretch.ssrc);
                    }
                    _ => {}
                }
            }
        }
    }
    (losses, times)
}

#[test]
fn fbra_hears_of_losses_and_of_times_of_all_its_streams_in_extended_reports() {
    let mut world = with_extended_reports("fbra:xr", 0.03);
    assert_exact(&world);
    let (lost, sent) = counted(&mut world);
    // 3 % of the packets, subject to chance.
    let share = f64::from(lost) / sent.len() as f64;
    assert!((0.01..0.06).contains(&share), "{lost} of {} lost", sent.len());
    let reports = world.outgoing.figures().reports;
    assert!((45..200).contains(&reports), "{reports} reports in 10 s");
    // Media, its retransmissions, FEC (FBRA's probes), audio.
    let [video, retransmission, fec, audio] = [100, 101, 102, 103];
    let (losses, times) = streams_reported(&mut world);
    assert!(losses.contains(&video), "{losses:?}");
    assert_eq!(times, BTreeSet::from([video, retransmission, fec, audio]));
    assert!(world.incoming.statistics().round_trip.is_some());
    assert!(
        world.shown.len() > 200,
        "{} of {}: {:?}",
        world.shown.len(),
        world.encoded.len(),
        world.incoming.statistics()
    );
}

#[test]
fn what_is_taken_for_lost_is_what_the_queue_dropped_and_nothing_else() {
    for scheme in ["fbra:xr", "gcc", "vidaptive"] {
        let mut world = with_extended_reports(scheme, 0.0);
        assert_exact(&world);
        let (lost, _) = counted(&mut world);
        let statistics = world.incoming.statistics();
        let streams =
            [statistics.video_stream, statistics.retransmission_stream, statistics.fec_stream, statistics.audio_stream];
        let dropped: i64 = streams.iter().map(|stream| stream.lost).sum();
        assert_eq!(i64::from(lost), dropped, "{scheme}: {streams:?}");
        assert_eq!((world.outgoing.figures().malformed, world.incoming.statistics().malformed), (0, 0), "{scheme}");
        assert!(world.shown.len() > 150, "{scheme}: {}", world.shown.len());
    }
}
