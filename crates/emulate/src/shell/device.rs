//! A TUN device served by this program.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, SyncDevice};

use crate::reactor::Source;

/// Larger than any IPv4 packet (RFC 791: a length of 16 bits).
const LONGEST: usize = 1 << 16;

/// A TUN device: packets that the kernel sends to it are read here, packets written here are received by the kernel.
/// Dropping this removes the device.
pub(super) struct Device {
    tun: SyncDevice,
    name: String,
    buffer: Vec<u8>,
}

impl Device {
    /// A new device in this thread's network namespace, down and without addresses.
    ///
    /// # Errors
    /// When the name is taken (`EBUSY`), or permission is missing.
    pub(super) fn create(name: &str) -> io::Result<Device> {
        let tun = DeviceBuilder::new().name(name).packet_information(false).enable(false).build_sync()?;
        tun.set_nonblocking(true)?;
        Ok(Device { tun, name: name.to_string(), buffer: vec![0; LONGEST] })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next waiting packet.
    pub(super) fn read(&mut self) -> Option<&[u8]> {
        let length = self.tun.recv(&mut self.buffer).ok()?;
        Some(&self.buffer[..length])
    }

    /// Passes a packet to the kernel.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        self.tun.send(packet).map(|_| ())
    }
}

impl Source for Device {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}
