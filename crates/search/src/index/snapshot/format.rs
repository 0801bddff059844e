//! Serialises the index data of one memory, and reads it back. Pure.
//!
//! Invalid bytes give `None`. Not here: checksums and files (`snapshot`).

use crate::index::{QuantizedVector, Record, Row, TextFeatures};
use loci_base::model::decay::Anchor;
use loci_base::model::encoding::{DIMENSIONS, SIGN_CODE_BYTES, SignCode};
use loci_base::model::entry::Entry;
use loci_base::model::importance::Importance;
use loci_base::model::names::EntityNames;
use loci_base::model::status::Status;
use loci_base::model::time::Timestamp;
use loci_base::text::features::TextTraits;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use std::num::NonZeroU64;

/// Appends the bytes of a record.
pub fn write_record(record: &Record<'_>, out: &mut Vec<u8>) {
    let Record { entry, features, speaker, questions, terms, length, chunks, codes } = record;
    number(out, entry.seq);
    variant(out, MemoryType::ALL, &entry.kind);
    variant(out, Scope::ALL, &entry.scope);
    variant(out, &Status::ALL, &entry.status);
    text(out, entry.group.as_deref().unwrap_or_default());
    out.extend(entry.anchor.confidence.get().to_le_bytes());
    number(out, entry.anchor.at.0);
    out.extend(entry.anchor.accesses.to_le_bytes());
    out.push(Importance::byte(entry.anchor.importance));
    optional(out, entry.expires_at.map(|at| at.0));
    optional(out, entry.event_day.map(i64::from));
    number(out, entry.created_day.into());
    optional(out, entry.summary);
    optional(out, features.day.map(i64::from));
    let TextTraits { uses_first_person, has_time_word, has_inner_name, is_question } =
        features.traits;
    let flags = [
        entry.anchor.pinned,
        entry.extractive,
        entry.group.is_some(),
        uses_first_person,
        has_time_word,
        has_inner_name,
        is_question,
    ];
    out.push(flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag)));
    out.extend(features.fingerprint.to_le_bytes());
    text(out, speaker);
    // No branch is empty.
    text(out, entry.branch.as_deref().unwrap_or_default());
    // 0 means no questions, and no error.
    out.extend(questions.map_or(0, NonZeroU64::get).to_le_bytes());
    out.extend(entry.error.map_or(0, NonZeroU64::get).to_le_bytes());
    // No name is empty.
    text(out, entry.names.own.as_deref().unwrap_or_default());
    count(out, entry.names.aliases.len());
    entry.names.aliases.iter().for_each(|name| text(out, name));
    out.extend(length.to_le_bytes());
    count(out, terms.len());
    for (term, frequency) in terms {
        text(out, term);
        out.extend(frequency.to_le_bytes());
    }
    count(out, chunks.len());
    for Row { high, low, step } in chunks {
        out.extend(step.to_le_bytes());
        out.extend(high.iter().chain(*low).map(|byte| byte.cast_unsigned()));
    }
    // 0 means that the tokens are not encoded.
    count(out, codes.map_or(0, |codes| codes.len() + 1));
    for code in codes.iter().flat_map(|codes| codes.iter()) {
        out.extend_from_slice(&code.bytes());
    }
}

fn number(out: &mut Vec<u8>, number: i64) {
    out.extend(number.to_le_bytes());
}

fn optional(out: &mut Vec<u8>, value: Option<i64>) {
    out.push(u8::from(value.is_some()));
    number(out, value.unwrap_or_default());
}

fn count(out: &mut Vec<u8>, count: usize) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    count(out, text.len());
    out.extend(text.as_bytes());
}

/// Appends the position of a value in the list of all values.
fn variant<T: PartialEq>(out: &mut Vec<u8>, all: &[T], value: &T) {
    out.push(
        all.iter()
            .position(|other| other == value)
            .map_or(u8::MAX, |at| u8::try_from(at).unwrap_or(u8::MAX)),
    );
}

/// Bytes of one chunk vector: the step, and two bytes a number.
const VECTOR_BYTES: usize = 4 + 2 * DIMENSIONS;

/// Reads records. Its buffers for vectors and codes are reused from record to record.
#[derive(Debug, Default)]
pub(crate) struct RecordReader {
    chunks: Vec<QuantizedVector>,
    codes: Vec<SignCode>,
}

