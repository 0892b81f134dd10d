//! A controller for packets that another program sends: the program says what leaves and what arrived, and follows the
//! target. The path of 2 Mbps with 25 ms each way stands for the program's own network.

use std::collections::VecDeque;

use thalweg::driver::{Acked, Config, Departure, Driver};
use thalweg::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (path, delay, size) = (Rate::from_kbps(2000), Span::from_millis(25), Bytes::new(1200));
    let mut driver = Driver::named("gcc", Config::default())?;
    let (mut now, mut path_free, mut under_way) = (Time::ZERO, Time::ZERO, VecDeque::new());
    let (mut report, mut second) = (Time::from_millis(50), Time::from_millis(1000));
    for key in 0.. {
        driver.on_sent(now, Departure::new(key, size))?;
        path_free = path_free.max(now + delay) + path.time_for(size);
        under_way.push_back(Acked::new(key, Some(path_free), false));
        // The next packet leaves as the target allows; reports and the driver's own timer may come before it.
        now += driver.target().time_for(size);
        if driver.next_timeout() <= now {
            driver.on_timeout(now);
        }
        if now >= report {
            let arrived = under_way.partition_point(|packet| packet.arrival < Some(now - delay));
            driver.on_acks(now, &under_way.drain(..arrived).collect::<Vec<_>>(), None)?;
            report = now + Span::from_millis(50);
        }
        if now >= second {
            println!("{:2.0} s  target {}", now.as_secs_f64(), driver.target());
            second += Span::from_secs(1);
        }
        if now >= Time::ZERO + Span::from_secs(20) {
            break;
        }
    }
    Ok(())
}
