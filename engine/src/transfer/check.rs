//! The first look at a file: every line by itself but those with vectors, and what only the whole file can tell (ids that come twice,
//! chains without an end, a file that was cut off). Nothing is written.
//!
//! What a line refers to is looked up when it is brought in (`merge`, `parts`). Kept of each memory: some sixty bytes.

use crate::db::memories;
use crate::db::tombstones;
use crate::error::Result;
use crate::model::content;
use crate::transfer::lines::{Line, Lines};
use crate::transfer::record::{Header, MemoryLine, Record};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::{MemoryId, Scope};
use loci_proto::requests::export::FORMAT_VERSION;
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead;

/// The first moment after those that a file may say something has happened at: 2100-01-01. A memory of the year 9999 would win against
/// every later change and never fade.
const FUTURE: i64 = 4_102_444_800_000;
/// Words of `memory_log` that a file may hold. `import` is not among them: exports leave out what imports have written.
const OPERATIONS: [&str; 14] = [
    "create",
    "update",
    "supersede",
    "restore",
    "forget",
    "delete",
    "merge",
    "compact",
    "promote",
    "decay",
    "relate",
    "unrelate",
    "pin",
    "redact",
];
const STATUSES: [&str; 4] = ["active", "superseded", "compacted", "forgotten"];

/// How a line with a vector begins. It is read when it is brought in: nothing but its own memory depends on it, and all vectors together
/// are most of a file.
const VECTOR: &[u8] = br#"{"kind":"vector","#;

/// What the first look has found.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The model of the file's vectors.
    pub model: Option<String>,
    /// Lines that cannot be imported, and why.
    pub bad: BTreeMap<usize, Failure>,
    /// Ids that the file says were removed for good.
    pub gone: HashSet<u128>,
    /// The line of each memory.
    pub lines: HashMap<u128, Seen>,
}

/// What is kept of a memory's line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub line: usize,
    by: Option<u128>,
}

/// An id as a number.
pub(crate) fn number(id: &MemoryId) -> u128 {
    uuid::Uuid::try_parse(id.as_str()).map_or(0, |id| id.as_u128())
}

/// A failure that names its line.
pub(crate) fn at_line(line: usize, failure: Failure) -> Failure {
    let message = match &failure.field {
        Some(field) => format!("{field} {}", failure.message),
        None => failure.message,
    };
    let hint = "Nothing was imported; mend the line, or leave such lines out with --skip-bad";
    Failure { message, ..Failure::new(failure.code, String::new()) }
        .at(format!("line {line}"))
        .hint(hint)
}

/// Looks through a file.
///
/// # Errors
/// `invalid` when it is no export of this version, or empty; naming the line, unless bad ones are to be skipped.
pub(crate) fn look(conn: &Connection, file: impl BufRead, skip_bad: bool) -> Result<Plan> {
    let mut lines = Lines::new(file);
    let header = header(lines.next()?)?;
    let mut look = Look {
        plan: Plan {
            model: header.vectors,
            bad: BTreeMap::new(),
            gone: HashSet::new(),
            lines: HashMap::new(),
        },
        relations: HashSet::new(),
        ended: false,
        last: 1,
        count: 1,
    };
    while let Some((number, line)) = lines.next()? {
        look.last = number;
        if let Err(failure) = line.and_then(|line| look.line(number, line)) {
            look.plan.bad.insert(number, failure);
        }
        look.count += 1;
    }
    if !look.ended {
        let failure =
            Failure::new(Code::Invalid, "is the last line, and no end line: the file was cut off");
        look.plan.bad.entry(look.last).or_insert(failure);
    }
    // What a bad line would have held is missed by others: only the first fault tells what to mend.
    look.plan.stop_at_the_first(skip_bad)?;
    look.chains(conn, skip_bad)?;
    Ok(look.plan)
}

impl Plan {
    fn stop_at_the_first(&self, skip_bad: bool) -> Result<()> {
        match self.bad.iter().next() {
            Some((line, failure)) if !skip_bad => Err(at_line(*line, failure.clone()).into()),
            _ => Ok(()),
        }
    }
}

