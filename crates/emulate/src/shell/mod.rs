//! A command behind an emulated link: all its IP packets pass the link, as in Mahimahi's shells.
//!
//! ```text
//!   network namespace                     this thread                      the machine
//!   command -- default route -> thalweg | -> up path   -> | thalweg0 -> its own addresses, or on to others
//!              100.64.0.2               | <- down path <- | 100.64.0.1
//! ```
//!
//! The namespace has no name: it ends with its last process, and both devices end with this process, even if it is
//! killed. Only address translation and forwarding, which let the command reach other machines, survive if the process
//! is killed with SIGKILL; otherwise they are restored too.

mod block;
mod caller;
mod device;
mod error;
mod network;
mod outside;
mod packet;
mod running;

use std::ffi::OsString;
use std::fmt::Display;
use std::sync::Arc;

use thalweg_netsim::Trace;
use thalweg_units::{Bytes, Span, Time};

use crate::clock::Clock;
use crate::reactor::{Poller, PollerConfig, Signals};
use crate::{EmulateError, EmulatedLink, LinkConfig, Statistics, Way};
use block::Block;
use device::Device;
use packet::Ipv4Packet;
use running::Running;

pub use caller::Caller;
pub use error::ShellError;

/// The environment variable with the command's block of addresses, such as `100.64.0.0/24`; a shell inside takes its
/// upper half.
pub const BLOCK_VARIABLE: &str = "THALWEG_SHELL";
/// The environment variable with the address of the machine outside.
pub const GATEWAY_VARIABLE: &str = "THALWEG_GATEWAY";

/// Interval between writes of the logs.
const TICK: Span = Span::from_secs(1);
/// Timeout for a command to end after a request.
const TIMEOUT: Span = Span::from_secs(2);
/// The maximum number of packets read at once in one direction, so that the other one is not starved.
const BATCH: usize = 256;

/// A command and the link that it runs behind.
#[derive(Debug, Clone)]
pub struct ShellConfig {
    /// The link; up is the direction of what the command sends.
    pub link: LinkConfig,
    /// A program and its arguments.
    pub command: Vec<OsString>,
    /// The user that it runs as; when absent root, as this program does.
    pub caller: Option<Caller>,
    /// The clock it runs by.
    pub clock: Clock,
    /// How its thread waits.
    pub poller: PollerConfig,
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its exit code, or 128 plus the number of the signal that ended it, as in shells.
    pub code: i32,
    /// The link's statistics.
    pub statistics: Statistics,
}

/// Runs a command in its own network namespace behind a link, until it ends. `find` returns a trace by its name; `say`
/// receives messages about what the command can and cannot reach.
///
/// Ctrl-C goes to the command alone, as in a shell; when terminated by `kill`, this ends the command first.
///
/// # Errors
/// When not run as root, without iproute2 or a TUN device, when a trace cannot be found or a parameter is out of range,
/// or when the program does not exist.
pub fn run<E: Display>(
    config: &ShellConfig,
    find: &mut (dyn FnMut(&str) -> Result<Arc<Trace>, E> + Send),
    say: &mut (dyn FnMut(&str) + Send),
) -> Result<Finished, ShellError> {
    if !rustix::process::geteuid().is_root() {
        return Err(ShellError::NotRoot);
    }
    config.poller.check().map_err(EmulateError::from)?;
    // Errors of the link are reported before anything is changed.
    drop(config.link.build::<Vec<u8>, E>(config.clock.now(), find)?);
    // From here on a signal ends this process only after its changes have been undone.
    let (interrupt, terminate) = (Signals::interrupt()?, Signals::terminate()?);
    let (outer, block) = claim()?;
    network::address(&outer, block.outer(), block.inner())?;
    network::route(&block.to_string(), &outer)?;
    let nested = std::env::var_os(BLOCK_VARIABLE).is_some();
    let _outside = if nested { None } else { outside::open(&block, &outer, say) };
    // A thread enters a namespace for its whole life.
    let inside = move || {
        let inner = enter(&block)?;
        let running = Running::start(&config.command, config.caller.as_ref(), &block)?;
        let link = config.link.build(config.clock.now(), find)?;
        Work {
            clock: config.clock,
            poller: Poller::new(config.clock, config.poller)?,
            inner,
            outer,
            link,
            running,
            interrupt,
            terminate,
            unsent: 0,
        }
        .run()
    };
    std::thread::scope(|scope| scope.spawn(inside).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Claims an address block with the outer device: the kernel gives out each device name only once.
fn claim() -> Result<(Device, Block), ShellError> {
    let around = std::env::var(BLOCK_VARIABLE).ok();
    let blocks: Vec<Block> = match &around {
        Some(text) => vec![Block::within(text)?],
        None => Block::all().collect(),
    };
    let mut last = None;
    for (index, block) in blocks.into_iter().enumerate() {
        match Device::create(&format!("thalweg{index}")) {
            Ok(device) => return Ok((device, block)),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => last = Some(error),
            Err(error) => return Err(ShellError::Device(error)),
        }
    }
    Err(ShellError::Device(last.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into())))
}

/// Moves this thread into a new network namespace, whose default route is the returned device.
fn enter(block: &Block) -> Result<Device, ShellError> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).map_err(|error| ShellError::Namespace(error.into()))?;
    let inner = Device::create("thalweg").map_err(ShellError::Device)?;
    network::loopback()?;
    network::address(&inner, block.inner(), block.outer())?;
    network::default_route(block.outer(), &inner)?;
    // For a shell inside this one, whose packets are forwarded by this namespace.
    network::set_forwarding(true)?;
    Ok(inner)
}

