//! Mahimahi traces.

use thalweg_link::trace::Trace;
use thalweg_units::Time;

/// Parses a trace, writes it and parses that; counts its opportunities over a few loops.
pub fn trace(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    match Trace::parse(text) {
        Ok(trace) => {
            assert_eq!(Trace::parse(&trace.to_text()).as_ref(), Ok(&trace));
            let period = trace.period();
            assert!(period.as_nanos() > 0);
            let start = Time::from_millis(1);
            let loops = trace.opportunities(start, start + period * 3);
            assert_eq!(loops, 3 * trace.opportunities(start, start + period));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
