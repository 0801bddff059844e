//! `short_id`: completes the parts of ids that screens show and people type into a chat.
//!
//! Not here: ids that people give to commands (`find`, which also names memories of other projects).

use crate::db::listing;
use crate::error::{Result, not_found};
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::visibility::Visibility;
use crate::operations::named_project::existing_group;
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;

/// Maximum number of ids in an error.
const MAX_NAMED: usize = 5;

/// A part of an id in a call.
#[derive(Debug, Clone)]
pub struct IdPart {
    /// Where it stands, for errors: `memory_id`, `ids[2]`.
    pub field: String,
    /// The beginning or the end of an id ([`MemoryId::is_part`](loci_proto::memory::MemoryId::is_part)).
    pub text: String,
}

impl Reader {
    /// Returns the id of which each part is one: that of the only memory, whatever its status, that the viewer can see and whose id begins
    /// or ends with it. What the viewer cannot see changes no answer.
    ///
    /// # Errors
    /// `not_found` at its field for a part of no id, `invalid` for a part of several, `Database`.
    pub fn complete_ids(
        &self,
        parts: &[IdPart],
        viewer: Viewer<'_>,
        named: Option<&GroupName>,
    ) -> Result<Vec<String>> {
        let isolation = self.shared.isolation_for(viewer);
        // The call itself says what is wrong with the name, or makes the project.
        let group = existing_group(&self.conn, &isolation, viewer, named);
        let group = group.unwrap_or_else(|_| viewer.group.clone());
        let visibility = Visibility::of_groups(&viewer.group.id, &group.id, isolation);
        let wanted: Vec<String> =
            parts.iter().map(|part| part.text.trim().to_ascii_lowercase()).collect();
        let mut found: Vec<Vec<String>> = vec![Vec::new(); parts.len()];
        listing::each_id(&self.conn, |id, seq| {
            for (part, ids) in wanted.iter().zip(&mut found) {
                if (id.starts_with(part) || id.ends_with(part))
                    && ids.len() <= MAX_NAMED
                    && listing::is_admitted(&self.conn, seq, &visibility)?
                {
                    ids.push(id.to_owned());
                }
            }
            Ok(())
        })?;
        let completed = parts.iter().zip(found).map(|(part, ids)| match ids.as_slice() {
            [] => Err(not_found(&part.field, part.text.trim())),
            [only] => Ok(only.clone()),
            several => {
                let named = several[..several.len().min(MAX_NAMED)].join(", ");
                let message = format!("is a part of several ids: {named}");
                let failure = Failure::new(Code::Invalid, message).at(&part.field);
                Err(failure.hint("Give more characters of the id").into())
            }
        });
        completed.collect()
    }
}
