//! Frames of a given size.
