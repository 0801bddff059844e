//! The first pass over a file. Checks each line except those with vectors, and the file as a whole:
//! duplicate ids, replacements that form a cycle, a missing end. Writes nothing.
//!
//! Most of a file is vectors, and only their own memory depends on them. So vectors are parsed, and
//! references to other lines resolved, when the lines are applied (`apply_line`). Uses about 60
//! bytes for each memory of the file.

use crate::db::memories;
use crate::db::tombstones;
use crate::error::Result;
use crate::model::content;
use crate::model::status::Status;
use crate::transfer::line_reader::{BoundedLineReader, NumberedLine};
use crate::transfer::parse::{VECTOR_PREFIX, parse};
use crate::transfer::record::{Header, LogLine, MemoryLine, Record, id_number};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::{MemoryId, Scope};
use loci_proto::requests::export::{DUMP_VERSION, FORMAT_VERSION};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead;

/// Times of past events must be before 2100-01-01, in milliseconds since 1970: with a time in the
/// year 9999 a memory would override every later change and never decay.
const END_OF_TIME_RANGE: i64 = 4_102_444_800_000;
/// The newest version that this build reads.
const NEWEST_VERSION: u64 = FORMAT_VERSION as u64;
/// Maximum characters of the client and the session of a memory.
const MAX_NAME_CHARS: usize = 256;
/// Operations of `memory_log` that a file may contain. Not `import`: exports skip the log lines
/// that imports have written.
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

/// What the header of a dump says.
const DUMP: &str = "dump";

/// The result of the first pass over a file.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    /// The model of the file's vectors.
    pub model: Option<String>,
    /// The file is a dump: what it says was erased is forgotten here.
    pub is_dump: bool,
    /// Lines that cannot be imported, with the reasons.
    pub bad_lines: BTreeMap<usize, Failure>,
    /// Ids of memories that the file's store hard-deleted.
    pub tombstones: HashSet<u128>,
    /// The memories of the file, by id.
    pub memories: HashMap<u128, MemoryPosition>,
}

/// The line of a memory in the file, and the memory that replaced it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryPosition {
    pub line: usize,
    superseded_by: Option<u128>,
}

/// Adds the line number to a failure.
pub(crate) fn at_line(line: usize, failure: Failure) -> Failure {
    let message = match &failure.field {
        Some(field) => format!("{field} {}", failure.message),
        None => failure.message,
    };
    let hint = "Nothing was imported; correct the line, or skip bad lines with --skip-bad";
    Failure { message, ..Failure::new(failure.code, String::new()) }
        .at(format!("line {line}"))
        .hint(hint)
}

/// Checks a whole file.
///
/// # Errors
/// `invalid` if the file is empty or not an export of this version; without `skip_bad` also for the
/// first bad line, with its number.
pub(crate) fn check_file(
    conn: &Connection,
    file: impl BufRead,
    skip_bad: bool,
) -> Result<CheckedFile> {
    let mut lines = BoundedLineReader::new(file);
    let header = read_header(lines.next()?)?;
    let mut checker = Checker {
        file: CheckedFile {
            is_dump: header.loci == DUMP,
            model: header.vectors,
            bad_lines: BTreeMap::new(),
            tombstones: HashSet::new(),
            memories: HashMap::new(),
        },
        relations: HashSet::new(),
        has_end_line: false,
        last_line: 1,
        line_count: 1,
    };
    while let Some(NumberedLine { number, bytes }) = lines.next()? {
        checker.last_line = number;
        if let Err(failure) = bytes.and_then(|line| checker.check_line(number, line)) {
            checker.file.bad_lines.insert(number, failure);
        }
        checker.line_count += 1;
    }
    if !checker.has_end_line {
        let failure = Failure::new(
            Code::Invalid,
            "is the last line but not an end line: the file is truncated",
        );
        checker.file.bad_lines.entry(checker.last_line).or_insert(failure);
    }
    // Later errors may only be consequences of the first one.
    checker.file.fail_on_bad_line(skip_bad)?;
    checker.check_superseded_by(conn, skip_bad)?;
    Ok(checker.file)
}

impl CheckedFile {
    fn fail_on_bad_line(&self, skip_bad: bool) -> Result<()> {
        match self.bad_lines.iter().next() {
            Some((line, failure)) if !skip_bad => Err(at_line(*line, failure.clone()).into()),
            _ => Ok(()),
        }
    }
}

