//! The time zone of the person, in which the days of memories are: `TZ`, else that of the system.

use chrono::{Local, Offset, TimeZone};

/// Tells the engine the time zone. Called before anything else of the engine.
pub fn apply() {
    loci_engine::model::time::set_zone(offset_at);
}

fn offset_at(milliseconds: i64) -> i64 {
    let local = Local.timestamp_millis_opt(milliseconds).earliest();
    local.map_or(0, |local| i64::from(local.offset().fix().local_minus_utc()) * 1000)
}
