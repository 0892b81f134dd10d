//! Recorded data: the 61 conformance streams, and clips.

mod clips;
#[cfg(feature = "libvpx")]
mod damaged;
#[path = "../encoder/outside/mod.rs"]
mod outside;
mod size_target;
mod states;
mod streams;
mod vectors;

/// Only if libvpx is available for comparison.
fn damaged_frames_are_refused_or_drawn_as_libvpx_does() {
    #[cfg(feature = "libvpx")]
    damaged::damaged_frames_are_refused_or_drawn_as_libvpx_does();
}

thalweg_data::data_tests! {
    ["vp8-test-vectors"] => [
        vectors::every_picture_of_the_conformance_streams_is_the_standards,
        vectors::every_frame_is_written_as_the_bytes_it_was_read_from,
        vectors::a_state_that_was_sent_goes_on_as_the_one_that_stayed,
        states::going_back_to_an_older_state_is_an_ordinary_call,
        states::states_are_equal_and_hash_alike_exactly_when_they_decode_alike,
        damaged_frames_are_refused_or_drawn_as_libvpx_does,
    ];
    ["video"] => [
        size_target::of_a_thousand_frames_at_random_targets_99_in_100_fit_and_use_85_percent,
        clips::natural_clips_are_shown_as_the_encoder_says_at_every_preset,
    ];
}
