//! Finds the statements of changed files that are new wordings of what left the file, before the writer records them.
//!
//! Not here: the comparison (`bridge::wording`), superseding the older wording (`record`).

use crate::bridge::Statement;
use crate::bridge::wording::{ComparisonBudget, rewordings};
use crate::db::{bridge, memories};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::memory::Memory;
use crate::operations::bridge::record::{Rewording, ScannedFile};
use loci_proto::requests::bridge::BridgeClient;
use std::collections::HashSet;

impl Reader {
    /// Adds to each changed file which of its statements are new wordings; returns what is left of the budget.
    ///
    /// # Errors
    /// `Database`.
    pub fn find_rewordings(
        &self,
        client: BridgeClient,
        files: &mut [ScannedFile],
        mut budget: ComparisonBudget,
    ) -> Result<ComparisonBudget> {
        for file in files {
            file.rewordings = self.rewordings_of(client, file, &mut budget)?;
        }
        Ok(budget)
    }

    fn rewordings_of(
        &self,
        client: BridgeClient,
        file: &ScannedFile,
        budget: &mut ComparisonBudget,
    ) -> Result<Vec<Rewording>> {
        let Some(row) = bridge::file(&self.conn, &file.path)? else { return Ok(Vec::new()) };
        let known = bridge::statements(&self.conn, row.id)?;
        let stated: HashSet<[u8; 16]> =
            file.statements.iter().flat_map(Statement::hashes).collect();
        let mut left: Vec<Memory> = Vec::new();
        for row in known.iter().filter(|row| !row.is_gone && !row.is_in(&stated)) {
            left.extend(memories::by_id_text(&self.conn, &row.memory)?);
        }
        if left.is_empty() {
            return Ok(Vec::new());
        }
        let project = file.group.as_ref().map(|group| group.id.as_str()).or(row.group.as_deref());
        let mut new: Vec<([u8; 16], &str)> = Vec::new();
        for statement in &file.statements {
            let hashes = statement.hashes();
            if bridge::memory_of_any(&self.conn, client.as_str(), project, hashes)?.is_none() {
                new.push((hashes[0], statement.text.as_str()));
            }
        }
        let texts: Vec<&str> = new.iter().map(|(_, text)| *text).collect();
        let older: Vec<&str> = left.iter().map(|memory| memory.content.as_str()).collect();
        let pairs = rewordings(&texts, &older, budget).into_iter();
        let found = |(new_at, older_at): (usize, usize)| Rewording {
            statement: new[new_at].0,
            older: left[older_at].id.to_string(),
        };
        Ok(pairs.map(found).collect())
    }
}
