//! Standard-decoder mode: libvpx, which has no states, decodes what a standard receiver delivers, in order, to exactly
//! the pictures that our encoder made, and no keyframe is sent after one has arrived.
#![cfg(feature = "libvpx")]

use crate::scenarios::by_hand::{Call, Decoded, Real, Seen, truth};
use thalweg_codecs::libvpx::Vp8Decoder;
use thalweg_netsim::LossModel;
use thalweg_units::{Size, Span, Time};

fn into_libvpx(loss: Vec<LossModel>, report_loss: Vec<LossModel>) -> Seen {
    let size = Size::new(320, 180);
    let call = Call {
        scheme: "salsify:standard-decoder",
        size,
        duration: Span::from_secs(30),
        loss,
        report_loss,
        ..Call::default()
    };
    let seen = call.play(&mut Real::with(size, Box::new(Vp8Decoder::new().unwrap())), &mut truth);
    let exact = seen.count(Decoded::Exact);
    println!(
        "{} frames, {exact} decoded, {} keyframes, {} recoveries",
        seen.frames.len(),
        seen.keyframes(),
        seen.recoveries
    );
    assert_eq!((exact, seen.needless_keyframes()), (seen.decoded.len(), 0), "all that is decoded is exact");
    assert!(seen.decoded.is_sorted_by_key(|decoded| decoded.1));
    seen
}

const FIVE_PERCENT: LossModel = LossModel::Random { probability: 0.05 };

#[test]
fn with_five_percent_lost_libvpx_shows_what_the_encoder_made() {
    let seen = into_libvpx(vec![FIVE_PERCENT], Vec::new());
    assert!(seen.recoveries >= 1 && seen.decoded.len() > 600, "{}", seen.decoded.len());
}

#[test]
fn with_reports_lost_too_libvpx_shows_what_the_encoder_made() {
    let seen = into_libvpx(vec![FIVE_PERCENT], vec![LossModel::Random { probability: 0.2 }]);
    assert!(seen.recoveries >= 1 && seen.decoded.len() > 600, "{}", seen.decoded.len());
}

#[test]
fn after_a_second_of_nothing_libvpx_shows_what_the_encoder_made() {
    let (from, until) = (Span::from_secs(10), Span::from_secs(11));
    let seen = into_libvpx(vec![LossModel::Outage { from, until }], Vec::new());
    let back = seen.next_exact(Time::ZERO + until);
    println!("back after {back}");
    assert_eq!(seen.keyframes(), 1);
    assert!(seen.recoveries >= 1 && back <= Span::from_millis(250), "{back}");
    assert!(seen.decoded.len() > 800, "{}", seen.decoded.len());
}
