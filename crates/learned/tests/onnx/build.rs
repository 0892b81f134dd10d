//! ONNX files, written.

use prost::Message;
use tract_onnx::pb::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, attribute_proto, tensor_proto, tensor_shape_proto, type_proto,
};

/// A model in the making.
#[derive(Default)]
pub struct Builder(pub ModelProto);

impl Builder {
    /// An empty model with this metadata.
    pub fn new(metadata: &[(&str, &str)]) -> Builder {
        let entry = |(key, value): &(&str, &str)| StringStringEntryProto { key: (*key).into(), value: (*value).into() };
        Builder(ModelProto {
            ir_version: 8,
            opset_import: vec![OperatorSetIdProto { domain: String::new(), version: 13 }],
            producer_name: "thalweg".into(),
            graph: Some(GraphProto { name: "policy".into(), ..GraphProto::default() }),
            metadata_props: metadata.iter().map(entry).collect(),
            ..ModelProto::default()
        })
    }

    fn graph(&mut self) -> &mut GraphProto {
        self.0.graph.as_mut().unwrap()
    }

    /// An input; a size of 0 is left open.
    pub fn input(mut self, name: &str, sizes: &[i64]) -> Builder {
        self.graph().input.push(value(name, sizes));
        self
    }

    pub fn output(mut self, name: &str, sizes: &[i64]) -> Builder {
        self.graph().output.push(value(name, sizes));
        self
    }

    pub fn floats(mut self, name: &str, dims: &[i64], data: &[f32]) -> Builder {
        self.graph().initializer.push(TensorProto {
            name: name.into(),
            dims: dims.to_vec(),
            data_type: tensor_proto::DataType::Float as i32,
            raw_data: data.iter().flat_map(|number| number.to_le_bytes()).collect(),
            ..TensorProto::default()
        });
        self
    }

    pub fn integers(mut self, name: &str, data: &[i64]) -> Builder {
        self.graph().initializer.push(TensorProto {
            name: name.into(),
            dims: vec![data.len() as i64],
            data_type: tensor_proto::DataType::Int64 as i32,
            raw_data: data.iter().flat_map(|number| number.to_le_bytes()).collect(),
            ..TensorProto::default()
        });
        self
    }

    pub fn node(mut self, operation: &str, inputs: &[&str], output: &str) -> Builder {
        self.graph().node.push(NodeProto {
            input: inputs.iter().map(ToString::to_string).collect(),
            output: vec![output.into()],
            name: format!("the {output}"),
            op_type: operation.into(),
            ..NodeProto::default()
        });
        self
    }

    /// An attribute of the last node.
    pub fn with(mut self, name: &str, number: i64) -> Builder {
        self.graph().node.last_mut().unwrap().attribute.push(AttributeProto {
            name: name.into(),
            r#type: attribute_proto::AttributeType::Int as i32,
            i: number,
            ..AttributeProto::default()
        });
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.encode_to_vec()
    }
}

fn value(name: &str, sizes: &[i64]) -> ValueInfoProto {
    use tensor_shape_proto::dimension::Value;
    let size = |size: &i64| tensor_shape_proto::Dimension {
        value: Some(if *size > 0 { Value::DimValue(*size) } else { Value::DimParam("open".into()) }),
        ..tensor_shape_proto::Dimension::default()
    };
    let tensor = type_proto::Tensor {
        elem_type: tensor_proto::DataType::Float as i32,
        shape: Some(TensorShapeProto { dim: sizes.iter().map(size).collect() }),
    };
    let r#type = TypeProto { value: Some(type_proto::Value::TensorType(tensor)), ..TypeProto::default() };
    ValueInfoProto { name: name.into(), r#type: Some(r#type), ..ValueInfoProto::default() }
}
