//! dav1d's functions and structures, as the headers of 1.0.0 and 1.5.3 declare them (`include/dav1d/`).
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

use super::NEEDED;

/// The versions of the interface whose declarations are below: dav1d 1.0 to 1.2, and from 1.3 on. What is read and
/// written here is the same in both.
const NAMES: [&str; 2] = ["libdav1d.so.7", "libdav1d.so.6"];

/// Room for the parts of structures that are not declared here: they take less than 300 bytes in all versions.
type Rest = [u64; 64];

/// `Dav1dSettings`.
#[repr(C)]
#[allow(dead_code, reason = "dav1d reads and writes them")]
pub(super) struct Settings {
    pub(super) threads: c_int,
    pub(super) max_frame_delay: c_int,
    pub(super) apply_grain: c_int,
    pub(super) operating_point: c_int,
    pub(super) all_layers: c_int,
    /// In pixels; 0 for no limit.
    pub(super) frame_size_limit: c_uint,
    pub(super) allocator: [*mut c_void; 3],
    pub(super) logger_cookie: *mut c_void,
    /// Null for no messages.
    pub(super) logger: *mut c_void,
    rest: Rest,
}

/// `Dav1dData`, of which nothing is read here.
#[repr(C)]
pub(super) struct Data(Rest);

/// `Dav1dPicture`, with `Dav1dPictureParameters` in it.
#[repr(C)]
#[allow(dead_code, reason = "dav1d writes them")]
pub(super) struct Frame {
    headers: [*mut c_void; 2],
    pub(super) planes: [*mut c_void; 3],
    /// Bytes from a line to the next, of luma and of chroma; may be negative.
    pub(super) strides: [isize; 2],
    pub(super) width: c_int,
    pub(super) height: c_int,
    pub(super) layout: c_int,
    /// Bits of a sample.
    pub(super) bits: c_int,
    rest: Rest,
}

/// `DAV1D_PIXEL_LAYOUT_I420`.
pub(super) const LAYOUT_420: c_int = 1;

/// A structure as dav1d expects it before the first call.
pub(super) trait Empty: Sized {
    /// All zeros.
    fn empty() -> Self {
        // SAFETY: this trait is only implemented by structures of numbers and pointers.
        unsafe { std::mem::zeroed() }
    }
}

impl Empty for Settings {}
impl Empty for Data {}
impl Empty for Frame {}

/// A `Dav1dContext`.
pub(super) type Context = *mut c_void;

/// The functions that are called.
pub(super) struct Functions {
    pub(super) default_settings: unsafe extern "C" fn(*mut Settings),
    pub(super) open: unsafe extern "C" fn(*mut Context, *const Settings) -> c_int,
    pub(super) close: unsafe extern "C" fn(*mut Context),
    pub(super) data_create: unsafe extern "C" fn(*mut Data, usize) -> *mut u8,
    pub(super) data_unref: unsafe extern "C" fn(*mut Data),
    pub(super) send_data: unsafe extern "C" fn(Context, *mut Data) -> c_int,
    pub(super) get_picture: unsafe extern "C" fn(Context, *mut Frame) -> c_int,
    pub(super) flush: unsafe extern "C" fn(Context),
    pub(super) picture_unref: unsafe extern "C" fn(*mut Frame),
    /// Keeps the functions where they are.
    _library: Library,
}

/// The library, loaded by the first call, or why there is none.
pub(super) fn library() -> Result<&'static Functions, &'static str> {
    static LIBRARY: OnceLock<Result<Functions, String>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().map_err(String::as_str)
}

fn load() -> Result<Functions, String> {
    // SAFETY: the library is the system's own, found where the linker looks; it does nothing when it is loaded.
    let mut found = NAMES.iter().map(|name| unsafe { Library::new(*name) });
    let Some(library) = found.find_map(Result::ok) else { return Err(format!("not installed; needed is {NEEDED}")) };
    // SAFETY: libraries of these names have functions of these types.
    let functions =
        unsafe { Functions::of(library).map_err(|error| format!("cannot be used ({error}); needed is {NEEDED}"))? };
    Ok(functions)
}

impl Functions {
    /// # Safety
    /// The library must be a dav1d of one of [`NAMES`].
    unsafe fn of(library: Library) -> Result<Functions, libloading::Error> {
        // SAFETY: each function has its field's type, by the caller's promise and the headers.
        unsafe {
            Ok(Functions {
                default_settings: *library.get(c"dav1d_default_settings")?,
                open: *library.get(c"dav1d_open")?,
                close: *library.get(c"dav1d_close")?,
                data_create: *library.get(c"dav1d_data_create")?,
                data_unref: *library.get(c"dav1d_data_unref")?,
                send_data: *library.get(c"dav1d_send_data")?,
                get_picture: *library.get(c"dav1d_get_picture")?,
                flush: *library.get(c"dav1d_flush")?,
                picture_unref: *library.get(c"dav1d_picture_unref")?,
                _library: library,
            })
        }
    }
}
