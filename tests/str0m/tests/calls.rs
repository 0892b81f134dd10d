//! Thalweg's controllers around the packets of str0m's own connections.

use std::time::Duration;

use str0m_tests::{Control, Error, Path, play};
use thalweg_adapt::Config;
use thalweg_units::Rate;

fn path() -> Path {
    Path { capacity: 3e6, later: 3e6, one_way: Duration::from_millis(20), queue: 1.0, lost_one_in: None }
}

fn ours(scheme: &str) -> Control<'_> {
    Control::Thalweg { scheme, config: Config { max: Rate::from_kbps(5000), ..Config::default() } }
}

#[test]
fn controllers_fill_3_mbps_and_follow_it_down_to_1() -> Result<(), Error> {
    for scheme in ["gcc", "copa", "scream"] {
        let seen = play(Path { later: 1e6, ..path() }, ours(scheme), 60.0)?;
        let [high, low] = [(20.0, 30.0), (45.0, 60.0)].map(|(from, until)| seen.delivered(from, until));
        println!("{scheme}: {high:.0} and {low:.0} bit/s, queue {:.3} s, {} lost", seen.queued(), seen.dropped);
        assert!(high > 0.7 * 3e6 && high <= 3.01e6, "{scheme}: {high}");
        assert!(low > 0.6 * 1e6 && low <= 1.01e6, "{scheme}: {low}");
    }
    Ok(())
}

#[test]
fn where_a_twentieth_is_lost_gcc_keeps_the_path_and_retransmissions_are_counted() -> Result<(), Error> {
    let seen = play(Path { lost_one_in: Some(20), ..path() }, ours("gcc"), 40.0)?;
    let delivered = seen.delivered(20.0, 40.0);
    assert!(delivered > 0.6 * 3e6 && delivered <= 3e6, "{delivered}");
    Ok(())
}

#[test]
fn what_needs_more_than_packets_and_reports_is_refused_by_its_name() {
    let refused = play(path(), ours("vidaptive"), 1.0).unwrap_err().to_string();
    assert!(refused.contains("'vidaptive' needs more than packets and reports"), "{refused}");
}
