// The conversation with the arena: one JSON object a line, in on stdin, out on stdout. Moves are chosen in strategy.mjs.
// Whatever else is printed must go to stderr: console.error("..."). The arena keeps it with the record.

import { createInterface } from "node:readline";
import { choose } from "./strategy.mjs";

// dice(n) is a random whole number from 0 to n - 1 (Mulberry32): the same numbers for the same seed.
function makeDice(seed) {
  let a = seed % 2 ** 32;
  return (n) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

let dice = makeDice(0);
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    dice = makeDice(message.seed); // a game begins; what came before is forgotten
  } else if (message.type === "turn") {
    const move = choose(message, dice);
    const answer =
      move === null ? { type: "error", error: "I found no move" } : { type: "move", move, turn: message.turn };
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
  // Other messages want no answer: "observe", "refused" (a new "turn" follows), "over", and any new ones.
}
