//! Objects behind the pointers that callers hold: one call at a time, and none after a panic.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, THALWEG_E_BUSY, THALWEG_E_PANIC, answer};

/// State that calls of several threads take turns at.
#[derive(Debug)]
pub(crate) struct Handle<T> {
    /// Set while a call runs.
    busy: AtomicBool,
    /// Why it can be used no more.
    poison: UnsafeCell<Option<String>>,
    state: UnsafeCell<T>,
}

/// A type that callers know by a pointer only.
pub(crate) trait Opaque: Sized {
    /// The object's state.
    type State: Send;
    /// Its name in messages.
    const NAME: &'static str;

    fn new(handle: Handle<Self::State>) -> Self;
    fn handle(&self) -> &Handle<Self::State>;
    fn into_handle(self) -> Handle<Self::State>;
}

impl<T> Handle<T> {
    /// Runs `work` if no other call does.
    fn enter<R>(&self, work: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<R, Error> {
        if self.busy.swap(true, Ordering::Acquire) {
            let why =
                "another call on this handle has not returned: wait for it, and call no handle from its own callbacks";
            return Err(Error::new(THALWEG_E_BUSY, why));
        }
        // SAFETY: `busy` was false and is true now, so no other call has either.
        let (poison, state) = unsafe { (&mut *self.poison.get(), &mut *self.state.get()) };
        let done = match poison {
            Some(why) => Err(poisoned(why)),
            None => caught(|| work(state)).inspect_err(|error| {
                if error.code == THALWEG_E_PANIC {
                    *poison = Some(error.message.clone());
                }
            }),
        };
        self.busy.store(false, Ordering::Release);
        done
    }
}

fn poisoned(why: &str) -> Error {
    Error::new(THALWEG_E_PANIC, format_args!("this handle failed earlier ({why}): free it"))
}

/// Result of `work`; a panic becomes an error.
pub(crate) fn caught<R>(work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Error::new(THALWEG_E_PANIC, text.unwrap_or("a panic without a message")))
    })
}

/// Makes what a caller will hold.
///
/// # Safety
/// `out` is NULL or may be written.
pub(crate) unsafe fn make<O: Opaque>(out: *mut *mut O, state: impl FnOnce() -> Result<O::State, Error>) -> i32 {
    answer(caught(|| {
        if out.is_null() {
            return Err(Error::null("out"));
        }
        let (busy, poison) = (AtomicBool::new(false), UnsafeCell::new(None));
        let handle = O::new(Handle { busy, poison, state: UnsafeCell::new(state()?) });
        // SAFETY: it is not NULL.
        unsafe { out.write(Box::into_raw(Box::new(handle))) };
        Ok(0)
    }))
}

/// Runs `work` on what the caller holds, and answers by a code.
///
/// # Safety
/// `object` is NULL or was made by [`make`] and not freed.
pub(crate) unsafe fn call<O: Opaque>(object: *const O, work: impl FnOnce(&mut O::State) -> Result<i32, Error>) -> i32 {
    // SAFETY: as for this function.
    answer(unsafe { ask(object, work) })
}

/// The same for a call that answers by something else.
///
/// # Safety
/// As for [`call`].
pub(crate) unsafe fn ask<O: Opaque, R>(
    object: *const O,
    work: impl FnOnce(&mut O::State) -> Result<R, Error>,
) -> Result<R, Error> {
    // SAFETY: it is NULL or exists; calls share it, and `enter` lets one in at a time.
    let object = unsafe { object.as_ref() }.ok_or_else(|| Error::null(O::NAME))?;
    object.handle().enter(work)
}

/// Ends what the caller holds.
///
/// # Safety
/// As for [`call`]; afterwards it is freed, unless the answer is [`THALWEG_E_BUSY`].
pub(crate) unsafe fn free<O: Opaque>(object: *mut O) -> i32 {
    if object.is_null() {
        return 0;
    }
    answer(caught(|| {
        // SAFETY: as for this function.
        unsafe { take(object) }.map(drop)?;
        Ok(0)
    }))
}

/// Takes what the caller holds out of its hands.
///
/// # Safety
/// As for [`free`]; it is not NULL.
pub(crate) unsafe fn take<O: Opaque>(object: *mut O) -> Result<O::State, Error> {
    // SAFETY: it exists.
    let busy = unsafe { (*object).handle().busy.swap(true, Ordering::Acquire) };
    if busy {
        let why = format!("a call on this {} has not returned: free it when it has", O::NAME);
        return Err(Error::new(THALWEG_E_BUSY, why));
    }
    // SAFETY: it was made from a box, no call runs, and the caller makes none after this one.
    let object = unsafe { Box::from_raw(object) };
    Ok(object.into_handle().state.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    struct Counter(Handle<u32>);

    impl Opaque for Counter {
        type State = u32;
        const NAME: &'static str = "counter";

        fn new(handle: Handle<u32>) -> Counter {
            Counter(handle)
        }

        fn handle(&self) -> &Handle<u32> {
            &self.0
        }

        fn into_handle(self) -> Handle<u32> {
            self.0
        }
    }

    fn counter() -> *mut Counter {
        let mut out = null_mut();
        // SAFETY: `out` may be written.
        assert_eq!(unsafe { make(&raw mut out, || Ok(0)) }, 0);
        out
    }

    #[test]
    fn a_panic_is_answered_and_afterwards_the_handle_can_only_be_freed() {
        let counter = counter();
        let count = |work: fn(&mut u32) -> i32| {
            // SAFETY: made above.
            unsafe { call(counter, |state| Ok(work(state))) }
        };
        assert_eq!(count(|state| *state as i32), 0);
        assert_eq!(count(|_| panic!("on purpose")), THALWEG_E_PANIC);
        assert_eq!(count(|state| *state as i32), THALWEG_E_PANIC);
        // SAFETY: made above.
        assert_eq!(unsafe { free(counter) }, 0);
    }

    #[test]
    fn a_call_within_a_call_is_refused_and_so_is_an_end() {
        let counter = counter();
        // SAFETY: made above; the calls within do not free it.
        unsafe {
            let within = call(counter, |_| {
                assert_eq!(call(counter, |_| Ok(0)), THALWEG_E_BUSY);
                Ok(free(counter))
            });
            assert_eq!(within, THALWEG_E_BUSY);
            assert_eq!(call(counter, |_| Ok(7)), 7);
            assert_eq!(free(counter), 0);
            assert_eq!(free(null_mut::<Counter>()), 0);
        }
    }
}
