//! Configures this thread's network namespace, with iproute2.

use std::io::{ErrorKind, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use super::ShellError;
use super::device::Device;

/// Gives `device` the local address `ours` with the peer address `theirs` and brings it up.
pub(super) fn address(device: &Device, ours: Ipv4Addr, theirs: Ipv4Addr) -> Result<(), ShellError> {
    // A kernel without IPv6 has no such file; then nothing needs to be turned off.
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{}/disable_ipv6", device.name()), "1");
    ip(&["address", "add", &ours.to_string(), "peer", &theirs.to_string(), "dev", device.name()])?;
    ip(&["link", "set", device.name(), "up"])
}

/// Routes packets for `block` to `device`.
pub(super) fn route(block: &str, device: &Device) -> Result<(), ShellError> {
    ip(&["route", "add", block, "dev", device.name()])
}

/// Routes everything else to `gateway`.
pub(super) fn default_route(gateway: Ipv4Addr, device: &Device) -> Result<(), ShellError> {
    ip(&["route", "add", "default", "via", &gateway.to_string(), "dev", device.name()])
}

/// Brings the loopback device up.
pub(super) fn loopback() -> Result<(), ShellError> {
    ip(&["link", "set", "lo", "up"])
}

/// Turns IP forwarding of this namespace on or off; returns whether it was on before.
pub(super) fn set_forwarding(on: bool) -> std::io::Result<bool> {
    // /proc/sys/net belongs to the network namespace of the process that opens it.
    let path = "/proc/sys/net/ipv4/ip_forward";
    let before = std::fs::read_to_string(path)?.trim() == "1";
    if before != on {
        std::fs::write(path, if on { "1" } else { "0" })?;
    }
    Ok(before)
}

fn ip(arguments: &[&str]) -> Result<(), ShellError> {
    call("ip", arguments, "")
}

/// Runs a program with `input` on its standard input.
pub(super) fn call(program: &str, arguments: &[&str], input: &str) -> Result<(), ShellError> {
    let failed = |problem: String| ShellError::Setup { command: format!("{program} {}", arguments.join(" ")), problem };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => failed("program not found: expected one in PATH, or a path".into()),
            _ => failed(error.to_string()),
        })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input reports its own error.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_string()))
}
