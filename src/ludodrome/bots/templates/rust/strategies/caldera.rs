//! Which move to play in Caldera: the part to make better. The rules: ludodrome rules caldera

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

/// Take what can be taken, the crown above all.
fn score(state: &Json, seat: i64, mv: &Json) -> i64 {
    let enemies = state.get(if seat == 0 { "p1" } else { "p0" });
    let [row, column] = mv.get("to").items() else { return 0 }; // a smith forges
    let taken = enemies.items().iter().find(|piece| {
        piece.get("r").int() == row.int() && piece.get("c").int() == column.int()
    });
    match taken.map(|piece| piece.get("type").text()) {
        Some("crown") => 100,
        Some("lancer") => 3,
        Some(_) => 2,
        None => 0,
    }
}
