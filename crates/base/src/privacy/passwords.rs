//! Finds passwords and keys by what is written before them: `DB_PASSWORD=…`, `"apiKey": "…"`,
//! "the password for the router is …", `machine … login … password …`.
//!
//! A name says that a secret follows; the value has to look like one, since "password is required"
//! and `token: String` are no secrets.

use crate::privacy::checks::{entropy, has_digit_and_letter, has_three_classes, is_placeholder};
use crate::privacy::finding::Finding;
use regex::{Match, Regex};
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("compiles")
}

/// What the name before a value announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Password,
    Key,
}

/// One of these words is before every finding of this file.
static ANY: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i-u)pass|pwd|\bpw\b|\bPIN\b|secret|token|key|credential|has(?u:[łl])|kennwort|contrase|clave",
    )
});
/// A value: quoted, or up to the next blank.
const VALUE: &str = r#"(?:"(?P<d>[^"\n]{1,200})"|'(?P<q>[^'\n]{1,200})'|`(?P<b>[^`\n]{1,200})`|“(?P<t>[^”\n]{1,200})”|(?P<u>[^\s"'`]{1,200}))"#;
/// Without bounds: a bounded repetition of a name in every line would take most of the time.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r#"(?P<n>[A-Za-z][A-Za-z0-9_.-]*)["'`]?(?:[ \t]*:[ \t]*(?:&?str|[Ss]tring))?[ \t]*(?::=|=>|==?|:)[ \t]*{}"#,
        VALUE.replace("{1,200}", "+")
    ))
});
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r#"(?i)(?:^|[^\w-])(?P<n>password|passwort|kennwort|passphrase|passcode|passwd|pwd|pw|has[łl]o|contraseña|clave|mot de passe|api[ -]?key|api[ -]?token|api[ -]?secret|access[ -]?token|access[ -]?key|auth(?:entication)?[ -]?token|secret[ -]?key|client[ -]?secret|signing[ -]?secret|webhook[ -]?secret|encryption[ -]?key|master[ -]?key|bearer[ -]?token|refresh[ -]?token|personal access token|private[ -]?key|secret|token)(?P<m>(?:[ \t]+[^\s:=;!?"`]{{1,30}}){{0,8}}?)(?:[ \t]+(?:is|was|ist|lautet|est|es|jest|reads|set to|changed to|equals)(?:[ \t]+(?:now|still|set to|changed to|simply|just))?[ \t]*:?|[ \t]*(?:[:=→]|->))[ \t]*\*{{0,2}}{VALUE}"#
    ))
});
/// Sentences whose connecting word is `to`, which elsewhere begins the name of a place.
static SENTENCE_TO: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r#"(?i)(?:has[łl]o(?:[ \t]+[^\s:=;!?"'`]{{1,30}}){{0,6}}?|(?:chang\w+|set|reset|rotat\w+|updat\w+)(?:[ \t]+[^\s:=;!?"'`]{{1,30}}){{0,4}}?[ \t]+(?:password|passphrase|passcode|pwd|pw|token|secret|key)(?:[ \t]+(?:of|for|on)[ \t]+[^\s:=;!?"'`]{{1,30}}){{0,2}}?)[ \t]+to[ \t]+\*{{0,2}}{VALUE}"#
    ))
});
/// Options of commands, elements of XML, and a password that follows the word at once.
static DIRECT: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r#"(?i)(?:(?:^|\s)--?(?:password|passwd|pass|token|api-key|secret|secret-key|auth-token|access-token)[ =]{VALUE}|<(?:password|passwd|secret|token|api-?key)>(?P<x>[^<>\s]{{4,200}})</|\bmysql(?:dump|admin)?\b[^\n]{{0,80}}?[ \t]-p(?P<o>[^\s"'`-][^\s"'`]{{3,100}})|\b(?:password|passphrase|passwort|has[łl]o)[ \t]+(?P<w>[^\s"'`:=]{{6,100}}))"#
    ))
});
static PIN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?-u)\bPIN(?: [Cc]ode)?(?u:(?: (?:for|of|to) [^\n:=.]{1,30}?)?)(?: is|:|=) ?(?P<v>\d{4,8})\b",
    )
});
static NETRC: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?:\blogin|\buser(?:name)?)[ \t]+\S{1,100}\s+(?:password|pass|pw)[ \t]+(?P<v>\S{3,200})",
    )
});

