//! Kernels beside their definitions, and coded pictures beside other programs' measures.

mod coded;
mod kernels;
mod reference;
mod same_bytes;