/// The state of the thread in the namespace.
struct Work {
    clock: Clock,
    poller: Poller,
    inner: Device,
    outer: Device,
    link: EmulatedLink<Ipv4Packet>,
    running: Running,
    /// Ctrl-C, which the command receives too.
    interrupt: Signals,
    terminate: Signals,
    unsent: u64,
}

impl Work {
    fn run(mut self) -> Result<Finished, ShellError> {
        let mut tick = self.clock.now() + TICK;
        let mut timeout = Time::NEVER;
        loop {
            let until = self.link.next_event().min(tick).min(timeout);
            let woken = self
                .poller
                .wait(until, &[&self.inner, &self.outer, &self.running, &self.interrupt, &self.terminate])?;
            self.release(woken.now);
            for (index, way) in [(0, Way::Up), (1, Way::Down)] {
                if woken.is_ready(index) {
                    self.read(way, woken.now);
                }
            }
            self.release(woken.now);
            if woken.now >= tick {
                self.link.flush(woken.now);
                tick = woken.now + TICK;
            }
            self.interrupt.take();
            if self.terminate.take() {
                self.running.ask_to_end();
                timeout = timeout.min(woken.now + TIMEOUT);
            }
            if woken.now >= timeout {
                self.running.end();
            }
            if let Some(code) = self.running.code()? {
                self.link.flush(self.clock.now());
                let statistics =
                    Statistics { unsent: self.unsent, clients_ever: 1, ..self.link.statistics(self.clock.now()) };
                return Ok(Finished { code, statistics });
            }
        }
    }

    fn read(&mut self, way: Way, now: Time) {
        let device = match way {
            Way::Up => &mut self.inner,
            Way::Down => &mut self.outer,
        };
        for _ in 0..BATCH {
            let Some(packet) = device.read() else { return };
            // The devices have no IPv6 addresses, but the kernel still sends IPv6 neighbour discovery.
            match Ipv4Packet::new(packet) {
                Some(packet) => {
                    let size = Bytes::new(packet.bytes().len() as u64);
                    self.link.offer(way, now, size, packet);
                }
                None => self.unsent += 1,
            }
        }
    }

    fn release(&mut self, now: Time) {
        let Work { clock, inner, outer, link, unsent, .. } = self;
        link.release(now, |way, packet| {
            let device = match way {
                Way::Up => &*outer,
                Way::Down => &*inner,
            };
            if device.write(packet.bytes()).is_err() {
                *unsent += 1;
            }
            clock.now()
        });
    }
}

#[cfg(test)]
mod tests;
