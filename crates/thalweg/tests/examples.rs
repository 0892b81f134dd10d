//! The examples, built and run.

#[path = "../examples/drive_controller.rs"]
mod drive_controller;
#[path = "../examples/engine_loop.rs"]
mod engine_loop;
#[path = "../examples/lab_in_30_lines.rs"]
mod lab_in_30_lines;
#[path = "../examples/own_controller.rs"]
mod own_controller;
#[path = "../examples/own_policy.rs"]
mod own_policy;

#[test]
fn a_controller_is_driven_by_hand() {
    drive_controller::main().unwrap();
}

#[test]
fn an_engine_runs_between_a_camera_an_encoder_and_a_path() {
    engine_loop::main().unwrap();
}

#[test]
fn schemes_play_side_by_side() {
    lab_in_30_lines::main().unwrap();
}

#[test]
fn a_controller_of_ones_own_plays_against_gcc() {
    own_controller::main().unwrap();
}

#[test]
fn a_policy_of_ones_own_plays_against_every_frame() {
    own_policy::main().unwrap();
}
