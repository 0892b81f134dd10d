//! The loop filters, sixteen positions along an edge at a time: a macroblock's luma, or both of its chroma planes.
//!
//! For an edge between rows, each row is a vector. Edges between columns are transposed first and back afterwards; all
//! those inside a macroblock's luma share one transposition.

pub mod chroma;
mod filter;
pub mod luma;
pub mod simple;
mod transpose;
