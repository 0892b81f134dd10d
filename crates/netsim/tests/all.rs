//! Links, cells, air time and TCP, from outside.

mod cell;
mod tcp;
mod wifi;
