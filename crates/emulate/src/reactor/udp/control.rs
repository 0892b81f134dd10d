//! Control messages: what goes to the kernel, and comes from it, with a datagram beside its bytes.

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, SockaddrLike,
    SockaddrStorage, sendmmsg, sendmsg,
};
use thalweg_units::Ecn;

use super::unsent::{Control, Unsent};

/// Space for what the kernel tells about a received datagram: its local address, its ECN field, and how many were
/// dropped before it.
pub(super) fn received_space() -> Vec<u8> {
    nix::cmsg_space!(libc::in6_pktinfo, i32, u32)
}

/// The fields of a received datagram.
#[derive(Debug, Default)]
pub(super) struct About {
    pub(super) to: Option<IpAddr>,
    pub(super) ecn: Ecn,
    /// Datagrams that the kernel has dropped so far.
    pub(super) missed: Option<u32>,
}

impl About {
    pub(super) fn of(controls: impl Iterator<Item = ControlMessageOwned>) -> About {
        let mut about = About::default();
        for control in controls {
            match control {
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    about.to = Some(IpAddr::from(u32::from_be(info.ipi_addr.s_addr).to_be_bytes()));
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => about.to = Some(IpAddr::from(info.ipi6_addr.s6_addr)),
                ControlMessageOwned::Ipv4Tos(class) => about.ecn = Ecn::of_traffic_class(class),
                ControlMessageOwned::Ipv6TClass(class) => about.ecn = Ecn::of_traffic_class(class as u8),
                ControlMessageOwned::RxqOvfl(missed) => about.missed = Some(missed),
                _ => {}
            }
        }
        about
    }
}

/// Values that control messages borrow.
struct Values {
    v4: libc::in_pktinfo,
    v6: libc::in6_pktinfo,
    class: u8,
    class_v6: i32,
    segment: u16,
}

impl Control {
    /// Passes the control messages and the space for them to `with`.
    fn encoded<T>(self, with: impl FnOnce(&[ControlMessage<'_>], usize) -> T) -> T {
        let nowhere = libc::in_addr { s_addr: 0 };
        let mut values = Values {
            v4: libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: nowhere, ipi_addr: nowhere },
            v6: libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: [0; 16] }, ipi6_ifindex: 0 },
            class: self.ecn.bits(),
            class_v6: i32::from(self.ecn.bits()),
            segment: self.segment.unwrap_or(0),
        };
        match self.from {
            Some(IpAddr::V4(from)) => values.v4.ipi_spec_dst.s_addr = u32::from(from).to_be(),
            Some(IpAddr::V6(from)) => values.v6.ipi6_addr.s6_addr = from.octets(),
            None => {}
        }
        let (mut controls, mut space) = (Vec::with_capacity(3), 0);
        match self.from {
            Some(IpAddr::V4(_)) => {
                controls.push(ControlMessage::Ipv4PacketInfo(&values.v4));
                space += nix::cmsg_space!(libc::in_pktinfo).capacity();
            }
            Some(IpAddr::V6(_)) => {
                controls.push(ControlMessage::Ipv6PacketInfo(&values.v6));
                space += nix::cmsg_space!(libc::in6_pktinfo).capacity();
            }
            None => {}
        }
        match (self.ecn, self.ipv6) {
            (Ecn::NotCapable, _) => {}
            (_, false) => {
                controls.push(ControlMessage::Ipv4Tos(&values.class));
                space += nix::cmsg_space!(u8).capacity();
            }
            (_, true) => {
                controls.push(ControlMessage::Ipv6TClass(&values.class_v6));
                space += nix::cmsg_space!(i32).capacity();
            }
        }
        if self.segment.is_some() {
            controls.push(ControlMessage::UdpGsoSegments(&values.segment));
            space += nix::cmsg_space!(u16).capacity();
        }
        with(&controls, space)
    }
}

/// Gives the kernel these messages, the first ones of `unsent`, in one system call; returns how many of them it took.
pub(super) fn send(socket: RawFd, unsent: &Unsent, control: Control, messages: &[usize]) -> nix::Result<usize> {
    let (mut parts, mut to) = (Vec::with_capacity(messages.len()), Vec::with_capacity(messages.len()));
    let mut datagrams = unsent.iter();
    for count in messages {
        let of: Vec<_> = datagrams.by_ref().take(*count).collect();
        to.extend(of.first().map(|first| first.to));
        parts.push(of.into_iter().map(|transmit| IoSlice::new(&transmit.bytes)).collect());
    }
    // Addresses of their own types: the generic one is read before it is set.
    let v4 = |address: &SocketAddr| match address {
        SocketAddr::V4(address) => Some(SockaddrIn::from(*address)),
        SocketAddr::V6(_) => None,
    };
    let v6 = |address: &SocketAddr| match address {
        SocketAddr::V4(_) => None,
        SocketAddr::V6(address) => Some(SockaddrIn6::from(*address)),
    };
    control.encoded(|controls, space| match control.ipv6 {
        false => give(socket, &parts, &to.iter().map(v4).collect::<Vec<_>>(), controls, space),
        true => give(socket, &parts, &to.iter().map(v6).collect::<Vec<_>>(), controls, space),
    })
}

fn give<A: SockaddrLike + Copy>(
    socket: RawFd,
    parts: &[Vec<IoSlice<'_>>],
    to: &[Option<A>],
    controls: &[ControlMessage<'_>],
    space: usize,
) -> nix::Result<usize> {
    let flags = MsgFlags::MSG_DONTWAIT;
    if let ([parts], [to]) = (parts, to) {
        return sendmsg(socket, parts, controls, flags, to.as_ref()).map(|_| 1);
    }
    // The headers hold pointers, so a socket that moves between threads cannot keep them.
    let space = (space > 0).then(|| Vec::with_capacity(space));
    let mut headers = MultiHeaders::preallocate(parts.len(), space);
    sendmmsg(socket, &mut headers, parts, to, controls, flags).map(Iterator::count)
}
/// An address in the standard library's type.
pub(super) fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddr::from(*address));
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::from(*address)))
}
