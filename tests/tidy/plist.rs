//! Parser for launchd property lists: the subset of XML that they use. Not here: which settings are
//! required (`units`).

use std::collections::BTreeMap;

/// A value of a property list.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Whole(i64),
    Flag(bool),
    List(Vec<Value>),
    Table(BTreeMap<String, Value>),
}

/// Parses a property list.
///
/// # Errors
/// Describes the first syntax error.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut rest = Tokens(text);
    loop {
        match rest.next()? {
            Token::Single(_) => {}
            Token::Open(name) if name == "plist" => break,
            other => return Err(format!("{other:?} before the list")),
        }
    }
    let opening = rest.next()?;
    let value = value(opening, &mut rest)?;
    rest.expect(&Token::Close("plist".to_owned()))?;
    rest.expect(&Token::End)?;
    Ok(value)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Open(String),
    Close(String),
    /// `<true/>`, or a line before the list: `<?xml …?>`, `<!DOCTYPE …>`.
    Single(String),
    Text(String),
    End,
}

struct Tokens<'a>(&'a str);

impl Tokens<'_> {
    fn next(&mut self) -> Result<Token, String> {
        self.skip_comments()?;
        if self.0.is_empty() {
            return Ok(Token::End);
        }
        let Some(tag) = self.0.strip_prefix('<') else {
            let (text, rest) = self.0.split_at(self.0.find('<').ok_or("unterminated text")?);
            self.0 = rest;
            return Ok(Token::Text(unescaped(text)?));
        };
        let (tag, rest) = tag.split_once('>').ok_or("unterminated tag")?;
        self.0 = rest;
        let name = |tag: &str| tag.split_whitespace().next().unwrap_or_default().to_owned();
        Ok(match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
            (Some(closed), _) => Token::Close(name(closed)),
            (_, Some(single)) => Token::Single(name(single)),
            _ if tag.starts_with(['?', '!']) => Token::Single(name(tag)),
            _ => Token::Open(name(tag)),
        })
    }

    fn skip_comments(&mut self) -> Result<(), String> {
        self.0 = self.0.trim_start();
        while let Some(comment) = self.0.strip_prefix("<!--") {
            let (inside, rest) = comment.split_once("-->").ok_or("unterminated comment")?;
            if inside.contains("--") {
                return Err(format!("comment contains `--`: {inside}"));
            }
            self.0 = rest.trim_start();
        }
        Ok(())
    }

    fn expect(&mut self, expected: &Token) -> Result<(), String> {
        let found = self.next()?;
        if found == *expected {
            Ok(())
        } else {
            Err(format!("expected {expected:?}, found {found:?}"))
        }
    }

    /// The text up to the end of its element.
    fn text(&mut self, element: &str) -> Result<String, String> {
        let text = match self.next()? {
            Token::Text(text) => text,
            found => return Err(format!("<{element}> contains {found:?}")),
        };
        self.expect(&Token::Close(element.to_owned()))?;
        Ok(text)
    }
}

fn unescaped(text: &str) -> Result<String, String> {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    if plain.replace("&amp;", "").contains('&') {
        return Err(format!("unescaped & in {text}"));
    }
    Ok(plain.replace("&amp;", "&"))
}

fn value(opening: Token, rest: &mut Tokens<'_>) -> Result<Value, String> {
    match opening {
        Token::Single(name) if name == "true" => Ok(Value::Flag(true)),
        Token::Single(name) if name == "false" => Ok(Value::Flag(false)),
        Token::Open(name) => match name.as_str() {
            "string" => rest.text("string").map(Value::Text),
            "integer" => rest
                .text("integer")?
                .parse()
                .map(Value::Whole)
                .map_err(|_| "invalid integer".to_owned()),
            "array" => list(rest).map(Value::List),
            "dict" => table(rest).map(Value::Table),
            other => Err(format!("<{other}> is not a value")),
        },
        other => Err(format!("{other:?} is not a value")),
    }
}

fn list(rest: &mut Tokens<'_>) -> Result<Vec<Value>, String> {
    let mut items = Vec::new();
    loop {
        match rest.next()? {
            Token::Close(name) if name == "array" => return Ok(items),
            opening => items.push(value(opening, rest)?),
        }
    }
}

fn table(rest: &mut Tokens<'_>) -> Result<BTreeMap<String, Value>, String> {
    let mut entries = BTreeMap::new();
    loop {
        match rest.next()? {
            Token::Close(name) if name == "dict" => return Ok(entries),
            Token::Open(name) if name == "key" => {
                let key = rest.text("key")?;
                let opening = rest.next()?;
                let value = value(opening, rest)?;
                if entries.insert(key.clone(), value).is_some() {
                    return Err(format!("duplicate key {key}"));
                }
            }
            other => return Err(format!("expected a key, found {other:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_values_are_parsed() {
        let text = "<?xml version=\"1.0\"?><!DOCTYPE plist><!-- a --><plist version=\"1.0\"><dict><key>A</key><array><string>x &amp;&amp; y</string>\
                    <integer>63</integer></array><key>B</key><dict><key>C</key><false/></dict></dict></plist>\n";
        let inner = BTreeMap::from([("C".to_owned(), Value::Flag(false))]);
        let list = Value::List(vec![Value::Text("x && y".to_owned()), Value::Whole(63)]);
        let expected =
            BTreeMap::from([("A".to_owned(), list), ("B".to_owned(), Value::Table(inner))]);
        assert_eq!(parse(text), Ok(Value::Table(expected)));
    }

    #[test]
    fn malformed_lists_are_rejected() {
        for (inside, reason) in [
            ("<dict><key>A</key></dict>", "not a value"),
            ("<dict><key>A</key><string>x</string>", "expected a key"),
            ("<dict><key>A</key><string>x && y</string></dict>", "unescaped &"),
            ("<dict><key>A</key><integer>x</integer></dict>", "invalid integer"),
            ("<dict><key>A</key><true/><key>A</key><true/></dict>", "duplicate key"),
            ("<dict><string>x</string></dict>", "expected a key"),
            ("<dict><!-- -- --></dict>", "contains `--`"),
            ("<dict></dict></plist><plist>", "expected End"),
        ] {
            let error =
                parse(&format!("<plist>{inside}</plist>")).expect_err("the list is rejected");
            assert!(error.contains(reason), "{inside}: {error}");
        }
        assert!(parse("").is_err());
    }
}
