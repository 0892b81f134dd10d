extern crate std;

mod closed_loop;
mod record;
mod unit;
mod world;
