//! Whether somebody wants it all to end. Loops look now and then, since nobody else can end them; one flag for the whole
//! process, so that native code finds it with a load.

use std::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);

/// From now on loops end with an error.
pub fn request() {
    WANTED.store(true, Ordering::Relaxed);
}

/// Whether they are to.
pub fn wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// Where that stands, as a byte.
pub fn flag() -> *const bool {
    WANTED.as_ptr()
}
