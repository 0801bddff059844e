//! Generates secrets of many kinds in sentences, from the formats that the issuers publish; not from
//! the patterns of the code.

use crate::random::{BASE62, BASE64, DIGITS, HEX, LOWER, Random, UPPER_DIGITS, URL64};

/// Sentences, files and chats that the rules were written with, and others that they were not.
#[derive(Clone, Copy, PartialEq)]
pub enum Frames {
    Known,
    HeldOut,
}

/// A kind of secret, and how one is generated: the text, and the part that must not be stored.
pub struct Kind {
    pub name: &'static str,
    generate: fn(&mut Random, Frames) -> (String, String),
}

/// A text with a secret.
pub struct Sample {
    pub kind: &'static str,
    pub text: String,
    pub secret: String,
}

/// Returns `count` samples, of each kind as many.
pub fn samples(seed: u64, count: usize, frames: Frames) -> Vec<Sample> {
    let mut random = Random(seed);
    (0..count)
        .map(|at| {
            let kind = &KINDS[at % KINDS.len()];
            let (text, secret) = (kind.generate)(&mut random, frames);
            Sample { kind: kind.name, text, secret }
        })
        .collect()
}

/// Puts a token into a sentence, a command or a line of a file.
fn framed(random: &mut Random, frames: Frames, token: String) -> (String, String) {
    const KNOWN: &[&str] = &[
        "Use {} to call the service.",
        "The token for CI is {}",
        "deploy key: {}",
        "We rotated it on Monday; the new one is `{}`.",
        "TOKEN={}",
        "curl -H 'X-Api-Key: {}' https://api.acme.dev/v1/orders",
        "{\"key\": \"{}\", \"region\": \"eu\"}",
    ];
    const HELD_OUT: &[&str] = &[
        "Anna pasted this into the chat: {} (please remember)",
        "login:\n  - {}\n  - keep until June",
        "new credential → {}",
        "((({})))",
        "In .zshrc there is `export X={}; other`",
        "Klucz dla serwera: {}, nie zgubić.",
        "<code>{}</code> is what the pipeline uses",
    ];
    let frame = random.pick(if frames == Frames::Known { KNOWN } else { HELD_OUT });
    (frame.replacen("{}", &token, 1), token)
}

fn card(random: &mut Random, frames: Frames) -> (String, String) {
    let (prefix, length) =
        [("4", 16), ("51", 16), ("37", 15), ("6011", 16), ("2223", 16), ("55", 16)]
            [usize::try_from(random.number(0, 5)).expect("is small")];
    let digits = random.card(prefix, length);
    let grouped = if length == 16 && random.number(0, 1) == 1 {
        let separator = if frames == Frames::Known { " " } else { "-" };
        [&digits[..4], &digits[4..8], &digits[8..12], &digits[12..]].join(separator)
    } else {
        digits
    };
    let frame = match frames {
        Frames::Known => {
            random.pick(&["Pay with {}, expires 09/28.", "Card: {}", "My card number is {}"])
        }
        Frames::HeldOut => random.pick(&[
            "the hotel charged {} twice",
            "karta {} ważna do 03/29",
            "{} is Anna's Visa",
        ]),
    };
    (frame.replacen("{}", &grouped, 1), grouped)
}

fn typed_password(random: &mut Random) -> String {
    let word =
        random.pick(&["Winter", "tiger", "Blue", "monkey", "Dragon", "coffee", "Harbor", "sommer"]);
    match random.number(0, 5) {
        0 => format!("{word}{}!", random.number(10, 2030)),
        1 => format!("{}{word}{}", random.pick(&["!", "#", "x"]), random.number(100, 999)),
        2 => random.chars(BASE62, 11) + "7",
        3 => format!(
            "{}-{}-{}-{}",
            random.chars(LOWER, 5),
            random.chars(LOWER, 6),
            random.chars(LOWER, 4),
            random.chars(LOWER, 5)
        ),
        4 => format!("{word}_{}${}", random.chars(LOWER, 4), random.number(1, 99)),
        _ => {
            random.chars("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!@#%^&*", 14)
                + "a4"
        }
    }
}

