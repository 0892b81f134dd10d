extern crate std;

mod closed_loop;
mod unit;
mod world;
