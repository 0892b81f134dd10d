//! The process of the command.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::block::Block;
use super::caller::Caller;
use super::{BLOCK_VARIABLE, GATEWAY_VARIABLE, ShellError};
use crate::reactor::Source;

/// A command that runs in the network namespace of the thread that starts it; killed when dropped.
pub(super) struct Running {
    child: Child,
    /// Becomes readable when the process has ended.
    end: OwnedFd,
}

impl Running {
    /// Starts the command as this user, with its addresses in its environment.
    pub(super) fn start(command: &[OsString], user: Option<&Caller>, block: &Block) -> Result<Running, ShellError> {
        let (program, arguments) = command.split_first().ok_or(ShellError::NoCommand)?;
        let mut command = Command::new(program);
        command.args(arguments).env(BLOCK_VARIABLE, block.to_string()).env(GATEWAY_VARIABLE, block.outer().to_string());
        if let Some(user) = user {
            user.run(&mut command);
        }
        let child = command
            .spawn()
            .map_err(|source| ShellError::Command { program: program.to_string_lossy().into_owned(), source })?;
        // A process keeps its id until it has been waited for.
        let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(io::Error::from)?;
        Ok(Running { child, end })
    }

    /// Sends SIGTERM.
    pub(super) fn ask_to_end(&self) {
        // The process may have ended already.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
    }

    /// Kills the process.
    pub(super) fn end(&mut self) {
        let _ = self.child.kill();
    }

    /// The exit code, or 128 plus the number of the signal that ended it; `None` while it runs.
    pub(super) fn code(&mut self) -> io::Result<Option<i32>> {
        let status = self.child.try_wait()?;
        Ok(status.map(|status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))))
    }
}

impl Source for Running {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both have no effect on a process that has ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
