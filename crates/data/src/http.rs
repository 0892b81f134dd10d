use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::Error;

/// Timeout for connecting, and then for the start of the response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Requests an address; returns the body of the response.
pub(crate) fn get(url: &str) -> Result<impl Read + use<>, Error> {
    let failed = |what: String| Error::Server { url: url.to_string(), what };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let agent: Agent = Agent::config_builder()
        .tls_config(TlsConfig::builder().unversioned_rustls_crypto_provider(provider).build())
        .timeout_connect(Some(TIMEOUT))
        .timeout_recv_response(Some(TIMEOUT))
        .timeout_recv_body(Some(Duration::from_secs(600)))
        .build()
        .into();
    let answer = agent.get(url).call().map_err(|error| match error {
        ureq::Error::StatusCode(status) => failed(format!("the server answers {status}")),
        other => failed(other.to_string()),
    })?;
    Ok(answer.into_body().into_reader())
}
