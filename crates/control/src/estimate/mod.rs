//! Filters that controllers share.

mod windowed;

pub use windowed::WindowedMin;
