//! Texts in and out.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, THALWEG_E_PARSE};

/// The caller's text; `None` for NULL.
///
/// # Safety
/// `from` is NULL or ends with a zero byte, and does not change during the call.
pub(crate) unsafe fn text<'a>(from: *const c_char, name: &str) -> Result<Option<&'a str>, Error> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: as for this function.
    let text = unsafe { CStr::from_ptr(from) }.to_str();
    text.map(Some).map_err(|error| Error::new(THALWEG_E_PARSE, format_args!("{name} is not UTF-8: {error}")))
}

/// A static text as C's, as long as the program runs. There are as many as there are reasons and variables.
pub(crate) fn lasting(text: &'static str) -> *const c_char {
    static ALL: Mutex<BTreeMap<&str, CString>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    // Moving a `CString` leaves its bytes where they are, and none is ever removed.
    all.entry(text).or_insert_with(|| CString::new(text).unwrap_or_default()).as_ptr()
}
