//! Results of calls, and the message of the last one that failed.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;

use thalweg_driver::{DriverError, ParseError};
use thalweg_units::ConfigError;

/// The call did what it says.
pub const THALWEG_OK: i32 = 0;
/// A pointer is NULL that must not be, or not aligned.
pub const THALWEG_E_NULL: i32 = -1;
/// A structure's size is none, or it has fields that this version does not know and that are not zero.
pub const THALWEG_E_SIZE: i32 = -2;
/// A value is out of range: the message has the value, the range and the fix.
pub const THALWEG_E_CONFIG: i32 = -3;
/// The time lies before that of an earlier call, or too far after the first. Nothing has changed.
pub const THALWEG_E_TIME: i32 = -4;
/// A call or a number out of order: a key used twice, a frame nobody asked for. Nothing has changed.
pub const THALWEG_E_ORDER: i32 = -5;
/// Bytes or text that cannot be read. Nothing of them counts.
pub const THALWEG_E_PARSE: i32 = -6;
/// Another call on this handle has not returned: it runs in another thread, or has called this one back.
pub const THALWEG_E_BUSY: i32 = -7;
/// The library failed inside, now or earlier: the handle can only be freed. Please report it with the message.
pub const THALWEG_E_PANIC: i32 = -8;
/// This handle, scheme or mode has no such thing.
pub const THALWEG_E_UNSUPPORTED: i32 = -9;
/// There is not enough memory for what was passed.
pub const THALWEG_E_MEMORY: i32 = -10;

/// A failed call.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Error {
    pub(crate) fn new(code: i32, message: impl Display) -> Error {
        Error { code, message: message.to_string() }
    }

    /// A pointer that must not be NULL is.
    pub(crate) fn null(what: &str) -> Error {
        Error::new(THALWEG_E_NULL, format_args!("{what} is NULL"))
    }

    /// `what` is `value`, which is outside `range`.
    pub(crate) fn range(what: &str, value: impl Display, range: impl Display) -> Error {
        Error::new(THALWEG_E_CONFIG, ConfigError::out_of_range(what, value, range))
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Error {
        Error::new(THALWEG_E_CONFIG, error)
    }
}

impl From<DriverError> for Error {
    fn from(error: DriverError) -> Error {
        Error::new(THALWEG_E_ORDER, error)
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Error {
        Error::new(THALWEG_E_PARSE, error)
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the message for [`thalweg_last_error`]; returns the code.
pub(crate) fn failed(error: &Error) -> i32 {
    let message = CString::new(error.message.replace('\0', " ")).unwrap_or_default();
    // While a thread ends there is nobody to read it.
    let _ = LAST.try_with(|last| last.replace(message));
    error.code
}

/// The code of what a call did.
pub(crate) fn answer(done: Result<i32, Error>) -> i32 {
    done.unwrap_or_else(|error| failed(&error))
}

/// Why the last call of this thread failed that did: UTF-8, with the value, the range and the fix; empty if none has.
/// Valid until the next call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
