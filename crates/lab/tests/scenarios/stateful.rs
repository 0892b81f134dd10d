//! Losses, and the states of encoder and decoder after them.

use crate::scenarios::by_hand::{Call, Decoded, Ends, Modelled, Real, Seen, truth};
use thalweg_netsim::LossModel;
use thalweg_units::Span;

const FIVE_PERCENT: LossModel = LossModel::Random { probability: 0.05 };
const TWENTY_PERCENT: LossModel = LossModel::Random { probability: 0.2 };
/// Every hundredth packet begins a burst of five, of which four are lost.
const BURSTS: LossModel = LossModel::GilbertElliott { to_bad: 0.01, to_good: 0.2, good_loss: 0.0, bad_loss: 0.8 };

/// A path that loses packets and as many of the receiver's reports. Every frame that the receiver assumes to be exact
/// is exact, no keyframe is needed after one has arrived, complete frames are decoded, and states are kept only for
/// frames in flight.
fn survives(loss: LossModel, min_exact: f64, call: Call, ends: &mut dyn Ends) -> Seen {
    let seen = Call { loss: vec![loss], report_loss: vec![loss], ..call }.play(ends, &mut truth);
    let (frames, exact) = (seen.frames.len(), seen.count(Decoded::Exact));
    println!(
        "{loss:?}: {frames} frames, {exact} exact, {} damaged, {} keyframes, {} recoveries, kept {:?}",
        seen.count(Decoded::Damaged),
        seen.keyframes(),
        seen.recoveries,
        seen.max_kept
    );
    assert_eq!((seen.count(Decoded::Wrong), seen.needless_keyframes()), (0, 0), "{loss:?}");
    assert!(seen.recoveries >= 1 && exact as f64 > min_exact * frames as f64, "{loss:?}: {exact} of {frames}");
    assert!(seen.max_kept.0 <= 32 && seen.max_kept.1 <= 32, "{loss:?}: {:?}", seen.max_kept);
    seen
}

/// The protocol alone takes a fraction of a second: frames have sizes and hashes, but no pixels.
fn ten_minutes(scheme: &'static str, loss: LossModel, min_exact: f64) {
    let call = Call { scheme, duration: Span::from_secs(600), ..Call::default() };
    let mut ends = Modelled::new(call.size, call.seed);
    let seen = survives(loss, min_exact, call, &mut ends);
    assert!(seen.frames.len() > 12_000, "{}", seen.frames.len());
}

#[test]
fn in_ten_minutes_of_five_percent_lost_the_states_of_both_ends_never_disagree() {
    ten_minutes("salsify", FIVE_PERCENT, 0.8);
    ten_minutes("vidaptive+functional", FIVE_PERCENT, 0.8);
}

#[test]
fn nor_do_they_in_ten_minutes_of_twenty_percent_lost() {
    ten_minutes("salsify", TWENTY_PERCENT, 0.4);
    ten_minutes("vidaptive+functional", TWENTY_PERCENT, 0.4);
}

#[test]
fn nor_in_ten_minutes_of_bursts() {
    ten_minutes("salsify", BURSTS, 0.85);
    ten_minutes("vidaptive+functional", BURSTS, 0.85);
}

/// With pixels, all of which are compared.
fn a_minute(loss: LossModel, min_exact: f64) {
    let call = Call::default();
    let mut ends = Real::new(call.size);
    survives(loss, min_exact, call, &mut ends);
}

#[test]
fn in_a_minute_of_five_percent_lost_every_picture_taken_for_exact_is() {
    a_minute(FIVE_PERCENT, 0.8);
}

#[test]
fn so_it_is_in_a_minute_of_twenty_percent_lost() {
    a_minute(TWENTY_PERCENT, 0.4);
}

#[test]
fn and_in_a_minute_of_bursts() {
    a_minute(BURSTS, 0.85);
}