/// Parses the header.
fn read_header(first: Option<NumberedLine<'_>>) -> Result<Header> {
    let hint = "Use a file that loci export has written";
    let refuse =
        |message: String| Err(Failure::new(Code::Invalid, message).at("line 1").hint(hint).into());
    let Some(NumberedLine { bytes, .. }) = first else {
        return Err(Failure::new(Code::Invalid, "the file is empty").hint(hint).into());
    };
    let line = bytes.map_err(|failure| at_line(1, failure))?;
    if line.starts_with(&[0x1f, 0x8b]) {
        let failure = Failure::new(Code::Invalid, "is compressed").at("line 1");
        return Err(failure.hint("Unpack it first: gunzip -c FILE | loci import -").into());
    }
    let Ok(object) = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line)
    else {
        return refuse("is not a JSON object, so this is not an export".to_owned());
    };
    match (
        object.get("loci").and_then(serde_json::Value::as_str),
        object.get("version").and_then(serde_json::Value::as_u64),
    ) {
        (Some("export"), Some(1..=NEWEST_VERSION)) => {}
        (Some(DUMP), Some(version)) if version <= u64::from(DUMP_VERSION) => {}
        (Some("export" | DUMP), Some(version)) => {
            let failure = Failure::new(
                Code::Invalid,
                format!("has version {version}; this loci reads versions 1 to {FORMAT_VERSION}"),
            )
            .at("line 1");
            return Err(failure.hint("Update loci").into());
        }
        _ => return refuse("is not the header of an export".to_owned()),
    }
    serde_json::from_slice(line).or_else(|error| refuse(error.to_string()))
}

/// The state of the first pass.
struct Checker {
    file: CheckedFile,
    relations: HashSet<String>,
    has_end_line: bool,
    last_line: usize,
    line_count: usize,
}

impl Checker {
    fn check_line(&mut self, number: usize, line: &mut [u8]) -> Result<(), Failure> {
        if self.has_end_line {
            return Err(Failure::new(Code::Invalid, "is after the end line"));
        }
        if line.starts_with(VECTOR_PREFIX) {
            return Ok(());
        }
        match parse(line)? {
            Record::Memory(memory) => self.add_memory(number, &memory),
            Record::Variant(variant) => {
                check_time("created_at", variant.created_at)?;
                Ok(content::check_text(&variant.content)?)
            }
            Record::Relation(relation) => {
                check_time("created_at", relation.created_at)?;
                let is_uuid = uuid::Uuid::try_parse(&relation.id).is_ok();
                if is_uuid && self.relations.insert(relation.id) {
                    Ok(())
                } else {
                    Err(Failure::invalid(
                        "id",
                        "is not a UUID, or is the id of an earlier relation",
                    ))
                }
            }
            Record::Log(log) => check_log(&log),
            Record::Tombstone(tombstone) => {
                self.file.tombstones.insert(id_number(&tombstone.id));
                check_time("created_at", tombstone.created_at)
            }
            Record::Group(group) => {
                check_time("created_at", group.created_at)?;
                std::iter::once(&group.id)
                    .chain([&group.name])
                    .chain(&group.aliases)
                    .try_for_each(|name| check_group_name(name))
            }
            Record::Cluster(cluster)
                if !["compact", "promote"].contains(&cluster.purpose.as_str()) =>
            {
                Err(Failure::invalid("for", "must be compact or promote"))
            }
            Record::Cluster(cluster) => check_time("made_at", cluster.made_at),
            Record::Source(_) | Record::Vector(_) => Ok(()),
            Record::End(end) => {
                self.has_end_line = true;
                if end.lines == self.line_count || self.file.is_dump {
                    Ok(())
                } else {
                    Err(Failure::invalid(
                        "lines",
                        format!("is {}, but {} lines precede it", end.lines, self.line_count),
                    ))
                }
            }
        }
    }

    fn add_memory(&mut self, line: usize, memory: &MemoryLine) -> Result<(), Failure> {
        let id = id_number(&memory.id);
        if let Some(earlier) = self.file.memories.get(&id) {
            return Err(Failure::invalid("id", format!("is also the id of line {}", earlier.line)));
        }
        check_memory(memory)?;
        let superseded_by = memory.superseded_by.as_ref().map(id_number);
        self.file.memories.insert(id, MemoryPosition { line, superseded_by });
        Ok(())
    }

