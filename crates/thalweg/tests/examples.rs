//! The examples run to their end. `cargo test` builds them beside the tests.

use std::process::Command;

#[track_caller]
fn run(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    // target/debug/deps/examples-... and target/debug/examples/NAME.
    let example = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join(name);
    let output = Command::new(&example).output().unwrap_or_else(|error| panic!("{}: {error}", example.display()));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_controller_is_driven_by_hand() {
    assert!(run("drive_controller").lines().count() > 10);
}

#[test]
fn a_driver_follows_another_programs_packets() {
    assert!(run("driver_loop").lines().count() >= 19);
}

#[test]
fn an_engine_runs_between_a_camera_an_encoder_and_a_path() {
    assert_eq!(run("engine_loop").lines().count(), 20);
}

#[test]
fn schemes_play_side_by_side() {
    assert_eq!(run("lab_in_30_lines").lines().count(), 1 + 2 * 4);
}

#[test]
fn a_controller_of_ones_own_plays_against_gcc() {
    assert_eq!(run("own_controller").lines().count(), 2);
}

#[test]
fn a_policy_of_ones_own_plays_against_every_frame() {
    assert_eq!(run("own_policy").lines().count(), 2);
}

#[cfg(feature = "session")]
#[test]
fn two_ends_converse_over_udp() {
    assert!(run("session_over_udp").contains("frames received"));
}
