//! When a frame would arrive on average: a line through arrival times over capture times, by recursive least squares
//! (libwebrtc `timestamp_extrapolator.cc`, without forgetting), with a detector of lasting changes of the delay.

use thalweg_units::{Span, Time};

use super::line::Line;

/// Ticks of the video clock per millisecond (RFC 3551: 90 kHz), the unit of the constants below.
const TICKS_PER_MS: f64 = 90.0;
/// Initial uncertainty of the clock rate and of the offset; the latter is restored when the delay has changed (`kP11`).
const UNCERTAINTY: [f64; 2] = [1.0, 1e10];
/// Each arrival counts at most this error (`kAccMaxError`), less this drift (`kAccDrift`), towards this sum
/// (`kAlarmThreshold`): 150 arrivals in a row at least 78 ms late are a change.
const MAX_ERROR: f64 = 7000.0;
const DRIFT: f64 = 6600.0;
const ALARM: f64 = 60_000.0;
/// The line is used from this many arrivals on (`kStartUpFilterDelayInPackets`).
const FIRST_ARRIVALS: u32 = 2;
/// After a silence longer than this the line begins anew.
const SILENCE: Span = Span::from_secs(10);

/// The line of capture over arrival.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrivals {
    stream: Option<Stream>,
}

#[derive(Debug, Clone)]
struct Stream {
    /// The first arrival, from which arrival times count, and its capture.
    start: (Time, Time),
    last: (Time, Time),
    /// Ticks per ms, and ticks at the start.
    line: Line,
    count: u32,
    /// Sums of errors beyond the drift: early, late.
    sums: [f64; 2],
}

fn ticks(span: Span) -> f64 {
    span.as_millis_f64() * TICKS_PER_MS
}

impl Arrivals {
    /// A frame captured then arrived now.
    pub(super) fn update(&mut self, now: Time, captured: Time) {
        if self.stream.as_ref().is_some_and(|stream| now - stream.last.0 > SILENCE) {
            self.stream = None;
        }
        self.stream.get_or_insert_with(|| Stream::new(now, captured)).update(now, captured);
    }

    /// When a frame captured then would arrive on average; `None` before the first arrival.
    pub(super) fn expected(&self, captured: Time) -> Option<Time> {
        let Stream { start, last, line, count, .. } = self.stream.as_ref()?;
        if *count < FIRST_ARRIVALS {
            return Some(last.0 + (captured - last.1));
        }
        let since_start_ms = (ticks(captured - start.1) - line.weights[1]) / line.weights[0];
        Some(start.0 + Span::from_secs_f64(since_start_ms / 1e3))
    }
}

impl Stream {
    fn new(now: Time, captured: Time) -> Stream {
        Stream {
            start: (now, captured),
            last: (now, captured),
            line: Line::new([TICKS_PER_MS, 0.0], UNCERTAINTY),
            count: 0,
            sums: [0.0; 2],
        }
    }

    fn update(&mut self, now: Time, captured: Time) {
        let at = (now - self.start.0).as_millis_f64();
        let residual = ticks(captured - self.start.1) - self.line.at(at);
        if self.has_changed(residual) && self.count >= FIRST_ARRIVALS {
            self.line.covariance[1][1] = UNCERTAINTY[1];
        }
        // A reordered frame is not followed.
        if captured < self.last.1 {
            return;
        }
        self.line.correct(at, residual, 1.0);
        self.last = (now, captured);
        self.count += 1;
    }

    /// A cumulative sum of errors to either side.
    fn has_changed(&mut self, residual: f64) -> bool {
        let error = residual.clamp(-MAX_ERROR, MAX_ERROR);
        self.sums = [(self.sums[0] + error - DRIFT).max(0.0), (self.sums[1] + error + DRIFT).min(0.0)];
        let changed = self.sums[0] > ALARM || self.sums[1] < -ALARM;
        if changed {
            self.sums = [0.0; 2];
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays arrivals 30 times a second with these transit times, and returns how long after its capture a next frame
    /// would be expected, in ms.
    fn expected_ms(transits: impl Iterator<Item = u64>) -> f64 {
        let mut arrivals = Arrivals::default();
        let mut captured = Time::ZERO;
        for (number, transit) in transits.enumerate() {
            captured = Time::from_nanos(number as u64 * 33_333_333);
            arrivals.update(captured + Span::from_millis(transit as i64), captured);
        }
        (arrivals.expected(captured).unwrap() - captured).as_millis_f64()
    }

    #[test]
    fn a_frame_is_expected_after_the_mean_transit_time() {
        assert!((expected_ms((0..300).map(|_| 40)) - 40.0).abs() < 0.1);
        assert!((expected_ms((0..3000).map(|number| 40 + 20 * (number % 2))) - 50.0).abs() < 0.5);
    }

    #[test]
    fn a_lasting_change_beyond_78_ms_is_taken_over_after_150_frames_and_a_shorter_one_is_not() {
        let change = |frames: u64| expected_ms((0..3000 + frames).map(|number| if number < 3000 { 40 } else { 240 }));
        // A straight line through a step of 200 ms that lasts a share f of the time ends at 200 f (1 + 3 (1 - f)): 35
        // above the start for 140 of 3140 frames.
        assert!((change(140) - 75.0).abs() < 3.0, "{}", change(140));
        assert!(change(250) > 200.0, "{}", change(250));
    }

    #[test]
    fn after_ten_seconds_of_silence_the_line_begins_anew() {
        let mut arrivals = Arrivals::default();
        for number in 0..300 {
            let captured = Time::from_millis(number * 33);
            arrivals.update(captured + Span::from_millis(40), captured);
        }
        let captured = Time::from_millis(25_000);
        arrivals.update(captured + Span::from_millis(500), captured);
        assert_eq!(arrivals.expected(captured), Some(captured + Span::from_millis(500)));
    }
}
