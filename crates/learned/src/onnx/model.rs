//! A model that is evaluated by tract.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tract_onnx::pb::{GraphProto, ModelProto};
use tract_onnx::prelude::{
    Datum, Framework, InferenceFact, InferenceModelExt, IntoTensor, Tensor, TypedModel, TypedRunnableModel, onnx,
};

use super::form::{Form, form};
use crate::{LearnedSender, Policy};

type Plan = TypedRunnableModel<TypedModel>;

/// The sender whose policy is this model.
///
/// tract chooses its kernels by the processor's instructions (`tract-linalg`: AVX2, FMA, AVX-512), so the last digits of
/// an answer depend on the machine, and its runs are marked.
///
/// # Errors
/// When it is no model that can be evaluated as a policy.
pub(super) fn sender(name: &str, bytes: &[u8]) -> Result<LearnedSender, String> {
    // A file can be damaged in ways that the evaluator does not expect.
    let loaded = catch_unwind(AssertUnwindSafe(|| load(bytes)));
    let model = loaded.unwrap_or_else(|_| Err("the evaluator cannot read this model".into()))?;
    let terms = model.form.terms;
    let mut about = String::from("onnx_sha256 = \"");
    for byte in Sha256::digest(bytes) {
        let _ = write!(about, "{byte:02x}");
    }
    about += "\"\n";
    let make = move || Ok(Box::new(model.clone()) as Box<dyn Policy>);
    Ok(LearnedSender::new(name, terms, make).about(about).machine_dependent())
}

fn load(bytes: &[u8]) -> Result<Model, String> {
    let framework = onnx();
    let damaged = |error| format!("expected an ONNX model: {error:#}");
    let proto = framework.proto_model_for_read(&mut &*bytes).map_err(damaged)?;
    let graph = proto.graph.as_ref().filter(|graph| !graph.node.is_empty());
    let graph = graph.ok_or("expected an ONNX model: it has no graph")?;
    for node in &graph.node {
        if !framework.op_register.0.contains_key(&node.op_type) {
            let (name, operation) = (&node.name, &node.op_type);
            return Err(format!("node '{name}' needs the operation {operation}, which the evaluator does not have"));
        }
    }
    check_names(graph)?;
    let form = form(&proto, graph)?;
    let plan = plan(&framework, &proto, &form).map_err(|error| format!("cannot be evaluated: {error:#}"))?;
    let mut model = Model { states: Vec::new(), plan: Arc::new(plan), form };
    model.restart();
    // Once, to see that what comes out has the form.
    model.evaluate(&vec![0.0; model.form.terms.observation.len()])?;
    model.restart();
    Ok(model)
}

/// Outputs must come from somewhere.
fn check_names(graph: &GraphProto) -> Result<(), String> {
    let made = graph.node.iter().flat_map(|node| &node.output);
    let given = graph.input.iter().map(|input| &input.name).chain(graph.initializer.iter().map(|tensor| &tensor.name));
    let known: Vec<&String> = made.chain(given).collect();
    match graph.output.iter().find(|output| !known.contains(&&output.name)) {
        Some(output) => Err(format!("output '{}' comes from no node", output.name)),
        None => Ok(()),
    }
}

fn plan(framework: &tract_onnx::Onnx, proto: &ModelProto, form: &Form) -> tract_onnx::prelude::TractResult<Plan> {
    let mut model = framework.model_for_proto_model(proto)?;
    for (place, shape) in form.inputs.iter().enumerate() {
        model.set_input_fact(place, InferenceFact::dt_shape(f32::datum_type(), shape))?;
    }
    model.into_optimized()?.into_runnable()
}

/// See the module. Copies share the plan.
#[derive(Clone)]
struct Model {
    plan: Arc<Plan>,
    form: Form,
    /// The model's recurrent states, its inputs after the observation.
    states: Vec<Tensor>,
}

impl Model {
    /// The first output; keeps the others as states.
    fn evaluate(&mut self, observation: &[f32]) -> Result<Vec<f32>, String> {
        let failed = |error| format!("evaluation failed: {error:#}");
        let input = Tensor::from_shape(&self.form.inputs[0], observation).map_err(failed)?;
        let inputs = std::iter::once(input).chain(self.states.iter().cloned()).map(Into::into).collect();
        let outputs = self.plan.run(inputs).map_err(failed)?;
        let answer = outputs[0].as_slice::<f32>().map_err(failed)?;
        if answer.len() != self.form.answer_len {
            return Err(format!(
                "the answer has the shape {:?}, must have {} numbers",
                outputs[0].shape(),
                self.form.answer_len
            ));
        }
        for (place, (state, output)) in self.states.iter().zip(&outputs[1..]).enumerate() {
            if state.shape() != output.shape() || output.datum_type() != f32::datum_type() {
                let (found, wanted) = (output.shape(), state.shape());
                return Err(format!(
                    "state {place} comes out with the shape {found:?}, must be {wanted:?} as it goes in"
                ));
            }
        }
        let answer = answer.to_vec();
        self.states = outputs.into_iter().skip(1).map(|state| state.into_tensor()).collect();
        Ok(answer)
    }
}

impl Policy for Model {
    fn answer(&mut self, observation: &[f32], answer: &mut [f32]) -> Result<(), String> {
        let computed = self.evaluate(observation)?;
        // Of the challenge's two numbers, bandwidth and its deviation, the first.
        answer.copy_from_slice(&computed[..answer.len()]);
        Ok(())
    }

    fn restart(&mut self) {
        let zeros = |shape: &Vec<usize>| Tensor::zero::<f32>(shape).ok();
        self.states = self.form.inputs[1..].iter().filter_map(zeros).collect();
    }
}
