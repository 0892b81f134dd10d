//! Structures that say how large they are, so that programs and libraries of different versions understand each other.
//!
//! A structure that is smaller than this version's has default values in the fields that it lacks; one that is larger
//! is understood if all that is unknown is zero. Fields are only appended.

use std::mem::{align_of, size_of};

use crate::error::{Error, THALWEG_E_MEMORY, THALWEG_E_NULL, THALWEG_E_SIZE};

/// No structure will be larger: a greater size is memory that was never initialised.
const LARGEST: usize = 4096;

/// A structure whose first field is `size`.
///
/// # Safety
/// It is `repr(C)`, its first field is a `u32`, every bit pattern is a value of it, and it has no padding.
pub(crate) unsafe trait Structure: Copy {
    /// Its name in the header.
    const NAME: &'static str;
    /// Values of fields that the caller does not know.
    const DEFAULT: Self;
}

/// Reads a structure.
///
/// # Safety
/// `from` is NULL or points to as many bytes as its first field says.
pub(crate) unsafe fn read<T: Structure>(from: *const T) -> Result<T, Error> {
    // SAFETY: as for this function; `size` has checked that it is not NULL.
    unsafe {
        let size = size(from)?;
        copy(from.cast(), size)
    }
}

/// Reads `count` structures that lie one after the other, each as large as the first says.
///
/// # Safety
/// As for [`read`], for each of them.
pub(crate) unsafe fn read_all<T: Structure>(from: *const T, count: usize) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    if count == 0 {
        return Ok(all);
    }
    // SAFETY: there is at least one.
    let stride = unsafe { size(from) }?;
    fits(count, stride)?;
    all.try_reserve_exact(count).map_err(|_| Error::new(THALWEG_E_MEMORY, format_args!("{count} of {}", T::NAME)))?;
    for index in 0..count {
        // SAFETY: there are `count`, and all of them together are no larger than memory can be.
        let (one, size) = unsafe {
            let one = from.byte_add(index * stride);
            (one, size(one)?)
        };
        if size != stride {
            let why = format!("{}[{index}].size is {size}, must be that of the first, {stride}", T::NAME);
            return Err(Error::new(THALWEG_E_SIZE, why));
        }
        // SAFETY: the same.
        all.push(unsafe { copy(one.cast(), stride) }?);
    }
    Ok(all)
}

/// Writes as much of a structure as the caller knows; what the caller alone knows becomes zero.
///
/// # Safety
/// `to` is NULL or points to as many bytes as its first field says, and they may be written.
pub(crate) unsafe fn write<T: Structure>(to: *mut T, value: &T) -> Result<(), Error> {
    const FIRST: usize = size_of::<u32>();
    // SAFETY: as for this function; the first field stays.
    unsafe {
        let size = size(to.cast_const())?;
        let known = size.min(size_of::<T>());
        let (from, to) = ((&raw const *value).cast::<u8>(), to.cast::<u8>());
        to.add(FIRST).copy_from_nonoverlapping(from.add(FIRST), known - FIRST);
        to.add(known).write_bytes(0, size - known);
    }
    Ok(())
}

/// Numbers or bytes.
///
/// # Safety
/// `from` is NULL or points to `count` of them, which do not change during the call.
pub(crate) unsafe fn slice<'a, T: Copy>(from: *const T, count: usize, name: &str) -> Result<&'a [T], Error> {
    if count == 0 {
        return Ok(&[]);
    }
    if from.is_null() {
        return Err(Error::null(name));
    }
    if !from.is_aligned() {
        return Err(Error::new(THALWEG_E_NULL, format_args!("{name} is not aligned")));
    }
    fits(count, size_of::<T>())?;
    // SAFETY: as for this function, and it is neither NULL nor unaligned nor larger than memory can be.
    Ok(unsafe { std::slice::from_raw_parts(from, count) })
}

/// Checks that a structure can be written, before what will be written is taken from where it is.
///
/// # Safety
/// As for [`write`].
pub(crate) unsafe fn writable<T: Structure>(to: *mut T) -> Result<(), Error> {
    // SAFETY: as for this function.
    unsafe { size(to.cast_const()) }.map(drop)
}

fn fits(count: usize, stride: usize) -> Result<(), Error> {
    let bytes = count.checked_mul(stride).filter(|bytes| isize::try_from(*bytes).is_ok());
    bytes.map(drop).ok_or_else(|| Error::new(THALWEG_E_SIZE, format_args!("{count} elements of {stride} bytes")))
}

/// Structures one after the other, `stride` bytes apart as [`checked_size`] has allowed: each cut off, or filled with
/// zeros.
pub(crate) fn lay<T: Structure>(all: &[T], stride: u32) -> Vec<u64> {
    let stride = stride as usize;
    let mut memory = vec![0u64; (all.len() * stride).div_ceil(size_of::<u64>())];
    for (index, one) in all.iter().enumerate() {
        let known = stride.min(size_of::<T>());
        // SAFETY: there are `stride` bytes for each, and structures are bytes without padding.
        unsafe {
            let to = memory.as_mut_ptr().cast::<u8>().add(index * stride);
            to.copy_from_nonoverlapping((&raw const *one).cast(), known);
        }
    }
    memory
}

/// How large the caller says that it is.
///
/// # Safety
/// `from` is NULL or its first field may be read.
unsafe fn size<T: Structure>(from: *const T) -> Result<usize, Error> {
    if from.is_null() {
        return Err(Error::null(T::NAME));
    }
    // SAFETY: it is not NULL.
    checked_size::<T>(unsafe { from.cast::<u32>().read_unaligned() })
}

