use alloc::string::ToString;

use super::*;
use crate::testing::Flow;

const KBPS: fn(u64) -> Rate = Rate::from_kbps;

fn openpilot() -> Openpilot {
    Openpilot::new(Config::default()).unwrap()
}

/// The rate after so many reports with this share of losses.
fn after(openpilot: &mut Openpilot, reports: u32, loss: f64) -> Rate {
    for _ in 0..reports {
        openpilot.on_report(Time::ZERO, loss);
    }
    openpilot.limits().capacity
}

#[test]
fn a_tenth_of_losses_lowers_the_rate_at_once_and_a_twentieth_with_the_fifth_report() {
    let mut openpilot = openpilot();
    assert_eq!(openpilot.limits().capacity, KBPS(5000));
    assert_eq!(after(&mut openpilot, 4, 0.06), KBPS(5000));
    assert_eq!(after(&mut openpilot, 1, 0.06), KBPS(1500));
    // A receiver report rounds down to a 256th: 0.1 is 25 of them, which is less than a tenth.
    assert_eq!(after(&mut openpilot, 1, 0.1), KBPS(1500));
    assert_eq!(after(&mut openpilot, 1, 0.11), KBPS(500));
    assert_eq!(after(&mut openpilot, 9, 1.0), KBPS(500));
}

#[test]
fn each_step_down_doubles_the_reports_that_the_next_step_up_takes() {
    let mut openpilot = openpilot();
    after(&mut openpilot, 1, 0.5);
    assert_eq!(after(&mut openpilot, 9, 0.0), KBPS(1500));
    assert_eq!(after(&mut openpilot, 1, 0.0), KBPS(5000));
    after(&mut openpilot, 1, 0.5);
    assert_eq!(after(&mut openpilot, 19, 0.0), KBPS(1500));
    assert_eq!(after(&mut openpilot, 1, 0.0), KBPS(5000));
}

#[test]
fn between_no_loss_and_a_twentieth_nothing_is_counted_and_what_was_counted_stays() {
    let mut openpilot = openpilot();
    after(&mut openpilot, 1, 0.5);
    after(&mut openpilot, 9, 0.0);
    assert_eq!(after(&mut openpilot, 100, 0.03), KBPS(1500));
    // The count of reports without loss is the same as that of reports with some: nine are taken back first.
    assert_eq!(after(&mut openpilot, 13, 0.06), KBPS(1500));
    assert_eq!(after(&mut openpilot, 1, 0.06), KBPS(500));
}

#[test]
fn a_second_of_reports_is_one_report_and_the_application_bounds_the_rate() {
    let mut flow = Flow::new(openpilot());
    // A packet every 100 ms, each tenth lost, reported 50 ms after it left.
    for number in 0..45 {
        let at = Time::from_millis(100 * number);
        flow.send(at, 1200, |_| {});
        if number % 10 != 4 {
            flow.report(at + Span::from_millis(50), &[(number, at + Span::from_millis(25))]);
        }
    }
    // At 1.05, 2.05, 3.05 and 4.05 s: a loss of ten or eleven packets each, 23 or 25 parts of 256.
    assert_eq!(flow.counter, 4);
    flow.on_demand(Time::from_secs_f64(5.0), Demand { min: KBPS(100), max: KBPS(2000) });
    assert_eq!(flow.limits().capacity, KBPS(2000));
}

#[test]
fn a_parameter_out_of_range_is_named() {
    let problem = |config: Config| Openpilot::new(config).err().unwrap().to_string();
    assert!(problem(Config { medium: KBPS(6000), ..Config::default() }).contains("0 < low <= medium <= high"));
    assert!(problem(Config { some_loss: 0.2, ..Config::default() }).contains("0 < some_loss <= much_loss <= 1"));
    assert!(problem(Config { backoff: 0, ..Config::default() }).starts_with("openpilot.backoff is 0"));
}
