//! Frame intervals as seen at a random point in time.

use crate::series::FrameRecord;

/// Mean and standard deviation of frame intervals, each weighted by its duration: `mean = sum d^2 / sum d`
/// (specs/rebera.md 8, R2); `None` if the total is zero.
pub fn time_weighted(distances: &[f64]) -> Option<(f64, f64)> {
    let whole: f64 = distances.iter().sum();
    let mean = distances.iter().map(|distance| distance * distance).sum::<f64>() / whole;
    let variance = distances.iter().map(|distance| distance * (distance - mean).powi(2)).sum::<f64>() / whole;
    (whole > 0.0).then_some((mean, variance.sqrt()))
}

/// The same for the shown pictures, by capture time, in ms; `None` for fewer than two.
pub fn of_frames(frames: &[FrameRecord]) -> Option<(f64, f64)> {
    let shown = frames.iter().filter(|frame| frame.displayed_s.is_some());
    let times: Vec<f64> = shown.map(|frame| frame.captured_s * 1e3).collect();
    let distances: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    time_weighted(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Size, Time};

    #[test]
    fn a_distance_counts_as_long_as_it_lasts() {
        assert_eq!(time_weighted(&[40.0; 5]), Some((40.0, 0.0)));
        // Of 40 ms a quarter is in an interval of 10 and the rest in one of 30.
        let (mean, sigma) = time_weighted(&[10.0, 30.0]).unwrap();
        assert_eq!((mean, sigma), (25.0, 75f64.sqrt()));
        assert_eq!(time_weighted(&[]), None);
    }

    #[test]
    fn a_picture_that_is_not_shown_makes_the_distance_longer() {
        let read = |millis, shown: bool| {
            let displayed_s = shown.then_some(millis as f64 / 1e3 + 0.5);
            FrameRecord { displayed_s, ..FrameRecord::read(Time::from_millis(millis), Size::new(320, 240)) }
        };
        let frames: Vec<FrameRecord> = (0..9).map(|place| read(100 * place, place % 2 == 0)).collect();
        let (mean, sigma) = of_frames(&frames).unwrap();
        assert!((mean - 200.0).abs() < 1e-9 && sigma < 1e-6, "{mean} {sigma}");
        assert_eq!(of_frames(&frames[..2]), None);
    }
}
