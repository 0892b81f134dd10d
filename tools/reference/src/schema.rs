//! A model as JSON schema (draft 2020-12).

use serde_json::{Map, Value, json};

use crate::model::{Described, Field, Form, Model};

/// Every type of `model`, the root first.
pub fn schema(model: &Model, root: &str, title: &str, about: &str) -> Value {
    let types: Map<String, Value> = model.types.iter().map(|(name, of)| (name.clone(), described(of))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": about,
        "$ref": format!("#/$defs/{root}"),
        "$defs": types,
    })
}

fn described(of: &Described) -> Value {
    if !of.is_choice {
        let mut object = table(&of.fields, of.is_closed);
        object.insert("description".into(), of.about.clone().into());
        return Value::Object(object);
    }
    let (words, others): (Vec<&Field>, Vec<&Field>) =
        of.fields.iter().partition(|field| field.form.is_none() && field.fields.is_empty());
    let mut choices = Vec::new();
    if !words.is_empty() {
        choices.push(json!({ "enum": words.iter().map(|field| &field.name).collect::<Vec<_>>() }));
    }
    for field in others {
        let content = match &field.form {
            Some(form) => formed(form),
            None => Value::Object(table(&field.fields, false)),
        };
        let properties = json!({ field.name.clone(): content });
        let (about, required) = (&field.about, [&field.name]);
        choices.push(json!({
            "description": about,
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }));
    }
    json!({ "description": of.about, "anyOf": choices })
}

fn table(fields: &[Field], is_closed: bool) -> Map<String, Value> {
    let property = |field: &Field| {
        let mut property = field.form.as_ref().map_or(json!({}), formed);
        if let Value::Object(of) = &mut property {
            let range = field.range.as_ref().map(|range| format!(" Range: {range}.")).unwrap_or_default();
            of.insert("description".into(), format!("{}{range}", field.about).into());
        }
        (field.name.clone(), property)
    };
    let required: Vec<&String> = fields.iter().filter(|f| f.default.is_none()).map(|field| &field.name).collect();
    let mut object = Map::new();
    object.insert("type".into(), "object".into());
    object.insert("properties".into(), Value::Object(fields.iter().map(property).collect()));
    object.insert("required".into(), json!(required));
    if is_closed {
        object.insert("additionalProperties".into(), false.into());
    }
    object
}

fn formed(form: &Form) -> Value {
    match form {
        Form::Text("frame rate") => json!({ "type": ["number", "string"] }),
        Form::Text(_) => json!({ "type": "string" }),
        Form::Whole => json!({ "type": "integer" }),
        Form::Number => json!({ "type": "number" }),
        Form::Switch => json!({ "type": "boolean" }),
        Form::List(of) => json!({ "type": "array", "items": formed(of) }),
        Form::Tuple(of) => json!({ "type": "array", "prefixItems": of.iter().map(formed).collect::<Vec<_>>() }),
        Form::Optional(of) => json!({ "anyOf": [formed(of), { "type": "null" }] }),
        Form::Type(title) => json!({ "$ref": format!("#/$defs/{title}") }),
    }
}
