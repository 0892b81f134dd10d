//! A peer that knows the passwords and sends whatever STUN it likes, signed.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Instant;

use is::{DefaultSha1HmacProvider, Sha1HmacProvider};
use thalweg_transport::{Config, Connection, Credentials, Identity, Output, Received, Remote, ufrag_of};
use thalweg_units::{Ecn, Span, Time};

use crate::steps::Steps;

/// Maximum number of messages: longer inputs take time without adding cases.
const MAX_STEPS: usize = 48;

const SUCCESS: u16 = 0x0101;
const INTEGRITY: u16 = 8;
const FINGERPRINT: u16 = 0x8028;

/// Messages of any type with any attributes, signed and not, from a few addresses. No message makes the connection send
/// more than an answer and a check; what is not signed makes it send nothing; a request that is accepted names it in the
/// way that a shared port looks for; and it sends to an address only after an answer from there to a check of its own.
#[allow(clippy::disallowed_methods)]
pub fn stun(data: &[u8]) {
    static SHARED: OnceLock<(Identity, Instant)> = OnceLock::new();
    let (identity, origin) = SHARED.get_or_init(|| (Identity::generate().expect("random numbers"), Instant::now()));
    let ours: SocketAddr = ([192, 0, 2, 1], 1000).into();
    let mut steps = Steps(data);
    let config = Config { controlling: steps.byte() & 1 != 0, ..Config::default() };
    let mut connection = Connection::new(config, identity, *origin).expect("a good configuration");
    connection.add_local(ours).expect("an address");
    let theirs = Credentials { ufrag: "peer".to_owned(), password: "0123456789012345678901".to_owned() };
    let local = connection.credentials().clone();
    let remote = Remote {
        credentials: theirs.clone(),
        fingerprint: identity.fingerprint(),
        candidates: vec!["candidate:1 1 udp 9 192.0.2.2 2000 typ host".to_owned()],
        lite: false,
    };
    connection.set_remote(Time::ZERO, &remote).expect("a good description");
    let mut now = Time::ZERO;
    // Checks of ours: transaction, and where it went.
    let mut checks: Vec<([u8; 12], SocketAddr)> = Vec::new();
    let mut answered = BTreeSet::new();
    for _ in 0..MAX_STEPS {
        if !steps.more() {
            break;
        }
        let what = steps.byte();
        if what & 0x80 != 0 {
            now += Span::from_millis(i64::from(steps.byte()) * 20);
            connection.on_timeout(now);
        }
        drain(&mut connection, &mut checks);
        let from: SocketAddr = ([192, 0, 2, 2], 2000 + u16::from(what >> 5 & 3)).into();
        let message = Message::of(&mut steps, what, &checks, (&local, &theirs));
        let before = connection.remote_address();
        let received = connection.on_datagram(now, from, ours, Ecn::NotCapable, &message.bytes);
        let sent = drain(&mut connection, &mut checks);
        match received {
            Received::Stun => {
                assert!(message.is_signed, "what is not signed is nobody's");
                assert!(sent <= 2, "{sent} datagrams for one");
                if message.bytes[..2] == [0, 1] {
                    assert_eq!(ufrag_of(&message.bytes), Some(local.ufrag.as_str()));
                }
                if message.kind == SUCCESS {
                    let known =
                        checks.iter().any(|(transaction, to)| message.bytes[8..20] == *transaction && *to == from);
                    assert!(known, "an answer to no check");
                    answered.insert(from);
                }
            }
            Received::Dropped(_) => assert_eq!(sent, 0, "nothing is sent for what is dropped"),
            other => panic!("{other:?} of STUN"),
        }
        let after = connection.remote_address();
        assert!(
            after == before || after.is_some_and(|address| answered.contains(&address)),
            "{after:?} never answered"
        );
    }
}

