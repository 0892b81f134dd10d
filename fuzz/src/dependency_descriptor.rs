//! Dependency descriptors, each parsed with the structure before it.

use thalweg_wire::rtp::dependency::{DependencyDescriptor, FrameNumber, Structure};

/// Parses descriptors one after the other, each after a byte with its length; writes each again and parses that.
pub fn dependency_descriptor(data: &[u8]) {
    let mut latest: Option<Structure> = None;
    let mut rest = data;
    while let Some((length, after)) = rest.split_first() {
        let (element, after) = after.split_at(usize::from(*length).min(after.len()));
        rest = after;
        let number = FrameNumber::parse(element);
        let Ok(read) = DependencyDescriptor::parse(element, latest.as_ref()) else { continue };
        assert_eq!(number, Ok(FrameNumber { starts: read.starts, frame: read.frame }));
        let bytes = read.to_bytes(latest.as_ref()).expect("what was read can be written");
        assert_eq!(DependencyDescriptor::parse(&bytes, latest.as_ref()), Ok(read.clone()));
        let references = read.references(latest.as_ref());
        assert!(references.into_iter().flatten().all(|back| (1..=4096).contains(&back)));
        if let Some(structure) = read.structure {
            latest = Some(structure);
        }
    }
}
