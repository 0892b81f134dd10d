//! A search for links that break a sender, in the spirit of CC-Fuzz (HotNets 2022), with the shrinking of property-based
//! testing and a whole sender in the loop.
//!
//! A [`Plan`] says what is hunted and where; a [`Search`] proposes scenarios and is given how the sender under test did
//! beside references ([`judge`]); [`shrunk`] makes the smallest of its kind. Nothing here plays anything.

mod case;
mod genes;
mod genome;
mod measure;
mod objective;
mod plan;
mod scenario;
mod search;
mod shrink;
mod steps;
#[cfg(test)]
mod tests;

pub use case::{Why, case, why};
pub use genes::{FEATURES, Feature, Gene, Scale};
pub use genome::Genome;
pub use measure::{Figures, measure};
pub use objective::{Played, TERMS, Term, Verdict, judge};
pub use plan::{EVALUATIONS, Invalid, Plan};
pub use search::{BATCH, Evaluation, Kind, Search};
pub use shrink::{KEPT, shrunk};
