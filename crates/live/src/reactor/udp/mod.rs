//! UDP that never blocks and counts every loss.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};
use socket2::{Domain, Protocol, Socket, Type};
use thalweg_units::Bytes;

use super::Source;

/// Larger than any datagram (RFC 768: a length of 16 bits).
const LONGEST: usize = 1 << 16;

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
    /// Its payload.
    pub bytes: &'a [u8],
}

/// The outcome of sending a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The kernel has taken it.
    Now,
    /// It is queued behind others until the kernel's buffer has room.
    Queued,
    /// The queue is full too, or the datagram cannot be sent; it is counted.
    Dropped,
}

/// Counts of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UdpCounts {
    /// Datagrams read.
    pub received: u64,
    /// Datagrams that arrived while the kernel's buffer was full.
    pub missed: u64,
    /// Datagrams the kernel took.
    pub sent: u64,
    /// Of these, those that were queued first.
    pub waited: u64,
    /// Datagrams dropped because the queue was full.
    pub overflowed: u64,
    /// Datagrams that the kernel refused permanently: too long, or no route to their address.
    pub failed: u64,
    /// ICMP port-unreachable reports (connected sockets only).
    pub unreachable: u64,
}

struct Unsent {
    from: Option<IpAddr>,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// A UDP socket.
///
/// Bound to a wildcard address, it still reports the local address that each datagram was sent to, and can send from
/// any of them ([`UdpSocket::send_from`]). A socket bound to an IPv6 address is for IPv6 only.
pub struct UdpSocket {
    socket: Socket,
    local: SocketAddr,
    config: UdpConfig,
    buffer: Box<[u8]>,
    control: Vec<u8>,
    unsent: VecDeque<Unsent>,
    unsent_bytes: Bytes,
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
        let control = nix::cmsg_space!(libc::in6_pktinfo, u32);
        Ok(UdpSocket {
            socket,
            local,
            config: *config,
            buffer: vec![0; LONGEST].into_boxed_slice(),
            control,
            unsent: VecDeque::new(),
            unsent_bytes: Bytes::ZERO,
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
        for count in 0..self.config.batch {
            match self.read() {
                Ok((length, from, to)) => {
                    self.counts.received += 1;
                    each(Received { from, to, bytes: &self.buffer[..length] });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return count,
                // An ICMP error for an earlier datagram: it is reported once, and the next read continues.
                Err(_) => self.counts.unreachable += 1,
            }
        }
        self.config.batch
    }

    fn read(&mut self) -> io::Result<(usize, SocketAddr, SocketAddr)> {
        let mut parts = [IoSliceMut::new(&mut self.buffer)];
        let message = recvmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &mut parts,
            Some(&mut self.control),
            MsgFlags::MSG_DONTWAIT,
        )?;
        let from = message.address.as_ref().and_then(address).ok_or(ErrorKind::InvalidData)?;
        let mut to = self.local;
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    to.set_ip(IpAddr::from(u32::from_be(info.ipi_addr.s_addr).to_be_bytes()));
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => to.set_ip(IpAddr::from(info.ipi6_addr.s6_addr)),
                ControlMessageOwned::RxqOvfl(missed) => self.counts.missed = u64::from(missed),
                _ => {}
            }
        }
        Ok((message.bytes, from, to))
    }

    /// Sends `bytes` to `to`, from a local address chosen by the kernel.
    pub fn send(&mut self, to: SocketAddr, bytes: &[u8]) -> Sent {
        self.enqueue(None, to, bytes)
    }

    /// Sends `bytes` to `to` from the local address `from`, which should be the one that the peer knows. Matters for
    /// sockets bound to a wildcard.
    pub fn send_from(&mut self, from: IpAddr, to: SocketAddr, bytes: &[u8]) -> Sent {
        let from = Some(from).filter(|from| self.local.ip().is_unspecified() && !from.is_unspecified());
        self.enqueue(from, to, bytes)
    }

    fn enqueue(&mut self, from: Option<IpAddr>, to: SocketAddr, bytes: &[u8]) -> Sent {
        if self.unsent.is_empty() {
            match self.write(from, to, bytes) {
                Ok(()) => {
                    self.counts.sent += 1;
                    return Sent::Now;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => {
                    self.counts.failed += 1;
                    return Sent::Dropped;
                }
            }
        }
        let size = Bytes::new(bytes.len() as u64);
        if self.unsent_bytes + size > self.config.unsent {
            self.counts.overflowed += 1;
            return Sent::Dropped;
        }
        self.unsent_bytes += size;
        self.unsent.push_back(Unsent { from, to, bytes: bytes.to_vec() });
        Sent::Queued
    }

    /// Sends queued datagrams in order, as far as there is room.
    pub fn flush(&mut self) {
        while let Some(first) = self.unsent.pop_front() {
            match self.write(first.from, first.to, &first.bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.unsent.push_front(first);
                    return;
                }
                Ok(()) => {
                    self.counts.sent += 1;
                    self.counts.waited += 1;
                }
                Err(_) => self.counts.failed += 1,
            }
            self.unsent_bytes -= Bytes::new(first.bytes.len() as u64);
        }
    }

    fn write(&mut self, from: Option<IpAddr>, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        match self.write_once(from, to, bytes) {
            // An ICMP error for an earlier datagram is reported here too; this datagram has not been sent then.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                self.counts.unreachable += 1;
                self.write_once(from, to, bytes)
            }
            done => done,
        }
    }

    fn write_once(&self, from: Option<IpAddr>, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        let Some(from) = from else {
            return self.socket.send_to(bytes, &to.into()).map(|_| ());
        };
        let (v4, v6);
        let control = match from {
            IpAddr::V4(from) => {
                let from = libc::in_addr { s_addr: u32::from(from).to_be() };
                v4 = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: from, ipi_addr: libc::in_addr { s_addr: 0 } };
                ControlMessage::Ipv4PacketInfo(&v4)
            }
            IpAddr::V6(from) => {
                v6 = libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: from.octets() }, ipi6_ifindex: 0 };
                ControlMessage::Ipv6PacketInfo(&v6)
            }
        };
        let to = SockaddrStorage::from(to);
        sendmsg(self.socket.as_raw_fd(), &[IoSlice::new(bytes)], &[control], MsgFlags::MSG_DONTWAIT, Some(&to))?;
        Ok(())
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

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddr::from(*address));
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::from(*address)))
}

#[cfg(test)]
mod tests;
