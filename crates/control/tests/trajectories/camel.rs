//! Camel where a slice passes in less than a millisecond: what joined slices measure. Its closed-loop tests are in
//! `control::camel::tests`.

use thalweg_control::camel;
use thalweg_units::{Rate, Span};

use crate::support::*;
use crate::within;

#[test]
fn joined_slices_show_hundreds_of_megabits_as_far_as_the_clock_ticks() {
    for (style, kbps, low, high) in [
        (Style::PerPacket, 100_000, 0.98, 1.02),
        (Style::PerPacket, 200_000, 0.97, 1.02),
        (Style::Twcc, 100_000, 0.95, 1.05),
        // 250 us are a fifth of the time of five slices.
        (Style::Twcc, 200_000, 0.8, 0.97),
        // Ticks of a millisecond are as long as the measured time.
        (Style::Rfc8888, 100_000, 0.8, 0.97),
        (Style::Rfc8888, 200_000, 0.45, 0.7),
    ] {
        let rate = Rate::from_kbps(kbps);
        let source = Source::Encoder { share: 0.6, max: rate.scale(4.0) };
        let plain = Scenario::new(rate, Span::from_millis(50), Span::from_secs(15));
        let record = Scenario { source, style, ..plain }
            .run(Box::new(camel::Camel::new(camel::Config::default()).expect("in range")));
        let reported = (100..150).map(|bin: usize| record.bins[bin].target.as_bps_f64()).sum::<f64>() / 50.0;
        within(
            reported / rate.as_bps_f64(),
            low,
            high,
            &format!("{style:?}, estimate over {rate} with an encoder of 60 %"),
        );
        within(record.worst_queueing(10.0, 15.0).as_millis_f64(), 0.2, 1.5, "worst queueing in ms");
    }
}
