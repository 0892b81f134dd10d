//! Both directions of a link, driven by the real clock.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thalweg_netsim::{Change, HopConfig, LossModel, Packet, PathConfig, Trace};
use thalweg_units::{Bytes, Seed, Span, Time};

use super::direction::Direction;
use super::handle::LinkState;
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

/// The delay of a path as a whole at its beginning, and the probability of its random loss; `None` where it has no hop
/// for them.
fn delay_and_loss(path: &PathConfig) -> (Option<Span>, Option<f64>) {
    let delays = path.hops.iter().filter_map(|hop| match hop {
        HopConfig::Delay { delay, .. } => Some(delay.at(Time::ZERO).0),
        _ => None,
    });
    let loss = path.hops.iter().find_map(|hop| match hop {
        HopConfig::Loss(LossModel::Random { probability }) => Some(*probability),
        _ => None,
    });
    (delays.reduce(|sum, delay| sum + delay), loss)
}

impl LinkConfig {
    /// The same link, with hops for delay and random loss in both directions, so that these can be changed. Hops are
    /// added behind the others, whose random choices stay the same.
    #[must_use]
    pub fn adjustable(mut self) -> LinkConfig {
        for path in [&mut self.up, &mut self.down] {
            let (delay, loss) = delay_and_loss(path);
            if loss.is_none() {
                path.hops.push(HopConfig::Loss(LossModel::Random { probability: 0.0 }));
            }
            if delay.is_none() {
                path.hops.push(HopConfig::delay(Span::ZERO));
            }
        }
        self
    }

    /// An empty link at the instant `now` of the clock that will drive it. `find` returns a trace by its name.
    ///
    /// # Errors
    /// When a trace cannot be found, a parameter is out of range, or the log cannot be written.
    pub fn build<P: Packet + Send + 'static, E: Display>(
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
        let (delay, loss) = delay_and_loss(&self.up);
        let capacity = up.capacity().clone();
        let state = LinkState {
            zero,
            path: capacity,
            rate: None,
            delay: delay.unwrap_or_default(),
            loss: loss.unwrap_or_default(),
        };
        Ok(EmulatedLink { up, down, zero, state })
    }

    fn direction<P: Packet + Send + 'static, E: Display>(
        &self,
        way: &'static str,
        config: &PathConfig,
        find: &mut dyn FnMut(&str) -> Result<Arc<Trace>, E>,
    ) -> Result<Direction<P>, EmulateError> {
        let mut find = |name: &str| find(name).map_err(|error| error.to_string());
        if config.hops.iter().any(|hop| matches!(hop, HopConfig::Duplicate { .. })) {
            let problem = "an emulated link does not duplicate packets: remove the hop 'duplicate'".into();
            return Err(EmulateError::Path { way, problem });
        }
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
    state: LinkState,
}

impl<P: Packet> EmulatedLink<P> {
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

    /// Changes the link at `now`: the rate of the way up, delay and loss of both. Everything due by `now` has been
    /// released.
    pub fn change(&mut self, now: Time, change: &Change) {
        let at = self.zero.map_or(Time::ZERO, |zero| Time::ZERO + (now - zero));
        self.up.change(at, change);
        match change {
            Change::Rate(rate) => {
                self.state.rate = *rate;
                self.state.path = self.up.capacity().clone();
            }
            Change::Delay(delay) => self.state.delay = *delay,
            Change::Loss(loss) => self.state.loss = *loss,
        }
        if !matches!(change, Change::Rate(_)) {
            self.down.change(at, change);
        }
    }

    /// Returns true once the paths' time has begun.
    pub fn begun(&self) -> bool {
        self.zero.is_some()
    }

