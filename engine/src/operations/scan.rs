//! `scan`: finds secrets in everything that is stored, and replaces them.
//!
//! A redaction leaves no copy: the acts of the journal that hold the text are deleted, stored
//! answers and kept queries too, and the write-ahead log is emptied. So it cannot be undone. Not
//! here: what a secret is (`privacy`), backups (they are not changed).

use crate::backups::redactions;
use crate::db::log::Operation;
use crate::db::rows::{Image, Row};
use crate::db::scan::{self, StoredText, TextColumn};
use crate::db::{health, idempotency, journal, memories, rows};
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::document;
use crate::privacy::{Policy, RedactedJson};
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::requests::scan::{MAX_FINDINGS, ScanFinding, ScanReply};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Kind, first character, and the one behind the last.
type KindAndPosition = (String, usize, usize);

/// A text with findings, and what replaces it.
struct Hit {
    old: StoredText,
    new: String,
    kinds: Vec<String>,
}

impl Reader {
    /// Lists the secrets of the store, never their values.
    ///
    /// # Errors
    /// `Database`.
    pub fn scan(&self, policy: &Policy) -> Result<ScanReply> {
        let (reply, _) = search(&self.conn, policy)?;
        Ok(reply)
    }
}

impl Writer {
    /// Replaces every secret of the store, in one transaction. Cannot be undone.
    ///
    /// # Errors
    /// `Database`; nothing is changed then.
    pub fn redact_secrets(&mut self, call: &CallContext, policy: &Policy) -> Result<ScanReply> {
        let backups = self.shared.settings().backups.folder.clone();
        let reply = self.run_idempotent(call, |change| {
            let (mut reply, hits) = search(change.conn, policy)?;
            if let Some(folder) = backups.as_ref().filter(|_| !hits.is_empty()) {
                let database = health::database_uuid(change.conn)?;
                redactions::record(folder, &database, health::last_change(change.conn)?)?;
            }
            let mut by_memory: BTreeMap<i64, Vec<Hit>> = BTreeMap::new();
            for hit in hits {
                match hit.old.place {
                    TextColumn::Content | TextColumn::Reason | TextColumn::Metadata => {
                        by_memory.entry(hit.old.row).or_default().push(hit);
                    }
                    TextColumn::Group | TextColumn::Alias => {
                        reply.note = Some(
                            "Names of projects are not changed: loci groups rename, loci groups alias --remove"
                                .to_owned(),
                        );
                    }
                    TextColumn::Journal => reply.redacted += 1,
                    _ => {
                        scan::replace(change.conn, &hit.old, &hit.new)?;
                        reply.redacted += 1;
                    }
                }
            }
            for (seq, hits) in by_memory {
                reply.redacted += hits.len();
                redact_memory(change, seq, &hits)?;
            }
            journal::redact_matching(change.conn, |row| {
                policy.redact_json(row.clone()).is_some()
            })?;
            Ok(reply)
        })?;
        self.scrub()?;
        Ok(reply)
    }
}

/// Searches every text of the store.
fn search(conn: &Connection, policy: &Policy) -> Result<(ScanReply, Vec<Hit>)> {
    let (mut reply, mut hits) = (ScanReply::default(), Vec::new());
    for place in TextColumn::ALL {
        scan::texts(conn, place, |old| {
            reply.texts += 1;
            let Some((new, found)) = redacted(policy, &old) else { return Ok(()) };
            reply.found += found.len();
            let kinds = found.iter().map(|(kind, ..)| kind.clone()).collect();
            for (kind, start, end) in found {
                if reply.findings.len() < MAX_FINDINGS {
                    let (place, id) = (place.as_str().to_owned(), shown_id(policy, &old.id));
                    reply.findings.push(ScanFinding { place, id, kind, start, end });
                }
            }
            hits.push(Hit { old, new, kinds });
            Ok(())
        })?;
    }
    Ok((reply, hits))
}

/// An id may be the name of a group.
fn shown_id(policy: &Policy, id: &str) -> String {
    if policy.scan(id).is_empty() { id.to_owned() } else { String::new() }
}

/// Returns the new text, and kind and position of what it leaves out.
fn redacted(policy: &Policy, old: &StoredText) -> Option<(String, Vec<KindAndPosition>)> {
    if old.place.is_json()
        && let Ok(value) = serde_json::from_str::<Value>(&old.text)
    {
        let RedactedJson { value, found } = policy.redact_json(value)?;
        return Some((value.to_string(), found));
    }
    let found = policy.scan(&old.text);
    let position = |(kind, range): (&'static str, std::ops::Range<usize>)| {
        (kind.to_owned(), range.start, range.end)
    };
    (!found.is_empty())
        .then(|| (policy.redact(&old.text), found.into_iter().map(position).collect()))
}

fn redact_memory(change: &mut Change<'_>, seq: i64, hits: &[Hit]) -> Result<()> {
    let Some(memory) = memories::by_seq(change.conn, seq)? else { return Ok(()) };
    let mut columns = Image::new();
    for Hit { old, new, .. } in hits {
        match old.place {
            TextColumn::Content => {
                columns.insert("content".to_owned(), json!(new));
                columns.insert("content_hash".to_owned(), rows::blob(&hash(new)));
                change.delete_encodings(seq)?;
                journal::redact_texts(change.conn, seq)?;
            }
            TextColumn::Reason => drop(columns.insert("forgotten_reason".to_owned(), json!(new))),
            _ => {
                columns.insert("metadata".to_owned(), json!(new));
                if !document::questions(&memory.metadata).is_empty() {
                    change.delete_encodings(seq)?;
                }
            }
        }
    }
    columns.insert("updated_at".to_owned(), json!(change.call.now.0));
    rows::update(change.conn, &Row::Memory(seq), &columns)?;
    idempotency::redact(change.conn, memory.id.as_str())?;
    mentions::renew(change, seq)?;
    change.touch(seq);
    let kinds: Vec<&String> = hits.iter().flat_map(|hit| &hit.kinds).collect();
    change.log(Operation::Redact, &memory.id, &json!({"kinds": kinds}))
}
