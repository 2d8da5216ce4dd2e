//! Which move to play in Santorini: the part to make better. The rules: ludodrome rules santorini

use crate::json::Json;
use crate::Dice;

/// The legal move with the highest score; among equals the dice decide. None: there is nothing to choose from.
pub fn choose(turn: &Json, dice: &mut Dice) -> Option<String> {
    let moves = turn.get("legal_moves").items(); // there are none if the match does not show them
    let points = |mv: &Json| score(turn.get("state"), turn.get("seat").int(), mv);
    let highest = moves.iter().map(points).max()?;
    let best: Vec<&Json> = moves.iter().filter(|mv| points(mv) == highest).collect();
    Some(best[dice.below(best.len())].to_string())
}

/// Climb: the higher the better, and level 3 wins. In [N1C2B2C3] the worker goes to B2.
fn score(state: &Json, _seat: i64, mv: &Json) -> i64 {
    let letters = mv.text().as_bytes();
    let (row, column) = (letters[5] - b'A', letters[6] - b'1');
    state.get("board").items()[row as usize].items()[column as usize].int()
}
