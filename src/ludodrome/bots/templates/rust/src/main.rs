//! The conversation with the arena: one JSON object a line, in on stdin, out on stdout. Moves are chosen in strategy.rs.
//! Whatever else is printed must go to stderr: eprintln!("..."). The arena keeps it with the record.

mod json;
mod strategy;

use json::Json;
use std::io::{self, BufRead, Write};

/// Random numbers (SplitMix64): the same for the same seed.
pub struct Dice(u64);

impl Dice {
    /// A whole number from 0 to n - 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E3779B97F4A7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D049BB133111EB);
        ((x ^ (x >> 31)) % n as u64) as usize
    }
}

fn main() -> io::Result<()> {
    let mut dice = Dice(0);
    for line in io::stdin().lock().lines() {
        let message = Json::parse(&line?).unwrap_or(Json::Null);
        match message.get("type").text() {
            "hello" => dice = Dice(message.get("seed").int() as u64), // a game begins; what came before is forgotten
            "turn" => {
                let mut out = io::stdout().lock();
                match strategy::choose(&message, &mut dice) {
                    Some(mv) => writeln!(out, r#"{{"type": "move", "move": {mv}, "turn": {}}}"#, message.get("turn"))?,
                    None => writeln!(out, r#"{{"type": "error", "error": "I found no move"}}"#)?,
                }
                out.flush()?;
            }
            _ => {} // others want no answer: "observe", "refused" (a new "turn" follows), "over", and any new ones
        }
    }
    Ok(())
}
