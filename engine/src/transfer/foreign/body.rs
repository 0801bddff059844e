//! Reads the body of an import from another program: the files, the projects on this machine, and the memories.

use crate::error::Result;
use crate::transfer::line_reader::{BoundedLineReader, NumberedLine};
use loci_proto::foreign::{ForeignLine, ForeignMemory, ForeignProject, LocalProject};
use std::collections::HashMap;
use std::io::BufRead;

/// What was read of a program.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub files: Vec<String>,
    pub projects: HashMap<ForeignProject, LocalProject>,
    /// The memories in their order; `None` for a line that was refused or cannot be read.
    pub memories: Vec<Option<ForeignMemory>>,
}

impl Body {
    /// Reads the lines.
    pub fn read(file: &mut impl BufRead) -> Result<Self> {
        let mut body = Self::default();
        let mut lines = BoundedLineReader::new(file);
        while let Some(NumberedLine { bytes, .. }) = lines.next()? {
            let line = bytes.ok().and_then(|bytes| serde_json::from_slice(bytes).ok());
            match line {
                Some(ForeignLine::File { path }) => body.files.push(path),
                Some(ForeignLine::Project(local)) => {
                    drop(body.projects.insert(local.project.clone(), local));
                }
                Some(ForeignLine::Memory(memory)) => body.memories.push(Some(*memory)),
                None => body.memories.push(None),
            }
        }
        Ok(body)
    }

    /// Returns the memories that were read.
    pub fn memories_mut(&mut self) -> impl Iterator<Item = &mut ForeignMemory> {
        self.memories.iter_mut().flatten()
    }
}
