//! The difference of two blocks as two numbers.

/// The sum of the differences of two blocks' pixels, and of their squares; the variance follows from both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    /// The sum of the differences, block minus reference.
    pub sum: i32,
    /// The sum of the squared differences.
    pub squares: u32,
}
