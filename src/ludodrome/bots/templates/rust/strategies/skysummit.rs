//! Which move to play in Skysummit: the part to make better. The rules: ludodrome rules skysummit

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

/// Begin near the middle, then climb: the higher the better, and level 3 wins.
fn score(state: &Json, _seat: i64, mv: &Json) -> i64 {
    let distance = |cell: &Json| (cell.int() / 5 - 2).abs() + (cell.int() % 5 - 2).abs();
    let to = mv.get("to");
    if mv.get("t").text() == "place" {
        return -to.items().iter().map(distance).sum::<i64>();
    }
    state.get("board").items()[to.int() as usize].int()
}
