//! A text that was made from another one by leaving out and replacing parts, with the position of
//! each part in the original.

/// The new text and where its parts come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceMap {
    /// The new text.
    pub text: String,
    /// Where each run begins: byte in the new text, byte in the original.
    runs: Vec<(usize, usize)>,
}

impl SourceMap {
    /// Starts with an unchanged text.
    pub fn unchanged(text: &str) -> Self {
        Self { text: text.to_owned(), runs: vec![(0, 0)] }
    }

    /// Appends a part of the original that begins at byte `from` there.
    pub fn push(&mut self, part: &str, from: usize) {
        if !part.is_empty() {
            self.runs.push((self.text.len(), from));
            self.text.push_str(part);
        }
    }

    /// Cuts the new text to a length in bytes.
    pub fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
        self.runs.retain(|(start, _)| *start <= length);
    }

    /// Returns the byte of the original that byte `at` of the new text comes from.
    pub fn origin(&self, at: usize) -> usize {
        let run = self.runs.partition_point(|(start, _)| *start <= at).checked_sub(1);
        run.map_or(at, |run| self.runs[run].1 + (at - self.runs[run].0))
    }

    /// Returns a map from the text that `self` was made from, when `next` was made from `self`.
    pub fn then(&self, next: Self) -> Self {
        let mut runs = Vec::with_capacity(next.runs.len() + self.runs.len());
        for (index, (start, from)) in next.runs.iter().enumerate() {
            let end = next.runs.get(index + 1).map_or(next.text.len(), |(start, _)| *start);
            runs.push((*start, self.origin(*from)));
            let inner = self.runs.iter().filter(|(at, _)| at > from && *at < from + (end - start));
            runs.extend(inner.map(|(at, original)| (start + (at - from), *original)));
        }
        Self { text: next.text, runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_lead_back_to_the_original_through_two_steps() {
        // "ab[cut]cdef" -> "abcdef" -> "abef"
        let mut first = SourceMap::default();
        first.push("ab", 0);
        first.push("cdef", 7);
        let mut second = SourceMap::default();
        second.push("abc", 0);
        second.push("f", 5);
        let both = first.then(second);
        assert_eq!(both.text, "abcf");
        assert_eq!([0, 1, 2, 3].map(|at| both.origin(at)), [0, 1, 7, 10]);
    }
}
