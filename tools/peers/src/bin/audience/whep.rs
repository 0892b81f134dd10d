//! Joining a publisher that takes offers (WHEP).

use std::error::Error;

use thalweg_transport::Connection;
use thalweg_transport::sdp::{self, Capabilities, Video};
use thalweg_units::Time;

use super::http;
use super::viewer::Seat;

/// Offers to receive video at `URL/whep`.
pub fn join(url: &str, seat: &Seat<'_>, now: Time) -> Result<(Connection, Video), Box<dyn Error>> {
    let (mut connection, local) = seat.connection(true)?;
    let offer = sdp::offer(&local, &Capabilities { audio: false, ..seat.capabilities() });
    let answer = match http::post(&format!("{}/whep", url.trim_end_matches('/')), "application/sdp", &offer.text)? {
        (201, answer) => answer,
        (status, why) => return Err(format!("{url} answers {status}: {why}").into()),
    };
    let accepted = offer.accept(&answer)?;
    connection.set_dtls_role(accepted.dtls);
    connection.set_remote(now, &accepted.remote)?;
    Ok((connection, accepted.media.video.ok_or("no video")?))
}
