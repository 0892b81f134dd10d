//! The loop filters, sixteen positions along an edge at a time: a macroblock's luma, or both of its chroma planes.
//!
//! Of an edge between rows, each row is a vector. Edges between columns are turned on their side first and back after;
//! all those inside a macroblock's luma share one turning.

pub mod chroma;
mod filter;
pub mod luma;
pub mod simple;
mod transpose;