impl RecordReader {
    /// Reads a record; `None` if `bytes` are not exactly those of one record.
    pub fn read<'a>(&'a mut self, bytes: &'a [u8]) -> Option<Record<'a>> {
        let mut rest = Unread(bytes);
        let seq = rest.number()?;
        let (kind, scope, status) = (
            *rest.variant(MemoryType::ALL)?,
            *rest.variant(Scope::ALL)?,
            *rest.variant(&Status::ALL)?,
        );
        let group = rest.text()?.to_owned();
        let anchor = rest.anchor()?;
        let (expires_at, event_day) = (rest.optional()?.map(Timestamp), day(rest.optional()?)?);
        let (created_day, summary) = (i32::try_from(rest.number()?).ok()?, rest.optional()?);
        let text_day = day(rest.optional()?)?;
        let flags = rest.array::<1>()?[0];
        let is_set = |bit: u8| flags >> bit & 1 == 1;
        let fingerprint = u64::from_le_bytes(rest.array()?);
        let traits = TextTraits {
            uses_first_person: is_set(3),
            has_time_word: is_set(4),
            has_inner_name: is_set(5),
            is_question: is_set(6),
        };
        let speaker = rest.text()?;
        let branch = Some(rest.text()?).filter(|branch| !branch.is_empty()).map(str::to_owned);
        let questions = NonZeroU64::new(u64::from_le_bytes(rest.array()?));
        let error = NonZeroU64::new(u64::from_le_bytes(rest.array()?));
        let own = Some(rest.text()?).filter(|name| !name.is_empty()).map(str::to_owned);
        let aliases = rest.many(|rest| rest.text().map(str::to_owned))?;
        let length = u32::from_le_bytes(rest.array()?);
        let terms = rest.many(|rest| Some((rest.text()?, u16::from_le_bytes(rest.array()?))))?;
        let chunk_count = rest.count()?;
        let vectors = rest.take(chunk_count.checked_mul(VECTOR_BYTES)?)?;
        self.chunks.clear();
        self.chunks.extend(vectors.as_chunks().0.iter().map(vector));
        self.chunks.iter().all(QuantizedVector::is_sound).then_some(())?;
        let code_count = rest.count()?;
        let codes = rest.take(code_count.saturating_sub(1).checked_mul(SIGN_CODE_BYTES)?)?;
        self.codes.clear();
        self.codes.extend(codes.as_chunks().0.iter().map(SignCode::from_bytes));
        let entry = Entry {
            seq,
            kind,
            group: is_set(2).then_some(group),
            scope,
            status,
            anchor: Anchor { pinned: is_set(0), ..anchor },
            expires_at,
            names: EntityNames { own, aliases },
            content: String::new(),
            questions: String::new(),
            event_day,
            created_day,
            summary,
            extractive: is_set(1),
            branch,
            error,
        };
        let features = TextFeatures { traits, day: text_day, speaker: 0, fingerprint };
        let chunks = self.chunks.iter().map(QuantizedVector::row).collect();
        let codes = (code_count > 0).then_some(self.codes.as_slice());
        rest.0.is_empty().then_some(Record {
            entry,
            features,
            speaker,
            questions,
            terms,
            length,
            chunks,
            codes,
        })
    }
}

fn vector(bytes: &[u8; VECTOR_BYTES]) -> QuantizedVector {
    let (step, numbers) = bytes.split_at(4);
    let byte = |at: usize| numbers[at].cast_signed();
    let step = step.iter().rev().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
    let (high, low) = (std::array::from_fn(byte), std::array::from_fn(|at| byte(DIMENSIONS + at)));
    QuantizedVector { high, low, step: f32::from_bits(step) }
}

#[expect(clippy::option_option, reason = "outer `None`: invalid bytes; inner `None`: no day")]
fn day(value: Option<i64>) -> Option<Option<i32>> {
    value.map(i32::try_from).transpose().ok()
}

/// The bytes that are not yet read.
struct Unread<'a>(&'a [u8]);

impl<'a> Unread<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        self.take(COUNT)?.try_into().ok()
    }

    /// Reads an anchor without whether the memory is pinned.
    fn anchor(&mut self) -> Option<Anchor> {
        let confidence = Confidence::new(f64::from_le_bytes(self.array()?)).ok()?;
        let at = Timestamp(self.number()?);
        let accesses = u16::from_le_bytes(self.array()?);
        let importance = Importance::from_byte(self.array::<1>()?[0])?;
        Some(Anchor { accesses, importance, ..Anchor::new(confidence, at) })
    }

    fn number(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    #[expect(
        clippy::option_option,
        reason = "outer `None`: invalid bytes; inner `None`: no number"
    )]
    fn optional(&mut self) -> Option<Option<i64>> {
        let is_some = self.array::<1>()? != [0];
        let value = self.number()?;
        Some(is_some.then_some(value))
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.array()?)).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn variant<'b, T>(&mut self, all: &'b [T]) -> Option<&'b T> {
        all.get(usize::from(self.array::<1>()?[0]))
    }

    fn many<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        // The number of unread bytes bounds the capacity, so a damaged count cannot allocate too
        // much.
        let mut all = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            all.push(read(self)?);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::index::compaction::tests::{apply, operations};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_is_read_back_and_a_truncated_or_longer_one_is_rejected(
            operations in operations(40), cut in any::<prop::sample::Index>(),
        ) {
            let mut index = Index::default();
            for operation in &operations {
                apply(&mut index, operation);
            }
            for record in index.records() {
                let (mut bytes, mut reader) = (Vec::new(), RecordReader::default());
                write_record(&record, &mut bytes);
                let expected = Record { features: TextFeatures { speaker: 0, ..record.features }, ..record };
                prop_assert_eq!(reader.read(&bytes), Some(expected));
                let end = cut.index(bytes.len());
                prop_assert_eq!(reader.read(&bytes[..end]), None);
                bytes.push(0);
                prop_assert_eq!(reader.read(&bytes), None);
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = RecordReader::default().read(&bytes);
        }
    }
}
