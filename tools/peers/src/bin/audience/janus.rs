//! Joining a mountpoint of Janus' streaming plugin, which offers: <https://janus.conf.meetecho.com/docs/rest.html> and
//! streaming.html.

use std::error::Error;

use serde_json::{Value, json};
use thalweg_transport::Connection;
use thalweg_transport::sdp::{self, Video};
use thalweg_units::Time;

use super::http;
use super::viewer::Seat;

/// Events that may come before the one that is waited for.
const EVENTS: usize = 8;

/// Answers the offer of mountpoint 1 of the gateway whose API is at `url`.
pub fn join(url: &str, seat: &Seat<'_>, now: Time) -> Result<(Connection, Video), Box<dyn Error>> {
    let id = |answer: &Value| answer["data"]["id"].as_u64().ok_or_else(|| format!("no id in {answer}"));
    let session = format!("{url}/{}", id(&ask(url, json!({ "janus": "create" }))?)?);
    let attach = json!({ "janus": "attach", "plugin": "janus.plugin.streaming" });
    let handle = format!("{session}/{}", id(&ask(&session, attach)?)?);
    ask(&handle, json!({ "janus": "message", "body": { "request": "watch", "id": 1 } }))?;
    let offer = offered(&session)?;
    let (mut connection, local) = seat.connection(false)?;
    let answer = sdp::answer(&offer, &local, &seat.capabilities())?;
    connection.set_dtls_role(answer.dtls);
    connection.set_remote(now, &answer.remote)?;
    let jsep = json!({ "type": "answer", "sdp": answer.text });
    ask(&handle, json!({ "janus": "message", "body": { "request": "start" }, "jsep": jsep }))?;
    Ok((connection, answer.media.video.ok_or("no video")?))
}

fn ask(url: &str, mut what: Value) -> Result<Value, Box<dyn Error>> {
    what["transaction"] = "audience".into();
    let (_, answer) = http::post(url, "application/json", &what.to_string())?;
    let answer: Value = serde_json::from_str(&answer)?;
    if answer["janus"] == "error" { Err(format!("Janus says {answer} to {what}").into()) } else { Ok(answer) }
}

/// The offer, which comes as an event.
fn offered(session: &str) -> Result<String, Box<dyn Error>> {
    for _ in 0..EVENTS {
        let (_, event) = http::get(&format!("{session}?maxev=1"))?;
        let event: Value = serde_json::from_str(&event)?;
        if let Some(offer) = event["jsep"]["sdp"].as_str() {
            return Ok(offer.to_owned());
        }
        if let Some(why) = event["plugindata"]["data"]["error"].as_str() {
            return Err(format!("the streaming plugin says: {why}").into());
        }
    }
    Err("Janus made no offer".into())
}
