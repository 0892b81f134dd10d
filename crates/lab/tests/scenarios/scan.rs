use crate::by_hand::{Call, Decoded, Real, truth};
use thalweg_link::LossModel;
use thalweg_units::{Rate, Span, Time, Size};
#[test]
fn scan() {
    for scheme in ["salsify", "salsify:standard-decoder"] {
        for length in [700, 1000, 1300, 1800] {
            let mut any = Vec::new();
            let mut exact = Vec::new();
            for phase in (0..33).step_by(6) {
                let from = Span::from_millis(5000 + phase);
                let until = from + Span::from_millis(length);
                let call = Call { scheme, size: Size::new(160, 90), duration: until + Span::from_millis(1500), rate: Rate::from_kbps(500), loss: vec![LossModel::Outage { from, until }], ..Call::default() };
                let seen = call.play(&mut Real::new(call.size), &mut truth);
                let until = Time::ZERO + until;
                any.push(seen.decoded.iter().find(|d| d.0 >= until).map_or(9999, |d| (d.0 - until).as_nanos() / 1_000_000));
                exact.push(seen.next_exact(until).as_nanos() / 1_000_000);
                assert_eq!(seen.count(Decoded::Wrong), 0);
            }
            println!("{scheme} {length} ms: any {any:?} exact {exact:?}");
        }
    }
}
