//! UDP that never blocks and counts every loss.

mod control;
#[cfg(test)]
mod tests;
mod unsent;

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use thalweg_units::{Bytes, Ecn};

use super::Source;
use control::{About, address};
pub use unsent::Transmit;
use unsent::Unsent;

/// Larger than any datagram (RFC 768: a length of 16 bits).
const LONGEST: usize = 1 << 16;
/// Datagrams read, and messages sent, by one system call. With more, the first of a batch would wait for the others to
/// be made: 32 packets take a busy publisher about 0.3 ms.
const AT_ONCE: usize = 32;

/// Options of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpConfig {
    /// Requested size of the kernel's buffers in each direction; [`UdpSocket::buffers`] returns the actual size. 4 MiB
    /// by default: half a second of 64 Mbps.
    pub buffer: Bytes,
    /// Maximum number of bytes queued here while the kernel's buffer is full; datagrams beyond it are dropped and
    /// counted. 4 MiB by default.
    pub unsent: Bytes,
    /// The maximum number of datagrams read at once, so that one busy socket does not starve the others. 256 by
    /// default.
    pub batch: usize,
}

impl Default for UdpConfig {
    fn default() -> UdpConfig {
        UdpConfig { buffer: Bytes::new(4 << 20), unsent: Bytes::new(4 << 20), batch: 256 }
    }
}

/// A received datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received<'a> {
    /// The address of the sender.
    pub from: SocketAddr,
    /// The local address that it was sent to: never a wildcard.
    pub to: SocketAddr,
    /// The ECN field of its IP packet.
    pub ecn: Ecn,
    /// Its payload.
    pub bytes: &'a [u8],
}

/// Counts of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UdpCounts {
    /// Datagrams read.
    pub received: u64,
    /// Received datagrams with each ECN field, in the order of [`Ecn::ALL`].
    pub received_by_ecn: [u64; 4],
    /// System calls that read datagrams, or found none.
    pub receive_calls: u64,
    /// Datagrams that arrived while the kernel's buffer was full.
    pub missed: u64,
    /// Datagrams the kernel took.
    pub sent: u64,
    /// Sent datagrams for which the kernel had no room at first.
    pub waited: u64,
    /// System calls that sent datagrams, or could not.
    pub send_calls: u64,
    /// Datagrams dropped because the queue was full.
    pub overflowed: u64,
    /// Datagrams that the kernel refused permanently: too long, or no route to their address.
    pub failed: u64,
    /// ICMP port-unreachable reports (connected sockets only).
    pub unreachable: u64,
}

/// A UDP socket.
///
/// Bound to a wildcard address, it still reports the local address that each datagram was sent to, and can send from
/// any of them ([`Transmit::from`]). A socket bound to an IPv6 address is for IPv6 only.
///
/// Datagrams that are sent together take few system calls ([`UdpSocket::push`]): those to several receivers share one
/// (`sendmmsg`), and those of equal length to one receiver are cut by the kernel out of one message (`UDP_SEGMENT`).
/// Received datagrams are read many at a time too (`recvmmsg`).
pub struct UdpSocket {
    socket: Socket,
    local: SocketAddr,
    config: UdpConfig,
    /// Room for [`AT_ONCE`] datagrams. The system provides memory for what is used of it.
    buffer: Box<[u8]>,
    unsent: Unsent,
    /// How many of `unsent` the kernel had no room for.
    waiting: usize,
    /// True if the kernel and the device cut messages into datagrams.
    segments: bool,
    counts: UdpCounts,
}

