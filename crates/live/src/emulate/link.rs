//! Both directions of a link, driven by the real clock.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thalweg_link::{PathConfig, Trace};
use thalweg_units::{Bytes, Seed, Time};

use super::direction::Direction;
use super::log::Log;
use super::{EmulateError, Statistics};

/// The start of the paths' time: the origin of a trace's timestamps and of an outage's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zero {
    /// When the first packet arrives, from either side.
    FirstPacket,
    /// When the emulator starts.
    #[default]
    Start,
    /// At an instant of the emulator's clock. Until then the paths stay in their initial state.
    At(Time),
}

/// A direction of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Out of the shell, or from the client to the server unless
    /// [`RelayConfig::clients_send`](super::RelayConfig::clients_send) says otherwise.
    Up,
    /// The opposite direction.
    Down,
}

impl Way {
    /// The opposite direction.
    pub fn back(self) -> Way {
        match self {
            Way::Up => Way::Down,
            Way::Down => Way::Up,
        }
    }
}

/// A link to emulate.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkConfig {
    /// [`Way::Up`].
    pub up: PathConfig,
    /// [`Way::Down`].
    pub down: PathConfig,
    /// The seed of every random choice: with the same seed a scenario loses the same packets here and in the simulator.
    pub seed: Seed,
    /// The start of the paths' time.
    pub zero: Zero,
    /// The maximum number of bytes that each direction holds in memory, including queues without limits; packets beyond
    /// it are dropped and counted as `overflowed`. 64 MiB by default: five seconds of 100 Mbps.
    pub max_inside: Bytes,
    /// Where to log each packet, in Mahimahi's format: two files, this name with `.up` and with `.down` appended.
    pub log: Option<PathBuf>,
}

impl Default for LinkConfig {
    /// No delay and no limit in either direction.
    fn default() -> LinkConfig {
        LinkConfig {
            up: PathConfig::default(),
            down: PathConfig::default(),
            seed: Seed::new(1),
            zero: Zero::default(),
            max_inside: Bytes::new(64 << 20),
            log: None,
        }
    }
}

