//! How a verb runs that needs nothing but the store: on a reader, or on the writer. The file of each operation says it with one line.
//!
//! Not here: the table of all verbs (`loci_proto::requests::verbs`), verbs that need more (the handlers of the daemon).

use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::transaction::change::CallContext;
use loci_proto::requests::Verb;

/// A verb that reads.
pub trait Read: Verb {
    /// Reads the reply.
    ///
    /// # Errors
    /// Those of the operation.
    fn run(&self, reader: &Reader, call: &CallContext) -> Result<Self::Reply>;
}

/// A verb that writes.
pub trait Write: Verb {
    /// What it does to the store.
    const EFFECT: Effect;

    /// Writes, in one transaction.
    ///
    /// # Errors
    /// Those of the operation; nothing is written then.
    fn run(&self, writer: &mut Writer, call: &CallContext) -> Result<Self::Reply>;
}

/// What a verb that writes does to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It leaves no work for the daemon.
    Complete,
    /// Texts may lack vectors afterwards.
    MissingVectors,
    /// It makes the store smaller, so it may use the reserve of a full disk.
    Smaller,
}

/// Says how a verb reads: `read_verb!(ListRequest, |reader, request, call| …)`.
macro_rules! read_verb {
    ($request:ty, |$reader:ident, $own:ident, $call:ident| $read:expr) => {
        impl $crate::operations::verbs::Read for $request {
            fn run(
                &self,
                $reader: &$crate::handles::reader::Reader,
                $call: &$crate::transaction::change::CallContext,
            ) -> $crate::error::Result<Self::Reply> {
                let $own = self;
                $read
            }
        }
    };
}

/// Says how a verb writes, and its effect: `write_verb!(PinRequest, Writer::pin, Complete)`.
macro_rules! write_verb {
    ($request:ty, $write:path, $effect:ident) => {
        impl $crate::operations::verbs::Write for $request {
            const EFFECT: $crate::operations::verbs::Effect =
                $crate::operations::verbs::Effect::$effect;

            fn run(
                &self,
                writer: &mut $crate::handles::writer::Writer,
                call: &$crate::transaction::change::CallContext,
            ) -> $crate::error::Result<Self::Reply> {
                $write(writer, call, self)
            }
        }
    };
}

pub(crate) use {read_verb, write_verb};
