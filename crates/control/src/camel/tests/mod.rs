extern crate std;

mod closed_loop;
mod figure7;
mod record;
mod unit;
mod world;
