//! The difference of two blocks as two numbers.

/// The sum of the differences of two blocks' pixels, and of their squares; the variance follows from both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    /// The sum of the differences, block minus reference.
    pub sum: i32,
    /// The sum of the squared differences.
    pub squares: u32,
}

impl Moments {
    /// The squared error without the mean difference of `pixels` pixels: `pixels` times their variance.
    #[must_use]
    pub const fn squares_about_the_mean(self, pixels: u32) -> u32 {
        let of_the_mean = self.sum as i64 * self.sum as i64 / pixels as i64;
        self.squares - of_the_mean as u32
    }
}
