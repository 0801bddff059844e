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
    /// What it leaves behind.
    const AFTER: After;

    /// Writes, in one transaction.
    ///
    /// # Errors
    /// Those of the operation; nothing is written then.
    fn run(&self, writer: &mut Writer, call: &CallContext) -> Result<Self::Reply>;
}

/// What a verb that writes leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Nothing to do.
    Nothing,
    /// Texts may have no vectors.
    TextsWithoutVectors,
    /// Less to store: it works on a full disk too.
    Space,
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

/// Says how a verb writes, and what it leaves behind: `write_verb!(PinRequest, Writer::pin, Nothing)`.
macro_rules! write_verb {
    ($request:ty, $write:path, $after:ident) => {
        impl $crate::operations::verbs::Write for $request {
            const AFTER: $crate::operations::verbs::After =
                $crate::operations::verbs::After::$after;

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
