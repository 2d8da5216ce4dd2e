// Which move to play in Spaces: the part to make better. The rules: ludodrome rules spaces

import { dice } from "./dice";
import * as json from "./json";

const DECK = 10;

// A board: from the bottom row straight up to the goal, in any column. It is legal at every size, under both rule sets.
function straightRun(size: i32): string {
  const column = dice(size);
  const steps: string[] = [];
  for (let order = 1; order <= size + 1; order++) {
    const row = size - order;
    const type = row >= 0 ? "piece" : "final";
    steps.push(`{"position": {"row": ${row}, "col": ${column}}, "type": "${type}", "order": ${order}}`);
  }
  return `{"boardSize": ${size}, "sequence": [${steps.join(", ")}]}`;
}

// A board, or ten of them. There are too many legal ones to list, so one is made.
export function choose(): string | null {
  const state = json.get(0, "state");
  const size = <i32>json.int(json.get(state, "size"));
  if (!json.is(json.get(state, "mode"), "deck")) return straightRun(size);
  const boards: string[] = [];
  for (let number = 0; number < DECK; number++) boards.push(straightRun(size));
  return `{"deck": [${boards.join(", ")}]}`;
}
