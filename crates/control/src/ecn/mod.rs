//! ECN with shallow marks (L4S, RFC 9331): when packets say ECT(1), and how marks are answered by controllers that have no
//! answer of their own.
//!
//! * `policy`: says ECT(1) while the path carries it;
//! * `classic`: whether the queue that marks is one that takes ECT(1) for ECT(0);
//! * `marking`: the share of marked packets, as SCReAM averages it;
//! * `cap`: a limit around any controller, which falls by that share, as Prague averages it.

use thalweg_units::ConfigError;

mod cap;
mod classic;
mod marking;
mod policy;

pub use cap::{CapConfig, Capped};
pub use classic::{Classic, ClassicConfig};
pub use marking::{Marking, MarkingConfig};
pub use policy::{Ect1Policy, PolicyConfig};

/// How a sender uses ECN.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// When packets say ECT(1).
    pub policy: PolicyConfig,
    /// The answer to marks around the controller; `None` for a controller with an answer of its own (SCReAM). A sender
    /// that says ECT(1) owes one (RFC 9331 section 4.3).
    pub cap: Option<CapConfig>,
}

impl Config {
    /// # Errors
    /// When a parameter is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.policy.check()?;
        self.cap.as_ref().map_or(Ok(()), CapConfig::check)
    }
}