    /// Its capacity and what can be changed, as it is now.
    pub fn state(&self) -> LinkState {
        LinkState { zero: self.zero, ..self.state.clone() }
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
    use thalweg_netsim::DropReason;
    use thalweg_units::Rate;

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
        let delay = HopConfig::delay(Span::from_millis(3));
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
    fn a_changed_rate_is_that_of_the_way_up_delay_and_loss_are_those_of_both() {
        let rate = HopConfig::Rate { rate: "12Mbps/6Mbps@1s".parse().unwrap(), queue: Default::default() };
        let path = PathConfig { hops: vec![rate] };
        let config = LinkConfig { up: path.clone(), down: path, ..LinkConfig::default() }.adjustable();
        assert_eq!(config.up.hops.len(), 3);
        assert_eq!(config.clone().adjustable(), config);
        let mut link = config.build(Time::ZERO, &mut find).unwrap();
        let at = |link: &EmulatedLink<u32>, millis| link.state().capacity(Time::from_millis(millis));
        assert_eq!([500, 1_500].map(|ms| at(&link, ms)), [12_000, 6_000].map(|kbps| Some(Rate::from_kbps(kbps))));
        let now = Time::from_millis(10);
        link.change(now, &Change::Rate(Some(Rate::from_kbps(1_200))));
        link.change(now, &Change::Delay(Span::from_millis(7)));
        for way in [Way::Up, Way::Down] {
            link.offer(way, now, Bytes::new(1500), 1);
            // One at 1.2 Mbps, the other at 12.
            let due = if way == Way::Up { 10 + 10 + 7 } else { 10 + 1 + 7 };
            assert_eq!(released(&mut link, Time::from_millis(due - 1)), []);
            assert_eq!(released(&mut link, Time::from_millis(due)), [(way, 1)]);
        }
        assert_eq!(at(&link, 1_500), Some(Rate::from_kbps(1_200)));
        link.change(Time::from_millis(40), &Change::Loss(1.0));
        link.offer(Way::Up, Time::from_millis(40), Bytes::new(1500), 2);
        link.offer(Way::Down, Time::from_millis(40), Bytes::new(1500), 3);
        link.change(Time::from_millis(60), &Change::Rate(None));
        assert_eq!(released(&mut link, Time::from_millis(100)), []);
        let state = link.state();
        assert_eq!((state.rate, state.delay, state.loss), (None, Span::from_millis(7), 1.0));
        assert_eq!(at(&link, 500), Some(Rate::from_kbps(12_000)));
    }

    #[test]
    fn the_capacity_of_a_trace_is_its_mean_over_half_a_second_and_unknown_before_the_first_packet() {
        let config = LinkConfig { up: bottleneck("slow"), zero: Zero::FirstPacket, ..LinkConfig::default() };
        let mut link = config.build::<u32, _>(Time::ZERO, &mut find).unwrap();
        assert_eq!(link.state().capacity(Time::from_millis(700)), None);
        link.offer(Way::Up, Time::from_millis(100), Bytes::new(1500), 1);
        let capacity = link.state().capacity(Time::from_millis(700)).unwrap().as_mbps_f64();
        assert!((0.97..1.03).contains(&capacity), "{capacity}");
    }

    #[test]
    fn an_unknown_trace_a_log_nowhere_and_duplication_are_refused_by_name() {
        let config = LinkConfig { down: bottleneck("fast"), ..LinkConfig::default() };
        let message = config.build::<u32, _>(Time::ZERO, &mut find).err().unwrap().to_string();
        assert_eq!(message, "the down path: no trace 'fast'");
        let config = LinkConfig { log: Some("/nowhere/at/all".into()), ..LinkConfig::default() };
        let message = config.build::<u32, _>(Time::ZERO, &mut find).err().unwrap().to_string();
        assert!(message.contains("/nowhere/at/all.up"), "{message}");
        let up = PathConfig { hops: vec![HopConfig::Duplicate { probability: 0.1, after: Span::ZERO }] };
        let config = LinkConfig { up, ..LinkConfig::default() };
        let message = config.build::<u32, _>(Time::ZERO, &mut find).err().unwrap().to_string();
        assert_eq!(message, "the up path: an emulated link does not duplicate packets: remove the hop 'duplicate'");
    }
}
