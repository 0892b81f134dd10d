//! GStreamer's events with transport-wide feedback.

use gst::glib;

/// The name of the events' structure (gstreamer's rtpsession.c and rtptwcc.c; docs/gstreamer.md).
pub(crate) const NAME: &str = "RTPTWCCPackets";

/// Report on a packet, from an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reported {
    /// Its transport-wide number, as the packet had it.
    pub(crate) number: u16,
    /// When the session took it, in nanoseconds of the system's clock.
    pub(crate) departed: u64,
    /// When it arrived, in nanoseconds of the receiver's clock; `None` if it is missing.
    pub(crate) arrived: Option<u64>,
    /// The size of its payload.
    pub(crate) payload: u32,
}

/// The packets of an event. Those that the session does not know any more have no time of departure and are left out.
pub(crate) fn read(structure: &gst::StructureRef) -> Vec<Reported> {
    let Ok(packets) = structure.get::<glib::ValueArray>("packets") else { return Vec::new() };
    packets.iter().filter_map(|packet| one(packet.get::<&gst::StructureRef>().ok()?)).collect()
}

fn one(packet: &gst::StructureRef) -> Option<Reported> {
    let time = |name| packet.get::<u64>(name).ok();
    let lost = packet.get::<bool>("lost").ok()?;
    Some(Reported {
        number: u16::try_from(packet.get::<u32>("seqnum").ok()?).ok()?,
        departed: time("local-ts")?,
        arrived: if lost { None } else { Some(time("remote-ts")?) },
        payload: packet.get::<u32>("size").ok()?,
    })
}