/// Words between the name and the value that make it no secret.
static OTHER_THING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:polic(?:y|ies)|reset|managers?|rotation|hash(?:es|ing|ed)?|length|strength|field|form|page|prompt|generator|expir\w*|column|endpoint|tests?|file|store|algorithm|salt|ids?|names?|fingerprint|checksum|sha\d*|prefix|format|type|count|budget|limit|limits|usage|header|url|path|version|rules?|size|scheme|bucket)\b",
    )
});
/// Values that are words of technical notes although they have digits.
static TECHNICAL: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:argon2\w*|sha-?\d+\S*|md5\S*|pbkdf2\S*|utf-?\d+|base\d+\S*|oauth-?\d?\S*|aes-?\d+\S*|[rhep]s\d{3}|x\.?509|ed25519\S*|rsa-?\d+\S*|ecdsa\S*|1password\S*|[a-z]{1,3}\d|2fa\S*|rfc[ -]?\d+|tls\S*|http/?\d\S*|v?\d+(?:\.\d+)+\S*|[a-z]{2,10}-\d+|q\d-\d{4}|\d{4}-\d\d(?:-\d\d\S*)?|\d+(?:[.,]\d+)?[ -]?(?:chars?|characters?|digits?|bytes?|bits?|days?|months?|weeks?|hours?|minutes?|h|d|s|ms|min|x|k|m|kb|mb|%|tokens?)?|bcrypt\S*|scrypt\S*|step-?\d+|line-?\d+|python\d?\S*|es\d+|\d+(?:-|–|/|to)\d+\w*|pkcs\S*|c\+\+\d*)$",
    )
});
/// Common words that stand where a password would.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:passwor[dt]|passwd|pass|pwd|secret|token|none|null|nil|true|false|undefined|unset|empty|string|str|test(?:ing|er)?|admin|root|user(?:name)?|guest|postgres|postgresql|mysql|mariadb|mongo|redis|rabbitmq|default|n/?a|required|optional|stored|hashed|p|pw|s3cret|u|key|apikey|value|server|localhost|minio|minioadmin|elastic|grafana|sa|vault|env|environment|login|foo|bar|foobar|baz|abc|password1?)$",
    )
});
/// Last parts of a name that make it no secret, and parts that do so anywhere.
const NAME_ENDS: &str = "\
     length len min max count limit limits ttl expiry expires expiration timeout url uri endpoint \
     file path dir name names id ids type algorithm alg header prefix suffix hash policy enabled \
     required rotation version issuer audience store manager provider field ref arn cost rounds \
     size sha sha1 sha256 md5 fingerprint digest checksum format pattern regex usage bytes bits \
     lifetime at age kind label hint index column table map class budget reset strength count_ s3 \
     bucket property";
const NAME_PARTS: &str = "\
     public pub csrf xsrf page next continuation cancellation cancel idempotency sync cursor bos \
     eos pad unk sep cls mask max min num total prompt completion cache foreign primary partition \
     sort hot shortcut row object lookup test example sample fake dummy mock group translation \
     i18n license licence hash hashed map dedup routing message site publishable host known \
     composite unique";
/// Parts of the names of passwords and of keys, and what stands before `key` in the name of one.
const PASSWORD_PARTS: &str =
    "password passwd pwd pass passphrase passcode pw haslo passwort userpass";
const SECRET_PARTS: &str = "secret secrets token apikey credential credentials authtoken \
     accesstoken clientsecret secretkey accesskey privatekey";
const BEFORE_KEY: &str = "api access private secret encryption signing master service account auth \
     app license shared preshared deploy jwt session";

/// Finds passwords and keys that are named as such.
pub fn find(text: &str) -> Vec<Finding> {
    if !ANY.is_match(text) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for whole in ASSIGNMENT.find_iter(text) {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let name = whole.as_str().split(|c| !is_of_name(c)).next().unwrap_or_default();
        let class = class_of(name).filter(|_| !is_in_resource_name(text, whole.start()));
        // The parts of a match take longer to find than the match, so only where the name counts.
        let Some((class, captures)) =
            class.and_then(|class| Some((class, ASSIGNMENT.captures_at(text, whole.start())?)))
        else {
            continue;
        };
        if let Some((value, quoted)) = value_of(&captures)
            && is_value(class, value.as_str(), quoted, name)
        {
            found.push(finding(Some(class), trimmed(value, quoted)));
        }
    }
    let mut from = 0;
    while let Some(captures) = SENTENCE.captures_at(text, from) {
        let (Some(name), Some((value, quoted))) = (captures.name("n"), value_of(&captures)) else {
            break;
        };
        from = name.end();
        let between = captures.name("m").map_or("", |m| m.as_str());
        let class = if is_key_word(name.as_str()) { Class::Key } else { Class::Password };
        let weak = ["secret", "token"].contains(&name.as_str().to_lowercase().as_str());
        if !OTHER_THING.is_match(between)
            && !is_assigned(text, name.start())
            && is_value(class, value.as_str(), quoted, name.as_str())
            && (!weak || !is_hash_or_id(value.as_str()))
        {
            found.push(finding(Some(class), trimmed(value, quoted)));
        }
    }
    for captures in SENTENCE_TO.captures_iter(text) {
        let Some((value, quoted)) = value_of(&captures) else { continue };
        if is_value(Class::Password, value.as_str(), quoted, "") {
            found.push(finding(Some(Class::Password), trimmed(value, quoted)));
        }
    }
    for captures in DIRECT.captures_iter(text) {
        let named = ["x", "o", "w"].iter().find_map(|name| captures.name(name));
        let Some((value, quoted)) = named.map(|value| (value, false)).or(value_of(&captures))
        else {
            continue;
        };
        let has_digit = has_digit_and_letter(bare(value.as_str()));
        if (quoted || has_digit) && is_value(Class::Password, value.as_str(), quoted, "") {
            found.push(finding(Some(Class::Password), trimmed(value, quoted)));
        }
    }
    for captures in PIN.captures_iter(text).chain(NETRC.captures_iter(text)) {
        if let Some(value) = captures.name("v") {
            let is_pin = value.as_str().bytes().all(|b| b.is_ascii_digit());
            if (is_pin && value.len() >= 4) || is_password(value.as_str(), false) {
                found.push(finding(Some(Class::Password), value.range()));
            }
        }
    }
    found
}

