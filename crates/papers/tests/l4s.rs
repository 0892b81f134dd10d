//! The experiments of L4S, each a line of runs with bounds.

use std::sync::Arc;

use thalweg_lab::unattended;
use thalweg_papers::{Experiment, figures};
use thalweg_units::Seed;

/// specs/l4s.md 6 (h): the experiments of `thalweg reproduce` answer whatever they ask.
#[test]
fn an_experiments_line_has_a_value_for_all_that_it_asks() {
    let figure = figures().into_iter().find(|figure| figure.name == "l4s-libwebrtc").unwrap();
    let Experiment::Bounded(bounded) = figure.experiment else { panic!("bounds") };
    let mut find = |name: &str| Err::<Arc<_>, _>(format!("no trace {name}"));
    let line = &bounded.lines[0];
    let values = line.play(Seed::new(1), &mut find, &mut unattended).unwrap();
    assert_eq!(values.len(), line.asked.len());
    for (value, asked) in values.iter().zip(&line.asked) {
        assert!((100.0..1000.0).contains(value), "{}: {value}", asked.what);
    }
    assert_eq!(values, line.play(Seed::new(1), &mut find, &mut unattended).unwrap());
}
