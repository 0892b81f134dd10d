//! One end of a call on a socket: `peer send CONTROL SECONDS` or `peer receive SECONDS`. Session descriptions are lines of JSON, the
//! offer from the sender's output to the receiver's input and the answer back; what was seen is the last line of each.

use std::env::args;
use std::io::stdin;

use serde::Serialize;
use serde::de::DeserializeOwned;
use webrtc_rs::{Control, Error, receive, receiver, send};

fn say(what: &impl Serialize) -> Result<(), Error> {
    println!("{}", serde_json::to_string(what)?);
    Ok(())
}

fn hear<T: DeserializeOwned>() -> Result<T, Error> {
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["send", control, seconds] => {
            let sender = control.parse::<Control>()?.sender()?;
            say(&send(sender, seconds.parse()?, &mut |offer| {
                say(&offer)?;
                hear()
            })?)
        }
        ["receive", seconds] => say(&receive(receiver()?, hear()?, seconds.parse()?, &mut |answer| say(&answer))?),
        _ => Err("peer send CONTROL SECONDS, or peer receive SECONDS".into()),
    }
}
