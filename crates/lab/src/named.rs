//! Senders by name: those of a registry, and those whose names say what they are made from.

use std::sync::Arc;

use thalweg_learned::onnx;
use thalweg_sender::scheme::UnknownScheme;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::ConfigError;

use crate::bound::{BOUNDS, Bound};

/// The sender of this name: a bound (`bound:causal`), a policy from a file (`onnx:PATH`), or one of `registry`. One that
/// was added to the registry under such a name comes first. All but paths may be written in capitals.
///
/// # Errors
/// When there is none, or what the name says cannot be made.
pub fn named(registry: &Registry, name: &str) -> Result<Arc<dyn SenderFactory>, NoSender> {
    let unknown = match registry.find(name) {
        Ok(sender) => return Ok(sender),
        Err(unknown) => unknown,
    };
    let lower = name.to_ascii_lowercase();
    if onnx::is_policy(name) {
        return Ok(Arc::new(onnx::open(name)?));
    }
    if Bound::is_named_by(&lower) {
        return Ok(Arc::new(lower.parse::<Bound>()?));
    }
    Err(unknown.beside(BOUNDS.map(|(name, _)| name)).into())
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
