//! Generates technical notes without secrets, with the cases that are hard to tell from secrets.

use crate::random::{BASE62, BASE64, DIGITS, HEX, Random, UPPER_DIGITS, URL64};

type Make = fn(&mut Random) -> String;

/// Returns `count` notes.
pub fn notes(seed: u64, count: usize) -> Vec<String> {
    let mut random = Random(seed);
    (0..count).map(|at| FAMILIES[at % FAMILIES.len()](&mut random)).collect()
}

fn service(random: &mut Random) -> &'static str {
    random.pick(&["billing", "checkout", "search", "auth", "ledger", "gateway", "worker", "ingest"])
}

fn subject(random: &mut Random) -> &'static str {
    random.pick(&[
        "Anna",
        "Bert",
        "the CI job",
        "the nightly build",
        "Chen",
        "our on-call",
        "the migration",
    ])
}

/// The families, each with a share of the notes.
const FAMILIES: &[Make] = &[
    |r| format!("Fixed in commit {} by {}.", r.chars(HEX, 40), subject(r)),
    |r| format!("git bisect says {} is the first bad commit of {}", r.chars(HEX, 12), service(r)),
    |r| {
        format!("The token refresh of {} was broken by {}; reverted.", service(r), r.chars(HEX, 40))
    },
    |r| format!("Request {} failed in {} with 503.", r.uuid(), service(r)),
    |r| format!("Order {} belongs to tenant {}.", r.uuid(), r.uuid()),
    |r| format!("sha256:{} is the image of {}", r.chars(HEX, 64), service(r)),
    |r| format!("{}  model.onnx", r.chars(HEX, 64)),
    |r| {
        format!(
            "ULID 01{} was the last event of {}",
            r.chars("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24),
            service(r)
        )
    },
    |r| format!("const LOGO = \"data:image/png;base64,{}\";", r.chars(BASE64, 180)),
    |r| {
        format!(
            "the fixture decodes to `{}==` in the base64 test of {}",
            r.chars(BASE64, 46),
            service(r)
        )
    },
    |r| format!("\"integrity\": \"sha512-{}==\"", r.chars(BASE64, 86)),
    |_| {
        "The documentation uses AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY."
            .to_owned()
    },
    |r| format!("Stripe's docs use sk_test_{} for the sandbox.", r.chars(BASE62, 24)),
    |r| format!("pk_live_{} is publishable and may be in the page.", r.chars(BASE62, 24)),
    |r| {
        format!(
            "{} pinned to v{}.{}.{}-rc.{}+build.{}",
            service(r),
            r.number(0, 30),
            r.number(0, 40),
            r.number(0, 99),
            r.number(1, 9),
            r.chars(HEX, 7)
        )
    },
    |r| {
        format!(
            "Order number {} was shipped on 2026-0{}-1{}.",
            not_luhn(r),
            r.number(1, 9),
            r.number(0, 9)
        )
    },
    |r| {
        format!(
            "The trace took {} ns from {} to {}.",
            r.number(1_000, 99_999_999),
            r.number(1_700_000_000_000_000_000, 1_799_999_999_999_999_999),
            service(r)
        )
    },
    |r| format!("password: \nusername: {}", service(r)),
    |r| {
        format!(
            "password: {}",
            r.pick(&[
                "<your password>",
                "changeme",
                "********",
                "${DB_PASSWORD}",
                "{{ vault_password }}",
                "required",
                "string",
                "<redacted>",
                "xxxxxxxx",
                "YOUR_PASSWORD_HERE"
            ])
        )
    },
    |r| {
        format!(
            "The password {}",
            r.pick(&[
                "is stored in 1Password.",
                "must have at least 12 characters.",
                "is hashed with argon2id.",
                "is rotated every 90 days.",
                "policy changed in v2.",
                "field is called pwd2.",
                "reset mail goes out after 15 minutes.",
                "is never logged.",
                "is in the vault under prod/db2.",
                "expires in 30 days"
            ])
        )
    },
    |r| {
        format!(
            "LOG_LEVEL=debug\nPORT={}\nREGION=eu-west-{}\nNODE_ENV=production",
            r.number(1024, 65000),
            r.number(1, 3)
        )
    },
    |r| format!("max_tokens = {}\ntoken_count: {}", r.number(100, 9000), r.number(100, 9000)),
    |r| format!("postgres://localhost:{}/{}", r.number(5000, 6000), service(r)),
    |r| {
        format!(
            "Clone git@github.com:acme/{}.git or https://github.com/acme/{}.git",
            service(r),
            service(r)
        )
    },
    |r| format!("api_key = os.environ[\"{}_API_KEY\"]", service(r).to_uppercase()),
    |r| format!("token: ${{{{ secrets.{}_TOKEN }}}}", service(r).to_uppercase()),
    |r| format!("const secret = process.env.{}_SECRET;", service(r).to_uppercase()),
    |r| {
        format!(
            "SECRET_KEY={}",
            r.pick(&[
                "changeme",
                "your-secret-key",
                "<generate one>",
                "${SECRET_KEY}",
                "",
                "replace-me-in-production"
            ])
        )
    },
    |r| {
        format!(
            "The secret is called {}-{}-{} in the vault.",
            service(r),
            r.pick(&["db", "api", "smtp"]),
            r.pick(&["prod", "staging"])
        )
    },
    |r| {
        format!(
            "The public key is ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} {}@laptop",
            r.chars(BASE64, 43),
            service(r)
        )
    },
    |_| {
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----"
            .to_owned()
    },
    |r| format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", r.chars(BASE64, 64)),
    |_| {
        "A PEM file begins with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----.".to_owned()
    },
    |r| {
        format!(
            "{} serves 10.{}.{}.{}:{}",
            service(r),
            r.number(0, 255),
            r.number(0, 255),
            r.number(0, 255),
            r.number(1000, 9999)
        )
    },
    |r| format!("arn:aws:iam::{}:role/{}-deploy", r.chars(DIGITS, 12), service(r)),
    |r| {
        format!(
            "arn:aws:secretsmanager:eu-west-1:{}:secret:{}/db-{}",
            r.chars(DIGITS, 12),
            service(r),
            r.chars(BASE62, 6)
        )
    },
    |r| format!("Twilio account AC{} is the sandbox one.", r.chars(HEX, 32)),
    |r| format!("etag: W/\"{}\"", r.chars(URL64, 27)),
    |r| {
        format!(
            "The cache key is {}:{}:{} since {}.",
            service(r),
            r.number(1, 9999),
            r.chars(HEX, 8),
            subject(r)
        )
    },
    |r| format!("idempotency_key: {}", r.uuid()),
    |r| format!("primary key {} references {}", r.uuid(), service(r)),
    |r| format!("s3://acme-{}/exports/2026/{}/{}.parquet", service(r), r.number(1, 12), r.uuid()),
    |r| format!("https://app.acme.dev/share/{}?page={}", r.chars(URL64, 22), r.number(1, 90)),
    |r| format!("| {} | {} ms | {} |", service(r), r.number(1, 900), r.chars(HEX, 10)),
    |r| format!("Serial {} of the printer in room {}.", r.chars(UPPER_DIGITS, 14), r.number(1, 60)),
    |r| format!("color: #{}; margin: {}px", r.chars(HEX, 6), r.number(1, 64)),
    |r| {
        format!(
            "{} decided to use {} for the {} service because it is simpler.",
            subject(r),
            r.pick(&["Rust", "Go", "SQLite", "a queue", "cron"]),
            service(r)
        )
    },
    |r| format!("use the dummy key sk-{} in unit tests, it is not a real key", r.chars(BASE62, 48)),
    |r| format!("fake token for the fixture: ghp_{}", r.chars(BASE62, 36)),
    |_| {
        "The JWT of the RFC example: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c".to_owned()
    },
    |_| "Stripe test card 4242 4242 4242 4242 always succeeds.".to_owned(),
    |r| {
        format!(
            "go.sum: github.com/acme/{} v1.{}.{} h1:{}=",
            service(r),
            r.number(0, 30),
            r.number(0, 30),
            r.chars(BASE64, 43)
        )
    },
    |r| format!("checksum = \"{}\"", r.chars(HEX, 64)),
    |r| {
        format!(
            "resolved: https://packages.example.org/{0}/-/{0}-{1}.{2}.0.tgz#{3}",
            service(r),
            r.number(0, 9),
            r.number(0, 30),
            r.chars(HEX, 40)
        )
    },
    |r| {
        format!(
            "Device 00:1A:{}:{}:{}:{} has lease {}",
            r.chars(HEX, 2),
            r.chars(HEX, 2),
            r.chars(HEX, 2),
            r.chars(HEX, 2),
            r.number(1_700_000_000, 1_799_999_999)
        )
    },
    |r| {
        format!("func Test{}Token(t *testing.T) {{ got := Parse(\"{}\") }}", service(r), service(r))
    },
    |r| {
        format!(
            "The access token expires after {} minutes, the refresh token after {} days.",
            r.number(5, 60),
            r.number(2, 90)
        )
    },
    |r| format!("Set-Cookie: theme=dark; Path=/; Max-Age={}", r.number(1000, 99_999_999)),
    |r| {
        format!(
            "Phone the {} team at extension {}; passes are at desk {}.",
            service(r),
            r.number(1000, 9999),
            r.number(1, 9)
        )
    },
    |r| format!("public_key: \"{}=\"", r.chars(BASE64, 43)),
];

/// 16 digits like those of a card, whose check digit is wrong.
fn not_luhn(random: &mut Random) -> String {
    let card = random.card("4", 16);
    let last = card.as_bytes()[15] - b'0';
    format!("{}{}", &card[..15], (last + 1) % 10)
}
