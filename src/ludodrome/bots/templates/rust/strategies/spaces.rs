//! Which move to play in Spaces: the part to make better. The rules: ludodrome rules spaces

use crate::json::Json;
use crate::Dice;

/// A board, or ten of them. There are too many legal ones to list, so one is made.
pub fn choose(turn: &Json, dice: &mut Dice) -> Option<String> {
    let state = turn.get("state");
    let size = state.get("size").int();
    if state.get("mode").text() != "deck" {
        return Some(straight_run(size, dice));
    }
    let boards: Vec<String> = (0..10).map(|_| straight_run(size, dice)).collect();
    Some(format!(r#"{{"deck": [{}]}}"#, boards.join(", ")))
}

/// From the bottom row straight up to the goal, in any column: legal at every size, under both rule sets.
fn straight_run(size: i64, dice: &mut Dice) -> String {
    let column = dice.below(size as usize);
    let step = |order: i64| {
        let row = size - order;
        let kind = if row >= 0 { "piece" } else { "final" };
        format!(r#"{{"position": {{"row": {row}, "col": {column}}}, "type": "{kind}", "order": {order}}}"#)
    };
    let steps: Vec<String> = (1..=size + 1).map(step).collect();
    format!(r#"{{"boardSize": {size}, "sequence": [{}]}}"#, steps.join(", "))
}
