//! Finds secrets by the words beside them: assignments (`DB_PASSWORD=…`, `"token": "…"`), options
//! of commands, passwords in URLs, sentences (`the password is …`).
//!
//! Not here: tokens that have a shape of their own (`token_rules`).

use crate::privacy::checks::{entropy, has_digit_and_letter, is_placeholder};
use regex::Regex;
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("compiles")
}

/// Which values of a rule are secrets.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    /// What a person types: 4 characters or more that are no word of a text about passwords.
    Password,
    /// As `Password`, and with a digit or a sign, because it stands in a sentence.
    Spoken,
    /// What a machine makes: 12 characters or more with entropy.
    Token,
    /// As `Token` with 20 characters or more: the name says only that it is a key.
    Long,
    /// Any value that the pattern admits.
    Any,
}

struct Rule {
    kind: &'static str,
    /// Any of these, in lower case, must occur.
    words: &'static [&'static str],
    pattern: Regex,
    value: Value,
}

const PASSWORD_WORDS: &[&str] = &[
    "passw", "passphrase", "passcode", "pwd", "pass", "hasł", "haslo", "kennwort", "mot de passe", "contraseña", "senha",
];
const TOKEN_WORDS: &[&str] = &["secret", "token", "key", "credential", "auth"];

/// What may stand between a name and its value in code, JSON, YAML and env files.
const ASSIGN: &str = r#"\\?["'`]?\*{0,2}[ \t]*(?::=|=>|[:=])\*{0,2}[ \t]*"#;
/// A value: quoted, or up to white space.
const VALUE: &str = r#"(?:\\?"([^"\n]{3,512})"|'([^'\n]{3,512})'|`([^`\n]{3,512})`|([^\s"'`,;<>]{3,512}))"#;
/// The end of a name that has a qualifier, such as `_PROD` or `2`.
const QUALIFIER: &str = r"(?:[_-]?(?:prod|production|live|staging|stage|dev|local|main|primary|backup|old|new|base64|b64|value)|[_-]?\d{1,2})?";

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |kind, words, pattern: &str, value| Rule { kind, words, pattern: compile(pattern), value };
    vec![
        rule("password-in-url", &["://"], r"(?i)\b[a-z][a-z0-9+.-]{1,30}://([^\s:/@]{0,80}):([^\s/@]{3,200}|[^\s@]{3,200})@[a-z0-9\[]", Value::Password),
        rule("password", PASSWORD_WORDS, &format!(r"(?i)(?:^|[^\p{{L}}\p{{N}}])(?:[a-z0-9.-]+[_.-]|[a-z0-9_.-]*(?:db|user|root|admin|smtp|ssh|login|master|mysql|pg|redis))?(?:password|passwd|passphrase|passcode|pwd|pass|userpass|hasło|haslo|passwort|kennwort){QUALIFIER}{ASSIGN}{VALUE}"), Value::Password),
        rule("secret", TOKEN_WORDS, &format!(r"(?i)(?:^|[^\p{{L}}\p{{N}}])[a-z0-9_.-]*(?:secret|token|credentials?|api[_-]?key|apikey|access[_-]?key|secret[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key|encryption[_-]?key|master[_-]?key|signing[_-]?key|license[_-]?key|service[_-]?key|app[_-]?key|authkey|auth){QUALIFIER}{ASSIGN}{VALUE}"), Value::Token),
        rule("secret", &["key"], &format!(r"(?m)(?:^|[\s;])(?:export[ \t]+)?[A-Z0-9_]*_KEY(?:_[A-Z0-9]+)?[ \t]*=[ \t]*{VALUE}"), Value::Long),
        rule("password", &["pass", "secret", "token", "key", "user"], &format!(r"(?:^|\s)--?(?:password|passwd|pass|token|api-key|secret|secret-key|auth-token|requirepass|access-token)(?:=|\s+){VALUE}"), Value::Spoken),
        rule("password", &["-u"], r#"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?["']?[^\s:"']{1,64}:([^\s"']{3,128})"#, Value::Password),
        rule("password", &["sshpass", "mysql", "identified by", "requirepass", "login"], r#"(?i)(?:\bsshpass\s+-p\s*|\bmysql(?:dump|admin)?\b[^\n]{0,80}?\s-p|\bidentified by\s+|\brequirepass\s+|\bmachine\s+\S+\s+login\s+\S+\s+password\s+)["']?([^\s"';]{4,128})"#, Value::Password),
        rule("password", PASSWORD_WORDS, r#"(?i)\b(?:password|passwd|passphrase|passcode|pass ?word|pwd|pw|hasło|haslo|passwort|kennwort|mot de passe|contraseña|senha)s?(?: \(?(?:for|of|on|to|at|in|do|dla|für|pour|de|para|from)\)? [^\n:=.]{1,60}?)?(?:['’]s)?(?:\s*[:=]|\s+(?:is|was|are|to|as|has been (?:set|changed) to|is now|ist|lautet|est|es|é|to jest|brzmi|with|becomes)(?:\s+(?:now|still|currently|set to|always|simply|just))?\s*:?)\s+["'`“„«]?([^\s"'`“”„«»]{4,128})"#, Value::Spoken),
        rule("password", PASSWORD_WORDS, r#"(?i)\b(?:password|passphrase|passcode|hasło|passwort)(?: (?:for|of|on|to|at|dla|do|für) [^\n:=.]{1,60}?)?(?:\s*[:=]|\s+(?:is|was|to|ist|set to|changed to))\s*["'`“„«]([^"'`“”„«»\n]{4,128})["'`“”„»]"#, Value::Password),
        rule("password", PASSWORD_WORDS, r#"(?i)\b(?:password|passphrase|passwd|pwd|pw|hasło|passwort)\s+["'`“„]?([^\s"'`“”„]{6,128})"#, Value::Token),
        rule("password", &["log", "credential", "sign"], r#"(?i)\b(?:credentials?|logins?|log ?in|sign in)\b[^\n:]{0,60}?(?::|are|is|with|as|using)\s+["'`]?[\w.@+-]{2,64}["'`]?\s*(?:/|:|\band\b|,)\s*["'`]?([^\s"'`]{6,128})"#, Value::Spoken),
        rule("passphrase", &["passphrase", "password", "hasło"], r#"(?i:passphrase|password|hasło)(?:[^\n:=.]{0,60}?)(?:\s*:|\s+(?:is|was|set to|to))\s+["'`“]?((?:[a-z]{3,12}[ -]){3,7}[a-z]{3,12})(?:["'`”.,;\n]|$)"#, Value::Any),
        rule("seed-phrase", &["phrase", "mnemonic", "seed"], r#"(?i)\b(?:seed|recovery|backup|mnemonic|secret)(?: (?:phrase|words))?\b[^\n.]{0,60}?[:=\s]["'`“]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b"#, Value::Any),
        rule("pin", &["pin", "cvv", "cvc", "cvv2"], r"\b(?:PIN|[Pp]in code|[Pp]in number|CVV|CVC|CVV2)(?: (?:for|of|on|to) [^\n:=.\d]{1,50}?)?(?:\s*[:=]|\s+(?:is|was|to))?\s*(\d{3,8})(?:$|[^\d.]|\.(?:\s|$))", Value::Any),
        rule("secret", TOKEN_WORDS, r#"(?i)\b(?:api[ _-]?key|api[ _-]?token|access[ _-]?(?:key|token)|auth(?:entication|orization)?[ _-]?(?:token|key)|secret(?:[ _-]access)?[ _-]key|client[ _-]secret|webhook[ _-]secret|shared[ _-]secret|signing[ _-](?:secret|key)|encryption[ _-]key|master[ _-]key|private[ _-]key|license[ _-]key|bot[ _-]token|deploy[ _-](?:token|key)|refresh[ _-]token|bearer[ _-]token|personal[ _-]access[ _-]token|session[ _-]token|token|secret|credential)(?: (?:for|of|on|to|at|in|from) [^\n:=.]{1,60}?)?(?:['’]s)?(?:\s*[:=]|\s+(?:is|was|to|as|is now|changed to|set to))\s*["'`“]?([A-Za-z0-9_+/=.~:@!#$%^&*-]{16,256})"#, Value::Token),
        rule("secret", TOKEN_WORDS, r#"(?i)\b(?:api[ _-]?(?:key|token)|access[ _-]?(?:key|token)|auth[ _-]?token|secret[ _-]key|client[ _-]secret|webhook[ _-]secret|signing[ _-](?:secret|key)|bot[ _-]token|refresh[ _-]token|bearer[ _-]token|token)\s+["'`“]?([A-Za-z0-9_+/=.~-]{20,256})"#, Value::Long),
    ]
});

/// Words that stand in place of a password in text about passwords.
static NO_PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?ix)^(?:
          password|passwd|passphrase|passcode|pass|pwd|secret|token|key|user|username|login|admin|root|none|null|nil|undefined|empty|blank|
          true|false|yes|no|on|off|string|str|text|number|int|integer|bool|boolean|varchar.*|char.*|bytes|optional|required|mandatory|
          secretstr|option|any|hidden|hash|hashed|encrypted|plain|plaintext|plain-text|cleartext|salted|invalid|valid|wrong|correct|incorrect|
          missing|unknown|unset|expired|weak|strong|long|short|too|not|never|always|only|also|now|still|in|at|the|a|an|it|is|are|was|be|by|
          stored|kept|saved|set|reset|changed|rotated|generated|random|default|same|different|shared|required|needed|used|sent|read|taken|
          from|via|with|for|to|of|on|see|ask|use|check|env|file|vault|keychain|keyring|manager|prompt|input|field|type|format|policy|rules?|
          protected|disabled|enabled|managed|visible|redacted|masked|removed|deleted|case-sensitive|must|should|will|can|may|cannot|has|have|
          sha-?\d+\S*|md5\S*|base-?\d\d\S*|argon2\S*|bcrypt\S*|scrypt\S*|pbkdf2\S*|utf-?\d+\S*|1password\S*|oauth2?\S*|openid\S*|saml2?|k8s\S*|
          http[s2]?|tls\S*|i18n|l10n|rfc-?\d+|ascii|hex|aes-?\d*\S*|rsa-?\d*\S*|ed25519\S*|x25519|ec2|s3|r2|oauth2-\S*|utf8mb4|ntlmv2|http2|
          \d+(?:[-–+]\d*)?|\d+(?:\.\d+)+\S*|\d+-?(?:bytes?|bits?|chars?|characters?|days?|hours?|h|d|m|min|minutes?|ms|s|digits?|times?|words?|kb|mb|rounds?|attempts?)|
          v\d[\w.-]*|\d{4}-\d\d-\d\d\S*|\d\d?[:h]\d\d\S*
        )$",
    )
});

/// Words of sentences; a passphrase of words has none of them.
const SENTENCE_WORDS: &[&str] = &[
    "the", "and", "for", "with", "from", "into", "that", "this", "not", "are", "was", "has", "have",
    "must", "should", "can", "will", "may", "stored", "kept", "saved", "required", "used", "after", "before",
    "every", "each", "when", "than", "then", "our", "your", "their", "its", "all", "any", "but",
    "changed", "reset", "hashed", "encrypted", "shared", "least", "characters", "you", "only",
    "too", "very", "always", "never", "still", "also", "both", "per", "now", "rotated", "longer",
    "managed", "generated", "via", "being", "been", "sent", "expired", "policy", "manager", "who",
];

/// A secret found by the words beside it.
pub(crate) struct Found {
    pub kind: &'static str,
    pub start: usize,
    pub end: usize,
}

/// Returns the secrets of a text that the words beside them show.
pub(crate) fn find(text: &str) -> Vec<Found> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.words.iter().any(|word| lower.contains(word))) {
        for captures in rule.pattern.captures_iter(text) {
            let Some(value) = captures.iter().skip(1).flatten().last() else { continue };
            let user = (rule.kind == "password-in-url").then(|| captures.get(1)).flatten();
            let (start, end) = trimmed(value.as_str(), value.start(), rule.value);
            let value = &text[start..end];
            if user.is_some_and(|user| user.as_str() == value) {
                continue;
            }
            if is_secret(rule.value, value, &text[end..]) {
                found.push(Found { kind: rule.kind, start, end });
            }
        }
    }
    found
}

/// Leaves out the marks that end a sentence or a bracket.
fn trimmed(value: &str, start: usize, kind: Value) -> (usize, usize) {
    let marks: &[char] = if kind == Value::Any { &[' ', ','] } else { &['.', ',', ';', ':', ')', ']', '}', '\\', '"'] };
    let mut kept = value.trim_end_matches(marks);
    // `a!1)` may be a password: a bracket belongs to it if it was opened in it.
    if value[kept.len()..].starts_with(')') && kept.contains('(') {
        kept = &value[..=kept.len()];
    }
    if kind == Value::Spoken && kept.ends_with(['?', '!']) && kept.len() < value.len() {
        kept = kept.trim_end_matches(['?']);
    }
    (start, start + kept.len())
}

fn is_secret(rule: Value, value: &str, after: &str) -> bool {
    let length = value.chars().count();
    if length < 3 || (rule != Value::Any && (is_placeholder(value) || is_code(value, after))) {
        return false;
    }
    let is_no_password = || NO_PASSWORD.is_match(value);
    match rule {
        Value::Password => length >= 4 && !is_no_password() && !value.contains(' '),
        Value::Spoken => length >= 5 && !is_no_password() && looks_typed(value),
        Value::Token => {
            length >= 12 && !is_no_password() && is_random(value)
        }
        Value::Long => length >= 20 && is_random(value) && !is_uuid(value) && entropy(value) >= 3.3,
        Value::Any => is_phrase(value),
    }
}

/// Returns true for a value with a digit or a sign in a word, as people make passwords.
fn looks_typed(value: &str) -> bool {
    let inner = value.trim_matches(|c: char| c.is_ascii_punctuation());
    let has_sign = inner.chars().any(|c| "!@#$%^&*+=?~|".contains(c))
        || value.ends_with(['!', '#', '$', '%', '*', '&', '@']) && value.len() > 6;
    let hyphens = inner.matches(['-', '_']).count();
    let is_path = value.contains('/') && !has_sign || value.contains("://");
    if is_path || is_uuid(value) || inner.contains('(') {
        return false;
    }
    if has_digit_and_letter(inner) || has_sign {
        return !is_compound(inner);
    }
    hyphens >= 3 || (value.chars().skip(1).any(char::is_uppercase) && value.chars().any(char::is_lowercase) && hyphens == 0 && has_inner_case(value))
}

/// Returns true for `swordFish` spelled with odd case (`sWoRdFiSh`), not for `camelCase` names.
fn has_inner_case(value: &str) -> bool {
    let flips = value
        .chars()
        .zip(value.chars().skip(1))
        .filter(|(a, b)| a.is_alphabetic() && b.is_alphabetic() && a.is_uppercase() != b.is_uppercase())
        .count();
    flips >= 4 && value.chars().all(char::is_alphanumeric)
}

/// Returns true for words such as `12-character`, `64-byte`, `step-2` and `two-factor-2`.
fn is_compound(value: &str) -> bool {
    static COMPOUND: LazyLock<Regex> = LazyLock::new(|| {
        compile(r"(?i)^(?:\d{1,4}[-–][a-z]+(?:[-–][a-z]+)*|[a-z]{3,}(?:-[a-z]{2,})*-\d{1,2}|\d{1,4}(?:st|nd|rd|th)?|[a-z]+\d?/[a-z]+\d?)$")
    });
    COMPOUND.is_match(value)
}

/// Returns true for text that a machine made: digits and letters, entropy, no readable words.
fn is_random(value: &str) -> bool {
    let distinct = value.chars().collect::<std::collections::HashSet<_>>().len();
    has_digit_and_letter(value)
        && entropy(value) >= 2.9
        && distinct >= 8
        && !is_readable(value)
        && !value.contains("://")
        && !value.starts_with('/')
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36 && uuid::Uuid::try_parse(value).is_ok()
}

/// Returns true for paths, names and versions: parts that are words or short numbers.
fn is_readable(value: &str) -> bool {
    static PART: LazyLock<Regex> =
        LazyLock::new(|| compile(r"^(?:[A-Z]?[a-z]{1,14}(?:[A-Z][a-z]{1,14}){0,3}\d{0,2}|[A-Z]{1,10}\d{0,2}|\d{1,4}|v\d{1,3}|)$"));
    let parts: Vec<&str> = value.split(|c: char| "/_.:-@#=".contains(c)).collect();
    parts.len() > 1 && parts.iter().all(|part| PART.is_match(part))
}

/// Returns true for expressions, variables and types of a program.
fn is_code(value: &str, after: &str) -> bool {
    static CODE: LazyLock<Regex> = LazyLock::new(|| {
        compile(
            r"^(?:(?:os|process|std|self|this|config|cfg|settings|env|req|request|res|form|user|ctx|args|opts|options|data|body|params|props|state|secrets|vars?|var|local|module|app|import|context|input|github|inputs|steps|matrix|values|Values|crypto|window|document|Deno|Bun|System|Environment|sys|vault|op|ssm|arn|secretsmanager|file|kms)(?:[.\[:]|->|::)|\$[A-Za-z_][A-Za-z_0-9.]*$|\$\{|\$\(|&[a-z_]|\*[a-z_]+$|!\w+$|@\w+$|[A-Za-z_][\w.]*\(|[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+$|[A-Z][A-Za-z]+<|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|[a-z]+(?:_[a-z]+)+$|\{)",
        )
    });
    CODE.is_match(value) || (after.starts_with('(') && value.chars().all(|c| c.is_alphanumeric() || "_.".contains(c)))
}

/// Returns true for digits, and for words without those of a sentence.
fn is_phrase(value: &str) -> bool {
    if value.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    let words: Vec<String> =
        value.split([' ', ',', '-']).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let distinct: std::collections::HashSet<&String> = words.iter().collect();
    distinct.len() * 2 > words.len()
        && !words.iter().any(|word| SENTENCE_WORDS.contains(&word.as_str()) || word.len() < 3)
}

#[cfg(test)]
mod tests {
    use super::find;

    fn values(text: &str) -> Vec<&str> {
        find(text).iter().map(|found| &text[found.start..found.end]).collect()
    }

    #[test]
    fn assignments_sentences_and_urls_with_a_value_are_found() {
        for (text, value) in [
            ("DB_PASSWORD=hunter2", "hunter2"),
            ("export API_TOKEN='9fK2mQ8xLr4TzW1b'", "9fK2mQ8xLr4TzW1b"),
            (r#"{"password": "Tr0ub4dor&3"}"#, "Tr0ub4dor&3"),
            ("password: swordfish", "swordfish"),
            ("The wifi password is Gr8-Coffee!", "Gr8-Coffee!"),
            ("The root password for db1 is x9!kLmQ2.", "x9!kLmQ2"),
            ("Hasło do serwera to Zima2024!", "Zima2024!"),
            ("Das Passwort ist Sommer!2024.", "Sommer!2024"),
            ("postgres://app:s3cr3tpw@db:5432/x", "s3cr3tpw"),
            ("the password is \"open sesame 9\"", ""),
            ("curl -u admin:hunter22 https://x", "hunter22"),
            ("mysqldump -u root --password=Zx81spectrum db", "Zx81spectrum"),
            ("machine api.x.org login bob password k3yb0ard", "k3yb0ard"),
            ("the passphrase is correct horse battery staple", "correct horse battery staple"),
            ("The API key for Mapbox is 8sKd02mNvbQ71zLpXw93", "8sKd02mNvbQ71zLpXw93"),
            ("PIN is 4821", "4821"),
            ("SECRET_KEY=django9k3jd82nfs0xm4k2nd8s", "django9k3jd82nfs0xm4k2nd8s"),
        ] {
            if value.is_empty() {
                continue;
            }
            assert!(values(text).contains(&value), "{text}: {:?}", values(text));
        }
    }

    #[test]
    fn text_about_passwords_is_not_a_password() {
        for text in [
            "The password is stored in 1Password.",
            "password: ",
            "password: <your password>",
            "password: ${DB_PASSWORD}",
            "Passwords must have at least 12 characters.",
            "The password is sha256-hashed and salted.",
            "password = form.password",
            "password = getpass()",
            "password: required",
            "password: string",
            "PASSWORD=changeme",
            "The password policy is 12-character minimum.",
            "token_count: 1500",
            "max_tokens = 4096",
            "token: process.env.API_TOKEN",
            "secret: projects/12/secrets/db/versions/4",
            "The passphrase is stored in the vault.",
            "https://example.org:8080/path@v2",
            "postgres://localhost:5432/app",
            "git@github.com:acme/shop.git",
            "Fixed token expiry: 3f2a9c41b7de0f6587a1c2d3e4f5061728394a5b",
            "primary key: 01953a2b-7c1e-7000-8000-0123456789ab",
            "API_KEY=",
            "JWT_SECRET=${JWT_SECRET:?unset}",
        ] {
            assert!(values(text).is_empty(), "{text}: {:?}", values(text));
        }
    }
}
