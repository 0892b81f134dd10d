//! The two forms of a model: that of the challenge of MMSys'24, with states, and a plain one.

use thalweg_units::Span;
use tract_onnx::pb::{GraphProto, ModelProto, tensor_shape_proto, type_proto};

use crate::{Action, LearnedSender, Observation, Terms};

/// Inputs of the challenge's models; the outputs are the bandwidth and both states.
const CHALLENGE: [&str; 3] = ["obs", "hidden_states", "cell_states"];
const KEYS: [&str; 3] = ["thalweg.observation", "thalweg.action", "thalweg.interval"];

/// Inputs and outputs of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Form {
    pub(super) terms: Terms,
    /// The shape of each input: the observation first.
    pub(super) inputs: Vec<Vec<usize>>,
    /// How many numbers the first output has; of them the first are the answer.
    pub(super) answer_len: usize,
}

/// The form of a model, by the names of its inputs and by its metadata.
///
/// # Errors
/// When it is neither of the two; the error says what was found and what is wanted.
pub(super) fn form(model: &ModelProto, graph: &GraphProto) -> Result<Form, String> {
    let is_constant = |name: &str| graph.initializer.iter().any(|tensor| tensor.name == name);
    let inputs: Vec<_> = graph.input.iter().filter(|input| !is_constant(&input.name)).collect();
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    let is_challenge = names == CHALLENGE;
    if !is_challenge && names.len() != 1 {
        return Err(format!(
            "inputs are {}; a policy has one, or {} as those of the challenge of MMSys'24",
            names.join(", "),
            CHALLENGE.join(", ")
        ));
    }
    let outputs = if is_challenge { 3 } else { 1 };
    if graph.output.len() != outputs {
        return Err(format!("outputs are {}, must be {outputs} with these inputs", graph.output.len()));
    }
    let terms = terms(model, is_challenge)?;
    let shapes: Vec<Vec<usize>> = inputs.iter().map(|input| shape(input.r#type.as_ref())).collect();
    let (found, length) = (&shapes[0], terms.observation.len());
    let fits = found.iter().product::<usize>() == length && found.last() == Some(&length);
    if !fits || found.len() != if is_challenge { 3 } else { 2 } {
        let wanted = if is_challenge { format!("[1, 1, {length}]") } else { format!("[1, {length}]") };
        return Err(format!(
            "input '{}' has the shape {found:?}, must be {wanted} for {}",
            names[0], terms.observation
        ));
    }
    let answer_len = if is_challenge { 2 } else { terms.action.len() };
    Ok(Form { terms, inputs: shapes, answer_len })
}

/// The sizes of a tensor; 1 where the model leaves one open.
fn shape(of: Option<&tract_onnx::pb::TypeProto>) -> Vec<usize> {
    let Some(type_proto::Value::TensorType(tensor)) = of.and_then(|of| of.value.as_ref()) else { return Vec::new() };
    let sizes = tensor.shape.iter().flat_map(|shape| &shape.dim);
    sizes
        .map(|size| match size.value {
            Some(tensor_shape_proto::dimension::Value::DimValue(size)) => usize::try_from(size).unwrap_or(0),
            _ => 1,
        })
        .collect()
}

fn terms(model: &ModelProto, is_challenge: bool) -> Result<Terms, String> {
    let [observation, action, interval] =
        KEYS.map(|key| model.metadata_props.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str()));
    let wanted = |index: usize, example: &str| {
        let key = KEYS[index];
        format!("metadata has no '{key}': a policy with one input must say it, such as {example}")
    };
    let read = |index: usize, why: String| format!("metadata '{}': {why}", KEYS[index]);
    let observation = match observation {
        Some(name) => name.parse::<Observation>().map_err(|why| read(0, why.to_string()))?,
        None if is_challenge => Observation::Mmsys150,
        None => return Err(wanted(0, "mmsys150")),
    };
    let action = match action {
        Some(name) => name.parse::<Action>().map_err(|why| read(1, why.to_string()))?,
        None if is_challenge => Action::Bps,
        None => return Err(wanted(1, "rate")),
    };
    let interval = match interval {
        Some(text) => text.parse::<Span>().map_err(|why| read(2, why.to_string()))?,
        None => Span::from_millis(60),
    };
    if interval <= Span::ZERO {
        return Err(read(2, format!("is {interval}, must be above 0, such as 60ms")));
    }
    Ok(Terms { observation, action, interval, start: LearnedSender::start() })
}
