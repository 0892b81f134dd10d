//! A network device whose wire is this program.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, SyncDevice};

use crate::reactor::Source;

/// Longer than every IPv4 packet (RFC 791: a length of 16 bits).
const LONGEST: usize = 1 << 16;

/// A TUN device: what the kernel sends there is read here, what is written here comes to the kernel. It goes when this
/// does.
pub(super) struct Device {
    tun: SyncDevice,
    name: String,
    buffer: Vec<u8>,
}

impl Device {
    /// A new device in this thread's network, down and without addresses.
    ///
    /// # Errors
    /// When the name is taken (`EBUSY`), or we may not.
    pub(super) fn create(name: &str) -> io::Result<Device> {
        let tun = DeviceBuilder::new().name(name).packet_information(false).enable(false).build_sync()?;
        tun.set_nonblocking(true)?;
        Ok(Device { tun, name: name.to_string(), buffer: vec![0; LONGEST] })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next packet that waits.
    pub(super) fn read(&mut self) -> Option<&[u8]> {
        let length = self.tun.recv(&mut self.buffer).ok()?;
        Some(&self.buffer[..length])
    }

    /// Gives the kernel a packet.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        self.tun.send(packet).map(|_| ())
    }
}

impl Source for Device {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}
