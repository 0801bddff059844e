//! Keeps what somebody has added to a server's entry: arguments after `mcp`, variables, and keys that setup does not write.

use super::edit::{Entry, Value};
use serde_json::Value as Json;

/// Keys that are a permission: they are there only if they are wanted.
const PERMISSIONS: [&str; 2] = ["trust", "default_tools_approval_mode"];

/// The keys of a hook's timeout, in the units of the clients.
const TIMEOUTS: [&str; 2] = ["timeout", "timeoutSec"];

/// Returns the entry with the additions of one that starts loci, and their names. Values of variables are not named.
pub fn keep_additions(entry: &Entry, found: &Json) -> (Entry, Vec<String>) {
    let (Value::Table(members), Json::Object(found)) = (&entry.value, found) else {
        return (entry.clone(), Vec::new());
    };
    let (mut members, mut names) = (members.clone(), Vec::new());
    for (key, value) in found {
        let own = members.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value);
        match (key.as_str(), own, value) {
            ("args" | "command", Some(Value::List(own)), Json::Array(items)) => {
                let added = items.get(own.len()..).unwrap_or_default();
                names.extend(added.iter().filter_map(Json::as_str).map(str::to_owned));
                own.extend(added.iter().map(Value::from));
            }
            ("env", Some(Value::Table(own)), Json::Object(variables)) => {
                names.extend(variables.keys().cloned());
                own.extend(variables.iter().map(|(name, value)| (name.clone(), value.into())));
            }
            ("env_vars", own, Json::Array(items)) => {
                let mut wanted = own.cloned().unwrap_or_else(|| Value::List(Vec::new()));
                if let Value::List(wanted) = &mut wanted {
                    let added = items.iter().filter(|item| !is_of_setup(item));
                    let added: Vec<Value> = added.map(Value::from).collect();
                    let added: Vec<Value> =
                        added.into_iter().filter(|item| !wanted.contains(item)).collect();
                    names.extend(added.iter().map(|item| item.to_line(true)));
                    wanted.extend(added);
                }
                members.retain(|(name, _)| name != key);
                if wanted != Value::List(Vec::new()) {
                    members.push((key.clone(), wanted));
                }
            }
            (_, Some(_), _) => {}
            (key, None, _) if PERMISSIONS.contains(&key) => {}
            (_, None, value) => {
                match value {
                    Json::Object(variables) if ["env", "environment"].contains(&key.as_str()) => {
                        names.extend(variables.keys().cloned());
                    }
                    _ => names.push(key.clone()),
                }
                members.push((key.clone(), value.into()));
            }
        }
    }
    (Entry { value: Value::Table(members), ..entry.clone() }, names)
}

/// Returns the entry of a hook with the timeout that somebody has given it in an array; the entry as it is if it is there or another hook is.
pub fn keep_timeout(entry: &Entry, items: &[Json]) -> Entry {
    let wanted = entry.value.to_json();
    match items.iter().find(|item| differs_at_most_in_timeout(item, &wanted)) {
        Some(found) if !items.contains(&wanted) => Entry { value: found.into(), ..entry.clone() },
        _ => entry.clone(),
    }
}

/// Whether two hooks are the same but for how long the client waits for them.
pub fn differs_at_most_in_timeout(one: &Json, other: &Json) -> bool {
    without_timeouts(one) == without_timeouts(other)
}

fn without_timeouts(hook: &Json) -> Json {
    match hook {
        Json::Object(members) => {
            let kept = members.iter().filter(|(key, _)| !TIMEOUTS.contains(&key.as_str()));
            Json::Object(kept.map(|(key, value)| (key.clone(), without_timeouts(value))).collect())
        }
        Json::Array(items) => items.iter().map(without_timeouts).collect(),
        other => other.clone(),
    }
}

/// Whether a variable is one that setup names to Codex if it is set.
fn is_of_setup(name: &Json) -> bool {
    name.as_str().is_some_and(|name| name.starts_with("LOCI_") || name == "XDG_RUNTIME_DIR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(extra: &[(&str, Value)]) -> Entry {
        let own = [("command", "/opt/loci".into()), ("args", Value::texts(&["mcp"]))];
        let members = own.into_iter().chain(extra.iter().cloned());
        let value = Value::Table(members.map(|(key, v)| (key.to_owned(), v)).collect());
        Entry::key(&["mcpServers", "loci"], value)
    }

    #[test]
    fn arguments_variables_and_other_keys_stay() {
        let found = json!({"command": "loci", "args": ["mcp", "--incognito"], "env": {"LOCI_HOME": "/data"}, "timeout": 1.5});
        let (merged, mut names) = keep_additions(&entry(&[("env", Value::table([]))]), &found);
        names.sort();
        assert_eq!(names, ["--incognito", "LOCI_HOME", "timeout"]);
        let expected = json!({"command": "/opt/loci", "args": ["mcp", "--incognito"], "env": {"LOCI_HOME": "/data"}, "timeout": 1.5});
        assert_eq!(merged.value.to_json(), expected);
        let (again, _) = keep_additions(&entry(&[("env", Value::table([]))]), &expected);
        assert_eq!(again, merged, "a second time changes nothing");
    }

    #[test]
    fn the_timeout_of_a_hook_stays_and_another_hook_is_none_of_it() {
        let hook = |command: &str, timeout: i64| {
            Value::table([(
                "hooks",
                Value::List(vec![Value::table([
                    ("command", command.into()),
                    ("timeout", timeout.into()),
                ])]),
            )])
        };
        let wanted = Entry::element(&["hooks", "SessionStart"], hook("loci", 5));
        let kept = |items: &[Value]| {
            let items: Vec<Json> = items.iter().map(Value::to_json).collect();
            keep_timeout(&wanted, &items).value.to_json()
        };
        assert_eq!(kept(&[hook("loci", 30)]), hook("loci", 30).to_json());
        for items in [vec![], vec![hook("other", 30)], vec![hook("loci", 30), hook("loci", 5)]] {
            assert_eq!(kept(&items), wanted.value.to_json());
        }
    }

    #[test]
    fn a_permission_stays_only_if_it_is_wanted() {
        let found = json!({"command": "loci", "args": ["mcp"], "trust": true});
        assert_eq!(keep_additions(&entry(&[]), &found), (entry(&[]), Vec::new()));
        let wanted = entry(&[("trust", true.into())]);
        assert_eq!(keep_additions(&wanted, &found), (wanted.clone(), Vec::new()));
    }

    #[test]
    fn variables_of_codex_stay_except_those_that_setup_names() {
        let found =
            json!({"command": "loci", "args": ["mcp"], "env_vars": ["LOCI_DB", "HTTP_PROXY"]});
        let (merged, names) = keep_additions(&entry(&[]), &found);
        assert_eq!(merged.value.to_json()["env_vars"], json!(["HTTP_PROXY"]));
        assert_eq!(names, ["\"HTTP_PROXY\""]);
        let wanted = entry(&[("env_vars", Value::texts(&["LOCI_HOME"]))]);
        let (merged, _) = keep_additions(&wanted, &found);
        assert_eq!(merged.value.to_json()["env_vars"], json!(["LOCI_HOME", "HTTP_PROXY"]));
    }
}