/// A size that some version of a structure can have.
pub(crate) fn checked_size<T: Structure>(size: u32) -> Result<usize, Error> {
    let bytes = size as usize;
    let whole = bytes.is_multiple_of(align_of::<T>()) && (align_of::<T>()..=LARGEST).contains(&bytes);
    let why =
        || format!("the size of {0} is {size}, must be sizeof({0}), {1} in this version", T::NAME, size_of::<T>());
    if whole { Ok(bytes) } else { Err(Error::new(THALWEG_E_SIZE, why())) }
}

/// # Safety
/// `from` points to `size` bytes.
unsafe fn copy<T: Structure>(from: *const u8, size: usize) -> Result<T, Error> {
    let mut value = T::DEFAULT;
    let known = size.min(size_of::<T>());
    // SAFETY: both are at least so long, and every bit pattern is a value.
    let unknown = unsafe {
        (&raw mut value).cast::<u8>().copy_from_nonoverlapping(from, known);
        std::slice::from_raw_parts(from.add(known), size - known)
    };
    if unknown.iter().all(|byte| *byte == 0) {
        return Ok(value);
    }
    let why = format!("{} has fields that this version does not know: leave what follows {known} bytes zero", T::NAME);
    Err(Error::new(THALWEG_E_SIZE, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq)]
    #[repr(C)]
    struct Two {
        size: u32,
        small: u32,
        first: u64,
        second: u64,
    }

    // SAFETY: numbers without gaps.
    unsafe impl Structure for Two {
        const NAME: &'static str = "two";
        const DEFAULT: Two = Two { size: 24, small: 1, first: 2, second: 3 };
    }

    #[repr(C)]
    struct Longer {
        known: Two,
        unknown: u64,
    }

    fn code(read: Result<impl Copy, Error>) -> i32 {
        read.err().map_or(0, |error| error.code)
    }

    #[test]
    fn a_shorter_structure_has_defaults_and_a_longer_one_may_have_zeros() {
        let shorter = Two { size: 16, small: 7, first: 8, second: 9 };
        let mut longer = Longer { known: Two { size: 32, ..shorter }, unknown: 0 };
        // SAFETY: each is at least as large as it says.
        unsafe {
            assert_eq!(read(&raw const shorter).unwrap(), Two { second: 3, ..shorter });
            assert_eq!(read((&raw const longer).cast::<Two>()).unwrap(), longer.known);
            longer.unknown = 1;
            assert_eq!(code(read((&raw const longer).cast::<Two>())), THALWEG_E_SIZE);
            write((&raw mut longer).cast::<Two>(), &Two::DEFAULT).unwrap();
            assert_eq!((longer.known, longer.unknown), (Two { size: 32, ..Two::DEFAULT }, 0));
            let mut shorter = shorter;
            write(&raw mut shorter, &Two::DEFAULT).unwrap();
            assert_eq!(shorter, Two { size: 16, second: 9, ..Two::DEFAULT });
        }
    }

    #[test]
    fn structures_are_laid_as_far_apart_as_an_older_or_a_newer_program_expects() {
        let two = |first| Two { first, ..Two::DEFAULT };
        let word = u64::from_ne_bytes([24u32.to_ne_bytes(), 1u32.to_ne_bytes()].concat().try_into().unwrap());
        assert_eq!(lay(&[two(7), two(8)], 16), [word, 7, word, 8]);
        assert_eq!(lay(&[two(7), two(8)], 32), [word, 7, 3, 0, word, 8, 3, 0]);
    }

    #[test]
    fn a_size_that_no_compiler_gives_is_refused_before_more_is_read() {
        for size in [0, 3, 4, 20, 4104, u32::MAX] {
            let two = Two { size, ..Two::DEFAULT };
            // SAFETY: only the first field is read.
            assert_eq!(code(unsafe { read(&raw const two) }), THALWEG_E_SIZE, "{size}");
        }
        // SAFETY: NULL is allowed.
        assert_eq!(code(unsafe { read(std::ptr::null::<Two>()) }), THALWEG_E_NULL);
    }

    #[test]
    fn an_array_is_as_wide_as_its_first_element_says() {
        let of = |first, size| Longer { known: Two { size, small: 0, first, second: 0 }, unknown: 0 };
        let (same, other) = ([of(1, 32), of(2, 32)], [of(1, 32), of(2, 24)]);
        // SAFETY: there are two of 32 bytes; a count that memory cannot hold is refused before anything is read.
        unsafe {
            let firsts: Vec<u64> =
                read_all::<Two>(same.as_ptr().cast(), 2).unwrap().iter().map(|one| one.first).collect();
            assert_eq!(firsts, [1, 2]);
            assert_eq!(read_all::<Two>(other.as_ptr().cast(), 2).unwrap_err().code, THALWEG_E_SIZE);
            assert_eq!(read_all::<Two>(same.as_ptr().cast(), usize::MAX).unwrap_err().code, THALWEG_E_SIZE);
            assert!(read_all::<Two>(std::ptr::null(), 0).unwrap().is_empty());
            assert_eq!(slice::<u64>(std::ptr::null(), 1, "keys").unwrap_err().code, THALWEG_E_NULL);
            let unaligned = same.as_ptr().cast::<u8>().add(1).cast::<u64>();
            assert_eq!(slice(unaligned, 1, "keys").unwrap_err().code, THALWEG_E_NULL);
        }
    }
}
