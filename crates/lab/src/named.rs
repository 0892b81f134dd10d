//! Senders by name: those of a registry, and those whose names say what they are made from.

use std::sync::Arc;

use thalweg_learned::onnx;
use thalweg_sender::scheme::UnknownScheme;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::ConfigError;

use crate::bound::Bound;

/// The sender of this name: a bound (`bound:causal`), a policy from a file (`onnx:PATH`), or one of `registry`. One that
/// was added to the registry under such a name comes first.
///
/// # Errors
/// When there is none, or what the name says cannot be made.
pub fn named(registry: &Registry, name: &str) -> Result<Arc<dyn SenderFactory>, NoSender> {
    match registry.find(name) {
        Ok(sender) => Ok(sender),
        Err(_) if is_made(name) && Bound::is_named_by(name) => Ok(Arc::new(name.parse::<Bound>()?)),
        Err(_) if is_made(name) => Ok(Arc::new(onnx::open(name)?)),
        Err(unknown) => Err(unknown.into()),
    }
}

/// Returns true if a sender of this name is made from what the name says.
pub fn is_made(name: &str) -> bool {
    Bound::is_named_by(name) || onnx::is_policy(name)
}

/// There is no sender of a name.
#[derive(Debug, thiserror::Error)]
pub enum NoSender {
    /// It is in no registry.
    #[error(transparent)]
    Unknown(#[from] UnknownScheme),
    /// A sender of this name cannot be made.
    #[error(transparent)]
    Unmade(#[from] ConfigError),
}
