//! Access of a command to other machines.

use super::ShellError;
use super::block::Block;
use super::device::Device;
use super::network::{call, set_forwarding};

/// The access to other machines, undone when dropped.
pub(super) struct Outside {
    translation: Translation,
    /// True if forwarding was off before, and is to be turned off again.
    restore: bool,
}

/// Address translation: packets from a block are sent with the machine's own address.
struct Translation {
    tool: Tool,
    block: String,
    device: String,
}

/// The program that configures address translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Nft,
    Iptables,
}

/// Lets packets from `block` out with the machine's own address, if this machine has a program for that; reports to
/// `say` what it did.
pub(super) fn open(block: &Block, device: &Device, say: &mut dyn FnMut(&str)) -> Option<Outside> {
    let mut problems = Vec::new();
    for (tool, name) in [(Tool::Nft, "nft"), (Tool::Iptables, "iptables")] {
        let translation = Translation { tool, block: block.to_string(), device: device.name().to_string() };
        if let Err(error) = translation.change(true) {
            problems.push(match error {
                ShellError::Setup { problem, .. } => format!("{name}: {problem}"),
                other => format!("{name}: {other}"),
            });
            continue;
        }
        let forwarded = set_forwarding(true);
        match &forwarded {
            Ok(_) => say(&format!("other machines are reached under this machine's address ({name} masquerade)")),
            Err(error) => say(&format!("other machines cannot be reached: forwarding cannot be put on ({error})")),
        }
        if names_are_local(&std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default()) {
            say("names are looked up at a loopback address, which is another one inside: they will not resolve");
        }
        return Some(Outside { translation, restore: forwarded.is_ok_and(|before| !before) });
    }
    say(&format!(
        "only this machine can be reached, at {}: to translate addresses for others it needs nft or iptables ({})",
        block.outer(),
        problems.join("; ")
    ));
    None
}

impl Translation {
    fn change(&self, add: bool) -> Result<(), ShellError> {
        let Translation { block, device, .. } = self;
        match (self.tool, add) {
            (Tool::Nft, true) => {
                let hook = "type nat hook postrouting priority 100";
                let rule = format!("ip saddr {block} oifname != \"{device}\" masquerade");
                call("nft", &["-f", "-"], &format!("table ip {device} {{\nchain out {{\n{hook}\n{rule}\n}}\n}}\n"))
            }
            (Tool::Nft, false) => call("nft", &["delete", "table", "ip", device], ""),
            (Tool::Iptables, _) => {
                let action = if add { "-A" } else { "-D" };
                let rule = ["-s", block, "!", "-o", device, "-j", "MASQUERADE"];
                call("iptables", &[&["-w", "-t", "nat", action, "POSTROUTING"][..], &rule].concat(), "")
            }
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // An error cannot be reported any more, and the leftover rule is harmless: its device is gone.
        let _ = self.translation.change(false);
        // Another shell may still need the forwarding.
        let mut others =
            (0..=255).map(|index| format!("thalweg{index}")).filter(|name| *name != self.translation.device);
        let needed = others.any(|name| std::path::Path::new("/sys/class/net").join(name).exists());
        if self.restore && !needed {
            let _ = set_forwarding(false);
        }
    }
}

/// Returns true if every server in `resolv.conf` has a loopback address.
fn names_are_local(text: &str) -> bool {
    let mut servers = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver")).map(str::trim).peekable();
    servers.peek().is_some() && servers.all(|server| server.starts_with("127.") || server == "::1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_local_when_every_server_is() {
        assert!(names_are_local("# a comment\nnameserver 127.0.0.53\noptions edns0\n"));
        assert!(!names_are_local("nameserver 127.0.0.1\nnameserver 192.0.2.1\n"));
        assert!(!names_are_local(""));
    }
}
