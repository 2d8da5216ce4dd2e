//! Which move to play in Dots and Boxes: the part to make better. The rules: ludodrome rules dots

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

/// Close boxes, and do not draw third sides.
fn score(state: &Json, _seat: i64, mv: &Json) -> i64 {
    let (r, c) = (mv.get("r").int(), mv.get("c").int());
    let (above, left) = if mv.get("orient").text() == "H" { (1, 0) } else { (0, 1) };
    let sides = [sides_drawn(state, r, c), sides_drawn(state, r - above, c - left)];
    sides.iter().map(|&n| if n == 3 { 2 } else if n == 2 { -1 } else { 0 }).sum()
}

/// How many sides of a box are drawn; 0 for a box that is not on the board.
fn sides_drawn(state: &Json, r: i64, c: i64) -> i64 {
    if r < 0 || r >= state.get("rows").int() || c < 0 || c >= state.get("cols").int() {
        return 0;
    }
    let drawn = |edges: &str, r: i64, c: i64| state.get(edges).items()[r as usize].items()[c as usize].int();
    drawn("h", r, c) + drawn("h", r + 1, c) + drawn("v", r, c) + drawn("v", r, c + 1)
}
