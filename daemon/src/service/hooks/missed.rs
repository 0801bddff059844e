//! Reads what hooks noted while they could not reach the daemon in time, and removes it.
//!
//! The file is renamed before it is read, so that a hook that writes at the same time writes to a new one.

use crate::service::Service;
use loci_engine::hooks::receipt::{HookReceipt, Outcome};
use loci_engine::model::time::Timestamp;
use loci_proto::requests::hook::{MAX_MISSED_BYTES, MissedDelivery, SESSION_CHARS};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

impl Service {
    /// Takes the events that hooks could not deliver.
    #[must_use]
    pub fn take_missed(&self) -> Vec<HookReceipt> {
        let file = &self.config.paths().missed_hooks;
        let taken = file.with_extension("taken");
        // Without the file there is nothing to read; most of the time there is none.
        if std::fs::rename(file, &taken).is_err() {
            return Vec::new();
        }
        let lines =
            File::open(&taken).map(|file| BufReader::new(file.take(2 * MAX_MISSED_BYTES)).lines());
        let lines = lines.into_iter().flatten().map_while(Result::ok);
        let missed =
            lines.filter_map(|line| serde_json::from_str(&line).ok()).map(receipt).collect();
        let _ = std::fs::remove_file(&taken);
        missed
    }
}

fn receipt(missed: MissedDelivery) -> HookReceipt {
    let session = missed.session.filter(|id| id.chars().count() <= SESSION_CHARS);
    let reason = match missed.why.as_str() {
        "deadline" => "no answer in time",
        _ => "the daemon was away",
    };
    HookReceipt {
        session: session.unwrap_or_default(),
        client: missed.client.as_str(),
        event: missed.event.as_str(),
        at: Timestamp(missed.at),
        group: None,
        outcome: Outcome::Missed,
        reason: reason.to_owned(),
        tokens: 0,
        brief: false,
        delivered: Vec::new(),
        withheld: Vec::new(),
    }
}
