//! Frames in temporal layers: a loss in a higher layer does not stop the video.

use super::*;

/// The number of frames queued after `play`.
fn queued(world: &mut World) -> usize {
    world.outgoing.drain_events().filter(|timed| matches!(timed.event, Event::FrameQueued { .. })).count()
}

#[test]
fn every_frame_that_is_sent_in_layers_is_shown_with_dependency_descriptors_and_without() {
    for (codec, dependencies) in
        [(VideoCodec::Vp8, true), (VideoCodec::Vp8, false), (VideoCodec::Vp9, true), (VideoCodec::Vp9, false)]
    {
        let mut world = play("rebera", 0.0, |receiver| {
            (receiver.video, receiver.dependencies) = (vec![codec], dependencies);
        });
        assert_eq!(world.outgoing.video().extensions.dependencies.is_some(), dependencies);
        let (sent, statistics) = (queued(&mut world), world.incoming.statistics());
        assert!(
            world.shown.len() + 5 > sent && sent > 60,
            "{codec:?}: {} of {sent}: {statistics:?}",
            world.shown.len()
        );
        assert_eq!(
            (statistics.video.keyframes_requested, statistics.malformed, statistics.unknown),
            (0, 0, 0),
            "{codec:?}"
        );
    }
}

#[test]
fn of_vp8_more_is_shown_where_frames_name_what_they_refer_to() {
    let shown = [true, false].map(|dependencies| {
        let mut world = play("rebera", 0.03, |receiver| receiver.dependencies = dependencies);
        let sent = queued(&mut world);
        assert_exact(&world);
        assert!(world.shown.len() > sent / 4, "{} of {sent}", world.shown.len());
        world.shown.len()
    });
    assert!(shown[0] >= shown[1], "{shown:?}");
}
