//! Seeds and random number streams.

use core::fmt;
use core::str::FromStr;

/// The root of every random choice of a run.
///
/// Each component draws from its own child, found by name (`seed.child("link.loss")`), so adding a random component
/// does not change the values that the others draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Seed(u64);

impl Seed {
    /// The seed with this number.
    pub const fn new(number: u64) -> Seed {
        Seed(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The seed of the component called `name`.
    pub fn child(self, name: &str) -> Seed {
        // FNV-1a over the name, started from the mixed parent, then mixed again.
        let mut hash = 0xcbf2_9ce4_8422_2325 ^ mix(self.0);
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Seed(mix(hash))
    }

    /// A fresh stream of random numbers.
    pub fn random(self) -> Random {
        Random { state: mix(self.0) }
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seed {
    type Err = core::num::ParseIntError;
    fn from_str(text: &str) -> Result<Seed, Self::Err> {
        text.parse().map(Seed)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers: SplitMix64. It is implemented here because its output determines the bytes of a run, and
/// a library may change its stream between versions.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let out = mix(self.state);
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        out
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0..`n`; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// True with probability `probability`.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Normally distributed with mean 0 and standard deviation 1 (Box and Muller; the second value of the pair is
    /// dropped to keep the stream stateless).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }

    /// Poisson-distributed with this mean, by counting unit-rate arrivals; the cost grows with the mean.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let mut left = mean;
        let mut count = 0;
        loop {
            left -= self.exponential(1.0);
            if left < 0.0 {
                return count;
            }
            count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_is_what_it_always_was() {
        let mut random = Seed::new(1).child("link.loss").random();
        let first = [random.bits(), random.bits()];
        let mut again = Seed::new(1).child("link.loss").random();
        assert_eq!(first, [again.bits(), again.bits()]);
        assert_ne!(first[0], Seed::new(1).child("link.jitter").random().bits());
        assert_ne!(first[0], Seed::new(2).child("link.loss").random().bits());
    }

    #[test]
    fn the_distributions_have_their_means_and_deviations() {
        let mut random = Seed::new(7).random();
        let n = 100_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        let uniform = mean(&mut || random.unit());
        assert!((uniform - 0.5).abs() < 0.005, "{uniform}");
        let exponential = mean(&mut || random.exponential(3.0));
        assert!((exponential - 3.0).abs() < 0.05, "{exponential}");
        let square = mean(&mut || random.normal().powi(2));
        assert!((square - 1.0).abs() < 0.03, "{square}");
        let poisson = mean(&mut || random.poisson(4.0) as f64);
        assert!((poisson - 4.0).abs() < 0.05, "{poisson}");
        assert!((0..1000).all(|_| random.below(7) < 7));
    }
}
