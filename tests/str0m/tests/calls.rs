//! Thalweg's controllers around the packets of str0m's own connections.

use std::time::Duration;

use str0m_tests::{Control, Error, Path, play};
use thalweg_driver::Config;
use thalweg_units::Rate;

fn path() -> Path {
    Path { capacity: 3e6, later: 3e6, one_way: Duration::from_millis(20), queue: 1.0, lost_one_in: None }
}

fn ours(scheme: &str) -> Control<'_> {
    let mut config = Config::default();
    config.max = Rate::from_kbps(5000);
    Control::Thalweg { scheme, config }
}

/// A controller that probes has to grow without: of 3 Mbps `gcc` is on its way in the seconds that are looked at.
#[test]
fn controllers_fill_3_mbps_and_follow_it_down_to_1_with_little_queue() -> Result<(), Error> {
    for (scheme, least, most) in [("gcc", 0.6, 0.9), ("copa", 0.85, 1.0), ("scream", 0.85, 1.0)] {
        let seen = play(Path { later: 1e6, ..path() }, ours(scheme), 60.0)?;
        let [high, low] = [(20.0, 30.0), (45.0, 60.0)].map(|(from, until)| seen.delivered(from, until));
        println!("{scheme}: {high:.0} and {low:.0} bit/s, queue {:.3} s, {} lost", seen.queued(), seen.dropped);
        assert!(high > least * 3e6 && high <= most * 3e6, "{scheme}: {high}");
        assert!(low > 0.75 * 1e6 && low <= 1.01e6, "{scheme}: {low}");
        assert!(seen.queued() > 0.001 && seen.queued() < 0.15, "{scheme}: {} s", seen.queued());
    }
    Ok(())
}

#[test]
fn where_a_twentieth_is_lost_gcc_and_copa_keep_most_of_the_path() -> Result<(), Error> {
    for (scheme, least, most) in [("gcc", 0.6, 0.9), ("copa", 0.85, 1.0)] {
        let seen = play(Path { lost_one_in: Some(20), ..path() }, ours(scheme), 40.0)?;
        let delivered = seen.delivered(20.0, 40.0);
        println!("{scheme}: {delivered:.0} bit/s, {} of {} lost", seen.dropped, seen.arrived.len());
        assert!(delivered > least * 3e6 && delivered <= most * 3e6, "{scheme}: {delivered}");
    }
    Ok(())
}

#[test]
fn what_needs_more_than_packets_and_reports_is_refused_by_its_name() {
    let refused = play(path(), ours("vidaptive"), 1.0).unwrap_err().to_string();
    assert!(refused.contains("'vidaptive' needs more than packets and reports"), "{refused}");
}
