//! Finds the imports of a Rust file and the paths in its expressions. Not here: what they resolve
//! to (`cycles`).

/// An imported name: one leaf of a `use` tree.
#[derive(Debug, PartialEq)]
pub struct Import {
    pub path: Vec<String>,
    /// The name in the importing module; `*` for a glob.
    pub name: String,
    /// Whether it is a re-export: `pub use`, with any visibility.
    pub is_public: bool,
    pub position: Position,
}

/// A path in code outside `use`: `a::b::c`, or a single name.
#[derive(Debug, PartialEq)]
pub struct Mention {
    pub path: Vec<String>,
    pub position: Position,
}

#[derive(Debug, PartialEq, Clone)]
pub struct Position {
    pub line: usize,
    /// The modules in braces around it, outermost first.
    pub inline_modules: Vec<String>,
}

/// All imports and mentions of a file, and the paths of its modules in braces.
#[derive(Debug, Default)]
pub struct Names {
    pub imports: Vec<Import>,
    pub mentions: Vec<Mention>,
    pub inline_modules: Vec<Vec<String>>,
}

/// Reads code without comments and literals.
pub fn read(code: &str) -> Names {
    let mut reader =
        Reader { tokens: tokens(code), at: 0, braces: Vec::new(), names: Names::default() };
    reader.read();
    reader.names
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    /// `::`
    Separator,
    Other(char),
}

/// The tokens, each with its line.
fn tokens(code: &str) -> Vec<(usize, Token)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if is_name(c) {
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            tokens.push((line, Token::Name(rest[..length].to_owned())));
            length
        } else if rest.starts_with("::") {
            tokens.push((line, Token::Separator));
            2
        } else {
            if !c.is_whitespace() {
                tokens.push((line, Token::Other(c)));
            }
            c.len_utf8()
        };
        line += usize::from(c == '\n');
        rest = &rest[length..];
    }
    tokens
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    at: usize,
    /// The open braces; a module's name for those that open one.
    braces: Vec<Option<String>>,
    names: Names,
}

impl Reader {
    fn read(&mut self) {
        let mut is_public = false;
        while let Some(token) = self.peek(0).cloned() {
            match token {
                Token::Name(name)
                    if name == "use" && matches!(self.peek(1), Some(Token::Name(_))) =>
                {
                    self.at += 1;
                    self.import(&[], is_public);
                    is_public = false;
                }
                Token::Name(name) if name == "mod" => self.module(),
                Token::Name(name) => {
                    is_public |= name == "pub";
                    self.mention();
                }
                Token::Other(c) => {
                    is_public &= !matches!(c, '{' | '}' | ';');
                    match c {
                        '{' => self.braces.push(None),
                        '}' => drop(self.braces.pop()),
                        _ => {}
                    }
                    self.at += 1;
                }
                Token::Separator => self.at += 1,
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead).map(|(_, token)| token)
    }

    fn position(&self) -> Position {
        let line = self.tokens.get(self.at).map_or(0, |(line, _)| *line);
        Position { line, inline_modules: self.braces.iter().flatten().cloned().collect() }
    }

    /// Reads `mod name {` or `mod name;`.
    fn module(&mut self) {
        if let (Some(Token::Name(name)), Some(Token::Other('{'))) = (self.peek(1), self.peek(2)) {
            self.braces.push(Some(name.clone()));
            self.names.inline_modules.push(self.position().inline_modules);
            self.at += 1;
        }
        self.at += 2;
    }

    /// Reads a path, or passes over a name that is not the beginning of one.
    fn mention(&mut self) {
        let previous =
            self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|(_, token)| token);
        let is_member = matches!(previous, Some(Token::Separator | Token::Other('.' | '\'')));
        let position = self.position();
        let path = self.path();
        if !is_member {
            self.names.mentions.push(Mention { path, position });
        }
    }

    /// Reads `a::b::c`, and stops before a separator that no name follows.
    fn path(&mut self) -> Vec<String> {
        let mut path = Vec::new();
        while let Some(Token::Name(name)) = self.peek(0) {
            path.push(name.clone());
            self.at += 1;
            if !matches!(
                (self.peek(0), self.peek(1)),
                (Some(Token::Separator), Some(Token::Name(_)))
            ) {
                break;
            }
            self.at += 1;
        }
        path
    }

    /// Reads a `use` tree below a path.
    fn import(&mut self, parent: &[String], is_public: bool) {
        let position = self.position();
        let mut path = [parent, &self.path()].concat();
        if self.peek(0) == Some(&Token::Separator) {
            self.at += 1;
        }
        match self.peek(0) {
            Some(Token::Other('{')) => {
                self.at += 1;
                while !matches!(self.peek(0), Some(Token::Other('}')) | None) {
                    self.import(&path, is_public);
                    self.at += usize::from(self.peek(0) == Some(&Token::Other(',')));
                }
                self.at += 1;
                return;
            }
            Some(Token::Other('*')) => {
                self.at += 1;
                self.names.imports.push(Import { path, name: "*".to_owned(), is_public, position });
                return;
            }
            _ => {}
        }
        if path.len() > 1 {
            path.pop_if(|last| last == "self");
        }
        let mut name = path.last().cloned();
        // The path ended at `as`, because no separator precedes it.
        if matches!(self.peek(0), Some(Token::Name(word)) if word == "as")
            && let Some(Token::Name(alias)) = self.peek(1)
        {
            name = Some(alias.clone());
            self.at += 2;
        }
        match name {
            Some(name) => self.names.imports.push(Import { path, name, is_public, position }),
            // Not Rust; move on, so that reading ends.
            None => self.at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(code: &str) -> Vec<(String, String, bool)> {
        let imports = read(code).imports.into_iter();
        imports.map(|import| (import.path.join("::"), import.name, import.is_public)).collect()
    }

    #[test]
    fn use_trees_are_split_into_names() {
        let code = "use crate::a::{self, b::C, d as e, f::*};\npub(crate) use self::g;\nuse h::I as _;\nfn j() -> impl K + use<'_> {}";
        let expected = [
            ("crate::a", "a", false),
            ("crate::a::b::C", "C", false),
            ("crate::a::d", "e", false),
            ("crate::a::f", "*", false),
            ("self::g", "g", true),
            ("h::I", "_", false),
        ];
        let expected =
            expected.map(|(path, name, public)| (path.to_owned(), name.to_owned(), public));
        assert_eq!(imports(code), expected);
    }

    #[test]
    fn paths_are_found_with_their_line_and_module() {
        let code = "fn a(x: &b::C) { x.d::<E>();\n  crate::f::g(); }\npub mod h { fn i() { super::j::K } }\nmod l;";
        let names = read(code);
        let long: Vec<_> = names
            .mentions
            .iter()
            .filter(|mention| mention.path.len() > 1)
            .map(|mention| {
                (
                    mention.path.join("::"),
                    mention.position.line,
                    mention.position.inline_modules.join("::"),
                )
            })
            .collect();
        let expected = [("b::C", 1, ""), ("crate::f::g", 2, ""), ("super::j::K", 3, "h")];
        assert_eq!(
            long,
            expected.map(|(path, line, module)| (path.to_owned(), line, module.to_owned()))
        );
        assert_eq!(names.inline_modules, [["h"]]);
        assert!(
            !names.mentions.iter().any(|mention| ["d", "l"].contains(&mention.path[0].as_str()))
        );
    }
}
