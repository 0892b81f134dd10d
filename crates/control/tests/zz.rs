mod support;
use support::*;
use thalweg_control::{gcc};
use thalweg_units::{Rate, Span};
#[test]
fn look() {
    for rtt in [500,200] {
    let s = Scenario::new(Rate::from_kbps(100), Span::from_millis(rtt), Span::from_secs(60));
    s.run(Box::new(gcc::Config::default().build().unwrap())).print("100k");
    }
}
