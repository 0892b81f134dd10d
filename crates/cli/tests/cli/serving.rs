//! Programs that serve while a test lasts.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// A program that serves, ended when dropped.
pub(crate) struct Serving(pub(crate) Option<Child>, pub(crate) SocketAddr);

impl Serving {
    /// Starts it with `--listen` on a free port.
    pub(crate) fn start(arguments: &[&str]) -> Serving {
        let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
            .args(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let address = first.split_once("http://").and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
        Serving(Some(child), address.unwrap_or_else(|| panic!("{first}")))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
