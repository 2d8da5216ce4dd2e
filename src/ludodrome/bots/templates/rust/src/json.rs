//! JSON, read and written: small, strict enough for the arena's lines, and without dependencies.

use std::fmt;

pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;

#[allow(dead_code)] // not every strategy needs all of them
impl Json {
    /// The value that a text holds; None if it is no JSON.
    pub fn parse(text: &str) -> Option<Json> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value()?;
        (reader.peek() == 0).then_some(value)
    }

    /// What an object holds under a key; null if there is nothing.
    pub fn get(&self, key: &str) -> &Json {
        match self {
            Json::Object(pairs) => pairs.iter().find(|pair| pair.0 == key).map_or(&NULL, |pair| &pair.1),
            _ => &NULL,
        }
    }

    /// The items of a list; none if it is no list.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    /// A whole number; true counts as 1, all else that is no number as 0.
    pub fn int(&self) -> i64 {
        match self {
            Json::Number(number) => *number as i64,
            Json::Bool(true) => 1,
            _ => 0,
        }
    }

    /// A text; empty if it is none.
    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Number(number) => write!(out, "{number}"),
            Json::Text(text) => write_text(out, text),
            Json::List(items) => {
                for (place, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if place == 0 { "[" } else { ", " })?;
                }
                write!(out, "{}", if items.is_empty() { "[]" } else { "]" })
            }
            Json::Object(pairs) => {
                for (place, (key, value)) in pairs.iter().enumerate() {
                    write!(out, "{}", if place == 0 { "{" } else { ", " })?;
                    write_text(out, key)?;
                    write!(out, ": {value}")?;
                }
                write!(out, "{}", if pairs.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn write_text(out: &mut fmt::Formatter, text: &str) -> fmt::Result {
    write!(out, "\"")?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(out, "\\{letter}")?,
            '\u{0}'..='\u{1f}' => write!(out, "\\u{:04x}", letter as u32)?,
            _ => write!(out, "{letter}")?,
        }
    }
    write!(out, "\"")
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is no blank; 0 at the end.
    fn peek(&mut self) -> u8 {
        while self.at < self.bytes.len() && self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Passes a byte if it comes next.
    fn pass(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        let found = self.bytes[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        found.then_some(value)
    }

    fn value(&mut self) -> Option<Json> {
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.list(),
            b'"' => self.text().map(Json::Text),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        while self.at < self.bytes.len() && b"+-.eE0123456789".contains(&self.bytes[self.at]) {
            self.at += 1;
        }
        let digits = std::str::from_utf8(&self.bytes[start..self.at]).ok()?;
        digits.parse().ok().map(Json::Number)
    }

    fn list(&mut self) -> Option<Json> {
        self.pass(b'[');
        let mut items = Vec::new();
        if self.pass(b']') {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.pass(b']') {
                return Some(Json::List(items));
            }
            self.pass(b',').then_some(())?;
        }
    }

    fn object(&mut self) -> Option<Json> {
        self.pass(b'{');
        let mut pairs = Vec::new();
        if self.pass(b'}') {
            return Some(Json::Object(pairs));
        }
        loop {
            self.peek();
            let key = self.text()?;
            self.pass(b':').then_some(())?;
            pairs.push((key, self.value()?));
            if self.pass(b'}') {
                return Some(Json::Object(pairs));
            }
            self.pass(b',').then_some(())?;
        }
    }

    fn text(&mut self) -> Option<String> {
        self.pass(b'"').then_some(())?;
        let mut text = Vec::new();
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(text).ok(),
                b'\\' => {
                    let letter = self.escaped()?;
                    text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => text.push(byte),
            }
        }
    }

    /// The letter that stands behind a backslash.
    fn escaped(&mut self) -> Option<char> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.four_digits()?;
                if (0xd800..0xdc00).contains(&code) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2; // a letter beyond 16 bits comes as a pair
                    code = 0x10000 + ((code & 0x3ff) << 10) + (self.four_digits()? & 0x3ff);
                }
                char::from_u32(code).unwrap_or('\u{fffd}')
            }
            _ => byte as char,
        })
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.bytes.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
