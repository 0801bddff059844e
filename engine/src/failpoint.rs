//! Named places at which a test of the engine makes a change fail or the process end.
//!
//! In the product, `failpoint!` expands to nothing. Not here: the test (`tests::failpoints`).

/// Marks a place of a function that returns [`crate::error::Result`].
macro_rules! failpoint {
    ($place:literal) => {
        #[cfg(test)]
        crate::failpoint::armed::reach($place)?;
    };
}
pub(crate) use failpoint;

#[cfg(test)]
pub(crate) mod armed {
    use crate::error::{Error, Result};
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    /// What happens at a place.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Action {
        /// The process ends at once.
        Abort,
        /// The change fails, once.
        Error,
    }

    /// A place, and at which of its hits something happens; hits are counted from 1.
    #[derive(Debug, Clone)]
    pub(crate) struct Failpoint {
        pub place: String,
        pub hit: u32,
        pub action: Action,
    }

    #[derive(Default)]
    struct Armed {
        failpoint: Option<Failpoint>,
        hits: BTreeMap<&'static str, u32>,
    }

    thread_local! {
        static ARMED: RefCell<Armed> = RefCell::default();
    }

    /// Arms a place for this thread, or none, and counts hits from 0 again.
    pub(crate) fn arm(failpoint: Option<Failpoint>) {
        ARMED.set(Armed { failpoint, hits: BTreeMap::new() });
    }

    /// Returns how often this thread has reached each place since [`arm`].
    pub(crate) fn hits() -> BTreeMap<&'static str, u32> {
        ARMED.with_borrow(|armed| armed.hits.clone())
    }

    /// Counts the place, and fails there if it is armed.
    pub(crate) fn reach(place: &'static str) -> Result<()> {
        let action = ARMED.with_borrow_mut(|armed| {
            let hits = armed.hits.entry(place).or_default();
            *hits += 1;
            let is_it =
                armed.failpoint.as_ref().is_some_and(|it| it.place == place && it.hit == *hits);
            is_it.then(|| armed.failpoint.take().map(|it| it.action)).flatten()
        });
        match action {
            Some(Action::Abort) => std::process::abort(),
            Some(Action::Error) => Err(Error::File {
                path: place.into(),
                source: std::io::Error::other("a test lets this place fail"),
            }),
            None => Ok(()),
        }
    }
}
