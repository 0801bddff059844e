//! The places of the values, commas and comments of a JSON text, which may have comments and trailing commas if its format allows them.
//!
//! `jsonc-parser` parses; this file keeps what an edit needs. Not here: edits.

use super::entry::EditError;
use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value as Json;
use std::ops::Range;

/// A value of the text.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its place.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// The kinds of values that an edit distinguishes.
#[derive(Debug, Clone)]
pub enum Kind {
    /// An object.
    Object(Vec<Member>),
    /// An array.
    Array(Vec<Node>),
    /// Any other value.
    Scalar(Json),
}

/// A member of an object.
#[derive(Debug, Clone)]
pub struct Member {
    /// The name.
    pub key: String,
    /// Where the name begins.
    pub start: usize,
    /// The value.
    pub value: Node,
}

/// A comma, a comment, or another token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A comma.
    Comma,
    /// A comment to the end of its line.
    LineComment,
    /// A comment with an end of its own.
    BlockComment,
    /// A bracket, a colon or a value.
    Other,
}

/// A parsed text.
#[derive(Debug)]
pub struct Syntax {
    /// The value; `None` if the text has only blanks and comments.
    pub root: Option<Node>,
    /// Every token in order.
    pub tokens: Vec<(Range<usize>, TokenKind)>,
}

impl Node {
    /// Returns the value for comparisons.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::Array(items) => items.iter().map(Self::to_json).collect(),
            Kind::Object(members) => Json::Object(
                members.iter().map(|member| (member.key.clone(), member.value.to_json())).collect(),
            ),
        }
    }

    /// Returns the member of that name; the last one if there are several, as the clients' parsers do.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().rev().find(|member| member.key == key),
            _ => None,
        }
    }

    /// Returns the value at a path of names. In an array, a name is the number of an item.
    #[must_use]
    pub fn at(&self, path: &[String]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| match &node.kind {
            Kind::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => Some(&node.member(key)?.value),
        })
    }

    /// Returns the places of the items of an array or of the members of an object.
    #[must_use]
    pub fn item_spans(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Kind::Object(members) => members.iter().map(|m| m.start..m.value.span.end).collect(),
            Kind::Scalar(_) => Vec::new(),
        }
    }

    /// Returns the place between the brackets.
    #[must_use]
    pub fn inner(&self) -> Range<usize> {
        self.span.start + 1..self.span.end - 1
    }
}

impl Syntax {
    /// Returns the first comma within a place.
    #[must_use]
    pub fn comma_in(&self, place: &Range<usize>) -> Option<Range<usize>> {
        let first = self.tokens.iter().find(|(span, kind)| {
            *kind == TokenKind::Comma && span.start >= place.start && span.end <= place.end
        });
        first.map(|(span, _)| span.clone())
    }

    /// Returns the last token that ends at or before a position.
    #[must_use]
    pub fn token_before(&self, at: usize) -> Option<&(Range<usize>, TokenKind)> {
        self.tokens.iter().rev().find(|(span, _)| span.end <= at)
    }

    /// Returns the end of the comments that follow `from` on the same line, before `limit`.
    #[must_use]
    pub fn after_comments(&self, text: &str, from: usize, limit: usize) -> usize {
        let mut end = from;
        for (span, kind) in self.tokens.iter().filter(|(span, _)| span.start >= from) {
            let is_comment = matches!(kind, TokenKind::LineComment | TokenKind::BlockComment);
            if !is_comment || span.end > limit || text[end..span.start].contains('\n') {
                break;
            }
            end = span.end;
            if text[span.clone()].contains('\n') {
                break;
            }
        }
        end
    }
}

/// Parses a text. With `comments`, comments and trailing commas are allowed.
///
/// # Errors
/// The text is not valid: with line, column and reason.
pub fn parse(text: &str, comments: bool) -> Result<Syntax, EditError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let options = ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let result = parse_to_ast(text, &collect, &options).map_err(|error| EditError::Syntax {
        line: error.line_display(),
        column: error.column_display(),
        reason: lower_first(&error.kind().to_string()),
    })?;
    let tokens = result.tokens.unwrap_or_default().into_iter().map(|token| {
        let range = token.range();
        let kind = match token.token {
            Token::Comma => TokenKind::Comma,
            Token::CommentLine(_) => TokenKind::LineComment,
            Token::CommentBlock(_) => TokenKind::BlockComment,
            _ => TokenKind::Other,
        };
        (range.start..range.end, kind)
    });
    let tokens: Vec<_> = tokens.collect();
    // The parser lets comments through when they are collected as tokens.
    let is_comment = |kind| matches!(kind, TokenKind::LineComment | TokenKind::BlockComment);
    if let Some((span, _)) = tokens.iter().find(|(_, kind)| !comments && is_comment(*kind)) {
        let before = &text[..span.start];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let reason = "comments are not allowed".to_owned();
        return Err(EditError::Syntax { line, column, reason });
    }
    Ok(Syntax { root: result.value.map(node), tokens })
}

fn node(value: ast::Value<'_>) -> Node {
    let range = value.range();
    let kind = match value {
        ast::Value::Object(object) => {
            Kind::Object(object.properties.into_iter().map(member).collect())
        }
        ast::Value::Array(array) => Kind::Array(array.elements.into_iter().map(node).collect()),
        scalar => Kind::Scalar(scalar.into()),
    };
    Node { span: range.start..range.end, kind }
}

fn member(property: ast::ObjectProp<'_>) -> Member {
    let start = match &property.name {
        ObjectPropName::String(name) => name.range.start,
        ObjectPropName::Word(name) => name.range.start,
    };
    Member { start, key: property.name.into_string(), value: node(property.value) }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
