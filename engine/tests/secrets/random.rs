//! A seeded source of random values, so that every run generates the same texts.

pub const DIGITS: &str = "0123456789";
pub const HEX: &str = "0123456789abcdef";
pub const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
pub const UPPER_DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub const BASE62: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
pub const URL64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// `SplitMix64`.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `from` to `to`.
    pub fn number(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        let at = self.number(0, items.len() as u64 - 1);
        items[usize::try_from(at).expect("is small")]
    }

    /// Returns `length` characters of an alphabet.
    pub fn chars(&mut self, alphabet: &str, length: u64) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length)
            .map(|_| {
                let at = self.number(0, alphabet.len() as u64 - 1);
                alphabet[usize::try_from(at).expect("is small")]
            })
            .collect()
    }

    pub fn uuid(&mut self) -> String {
        let part = |random: &mut Self, length| random.chars(HEX, length);
        format!(
            "{}-{}-4{}-a{}-{}",
            part(self, 8),
            part(self, 4),
            part(self, 3),
            part(self, 3),
            part(self, 12)
        )
    }

    /// Returns digits with a Luhn check digit, in all `length`.
    pub fn card(&mut self, prefix: &str, length: usize) -> String {
        let rest = length - 1 - prefix.len();
        let body = format!("{prefix}{}", self.chars(DIGITS, rest as u64));
        let sum: u32 = body
            .bytes()
            .rev()
            .enumerate()
            .map(|(place, byte)| {
                let value = u32::from(byte - b'0') * if place % 2 == 0 { 2 } else { 1 };
                if value > 9 { value - 9 } else { value }
            })
            .sum();
        format!("{body}{}", (10 - sum % 10) % 10)
    }
}
