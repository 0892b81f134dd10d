//! Maps values to positions in a drawing.

/// An axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// Maps values `from..to` linearly to positions `start..end`.
    pub(super) fn linear((from, to): (f64, f64), start: f64, end: f64) -> Scale {
        Scale { from, to: if to > from { to } else { from + 1.0 }, start, end, logarithmic: false }
    }

    /// Maps values logarithmically; `from` is above zero.
    pub(super) fn logarithmic((from, to): (f64, f64), start: f64, end: f64) -> Scale {
        Scale { from: from.ln(), to: to.max(from * 1.01).ln(), start, end, logarithmic: true }
    }

    /// The position of a value; values beyond the range are clamped.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(1e-12).ln() } else { value };
        let share = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.start + share * (self.end - self.start)
    }

    /// About `count` round values for tick marks.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        if self.logarithmic {
            let (from, to) = (self.from.exp(), self.to.exp());
            let decades = (from.log10().floor() as i32)..=(to.log10().ceil() as i32);
            let within: &[f64] = if to < 40.0 * from { &[1.0, 2.0, 5.0] } else { &[1.0, 3.0] };
            let steps = decades.flat_map(|decade| within.iter().map(move |step| step * 10f64.powi(decade)));
            return steps.filter(|value| (from * 0.999..=to * 1.001).contains(value)).collect();
        }
        let rough = (self.to - self.from) / count.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= rough).unwrap_or(power);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Scale::linear((0.0, 60.0), 0.0, 1.0).ticks(6), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        let ticks = Scale::logarithmic((20.0, 5000.0), 0.0, 1.0).ticks(5);
        assert_eq!(ticks.iter().map(|tick| tick.round()).collect::<Vec<_>>(), [30.0, 100.0, 300.0, 1000.0, 3000.0]);
    }

    #[test]
    fn an_axis_of_little_more_than_a_decade_has_more_ticks() {
        let ticks = Scale::logarithmic((90.0, 2100.0), 0.0, 1.0).ticks(5);
        assert_eq!(ticks.iter().map(|tick| tick.round()).collect::<Vec<_>>(), [100.0, 200.0, 500.0, 1000.0, 2000.0]);
    }

    #[test]
    fn values_beyond_the_ends_lie_on_them() {
        let scale = Scale::linear((0.0, 10.0), 100.0, 200.0);
        assert_eq!((scale.place(-5.0), scale.place(5.0), scale.place(99.0)), (100.0, 150.0, 200.0));
    }
}