fn header(first: Option<Line<'_>>) -> Result<Header> {
    let hint = "Give a file that loci export has written";
    let refuse =
        |message: String| Err(Failure::new(Code::Invalid, message).at("line 1").hint(hint).into());
    let Some((_, line)) = first else {
        return Err(Failure::new(Code::Invalid, "the file is empty").hint(hint).into());
    };
    let line = line.map_err(|failure| at_line(1, failure))?;
    if line.starts_with(&[0x1f, 0x8b]) {
        let failure = Failure::new(Code::Invalid, "is compressed").at("line 1");
        return Err(failure.hint("Unpack it first: gunzip -c FILE | loci import -").into());
    }
    let Ok(object) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line)
    else {
        return refuse("is no JSON object, so this is no export".to_owned());
    };
    match (
        object.get("loci").and_then(serde_json::Value::as_str),
        object.get("version").and_then(serde_json::Value::as_u64),
    ) {
        (Some("export"), Some(version)) if version == u64::from(FORMAT_VERSION) => {}
        (Some("export"), Some(version)) => {
            let failure = Failure::new(
                Code::Invalid,
                format!("says version {version}; this loci reads version {FORMAT_VERSION}"),
            )
            .at("line 1");
            return Err(failure.hint("Update loci").into());
        }
        _ => return refuse("is not the header of an export".to_owned()),
    }
    serde_json::from_slice(line).or_else(|error| refuse(error.to_string()))
}

struct Look {
    plan: Plan,
    relations: HashSet<String>,
    ended: bool,
    last: usize,
    count: usize,
}

impl Look {
    fn line(&mut self, number: usize, line: &mut [u8]) -> Result<(), Failure> {
        if self.ended {
            return Err(Failure::new(Code::Invalid, "stands after the end line"));
        }
        if line.starts_with(VECTOR) {
            return Ok(());
        }
        match parse(line)? {
            Record::Memory(memory) => self.memory(number, &memory),
            Record::Variant(variant) => {
                past("created_at", variant.created_at)?;
                Ok(content::check_text(&variant.content)?)
            }
            Record::Relation(relation) => {
                past("created_at", relation.created_at)?;
                let known = uuid::Uuid::try_parse(&relation.id).is_ok();
                if known && self.relations.insert(relation.id) {
                    Ok(())
                } else {
                    Err(Failure::invalid("id", "is no UUID, or that of an earlier relation"))
                }
            }
            Record::Log(log) => {
                past("at", log.at)?;
                if !OPERATIONS.contains(&log.operation.as_str()) {
                    return Err(Failure::invalid(
                        "operation",
                        format!("must be one of {}", OPERATIONS.join(", ")),
                    ));
                }
                log.memory.parse::<MemoryId>().map_err(|why| Failure::invalid("memory", why))?;
                let readable = log
                    .details
                    .as_deref()
                    .is_none_or(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok());
                if readable {
                    Ok(())
                } else {
                    Err(Failure::invalid("details", "must be JSON in a text"))
                }
            }
            Record::Tombstone(tombstone) => {
                self.plan.gone.insert(super::check::number(&tombstone.id));
                past("created_at", tombstone.created_at)
            }
            Record::Group(group) => {
                past("created_at", group.created_at)?;
                std::iter::once(&group.id)
                    .chain([&group.name])
                    .chain(&group.aliases)
                    .try_for_each(|name| name_of_group(name))
            }
            Record::Cluster(cluster)
                if !["compact", "promote"].contains(&cluster.purpose.as_str()) =>
            {
                Err(Failure::invalid("for", "must be compact or promote"))
            }
            Record::Cluster(cluster) => past("made_at", cluster.made_at),
            Record::Source(_) | Record::Vector(_) => Ok(()),
            Record::End(end) => {
                self.ended = true;
                if end.lines == self.count {
                    Ok(())
                } else {
                    Err(Failure::invalid(
                        "lines",
                        format!("says {}, but {} are before it", end.lines, self.count),
                    ))
                }
            }
        }
    }

    fn memory(&mut self, line: usize, memory: &MemoryLine) -> Result<(), Failure> {
        let id = number(&memory.id);
        if let Some(seen) = self.plan.lines.get(&id) {
            return Err(Failure::invalid("id", format!("is that of line {}", seen.line)));
        }
        fields(memory)?;
        let by = memory.superseded_by.as_ref().map(number);
        self.plan.lines.insert(id, Seen { line, by });
        Ok(())
    }

    /// Refuses memories whose place was taken by one that is nowhere, and those whose chain leads back to them.
    fn chains(&mut self, conn: &Connection, skip_bad: bool) -> Result<()> {
        loop {
            let mut found = Vec::new();
            for (id, seen) in &self.plan.lines {
                if let Some(by) = seen.by
                    && !self.plan.lines.contains_key(&by)
                    && !self.plan.gone.contains(&by)
                    && !is_known(conn, by)?
                {
                    found.push((
                        *id,
                        Failure::invalid(
                            "superseded_by",
                            "names a memory that is neither in the file nor in the store",
                        ),
                    ));
                }
            }
            found.extend(self.circles().into_iter().map(|id| {
                (id, Failure::invalid("superseded_by", "leads back to the memory itself"))
            }));
            if found.is_empty() {
                return Ok(());
            }
            for (id, failure) in found {
                if let Some(seen) = self.plan.lines.remove(&id) {
                    self.plan.bad.insert(seen.line, failure);
                }
            }
            self.plan.stop_at_the_first(skip_bad)?;
        }
    }