fn password_sentence(random: &mut Random, frames: Frames) -> (String, String) {
    let password = typed_password(random);
    let frame = match frames {
        Frames::Known => random.pick(&[
            "The password is {}",
            "password for the staging database: {}",
            "My Netflix password is {}.",
            "The wifi password at the office is '{}'",
            "Root password of db1 was changed to {}",
            "pwd: {}",
        ]),
        Frames::HeldOut => random.pick(&[
            "Remember that the password to the router is {} now",
            "Hasło do panelu to {}",
            "Das Passwort für den Drucker lautet {}",
            "Anna's laptop passphrase = \"{}\"",
            "The admin console password is: {}",
            "passcode: `{}` (alarm system)",
        ]),
    };
    (frame.replacen("{}", &password, 1), password)
}

fn env_password(random: &mut Random, frames: Frames) -> (String, String) {
    let password = typed_password(random);
    let frame = match frames {
        Frames::Known => random.pick(&[
            "DB_HOST=db.internal\nDB_PASSWORD={}\nDB_PORT=5432",
            "MYSQL_ROOT_PASSWORD=\"{}\"",
            "export SMTP_PASS='{}'",
        ]),
        Frames::HeldOut => random.pick(&[
            "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: \"{}\"",
            "spring.datasource.password={}",
            "const config = { user: 'app', password: '{}' };",
        ]),
    };
    (frame.replacen("{}", &password, 1), password)
}

fn env_secret(random: &mut Random, frames: Frames) -> (String, String) {
    let length = if frames == Frames::Known { 40 } else { random.number(24, 72) };
    let alphabet = random.pick(&[HEX, BASE62, URL64]);
    let secret = format!("{}4d", random.chars(alphabet, length));
    let frame = match frames {
        Frames::Known => random.pick(&["SECRET_KEY={}", "API_KEY=\"{}\"", "client_secret: {}"]),
        Frames::HeldOut => random.pick(&[
            "NEXTAUTH_SECRET={}",
            "\"apiToken\": \"{}\",",
            "session.secret = '{}'",
            "x-auth-token: {}",
        ]),
    };
    (frame.replacen("{}", &secret, 1), secret)
}

fn url_password(random: &mut Random, frames: Frames) -> (String, String) {
    let password = random.chars(BASE62, if frames == Frames::Known { 14 } else { 9 }) + "3k";
    let frame = match frames {
        Frames::Known => random.pick(&[
            "postgres://shop:{}@db.acme.dev:5432/shop",
            "The queue is amqp://worker:{}@mq:5672",
            "mongodb+srv://app:{}@cluster0.ab1cd.mongodb.net/prod",
        ]),
        Frames::HeldOut => random.pick(&[
            "DATABASE_URL=mysql2://root:{}@10.0.0.3/app?ssl=true",
            "git clone https://anna:{}@git.acme.dev/shop.git",
            "redis://:{}@cache.internal:6379/0 is the cache",
        ]),
    };
    (frame.replacen("{}", &password, 1), password)
}

fn private_key(random: &mut Random, frames: Frames) -> (String, String) {
    let label = match frames {
        Frames::Known => random.pick(&["RSA ", "", "OPENSSH ", "EC "]),
        Frames::HeldOut => random.pick(&["ENCRYPTED ", "DSA ", ""]),
    };
    let lines: Vec<String> = (0..random.number(3, 14)).map(|_| random.chars(BASE64, 64)).collect();
    let secret = lines[0].clone();
    let text = format!(
        "The deploy key:\n-----BEGIN {label}PRIVATE KEY-----\n{}\n-----END {label}PRIVATE KEY-----\nKeep it.",
        lines.join("\n")
    );
    (text, secret)
}

fn jwt(random: &mut Random, frames: Frames) -> (String, String) {
    let encode = |text: &str| base64_simd::URL_SAFE_NO_PAD.encode_to_string(text);
    let header = encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let claims = encode(&format!(
        r#"{{"sub":"{}","iat":17{}}}"#,
        random.uuid(),
        random.number(10_000_000, 99_999_999)
    ));
    let token = format!("{header}.{claims}.{}", random.chars(URL64, 43));
    framed(random, frames, token)
}

fn telegram(random: &mut Random, frames: Frames) -> (String, String) {
    let token =
        format!("{}:AA{}", random.number(100_000_000, 9_999_999_999), random.chars(URL64, 33));
    framed(random, frames, token)
}