    /// Refuses memories whose replacement does not exist, and those in a cycle of replacements.
    ///
    /// Repeats until no memory is refused: each refusal may remove the replacement of another one.
    fn check_superseded_by(&mut self, conn: &Connection, skip_bad: bool) -> Result<()> {
        loop {
            let mut refused = Vec::new();
            for (id, memory) in &self.file.memories {
                if let Some(by) = memory.superseded_by
                    && !self.file.memories.contains_key(&by)
                    && !self.file.tombstones.contains(&by)
                    && !is_in_store(conn, by)?
                {
                    refused.push((
                        *id,
                        Failure::invalid(
                            "superseded_by",
                            "names a memory that is in neither the file nor the store",
                        ),
                    ));
                }
            }
            refused.extend(self.cycles().into_iter().map(|id| {
                (id, Failure::invalid("superseded_by", "leads back to the memory itself"))
            }));
            if refused.is_empty() {
                return Ok(());
            }
            for (id, failure) in refused {
                if let Some(memory) = self.file.memories.remove(&id) {
                    self.file.bad_lines.insert(memory.line, failure);
                }
            }
            self.file.fail_on_bad_line(skip_bad)?;
        }
    }

    /// Returns the memories of the file that are in a cycle of replacements.
    fn cycles(&self) -> Vec<u128> {
        let (mut visited, mut in_cycles) = (HashSet::new(), Vec::new());
        for start in self.file.memories.keys() {
            let (mut path, mut next) = (Vec::new(), Some(*start));
            while let Some(id) = next.filter(|id| !visited.contains(id)) {
                if let Some(first) = path.iter().position(|earlier| *earlier == id) {
                    in_cycles.extend_from_slice(&path[first..]);
                    break;
                }
                path.push(id);
                next = self.file.memories.get(&id).and_then(|memory| memory.superseded_by);
            }
            visited.extend(path);
        }
        in_cycles
    }
}

/// Returns true if the store has the memory or its tombstone.
fn is_in_store(conn: &Connection, id: u128) -> Result<bool> {
    let id = MemoryId::from(uuid::Uuid::from_u128(id));
    Ok(memories::by_id(conn, &id)?.is_some() || tombstones::has(conn, &id)?)
}

/// Checks the values of a memory.
fn check_memory(memory: &MemoryLine) -> Result<(), Failure> {
    content::check_text(&memory.content)?;
    content::check_metadata(memory.kind, &memory.metadata)?;
    content::check_reason(memory.forgotten_reason.as_deref())?;
    let times = [
        ("created_at", Some(memory.created_at)),
        ("updated_at", Some(memory.updated_at)),
        ("status_at", Some(memory.status_at)),
        ("confidence_at", Some(memory.confidence_at)),
        ("last_accessed", memory.last_accessed),
        ("boosted_at", memory.boosted_at),
    ];
    times.iter().try_for_each(|(field, at)| at.map_or(Ok(()), |at| check_time(field, at)))?;
    if memory.expires_at.is_some_and(|at| at < 0) {
        return Err(Failure::invalid("expires_at", "is before 1970"));
    }
    if Status::parse(&memory.status).is_none() {
        let known = Status::ALL.map(Status::as_str).join(", ");
        return Err(Failure::invalid("status", format!("must be one of {known}")));
    }
    if memory.access_count < 0 {
        return Err(Failure::invalid("access_count", "must be a whole number, 0 or more"));
    }
    for (field, name) in [("client", &memory.client), ("session", &memory.session)] {
        if name.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME_CHARS) {
            let message = format!("has more than {MAX_NAME_CHARS} characters");
            return Err(Failure::invalid(field, message));
        }
    }
    match (memory.scope, &memory.group) {
        (Scope::Group, None) => {
            Err(Failure::invalid("group", "is required for a memory of scope group"))
        }
        (_, Some(group)) => check_group_name(group),
        _ => Ok(()),
    }
}

/// Checks the id, name or alias of a group.
fn check_group_name(name: &str) -> Result<(), Failure> {
    if name.is_empty() || name.len() > 4096 || name.contains('\0') {
        Err(Failure::invalid("group", "must have 1 to 4096 bytes, none of them 0"))
    } else {
        Ok(())
    }
}

/// Checks the time of a past event.
fn check_time(field: &str, at: i64) -> Result<(), Failure> {
    if (0..END_OF_TIME_RANGE).contains(&at) {
        Ok(())
    } else {
        Err(Failure::invalid(field, "must be a time from 1970 to 2099, in milliseconds"))
    }
}

fn check_log(log: &LogLine) -> Result<(), Failure> {
    check_time("at", log.at)?;
    if !OPERATIONS.contains(&log.operation.as_str()) {
        return Err(Failure::invalid(
            "operation",
            format!("must be one of {}", OPERATIONS.join(", ")),
        ));
    }
    log.memory.parse::<MemoryId>().map_err(|reason| Failure::invalid("memory", reason))?;
    let is_json = log
        .details
        .as_deref()
        .is_none_or(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok());
    if is_json { Ok(()) } else { Err(Failure::invalid("details", "must be JSON in a string")) }
}
