//! A controller of Thalweg as a WebAssembly module: one [`Driver`](thalweg_driver::Driver) an instance, for the Go package in
//! `go/` (docs/go.md).
//!
//! The module imports nothing. A host instantiates it, calls [`thalweg_create`] once, and then one function for each event;
//! the numbers of an event are arguments, and only names and reports are bytes, which it writes to [`thalweg_input`] first.
//! After each call [`thalweg_state`] has what the controller says ([`state::Field`]), so that a packet costs one call.
//!
//! A function answers the length of a text at [`thalweg_text`]: 0 where all is well or there is nothing to tell, else the
//! reason for which the call was refused, after which nothing of it counts. After a panic the instance is lost: the call
//! traps, and the text of the panic is at [`thalweg_text`], its length in the state.
//!
//! Times are ns since the host's own epoch, rates bit/s, sizes bytes as the host counts (`overhead`).

mod calls;
pub mod memory;
pub mod state;

pub use calls::{
    thalweg_create, thalweg_decision, thalweg_demand, thalweg_input, thalweg_panic, thalweg_rtcp, thalweg_schemes,
    thalweg_sent, thalweg_state, thalweg_text, thalweg_timeout,
};
