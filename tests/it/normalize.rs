//! Replaces what differs between two runs in a screen: ids, names, times, numbers.
//!
//! Not here: the screens (`cli_screens`).

/// Replaces the id of each session that a screen names.
pub fn normalize_sessions(text: &str) -> String {
    let shown = |(at, part): (usize, &str)| match part.get(35..) {
        Some(rest) if at > 0 => format!(", session SESSION{rest}"),
        _ => part.to_owned(),
    };
    text.split(", session 0").enumerate().map(shown).collect()
}

/// Replaces names that depend on a path, on ids or on the time: group ids, cluster ids, backups.
pub fn normalize_names(text: &str) -> String {
    let hexadecimal = |name: &str, digits: usize| {
        name.len() == digits && name.bytes().all(|c| c.is_ascii_hexdigit())
    };
    let word = |word: &str| {
        let bare = word.trim_matches(['(', ')', '\n']);
        let normalized = match (bare.strip_prefix("g_"), bare.rsplit_once("/memory-")) {
            (Some(digits), _) if hexadecimal(digits, 16) => "g_0000000000000000".to_owned(),
            (_, Some((folder, _))) => format!("{folder}/memory-…"),
            _ if hexadecimal(bare, 12) && bare.bytes().any(|c| c.is_ascii_digit()) => {
                "000000000000".to_owned()
            }
            _ => bare.to_owned(),
        };
        word.replace(bare, &normalized)
    };
    text.split_inclusive(' ')
        .map(|part| {
            if part.trim().is_empty() {
                part.to_owned()
            } else {
                word(part.trim_end_matches(' ')) + if part.ends_with(' ') { " " } else { "" }
            }
        })
        .collect()
}

/// Replaces how long a search took in the daemon.
fn normalize_latency(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.split_once(" µs in the daemon") {
        Some((before, after)) => {
            let kept = before.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{kept}N µs in the daemon{after}")
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces the digits of dates and times by 0, and how long a search took by N; the date 2026-03-04 of the test data stays.
pub fn normalize_times(text: &str) -> String {
    let text = normalize_latency(text);
    let text = text.as_str();
    let digits = |shape: &str, at: &str| {
        at.len() >= shape.len()
            && at.is_char_boundary(shape.len())
            && shape
                .bytes()
                .zip(at.bytes())
                .all(|(s, c)| if s == b'0' { c.is_ascii_digit() } else { s == c })
    };
    let mut normalized = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let shape = [
            "0000-00-00T00:00:00.000Z",
            "0000-00-00T00:00:00.000000Z",
            "0000-00-00T00:00:00Z",
            "0000-00-00 00:00:00",
            "0000-00-00T00:00",
            "0000-00-00 00:00",
            "00000000T000000Z-0",
            "00000000T000000Z",
            "0000-00-00",
        ]
        .into_iter()
        .find(|shape| digits(shape, rest) && !rest.starts_with("2026-03-04"));
        let taken = shape.map_or(c.len_utf8(), str::len);
        // A backup has a number only if another one was made in the same second.
        normalized.push_str(match shape {
            Some("00000000T000000Z-0") => "00000000T000000Z",
            Some(shape) => shape,
            None => &rest[..taken],
        });
        rest = &rest[taken..];
    }
    normalized
}

/// Replaces every number by N, and column widths that depend on numbers by one space.
pub fn normalize_numbers(screen: &str) -> String {
    let word = |word: &str| {
        if word.trim_matches(['(', ')', ',']).parse::<f64>().is_ok() {
            "N".to_owned()
        } else {
            word.to_owned()
        }
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    screen.lines().map(line).collect::<Vec<_>>().join("\n")
}
