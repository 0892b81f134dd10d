//! Several viewers of one encoder.

use std::sync::Arc;

use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::publish::{ChannelConfig, PublishConfig, Publisher};
use thalweg_live::watch::{Place, Report, WatchConfig, Watcher};
use thalweg_live::web::{Server, WebConfig};
use thalweg_netsim::Trace;
use thalweg_sender::Scheme;
use thalweg_units::{Size, Span};
use thalweg_video::Video;

use super::call::link;
use crate::alone;

/// Three viewers without a link and one behind a link of 200 kbps share one encoder for this long; returns their reports
/// and the publisher's metrics.
fn share(scheme: &str, span: Span) -> (Vec<Report>, String) {
    let clock = Clock::new();
    let local = "127.0.0.1:0".parse().expect("an address");
    let mut config = PublishConfig {
        video: Video::scene(Size::new(320, 180), 30),
        audio: None,
        encoders: Some(1),
        max_rate: Some("1Mbps".parse().expect("a rate")),
        ..PublishConfig::new(scheme.parse::<Scheme>().expect("a scheme"))
    };
    let mut slow = link(0.0, 10);
    slow.up.hops[0] =
        thalweg_netsim::HopConfig::Rate { rate: "200kbps".parse().expect("a rate"), queue: Default::default() };
    let slow = ChannelConfig { name: "slow".into(), link: Some(slow), ..config.channels[0].clone() };
    config.channels.push(slow);
    let mut none = |_: &str| -> Result<Arc<Trace>, String> { Err("no trace".into()) };
    let publisher = Publisher::start(config, clock, &mut none).expect("a publisher");
    let server = Server::start(WebConfig::new(local).expect("a server"), publisher.hub()).expect("a server");
    let watch = |channel: &str| {
        let place = Place::new(&format!("http://{}/", server.address()), None, Some(channel), None);
        let config = WatchConfig { reconnect: false, ..WatchConfig::new(place.expect("an address")) };
        Watcher::start(config, clock).expect("a watcher")
    };
    let watchers: Vec<Watcher> = ["main", "main", "main", "slow"].map(watch).into();
    let until = clock.now() + Span::from_secs(20);
    while watchers.iter().any(|watcher| watcher.report().sessions == 0) && clock.now() < until {
        pause(Span::from_millis(10));
    }
    pause(span);
    let metrics = publisher.hub().metrics();
    let report = |watcher: Watcher| {
        let (report, ended) = watcher.finish();
        ended.expect("it was watched to the end");
        report
    };
    let reports = watchers.into_iter().map(report).collect();
    server.stop();
    (reports, metrics)
}

#[test]
fn viewers_of_one_encoder_see_all_of_it_and_one_on_a_bad_path_less_without_cost_to_the_others() {
    alone(|| {
        for scheme in ["gcc", "vidaptive"] {
            let (reports, metrics) = share(scheme, Span::from_secs(12));
            let metric = |name: &str| -> f64 {
                let samples = metrics.lines().filter(|line| line.starts_with(name));
                samples.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
            };
            assert_eq!(metric("thalweg_shared_encoder_viewers"), 4.0, "{metrics}");
            assert_eq!(metrics.lines().filter(|line| line.starts_with("thalweg_shared_encoder_viewers{")).count(), 1);
            let (slow, others) = reports.split_last().expect("four");
            for report in others {
                assert_eq!(report.frames_undecodable, 0, "{scheme}: {report:?}");
                assert!(report.frame_rate_fps > 22.0 && report.longest_freeze_ms < 1000.0, "{scheme}: {report:?}");
                // At most one in three seconds is that of the slow one, and a few are of the beginning.
                assert!(report.keyframes <= 12, "{scheme}: {report:?}");
            }
            assert_eq!(slow.frames_undecodable, 0, "{scheme}: {slow:?}");
            assert!(slow.frames_decoded > 20 && slow.wire_bitrate_bps < 230e3, "{scheme}: {slow:?}");
        }
    });
}
