//! Policies from ONNX files, as senders called `onnx:PATH`.

#[cfg(feature = "onnx")]
mod form;
#[cfg(feature = "onnx")]
mod model;

use thalweg_units::ConfigError;

use crate::LearnedSender;

const PREFIX: &str = "onnx:";

/// Returns true for a name that only a policy from a file has.
pub fn is_policy(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The sender called `onnx:PATH`: its policy is the model in the file.
///
/// # Errors
/// When the file cannot be read, is no ONNX model, needs an operation that the evaluator does not have, has inputs and
/// outputs of another form, or names an unknown observation or action; or when this build has no evaluator.
#[cfg(feature = "onnx")]
pub fn open(name: &str) -> Result<LearnedSender, ConfigError> {
    let path = std::path::Path::new(name.strip_prefix(PREFIX).unwrap_or(name));
    let refused = |why: String| ConfigError::because(format!("{name}: {why}"));
    let bytes = std::fs::read(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    model::sender(name, &bytes).map_err(refused)
}

/// The sender called `onnx:PATH`.
///
/// # Errors
/// Always: this build has no evaluator.
#[cfg(not(feature = "onnx"))]
pub fn open(name: &str) -> Result<LearnedSender, ConfigError> {
    let why = "this build evaluates no ONNX models: build it with --features onnx";
    Err(ConfigError::because(format!("{name}: {why}")))
}
