//! Why a shell could not be opened.

use std::io;

use crate::EmulateError;

/// Why a command cannot be run behind a link.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// Only root may make network namespaces.
    #[error("a network of its own needs root: run it with sudo")]
    NotRoot,
    /// A TUN device cannot be created.
    #[error(
        "cannot make a network device: {0}; /dev/net/tun must be there (modprobe tun, or docker run --device \
         /dev/net/tun --cap-add NET_ADMIN), and within one shell there can be one other at a time"
    )]
    Device(io::Error),
    /// The kernel cannot create a namespace.
    #[error("cannot make a network namespace: {0}; the kernel needs CONFIG_NET_NS, and a container CAP_SYS_ADMIN")]
    Namespace(io::Error),
    /// A program that sets up networks is missing (`ip` is part of iproute2) or has failed.
    #[error("setting up the network, `{command}`: {problem}")]
    Setup {
        /// The command line.
        command: String,
        /// Its error output.
        problem: String,
    },
    /// The shells around this one have used up their block of addresses.
    #[error(
        "THALWEG_SHELL is '{0}', must be a block of addresses such as 100.64.0.0/24 up to /29: seven shells within one \
         another are the most"
    )]
    TooDeep(String),
    /// No command was given.
    #[error("no command to run: write it after --, such as `-- ping -c 3 100.64.0.1`")]
    NoCommand,
    /// `sudo` gives a caller that is not a number.
    #[error("{name} is {text:?}, must be a number; --as-root runs the command as root")]
    Caller {
        /// The variable.
        name: &'static str,
        /// Its text.
        text: String,
    },
    /// The program cannot be started.
    #[error("cannot run '{program}': {source}")]
    Command {
        /// Its name.
        program: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The link cannot be emulated.
    #[error(transparent)]
    Link(#[from] EmulateError),
    /// A system call failed that needs no privilege.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
}