/// Takes the outputs; returns how many datagrams there were.
fn drain(connection: &mut Connection, checks: &mut Vec<([u8; 12], SocketAddr)>) -> usize {
    let mut sent = 0;
    loop {
        match connection.poll() {
            Output::Transmit(datagram) => {
                sent += 1;
                if datagram.bytes[..2] == [0, 1] {
                    checks.push((datagram.bytes[8..20].try_into().expect("a transaction"), datagram.to));
                }
                // The handshake begins when there is a path, with a flight of a few datagrams.
                if datagram.bytes[0] >= 20 {
                    sent -= 1;
                }
            }
            Output::Event(_) => {}
            Output::Wait { .. } => return sent,
        }
    }
}

struct Message {
    kind: u16,
    bytes: Vec<u8>,
    /// True if integrity and fingerprint are right.
    is_signed: bool,
}

impl Message {
    fn of(
        steps: &mut Steps,
        what: u8,
        checks: &[([u8; 12], SocketAddr)],
        (ours, theirs): (&Credentials, &Credentials),
    ) -> Message {
        let kind = match what & 7 {
            0..=2 => 0x0001,
            3 | 4 => SUCCESS,
            5 => 0x0111,
            6 => 0x0011,
            _ => steps.number(2) as u16 & 0x03ff,
        };
        let mut bytes = kind.to_be_bytes().to_vec();
        bytes.extend([0, 0, 0x21, 0x12, 0xa4, 0x42]);
        let back = usize::from(steps.byte());
        match checks.len().checked_sub(back + 1).map(|index| checks[index].0) {
            Some(transaction) if kind & 0x0100 != 0 => bytes.extend(transaction),
            _ => bytes.extend((0..12).map(|_| steps.byte())),
        }
        let username = format!("{}:{}", ours.ufrag, theirs.ufrag);
        for _ in 0..steps.byte() % 8 {
            let which = steps.byte();
            match which % 8 {
                0 => attribute(&mut bytes, 6, username.as_bytes()),
                1 => attribute(&mut bytes, 0x24, &steps.number(4).to_be_bytes()[4..]),
                2 => attribute(&mut bytes, 0x25, &[]),
                3 => attribute(&mut bytes, 0x8029 + u16::from(which >> 7), &steps.number(8).to_be_bytes()),
                4 => {
                    let value = [&[0, 1][..], &steps.number(6).to_be_bytes()[2..]].concat();
                    attribute(&mut bytes, 0x20, &value);
                }
                5 => attribute(&mut bytes, 9, &[0, 0, which >> 4, 87]),
                _ => {
                    let (kind, length) = (steps.number(2) as u16, steps.byte() % 40);
                    let value: Vec<u8> = (0..length).map(|_| steps.byte()).collect();
                    attribute(&mut bytes, kind, &value);
                }
            }
        }
        let is_signed = what & 8 == 0;
        // A request is signed by the password of who is asked, an answer by that of who answers.
        let password = if kind & 0x0110 == 0 { &ours.password } else { &theirs.password };
        let password = if is_signed { password.as_str() } else { "another" };
        set_length(&mut bytes, 24);
        let hmac = DefaultSha1HmacProvider.sha1_hmac(password.as_bytes(), &[bytes.as_slice()]);
        attribute(&mut bytes, INTEGRITY, &hmac);
        set_length(&mut bytes, 8);
        let has_fingerprint = what & 16 == 0;
        let value = crc32(&bytes) ^ 0x5354_554e ^ u32::from(!has_fingerprint);
        attribute(&mut bytes, FINGERPRINT, &value.to_be_bytes());
        Message { kind, bytes, is_signed: is_signed && has_fingerprint }
    }
}

fn attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    bytes.extend(kind.to_be_bytes());
    bytes.extend((value.len() as u16).to_be_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// Writes the length with so many bytes still to come.
fn set_length(bytes: &mut [u8], more: usize) {
    let length = (bytes.len() - 20 + more) as u16;
    bytes[2..4].copy_from_slice(&length.to_be_bytes());
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