impl LinkConfig {
    /// An empty link at the instant `now` of the clock that will drive it. `find` returns a trace by its name.
    ///
    /// # Errors
    /// When a trace cannot be found, a parameter is out of range, or the log cannot be written.
    pub fn build<P: Send + 'static, E: Display>(
        &self,
        now: Time,
        find: &mut dyn FnMut(&str) -> Result<Arc<Trace>, E>,
    ) -> Result<EmulatedLink<P>, EmulateError> {
        // The same stream names as in the simulator: the same seed makes the same choices.
        let up = self.direction("up", &self.up, find)?;
        let down = self.direction("down", &self.down, find)?;
        let zero = match self.zero {
            Zero::FirstPacket => None,
            Zero::Start => Some(now),
            Zero::At(at) => Some(at),
        };
        Ok(EmulatedLink { up, down, zero })
    }

    fn direction<P: Send + 'static, E: Display>(
        &self,
        way: &'static str,
        config: &PathConfig,
        find: &mut dyn FnMut(&str) -> Result<Arc<Trace>, E>,
    ) -> Result<Direction<P>, EmulateError> {
        let mut find = |name: &str| find(name).map_err(|error| error.to_string());
        let path = config
            .build(self.seed.child(way), &mut find)
            .map_err(|error| EmulateError::Path { way, problem: error.to_string() })?;
        let log = self.log.as_ref().map(|name| {
            let path = with_suffix(name, way);
            Log::create(&path, config, |name| find(name).ok()).map_err(|source| EmulateError::Log { path, source })
        });
        Ok(Direction::new(path, self.max_inside, log.transpose()?))
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// A link whose packets are offered and forwarded by the real clock. All times are of that clock.
pub struct EmulatedLink<P> {
    up: Direction<P>,
    down: Direction<P>,
    /// When the paths' time began; `None` until the first packet.
    zero: Option<Time>,
}

impl<P> EmulatedLink<P> {
    /// A packet of `size` bytes, counted from the IP header on, arrives. Everything due by `now` has been released.
    pub fn offer(&mut self, way: Way, now: Time, size: Bytes, packet: P) {
        let zero = *self.zero.get_or_insert(now);
        self.direction(way).offer(Time::ZERO + (now - zero), size, packet);
    }

    /// Passes every packet due by `now` to `pass_on`, in order of time within each direction; `pass_on` returns the
    /// time at which it forwarded the packet.
    pub fn release(&mut self, now: Time, mut pass_on: impl FnMut(Way, P) -> Time) {
        let Some(zero) = self.zero else { return };
        for way in [Way::Up, Way::Down] {
            let direction = self.direction(way);
            while let Some(departure) = direction.poll(Time::ZERO + (now - zero)) {
                let actual = pass_on(way, departure.packet);
                direction.passed_on(departure.at, Time::ZERO + (actual - zero));
            }
        }
    }

    /// When the next packet is due; [`Time::NEVER`] while the link is empty.
    pub fn next_event(&self) -> Time {
        let next = self.up.next_event().min(self.down.next_event());
        match self.zero {
            Some(zero) if next.is_set() => zero + next.since_start(),
            _ => Time::NEVER,
        }
    }

    /// Writes the logs up to `now`.
    pub fn flush(&mut self, now: Time) {
        let now = self.zero.map_or(Time::ZERO, |zero| Time::ZERO + (now - zero));
        self.up.flush(now);
        self.down.flush(now);
    }

    /// Statistics so far; the counts of clients and sockets are zero.
    pub fn statistics(&self, now: Time) -> Statistics {
        let duration = self.zero.map_or_else(Default::default, |zero| (now - zero).max(Default::default()));
        Statistics { duration, up: self.up.statistics(), down: self.down.statistics(), ..Statistics::default() }
    }

    fn direction(&mut self, way: Way) -> &mut Direction<P> {
        match way {
            Way::Up => &mut self.up,
            Way::Down => &mut self.down,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_link::{DropReason, HopConfig, Jitter, LossModel};
    use thalweg_units::Span;

    fn find(name: &str) -> Result<Arc<Trace>, String> {
        if name == "slow" { Ok(Arc::new(Trace::new(vec![12]).unwrap())) } else { Err(format!("no trace '{name}'")) }
    }

    fn bottleneck(trace: &str) -> PathConfig {
        PathConfig { hops: vec![HopConfig::Bottleneck { trace: trace.into(), queue: Default::default(), once: false }] }
    }

    fn released(link: &mut EmulatedLink<u32>, now: Time) -> Vec<(Way, u32)> {
        let mut all = Vec::new();
        link.release(now, |way, packet| {
            all.push((way, packet));
            now
        });
        all
    }

    #[test]
    fn time_zero_is_the_first_packet_the_start_or_a_given_instant() {
        let at = Time::from_millis(1_005);
        for (zero, due) in
            [(Zero::FirstPacket, 1_017), (Zero::Start, 1_012), (Zero::At(Time::from_millis(1_002)), 1_014)]
        {
            let config = LinkConfig { up: bottleneck("slow"), zero, ..LinkConfig::default() };
            let mut link = config.build(Time::from_millis(1_000), &mut find).unwrap();
            assert_eq!(link.next_event(), Time::NEVER);
            link.offer(Way::Up, at, Bytes::new(1500), 7);
            assert_eq!(link.next_event(), Time::from_millis(due));
            assert_eq!(released(&mut link, Time::from_millis(due - 1)), []);
            assert_eq!(released(&mut link, Time::from_millis(due)), [(Way::Up, 7)]);
            let statistics = link.statistics(Time::from_millis(due + 1));
            assert_eq!((statistics.up.delivered, statistics.up.inside), (1, Bytes::ZERO));
            assert_eq!(statistics.up.lateness.max(), Span::ZERO);
        }
    }

    #[test]
    fn each_direction_is_its_own() {
        let delay = HopConfig::Delay { delay: Span::from_millis(3), jitter: Jitter::None, reorders: false };
        let down = PathConfig { hops: vec![delay] };
        let config = LinkConfig { up: bottleneck("slow"), down, ..LinkConfig::default() };
        let mut link = config.build(Time::ZERO, &mut find).unwrap();
        link.offer(Way::Up, Time::from_millis(1), Bytes::new(1500), 1);
        link.offer(Way::Down, Time::from_millis(1), Bytes::new(1500), 2);
        assert_eq!(link.next_event(), Time::from_millis(4));
        assert_eq!(released(&mut link, Time::from_millis(20)), [(Way::Up, 1), (Way::Down, 2)]);
        assert_eq!(link.next_event(), Time::NEVER);
    }

    #[test]
    fn what_a_link_holds_is_bounded_and_what_is_too_much_is_counted() {
        let config = LinkConfig { up: bottleneck("slow"), max_inside: Bytes::new(3_500), ..LinkConfig::default() };
        let mut link = config.build(Time::ZERO, &mut find).unwrap();
        (0..4).for_each(|number| link.offer(Way::Up, Time::ZERO, Bytes::new(1500), number));
        let statistics = link.statistics(Time::ZERO).up;
        assert_eq!((statistics.packets, statistics.overflowed, statistics.inside), (4, 2, Bytes::new(3_000)));
        assert_eq!(released(&mut link, Time::from_millis(100)).len(), 2);
    }

    #[test]
    fn drops_are_counted_by_reason_and_leave_room() {
        let up = PathConfig { hops: vec![HopConfig::Loss(LossModel::Random { probability: 1.0 })] };
        let mut link = LinkConfig { up, ..LinkConfig::default() }.build(Time::ZERO, &mut find).unwrap();
        (0..3).for_each(|number| link.offer(Way::Up, Time::ZERO, Bytes::new(1500), number));
        assert_eq!(released(&mut link, Time::from_millis(1)), []);
        let statistics = link.statistics(Time::from_millis(1));
        assert_eq!(statistics.up.dropped.get(&DropReason::Lost), Some(&3));
        assert_eq!(statistics.up.inside, Bytes::ZERO);
        assert_eq!(statistics.json()["up"]["dropped"]["lost"], 3);
    }

    #[test]
    fn an_unknown_trace_and_a_log_nowhere_say_so() {
        let config = LinkConfig { down: bottleneck("fast"), ..LinkConfig::default() };
        let message = config.build::<u32, _>(Time::ZERO, &mut find).err().unwrap().to_string();
        assert_eq!(message, "the down path: no trace 'fast'");
        let config = LinkConfig { log: Some("/nowhere/at/all".into()), ..LinkConfig::default() };
        let message = config.build::<u32, _>(Time::ZERO, &mut find).err().unwrap().to_string();
        assert!(message.contains("/nowhere/at/all.up"), "{message}");
    }
}