    /// Memories of the file from which following the replacements leads back.
    fn circles(&self) -> Vec<u128> {
        let (mut settled, mut found) = (HashSet::new(), Vec::new());
        for start in self.plan.lines.keys() {
            let (mut path, mut at) = (Vec::new(), Some(*start));
            while let Some(id) = at.filter(|id| !settled.contains(id)) {
                if let Some(first) = path.iter().position(|seen| *seen == id) {
                    found.extend_from_slice(&path[first..]);
                    break;
                }
                path.push(id);
                at = self.plan.lines.get(&id).and_then(|seen| seen.by);
            }
            settled.extend(path);
        }
        found
    }
}

fn is_known(conn: &Connection, id: u128) -> Result<bool> {
    let id = MemoryId::from(uuid::Uuid::from_u128(id));
    Ok(memories::by_id(conn, &id)?.is_some() || tombstones::has(conn, &id)?)
}

/// Reads one line.
pub(crate) fn parse(line: &mut [u8]) -> Result<Record, Failure> {
    read(line).map_err(|error| {
        let what = if error.is_eof() { "ends too early" } else { "cannot be read" };
        // The place inside the line is kept, the line's own number would be 1.
        let said = error.to_string();
        Failure::new(
            Code::Invalid,
            format!("{what}: {}", said.split(" at line ").next().unwrap_or(&said)),
        )
    })
}

/// Most lines are of three kinds, and their kind stands first: reading those at once as what they are takes a third of the time. The
/// rest is made an object of its own by writing over the comma.
fn read(line: &mut [u8]) -> serde_json::Result<Record> {
    if let Some(object) = object(line, VECTOR) {
        serde_json::from_slice(object).map(Record::Vector)
    } else if let Some(object) = object(line, br#"{"kind":"memory","#) {
        serde_json::from_slice(object).map(|memory| Record::Memory(Box::new(memory)))
    } else if let Some(object) = object(line, br#"{"kind":"log","#) {
        serde_json::from_slice(object).map(Record::Log)
    } else {
        serde_json::from_slice(line)
    }
}

fn object<'a>(line: &'a mut [u8], begin: &[u8]) -> Option<&'a [u8]> {
    if !line.starts_with(begin) {
        return None;
    }
    let object = &mut line[begin.len() - 1..];
    object[0] = b'{';
    Some(object)
}

fn fields(memory: &MemoryLine) -> Result<(), Failure> {
    content::check_text(&memory.content)?;
    content::check_metadata(memory.kind, &memory.metadata)?;
    content::check_reason(memory.forgotten_reason.as_deref())?;
    let moments = [
        ("created_at", Some(memory.created_at)),
        ("updated_at", Some(memory.updated_at)),
        ("status_at", Some(memory.status_at)),
        ("confidence_at", Some(memory.confidence_at)),
        ("last_accessed", memory.last_accessed),
        ("boosted_at", memory.boosted_at),
    ];
    moments.iter().try_for_each(|(field, at)| at.map_or(Ok(()), |at| past(field, at)))?;
    if memory.expires_at.is_some_and(|at| at < 0) {
        return Err(Failure::invalid("expires_at", "is before 1970"));
    }
    if !STATUSES.contains(&memory.status.as_str()) {
        return Err(Failure::invalid("status", format!("must be one of {}", STATUSES.join(", "))));
    }
    if memory.access_count < 0 {
        return Err(Failure::invalid("access_count", "must be a whole number, 0 or more"));
    }
    match (memory.scope, &memory.group) {
        (Scope::Group, None) => {
            Err(Failure::invalid("group", "is missing, which a memory of scope group needs"))
        }
        (_, Some(group)) => name_of_group(group),
        _ => Ok(()),
    }
}

fn name_of_group(name: &str) -> Result<(), Failure> {
    if name.is_empty() || name.len() > 4096 || name.contains('\0') {
        Err(Failure::invalid("group", "must have 1 to 4096 bytes, none of them 0"))
    } else {
        Ok(())
    }
}

fn past(field: &str, at: i64) -> Result<(), Failure> {
    if (0..FUTURE).contains(&at) {
        Ok(())
    } else {
        Err(Failure::invalid(field, "must be a moment from 1970 to 2099, in milliseconds"))
    }
}
