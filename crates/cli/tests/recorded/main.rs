//! Commands on recordings, and on what real peers and programs make.

#[cfg(all(feature = "live", target_os = "linux"))]
#[path = "../../../live/tests/http.rs"]
mod http;
#[cfg(all(feature = "live", target_os = "linux"))]
mod hunted;
#[cfg(all(feature = "live", target_os = "linux"))]
#[path = "../cli/serving.rs"]
mod serving;

use std::process::Command;

use thalweg_data::testing::needed;

fn a_conformance_stream_gives_the_digests_it_came_with() {
    let stream = needed("vp8-test-vectors").join("vp80-00-comprehensive-001.ivf");
    let wanted = std::fs::read_to_string(stream.with_extension("ivf.md5")).unwrap();
    let thalweg = Command::new(env!("CARGO_BIN_EXE_thalweg")).args(["codec", "decode", "--md5"]).arg(stream).output();
    let printed = String::from_utf8(thalweg.unwrap().stdout).unwrap();
    assert_eq!(printed.lines().collect::<Vec<_>>(), wanted.lines().collect::<Vec<_>>());
}

thalweg_data::data_tests! {
    ["vp8-test-vectors"] => [a_conformance_stream_gives_the_digests_it_came_with];
    ["hunt"] => [
        #[cfg(all(feature = "live", target_os = "linux"))]
        hunted::the_hunts_offers_are_answered_by_viewers_and_senders_addresses_as_the_rfcs_say,
        #[cfg(all(feature = "live", target_os = "linux"))]
        hunted::the_hunts_files_are_sent_as_long_as_they_last_or_refused_with_the_reason,
    ];
}