impl UdpSocket {
    /// A socket bound to `address`; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address is not local or is in use.
    pub fn bind(address: SocketAddr, config: &UdpConfig) -> io::Result<UdpSocket> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
            setsockopt(&socket, sockopt::Ipv6RecvTClass, &true)?;
        } else {
            setsockopt(&socket, sockopt::IpRecvTos, &true)?;
        }
        enlarge(&socket, config.buffer)?;
        // Adds the number of datagrams dropped by the kernel so far to each datagram.
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        if address.ip().is_unspecified() {
            if address.is_ipv6() {
                setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?;
            } else {
                setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
            }
        }
        socket.bind(&address.into())?;
        let local = socket.local_addr()?.as_socket().ok_or(ErrorKind::AddrNotAvailable)?;
        Ok(UdpSocket {
            socket,
            local,
            config: *config,
            buffer: vec![0; AT_ONCE * LONGEST].into_boxed_slice(),
            unsent: Unsent::default(),
            waiting: 0,
            segments: true,
            counts: UdpCounts::default(),
        })
    }

    /// Receives only from `peer` from now on, and gets its ICMP port-unreachable reports.
    ///
    /// # Errors
    /// When there is no route to it.
    pub fn connect(&mut self, peer: SocketAddr) -> io::Result<()> {
        self.socket.connect(&peer.into())?;
        self.local = self.socket.local_addr()?.as_socket().ok_or(ErrorKind::AddrNotAvailable)?;
        Ok(())
    }

    /// The address that it is bound to, with the actual port.
    pub fn local_address(&self) -> SocketAddr {
        self.local
    }

    /// The actual sizes of the kernel's receive and send buffers. The kernel charges a few hundred bytes of overhead
    /// for each datagram.
    ///
    /// # Errors
    /// When the kernel does not report them.
    pub fn buffers(&self) -> io::Result<(Bytes, Bytes)> {
        // The kernel reports twice the requested size (socket(7)).
        let half = |size: usize| Bytes::new(size as u64 / 2);
        Ok((half(self.socket.recv_buffer_size()?), half(self.socket.send_buffer_size()?)))
    }

    /// Counts so far.
    pub fn counts(&self) -> UdpCounts {
        self.counts
    }

    /// Sends queued datagrams, then passes received ones to `each`, at most one batch. Returns their number.
    pub fn receive(&mut self, mut each: impl FnMut(Received<'_>)) -> usize {
        self.flush();
        let mut count = 0;
        while count < self.config.batch {
            let most = AT_ONCE.min(self.config.batch - count);
            match self.read(most, &mut each) {
                Ok(read) => {
                    count += read;
                    if read < most {
                        break;
                    }
                }
                Err(Errno::EAGAIN) => break,
                // An ICMP error for an earlier datagram: it is reported once, and the next read continues.
                Err(_) => self.counts.unreachable += 1,
            }
        }
        count
    }

    /// Reads at most `most` datagrams with one system call.
    fn read(&mut self, most: usize, each: &mut impl FnMut(Received<'_>)) -> nix::Result<usize> {
        let UdpSocket { socket, local, buffer, counts, .. } = self;
        let mut parts: Vec<[IoSliceMut<'_>; 1]> =
            buffer.chunks_exact_mut(LONGEST).take(most).map(|part| [IoSliceMut::new(part)]).collect();
        // The kernel changes the headers, and nix does not set them again: they are for one call.
        let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(most, Some(control::received_space()));
        counts.receive_calls += 1;
        let mut read = 0;
        for message in recvmmsg(socket.as_raw_fd(), &mut headers, &mut parts, MsgFlags::MSG_DONTWAIT, None)? {
            read += 1;
            counts.received += 1;
            let about = About::of(message.cmsgs()?);
            counts.received_by_ecn[usize::from(about.ecn.bits())] += 1;
            if let Some(missed) = about.missed {
                counts.missed = u64::from(missed);
            }
            let Some(from) = message.address.as_ref().and_then(address) else { continue };
            let to = SocketAddr::new(about.to.unwrap_or(local.ip()), local.port());
            // An empty datagram has no part.
            let bytes = message.iovs().next().unwrap_or_default();
            each(Received { from, to, ecn: about.ecn, bytes });
        }
        Ok(read)
    }

    /// Sends `bytes` to `to` at once, from a local address chosen by the kernel.
    pub fn send(&mut self, to: SocketAddr, bytes: &[u8]) {
        self.transmit(Transmit { from: None, to, ecn: Ecn::NotCapable, bytes: bytes.to_vec() });
    }

    /// Sends one datagram at once.
    pub fn transmit(&mut self, transmit: Transmit) {
        self.push(transmit);
        self.flush();
    }

    /// Adds a datagram to those that the next [`UdpSocket::flush`] sends. It may leave before, as the system calls for
    /// what was added are due; so flush as soon as there is nothing more to add.
    pub fn push(&mut self, transmit: Transmit) {
        let size = Bytes::new(transmit.bytes.len() as u64);
        if self.unsent.bytes() + size > self.config.unsent {
            self.counts.overflowed += 1;
            return;
        }
        let is_wildcard = self.local.ip().is_unspecified();
        let from = transmit.from.filter(|from| is_wildcard && !from.is_unspecified());
        self.unsent.push(Transmit { from, ..transmit });
        if self.waiting == 0 && self.unsent.len() >= AT_ONCE {
            self.flush();
        }
    }

    /// Sends queued datagrams in order, as far as there is room.
    pub fn flush(&mut self) {
        while let Some((control, messages)) = self.unsent.messages(AT_ONCE, self.segments) {
            self.counts.send_calls += 1;
            match control::send(self.socket.as_raw_fd(), &self.unsent, control, &messages) {
                Ok(taken) => {
                    let taken = messages.iter().take(taken).sum::<usize>();
                    self.counts.sent += taken as u64;
                    self.forget(taken);
                }
                Err(Errno::EAGAIN) => {
                    self.waiting = self.unsent.len();
                    return;
                }
                // An ICMP error for an earlier datagram is reported here too; nothing has been sent then.
                Err(Errno::ECONNREFUSED) => self.counts.unreachable += 1,
                // A device that computes no checksums, or a path with a smaller MTU.
                Err(_) if control.segment.is_some() => self.segments = false,
                Err(_) => {
                    self.counts.failed += 1;
                    self.unsent.pop(1);
                    self.waiting = self.waiting.saturating_sub(1);
                }
            }
        }
        self.waiting = 0;
    }

    /// The kernel has taken this many of the queued datagrams.
    fn forget(&mut self, taken: usize) {
        self.unsent.pop(taken);
        let waited = self.waiting.min(taken);
        self.counts.waited += waited as u64;
        self.waiting -= waited;
    }
}

impl Source for UdpSocket {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn wants_to_write(&self) -> bool {
        !self.unsent.is_empty()
    }
}

/// Requests buffers of `size`, above the system's limit if permitted.
fn enlarge(socket: &Socket, size: Bytes) -> io::Result<()> {
    let size = usize::try_from(size.get()).unwrap_or(usize::MAX).min(i32::MAX as usize / 2);
    if setsockopt(socket, sockopt::RcvBufForce, &size).is_err() {
        socket.set_recv_buffer_size(size)?;
    }
    if setsockopt(socket, sockopt::SndBufForce, &size).is_err() {
        socket.set_send_buffer_size(size)?;
    }
    Ok(())
}
