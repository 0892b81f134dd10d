//! Links, cells, air time and TCP, from outside.

mod capture;
mod cell;
mod tcp;
mod wifi;