/// Returns true within a name such as `arn:aws:secretsmanager:eu-west-1:123456789012:secret:db`.
fn is_in_resource_name(text: &str, at: usize) -> bool {
    let word =
        text[..at].rsplit(|c: char| c.is_whitespace() || c == '"').next().unwrap_or_default();
    let word = word.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    word.starts_with("arn:") || word.starts_with("urn:")
}

/// Returns true if the word is the end of a longer name, which `ASSIGNMENT` judges.
fn is_assigned(text: &str, at: usize) -> bool {
    text[..at].ends_with(['_', '.', '-', '$']) || is_in_resource_name(text, at)
}

fn finding(class: Option<Class>, range: std::ops::Range<usize>) -> Finding {
    let kind = if class == Some(Class::Key) { "api-key" } else { "password" };
    Finding { kind, range }
}

fn value_of<'t>(captures: &regex::Captures<'t>) -> Option<(Match<'t>, bool)> {
    let quoted = ["d", "q", "b", "t"].iter().find_map(|name| captures.name(name));
    quoted.map(|value| (value, true)).or_else(|| captures.name("u").map(|value| (value, false)))
}

/// Cuts what follows an unquoted value: the next setting of a connection string, a full stop.
fn trimmed(value: Match<'_>, quoted: bool) -> std::ops::Range<usize> {
    let length = if quoted { value.len() } else { bare(value.as_str()).len() };
    value.start()..value.start() + length
}

fn bare(value: &str) -> &str {
    let cut = value
        .char_indices()
        .find(|(at, c)| matches!(c, ';' | '&') && value[*at..].contains('='))
        .map_or(value.len(), |(at, _)| at);
    value[..cut].trim_end_matches([',', ';', '.', ')', ']', '}', ':', '*', '\\'])
}

/// Splits a name at `_`, `.`, `-` and before capitals; lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if matches!(c, '_' | '.' | '-') || (c.is_ascii_uppercase() && before.is_ascii_lowercase()) {
            parts.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(last) = parts.last_mut()
        {
            last.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn class_of(name: &str) -> Option<Class> {
    let parts = parts(name);
    let is_in = |list: &str, part: &str| list.split(' ').any(|word| word == part);
    let has = |list: &str| parts.iter().any(|part| is_in(list, part));
    if parts.last().is_some_and(|last| is_in(NAME_ENDS, last)) || has(NAME_PARTS) {
        return None;
    }
    let joined = parts.concat();
    let password_ends = ["password", "passwd", "passphrase"];
    if has(PASSWORD_PARTS) || password_ends.iter().any(|end| joined.ends_with(end)) {
        return Some(Class::Password);
    }
    let is_key = parts.last().is_some_and(|last| last == "key" || last == "keys")
        && parts.iter().rev().nth(1).is_some_and(|part| is_in(BEFORE_KEY, part));
    let is_variable = name == name.to_uppercase() && joined.ends_with("key") && parts.len() > 1;
    (is_key || has(SECRET_PARTS) || is_variable).then_some(Class::Key)
}

fn is_key_word(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("key") || name.contains("token") || name.contains("secret")
}

fn is_value(class: Class, value: &str, quoted: bool, name: &str) -> bool {
    let value = if quoted { value.trim() } else { bare(value) };
    if is_code(value, quoted) || value.eq_ignore_ascii_case(name) {
        return false;
    }
    match class {
        Class::Password => is_password(value, quoted),
        Class::Key => is_key(value) || (quoted || is_strong(value)) && is_password(value, false),
    }
}

/// Returns true for a value with letters, digits and other characters, as passwords have.
fn is_strong(value: &str) -> bool {
    value.len() >= 8
        && has_digit_and_letter(value)
        && value
            .chars()
            .any(|c| matches!(c, '!' | '#' | '$' | '%' | '^' | '&' | '*' | '@' | '?' | '~'))
        && !is_path(value)
}

/// Returns true for an expression, a path, a URL, or the hash of a password.
fn is_code(value: &str, quoted: bool) -> bool {
    static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| {
        compile(
            r"^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[;,]?$|^[A-Za-z_][\w.:]*[(\[<{]|\(\)|^\$\d?[abxy]?\$|^\$argon2|^\$(?:1|5|6|2[aby])\$|^--?[a-z][a-z-]*(?:=|$)|^\\|^(?:op|vault|aws|gcp|ssm|file|env|secret|keychain|pass|bw|arn|urn|ref)://?|^arn:|^urn:",
        )
    });
    is_path(value)
        || value.contains("://")
        || (EXPRESSION.is_match(value)
            && (!quoted || value.contains(['(', '[', '$', '<', '{', ':', '.'])))
}

