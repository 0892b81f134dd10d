//! Every target on recorded inputs, and decoders on mutations of them.

mod mutation;

use std::path::Path;

use mutation::mutate;
use thalweg_data::testing::needed;
use thalweg_fuzz::TARGETS;
use thalweg_units::Seed;

thalweg_data::data_tests! {
    ["rtp-interop", "mahimahi", "salsify-traces", "lumos5g", "vp8-test-vectors"] => [
        every_target_takes_what_others_recorded,
    ];
    ["vp8-test-vectors"] => [vp8_decoders_take_what_becomes_of_the_conformance_streams];
}

fn every_target_takes_what_others_recorded() {
    for set in ["rtp-interop", "mahimahi", "salsify-traces", "lumos5g", "vp8-test-vectors"] {
        visit(&needed(set));
    }
}

fn visit(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("readable folder") {
        let path = entry.expect("readable entry").path();
        if path.is_dir() {
            visit(&path);
        } else {
            let bytes = std::fs::read(&path).expect("readable file");
            TARGETS.iter().for_each(|(_, target)| target(&bytes));
        }
    }
}

fn vp8_decoders_take_what_becomes_of_the_conformance_streams() {
    let entries = std::fs::read_dir(needed("vp8-test-vectors")).expect("readable folder");
    let mut random = Seed::new(1).child("fuzz.vp8").random();
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable entry").path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "ivf")) {
        let stream = std::fs::read(path).expect("readable file");
        for _ in 0..if stream.len() < 20_000 { 8 } else { 1 } {
            let mut stream = stream.clone();
            mutate(&mut stream, &mut random);
            thalweg_fuzz::vp8_decode(&stream);
        }
    }
}
