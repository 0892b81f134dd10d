//! Other projects' estimators through the seam: their own figures, and the same twice.

use thalweg_contestants::KNOWN;
use thalweg_contestants::published::{CASES, Queue, play};

#[test]
fn webrtc_rs_has_its_own_published_figures_under_its_own_conditions() {
    for case in CASES {
        let ours = play(case, Queue::SinceEmpty, KNOWN[0].make);
        assert!(ours.agrees(&case.published), "{}: {ours:?}, published {:?}", case.name, case.published);
    }
}
