//! Measures what associations add to a recall: the same questions with and without them, in
//! alternating rounds, in a store with entities, relations and days.
//!
//! Not here: which associations are found (tests of the engine).

use crate::made_up::Random;
use crate::{Anything, Asking, NOW, QUESTIONS, ROUNDS, Recalled};
use crate::{cpu_ms, filled, group, median_percentile, recalled, settings, tables};
use loci_engine::{Effort, open};
use std::path::Path;

/// Number of notes from one entity to the next.
const ENTITY_EVERY: usize = 50;
/// Relations of each entity.
const RELATIONS: usize = 3;
/// Entities that each note mentions.
const MENTIONS: usize = 2;
/// Notes of one day.
const NOTES_A_DAY: i64 = 20;

/// Prints one row for each size.
pub fn run(sizes: &[usize]) -> Result<(), Anything> {
    println!(
        "| notes | recall p50 ms | with associations p50 ms | ratio | p99 ms | with associations p99 ms | associations of a reply |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    sizes.iter().try_for_each(|size| measure(*size))
}

fn measure(size: usize) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let (path, notes) = filled(folder.path(), size)?;
    tables::assign_notes(&path, &group("all"), 100)?;
    link(&path, size)?;
    let writer = open(&path, settings(Effort::Approximate), NOW)?;
    let reader = writer.reader()?;
    let questions = notes.questions(QUESTIONS, 100);
    let (mut plain, mut with, mut found) = (Vec::new(), Vec::new(), 0);
    for round in 0..=ROUNDS {
        let mut times = [Vec::new(), Vec::new()];
        for asking in &questions {
            // Which of the two comes first alternates: the second one finds the caches warm.
            for turn in 0..2 {
                let associations = (turn + round) % 2 == 1;
                let ask = |asking: &Asking| recalled(&reader, "all", asking, associations);
                let mut reply = Recalled::default();
                let time = cpu_ms(|| {
                    reply = ask(asking)?;
                    Ok(())
                })?;
                times[usize::from(associations)].push(time);
                found += reply.associations.len();
            }
        }
        // The first round only warms the caches.
        if round > 0 {
            let [without, with_associations] = times;
            plain.push(without);
            with.push(with_associations);
        }
    }
    let [p50, p50_with] = [&mut plain, &mut with].map(|rounds| median_percentile(rounds, 50));
    let [p99, p99_with] = [&mut plain, &mut with].map(|rounds| median_percentile(rounds, 99));
    let of_reply = found as f64 / ((ROUNDS + 1) * QUESTIONS) as f64;
    println!(
        "| {size} | {p50:.3} | {p50_with:.3} | {:.2} | {p99:.3} | {p99_with:.3} | {of_reply:.1} |",
        p50_with / p50
    );
    Ok(())
}

/// Makes some notes entities with relations, has the others mention them, and spreads all over days.
fn link(path: &Path, size: usize) -> Result<(), Anything> {
    let conn = tables::open(path)?;
    let entities = (size / ENTITY_EVERY).max(2);
    let entity = |number: usize| number * ENTITY_EVERY + 1;
    let mut random = Random::new(11);
    let mut any = || -> Result<usize, Anything> {
        Ok(usize::try_from(random.below(u64::try_from(entities)?))?)
    };
    conn.execute_batch("BEGIN")?;
    conn.execute(
        "UPDATE memories SET created_at = ?1 - 86400000 * (1 + seq / ?2)",
        (NOW.0, NOTES_A_DAY),
    )?;
    for number in 0..entities {
        conn.execute(
            "UPDATE memories SET type = 'entity', metadata = ?2 WHERE seq = ?1",
            (i64::try_from(entity(number))?, format!(r#"{{"name": "Entity {number}"}}"#)),
        )?;
        for relation in 0..RELATIONS {
            let id = |number: usize| format!("00000000-0000-7000-8000-{:012x}", entity(number));
            let other = any()?;
            let predicate = format!("relation_{relation}");
            conn.execute(
                "INSERT INTO entity_relations(id, subject_id, predicate, object_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                (format!("r{number}-{relation}"), id(number), predicate, id(other), NOW.0),
            )?;
        }
    }
    for seq in 1..=size {
        for _ in 0..MENTIONS {
            conn.execute(
                "INSERT OR IGNORE INTO mentions(entity, memory) VALUES (?1, ?2)",
                (i64::try_from(entity(any()?))?, i64::try_from(seq)?),
            )?;
        }
    }
    Ok(conn.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?)
}