fn is_path(value: &str) -> bool {
    let from_root = value.starts_with("./") || value.starts_with("~/") || value.starts_with("../");
    from_root || value.starts_with('/') && value[1..].contains('/') && !value.contains(['+', '='])
}

fn is_password(value: &str, quoted: bool) -> bool {
    let length = value.chars().count();
    if length < 4 || is_placeholder(value) || TECHNICAL.is_match(value) || WORDS.is_match(value) {
        return length >= 6 && value.bytes().all(|b| b.is_ascii_digit()) && !is_placeholder(value);
    }
    let has_symbol = value.chars().any(|c| {
        !c.is_alphanumeric()
            && !c.is_whitespace()
            && !matches!(c, '-' | '_' | '.' | '\'' | '/' | ':' | ',' | '(' | ')' | '’' | '"')
    });
    let words = value.split(['-', '_', '.']).filter(|word| word.len() > 2).count();
    let letters = value.chars().any(char::is_alphabetic);
    if quoted && value.contains(' ') {
        return has_digit_and_letter(value) || value.split(' ').count() >= 4;
    }
    length >= 5
        && letters
        && (value.bytes().any(|b| b.is_ascii_digit())
            || (has_symbol && !value.ends_with(['!', '?', '…']) && !is_markup(value))
            || (has_symbol && value.chars().any(char::is_uppercase) && length >= 8)
            || words >= 4
            || quoted && value.chars().all(char::is_alphanumeric))
}

fn is_markup(value: &str) -> bool {
    let inner =
        value.trim_matches(['*', '_', '~', '`', '|', '=', '#', '>', '+', '&', '→', '“', '”', '"']);
    inner
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '|' | '+' | '&' | '=' | '.'))
        && inner.len() < value.len()
        || inner.contains(['|', '='])
            && inner.chars().all(|c| c.is_alphanumeric() || matches!(c, '|' | '=' | '_' | '-'))
}

fn is_key(value: &str) -> bool {
    let is_of_key = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '-' | '_' | '+' | '/' | '=' | '.' | '~' | ':' | '%' | '@' | '!' | '$')
    };
    let public = [
        "sk_test_",
        "pk_test_",
        "pk_live_",
        "rk_test_",
        "ssh-",
        "age1",
        "sha256",
        "sha512",
        "sha384",
        "whsec_test",
        "AKIA",
    ];
    value.len() >= 16
        && value.chars().all(is_of_key)
        && !public.iter().any(|start| value.starts_with(start))
        && !is_placeholder(value)
        && entropy(value) >= 3.0
        && (has_digit_and_letter(value)
            || value.len() >= 20 && entropy(value) >= 3.8 && !value.contains(['-', '_', '.', '/']))
        && !is_words(value)
}

/// Returns true for words that are joined by hyphens, dots or slashes, with a number here and there.
fn is_words(value: &str) -> bool {
    let parts: Vec<&str> =
        value.split(['-', '_', '.', '/', ':']).filter(|part| !part.is_empty()).collect();
    let is_word = |part: &&&str| {
        part.bytes().all(|b| b.is_ascii_lowercase())
            || part.bytes().all(|b| b.is_ascii_uppercase())
            || part.bytes().all(|b| b.is_ascii_digit()) && part.len() < 5
            || part.len() <= 3
    };
    parts.len() > 1 && parts.iter().filter(is_word).count() == parts.len()
}

fn is_hash_or_id(value: &str) -> bool {
    let value = bare(value);
    value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        || value.len() == 26 && !has_three_classes(value)
}

/// Returns true for a password in a URL that is no placeholder.
pub(crate) fn is_url_password(value: &str) -> bool {
    if value.len() < 3 {
        return value.bytes().all(|b| b.is_ascii_alphanumeric());
    }
    !is_placeholder(value)
        && !WORDS.is_match(value)
        && !value.contains('{')
        && !value.starts_with('$')
}
