//! A property list as launchd reads it, with just as much XML as that takes. Not here: what a good one says (`units`).

use std::collections::BTreeMap;

/// What a property list holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Whole(i64),
    Flag(bool),
    List(Vec<Value>),
    Table(BTreeMap<String, Value>),
}

/// Reads a property list.
///
/// # Errors
/// What is wrong with it, in words.
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
    /// `<true/>`, and what stands before the list: `<?xml …?>`, `<!DOCTYPE …>`.
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
            let (text, rest) = self.0.split_at(self.0.find('<').ok_or("a text does not end")?);
            self.0 = rest;
            return Ok(Token::Text(unescaped(text)?));
        };
        let (tag, rest) = tag.split_once('>').ok_or("a tag does not end")?;
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
            let (inside, rest) = comment.split_once("-->").ok_or("a comment does not end")?;
            if inside.contains("--") {
                return Err(format!("a comment holds two dashes: {inside}"));
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
            Err(format!("{expected:?} was expected, not {found:?}"))
        }
    }

    /// The text up to the end of its element.
    fn text(&mut self, element: &str) -> Result<String, String> {
        let text = match self.next()? {
            Token::Text(text) => text,
            found => return Err(format!("{element} holds {found:?}")),
        };
        self.expect(&Token::Close(element.to_owned()))?;
        Ok(text)
    }
}

fn unescaped(text: &str) -> Result<String, String> {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    if plain.replace("&amp;", "").contains('&') {
        return Err(format!("a bare & in {text}"));
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
                .map_err(|_| "an integer is none".to_owned()),
            "array" => list(rest).map(Value::List),
            "dict" => table(rest).map(Value::Table),
            other => Err(format!("<{other}> is no value")),
        },
        other => Err(format!("{other:?} is no value")),
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
                    return Err(format!("{key} is given twice"));
                }
            }
            other => return Err(format!("{other:?} where a key belongs")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_with_all_that_it_holds() {
        let text = "<?xml version=\"1.0\"?><!DOCTYPE plist><!-- a --><plist version=\"1.0\"><dict><key>A</key><array><string>x &amp;&amp; y</string>\
                    <integer>63</integer></array><key>B</key><dict><key>C</key><false/></dict></dict></plist>\n";
        let inner = BTreeMap::from([("C".to_owned(), Value::Flag(false))]);
        let list = Value::List(vec![Value::Text("x && y".to_owned()), Value::Whole(63)]);
        let expected =
            BTreeMap::from([("A".to_owned(), list), ("B".to_owned(), Value::Table(inner))]);
        assert_eq!(parse(text), Ok(Value::Table(expected)));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (inside, why) in [
            ("<dict><key>A</key></dict>", "no value"),
            ("<dict><key>A</key><string>x</string>", "key belongs"),
            ("<dict><key>A</key><string>x && y</string></dict>", "bare &"),
            ("<dict><key>A</key><integer>x</integer></dict>", "integer"),
            ("<dict><key>A</key><true/><key>A</key><true/></dict>", "twice"),
            ("<dict><string>x</string></dict>", "key belongs"),
            ("<dict><!-- -- --></dict>", "two dashes"),
            ("<dict></dict></plist><plist>", "End was expected"),
        ] {
            let said = parse(&format!("<plist>{inside}</plist>")).expect_err("is refused");
            assert!(said.contains(why), "{inside}: {said}");
        }
        assert!(parse("").is_err());
    }
}