fn header(random: &mut Random, frames: Frames) -> (String, String) {
    let token = random.chars(BASE62, random_length(frames)) + "9Zq";
    let frame = match frames {
        Frames::Known => "curl -H 'Authorization: Bearer {}' https://api.acme.dev",
        Frames::HeldOut => "headers = {\"authorization\": \"Bearer {}\"}",
    };
    (frame.replacen("{}", &token, 1), token)
}

fn random_length(frames: Frames) -> u64 {
    if frames == Frames::Known { 32 } else { 45 }
}

fn netrc(random: &mut Random, frames: Frames) -> (String, String) {
    let password = random.chars(BASE62, random_length(frames) / 3) + "8c";
    let text = format!("machine git.acme.dev login anna password {password}");
    (text, password)
}

/// A kind whose token stands in any sentence.
macro_rules! token {
    ($name:literal, $random:ident => $token:expr) => {
        Kind {
            name: $name,
            generate: |$random, frames| {
                let token = $token;
                framed($random, frames, token)
            },
        }
    };
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    token!("aws access key", r => format!("AKIA{}", r.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16))),
    Kind {
        name: "aws secret key",
        generate: |r, frames| {
            let key = r.chars(BASE64, 38) + "a7";
            let frame = if frames == Frames::Known {
                "aws_secret_access_key = {}"
            } else {
                "AWS secret access key of the deploy user is {}"
            };
            (frame.replacen("{}", &key, 1), key)
        },
    },
    token!("github classic", r => format!("{}_{}", r.pick(&["ghp", "gho", "ghs", "ghu"]), r.chars(BASE62, 36))),
    token!("github fine-grained", r => format!("github_pat_{}_{}", r.chars(BASE62, 22), r.chars(BASE62, 59))),
    token!("gitlab", r => format!("glpat-{}", r.chars(URL64, 20))),
    token!("slack bot", r => format!("xoxb-{}-{}-{}", r.chars(DIGITS, 12), r.chars(DIGITS, 13), r.chars(BASE62, 24))),
    token!("slack webhook", r => format!("https://hooks.slack.com/services/T{}/B{}/{}", r.chars(UPPER_DIGITS, 10), r.chars(UPPER_DIGITS, 10), r.chars(BASE62, 24))),
    token!("stripe live", r => format!("{}_live_{}", r.pick(&["sk", "rk"]), r.chars(BASE62, 24))),
    token!("openai project", r => format!("sk-proj-{}T3BlbkFJ{}", r.chars(URL64, 74), r.chars(URL64, 74))),
    token!("openai legacy", r => format!("sk-{}T3BlbkFJ{}", r.chars(BASE62, 20), r.chars(BASE62, 20))),
    token!("anthropic", r => format!("sk-ant-api03-{}AA", r.chars(URL64, 93))),
    token!("google api key", r => format!("AIza{}", r.chars(URL64, 35))),
    token!("npm", r => format!("npm_{}", r.chars(BASE62, 36))),
    token!("pypi", r => format!("pypi-AgEIcHlwaS5vcmc{}", r.chars(URL64, 120))),
    token!("sendgrid", r => format!("SG.{}.{}", r.chars(URL64, 22), r.chars(URL64, 43))),
    token!("twilio", r => format!("SK{}", r.chars(HEX, 32))),
    Kind { name: "telegram bot", generate: telegram },
    token!("discord bot", r => format!("M{}.{}.{}", r.chars(BASE62, 25), r.chars(BASE62, 6), r.chars(URL64, 38))),
    token!("hugging face", r => format!("hf_{}", r.chars(BASE62, 34))),
    token!("digitalocean", r => format!("dop_v1_{}", r.chars(HEX, 64))),
    token!("databricks", r => format!("dapi{}", r.chars(HEX, 32))),
    token!("age", r => format!("AGE-SECRET-KEY-1{}", r.chars("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
    token!("azure storage", r => format!("DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={}==;EndpointSuffix=core.windows.net", r.chars(BASE64, 86))),
    Kind { name: "jwt", generate: jwt },
    Kind { name: "private key", generate: private_key },
    Kind { name: "card", generate: card },
    Kind { name: "password sentence", generate: password_sentence },
    Kind { name: "env password", generate: env_password },
    Kind { name: "env secret", generate: env_secret },
    Kind { name: "url password", generate: url_password },
    Kind { name: "authorization header", generate: header },
    Kind { name: "netrc", generate: netrc },
];
