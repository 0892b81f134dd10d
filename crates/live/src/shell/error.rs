//! Why a shell could not be opened.

use std::io;

use crate::emulate::EmulateError;

/// A command cannot be run behind a link.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// Only root may make networks.
    #[error("a network of its own needs root: run it with sudo")]
    NotRoot,
    /// A TUN device cannot be made.
    #[error(
        "cannot make a network device: {0}; /dev/net/tun must be there (modprobe tun, or docker run --device \
         /dev/net/tun --cap-add NET_ADMIN), and within one shell there can be one other at a time"
    )]
    Device(io::Error),
    /// The kernel makes no namespace.
    #[error("cannot make a network namespace: {0}; the kernel needs CONFIG_NET_NS, and a container CAP_SYS_ADMIN")]
    Namespace(io::Error),
    /// A program that sets up networks is not there (`ip` comes with iproute2) or has failed.
    #[error("setting up the network, `{command}`: {problem}")]
    Setup {
        /// What was called.
        command: String,
        /// What it said.
        problem: String,
    },
    /// The shells around this one have used up their block of addresses.
    #[error(
        "THALWEG_SHELL is '{0}', must be a block of addresses such as 100.64.0.0/24 up to /29: seven shells within one \
         another are the most"
    )]
    TooDeep(String),
    /// There is no command.
    #[error("there is no command to run: write it after --, such as `-- ping -c 3 100.64.0.1`")]
    NoCommand,
    /// The program cannot be started.
    #[error("cannot run '{program}': {source}")]
    Command {
        /// Its name.
        program: String,
        /// What the kernel says.
        source: io::Error,
    },
    /// The link is wrong.
    #[error(transparent)]
    Link(#[from] EmulateError),
    /// The kernel refused something every program may have.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
}
