//! Thalweg's controllers in webrtc-rs's own connections.

use std::time::Duration;

use webrtc_rs::{Control, Error, Path, Seen, play, receiver};

fn path() -> Path {
    Path { capacity: 3e6, one_way: Duration::from_millis(20), queue: 1.0, lost_one_in: None }
}

fn played(control: &str, path: Path) -> Result<Seen, Error> {
    let seen = play(path, control.parse::<Control>()?.sender()?, receiver()?, 30.0)?;
    let [early, late] = [(3.0, 30.0), (21.0, 30.0)].map(|(from, until)| seen.delivered(from, until) / 1e6);
    let lost = path.lost_one_in.map_or(String::new(), |one_in| format!(", 1 in {one_in} lost"));
    let reached = seen.reached(2.7e6);
    println!("{control}{lost}: 2.7 Mbps after {reached:?} s, delivered {early:.2} and {late:.2} Mbps");
    Ok(seen)
}

#[test]
fn gcc_finds_3_mbps_in_a_connection_within_two_seconds() -> Result<(), Error> {
    let theirs = played("theirs", path())?;
    let [estimator, interceptor] = [played("estimator:gcc", path())?, played("register:gcc", path())?];
    assert!(theirs.reached(2.7e6).is_none_or(|at| at > 20.0));
    assert!(interceptor.reached(2.7e6).is_some_and(|at| at > 0.1 && at < 2.0));
    for seen in [&estimator, &interceptor] {
        let delivered = seen.delivered(3.0, 30.0);
        assert!(delivered > 0.85 * 3e6 && delivered <= 3e6, "{delivered}");
    }
    Ok(())
}

#[test]
fn a_twentieth_and_a_fifth_lost_leave_most_of_the_path() -> Result<(), Error> {
    let lossy = |one_in| Path { lost_one_in: Some(one_in), ..path() };
    played("theirs", lossy(20))?;
    let gcc = played("register:gcc", lossy(20))?;
    let copa = played("register:copa", lossy(5))?;
    assert!(gcc.delivered(21.0, 30.0) > 0.85 * 3e6 && gcc.delivered(21.0, 30.0) <= 3e6);
    assert!(copa.delivered(21.0, 30.0) > 0.6 * 3e6 && copa.delivered(21.0, 30.0) <= 3e6);
    Ok(())
}

#[test]
fn a_controller_that_there_is_not_is_refused_with_those_there_are() {
    let refused = "gcc".parse::<Control>().unwrap_err();
    assert!(refused.contains("theirs, estimator:NAME or register:NAME"), "{refused}");
}
