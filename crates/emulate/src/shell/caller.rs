//! Who called `sudo`: the command behind the link is theirs, and needs no privileges.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::unistd::{Gid, Uid, User};

use super::ShellError;

/// The user of whom `sudo` says that they called it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    user: Uid,
    group: Gid,
    /// Their name, home and login shell, if the system knows them.
    known: Option<User>,
}

impl Caller {
    /// From `SUDO_UID` and `SUDO_GID` (sudo(8), ENVIRONMENT); `None` without `sudo`, or when root called it.
    ///
    /// # Errors
    /// When they are no numbers.
    pub fn of_sudo() -> Result<Option<Caller>, ShellError> {
        Caller::named(|name| std::env::var(name).ok())
    }

    pub(super) fn named(variable: impl Fn(&'static str) -> Option<String>) -> Result<Option<Caller>, ShellError> {
        let number = |name: &'static str| {
            let read = |text: String| text.parse::<u32>().map_err(|_| ShellError::Caller { name, text });
            variable(name).map(read).transpose()
        };
        let (Some(user), Some(group)) = (number("SUDO_UID")?, number("SUDO_GID")?) else { return Ok(None) };
        let user = Uid::from_raw(user);
        let known = User::from_uid(user).ok().flatten();
        Ok((!user.is_root()).then(|| Caller { user, group: Gid::from_raw(group), known }))
    }

    /// Their login shell, if the system knows it.
    pub fn shell(&self) -> Option<&OsStr> {
        self.known.as_ref().map(|user| user.shell.as_os_str()).filter(|shell| !shell.is_empty())
    }

    /// Has `command` run as them, in their home and with their name. Without supplementary groups: none is needed, and
    /// the standard library clears them.
    pub(super) fn run(&self, command: &mut Command) {
        command.uid(self.user.as_raw()).gid(self.group.as_raw());
        if let Some(user) = &self.known {
            command.env("HOME", &user.dir).env("USER", &user.name).env("LOGNAME", &user.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(user: Option<&str>, group: Option<&str>) -> Result<Option<Caller>, ShellError> {
        Caller::named(|name| if name == "SUDO_UID" { user } else { group }.map(str::to_owned))
    }

    #[test]
    fn sudo_names_its_caller_and_root_is_none() {
        let found = caller(Some("65534"), Some("65534")).unwrap().expect("a caller");
        assert_eq!((found.user.as_raw(), found.group.as_raw()), (65_534, 65_534));
        for (user, group) in [(None, None), (Some("0"), Some("0")), (Some("1000"), None)] {
            assert_eq!(caller(user, group).unwrap(), None);
        }
        let error = caller(Some("me"), Some("1")).unwrap_err().to_string();
        assert!(error.contains("SUDO_UID") && error.contains("\"me\""), "{error}");
    }
}
