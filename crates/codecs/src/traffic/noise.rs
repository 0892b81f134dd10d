//! Noise of sizes and intervals.

use thalweg_units::{ConfigError, Random, check};

/// Zero-mean Laplace noise of this scale (specs/rmcat.md 5).
pub fn laplace(random: &mut Random, scale: f64) -> f64 {
    let uniform = random.unit() - 0.5;
    // Of -1/2 itself the logarithm is infinite.
    let inside = (1.0 - 2.0 * uniform.abs()).max(f64::EPSILON);
    -scale * uniform.signum() * libm::log(inside)
}

/// How late a frame is, in frame intervals, if intervals are to have Laplace noise of this scale; see the module
/// [`traffic`](super).
pub fn lateness(random: &mut Random, scale: f64) -> f64 {
    if scale > 0.0 { random.exponential(scale) } else { 0.0 }
}

/// Checks a scale.
pub fn check_scale(field: &str, scale: f64) -> Result<(), ConfigError> {
    check(field, scale).within(0.0..=1.0, "0.15")
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Seed;

    #[test]
    fn the_noise_of_sizes_deviates_by_the_root_of_two_times_its_scale() {
        let mut random = Seed::new(1).random();
        let drawn: Vec<f64> = (0..200_000).map(|_| laplace(&mut random, 0.15)).collect();
        let mean = drawn.iter().sum::<f64>() / 2e5;
        let deviation = libm::sqrt(drawn.iter().map(|value| value * value).sum::<f64>() / 2e5);
        // specs/rmcat.md 5: 21.2 %.
        assert!(mean.abs() < 0.002 && (0.210..0.214).contains(&deviation), "{mean} {deviation}");
    }

    #[test]
    fn intervals_between_late_frames_have_laplace_noise() {
        let mut random = Seed::new(2).random();
        let late: Vec<f64> = (0..200_000).map(|_| lateness(&mut random, 0.15)).collect();
        let noise: Vec<f64> = late.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let share = |beyond: f64| noise.iter().filter(|noise| **noise < -beyond).count() as f64 / noise.len() as f64;
        // Half of exp(-x/0.15): 0.5 below 0, 0.0678 below -0.3, 0.064 % below -1, where frames would overtake.
        assert!((0.495..0.505).contains(&share(0.0)) && (0.065..0.071).contains(&share(0.3)), "{}", share(0.3));
        assert!((0.000_45..0.000_85).contains(&share(1.0)), "{}", share(1.0));
        assert_eq!(lateness(&mut random, 0.0), 0.0);
    }
}
