//! The request and the reply of each verb, and [`Request`], a call of any of them.
//!
//! `export`, `import` and `reload` are not variants of [`Request`]: they are separate routes of the admin socket, because their bodies
//! are streams or empty.

pub mod association;
pub mod backup;
pub mod bridge;
pub mod cleanup;
pub mod compact;
pub mod config;
pub mod confirm;
pub mod diff;
pub mod doctor;
pub mod edit;
pub mod eval;
pub mod explain;
pub mod export;
pub mod facets;
pub mod find;
pub mod forget;
pub mod forget_many;
pub mod groups;
pub mod history;
pub mod hook;
pub mod import;
pub mod incognito;
pub mod injected;
pub mod inspect;
pub mod list;
pub mod maintenance;
pub mod move_to;
pub mod pin;
pub mod purge_backups;
pub mod recall;
pub mod redo;
pub mod reembed;
pub mod relate;
pub mod reset;
pub mod restore;
pub mod review;
pub mod scan;
pub mod stats;
pub mod store;
pub mod supersede;
#[cfg(test)]
mod tests;
pub mod topics;
pub mod undo;
pub mod verbs;
pub mod wander;

use crate::error::{Code, Failure};
use crate::mcp::arguments;
use serde_json::{Map, Value};
pub use verbs::Verb;
use verbs::{Access, Callers, Concerns, InViewer, Powers, WhereOff};

/// Declares [`Request`] from the table, so that a verb's variant, name and types cannot disagree.
macro_rules! requests {
    ($(#[doc = $doc:literal] $name:literal => $variant:ident($request:ty) -> $reply:ty:
        $access:ident with $runner:ident, $callers:ident, $concerns:ident, $where_off:ident, $in_viewer:ident, $command:literal;)+) => {
        /// A call of a verb whose arguments have been checked: one variant for each verb.
        #[derive(Debug, Clone)]
        pub enum Request {
            $(#[doc = $doc] $variant($request),)+
        }

        $(impl Verb for $request {
            type Reply = $reply;
            const NAME: &'static str = $name;
            const POWERS: Powers = Powers {
                purpose: $doc.trim_ascii_start(),
                command: $command,
                access: Access::$access,
                callers: Callers::$callers,
                concerns: Concerns::$concerns,
                where_off: WhereOff::$where_off,
                in_viewer: InViewer::$in_viewer,
            };
        })+

        impl Request {
            /// The names of all verbs with their powers, in the order of the variants.
            pub const VERBS: &'static [(&'static str, Powers)] =
                &[$(($name, <$request as Verb>::POWERS)),+];

            /// Returns the powers of the verb.
            #[must_use]
            pub fn powers(&self) -> Powers {
                match self {
                    $(Self::$variant(_) => <$request as Verb>::POWERS,)+
                }
            }

            /// Parses the arguments of the verb `name`.
            ///
            /// # Errors
            /// `invalid` if the verb is unknown or an argument is not valid (see [`arguments::parse`]).
            pub fn parse(name: &str, arguments: Map<String, Value>) -> Result<Self, Failure> {
                match name {
                    $($name => arguments::parse(arguments).map(Self::$variant),)+
                    _ => Err(Failure::new(Code::Invalid, format!("there is no verb {name}"))),
                }
            }

            /// Returns the arguments of the verb `name` with values in place of the texts that stand for them.
            ///
            /// # Errors
            /// `invalid` if the verb or an argument is unknown.
            pub fn read_values(name: &str, arguments: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
                match name {
                    $($name => arguments::read_values::<$request>(arguments),)+
                    _ => Err(Failure::new(Code::Invalid, format!("there is no verb {name}"))),
                }
            }

            /// Returns the verb's name, for example `store_memory`.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }
        }
    };
}

crate::verbs!(requests);

impl Request {
    /// Returns the powers of the verb `name`, if there is one.
    #[must_use]
    pub fn powers_of(name: &str) -> Option<Powers> {
        Self::VERBS.iter().find(|(verb, _)| *verb == name).map(|(_, powers)| *powers)
    }
}
