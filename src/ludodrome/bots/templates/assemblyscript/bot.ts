// The conversation with the arena: one JSON object a line, in on stdin, out on stdout. Moves are chosen in strategy.ts.
// Whatever else is written must go to stderr: write(2, "..."). The arena keeps it with the record.

import { setSeed } from "./dice";
import * as json from "./json";
import { choose } from "./strategy";

// The three functions of WASI that a bot needs
@external("wasi_snapshot_preview1", "fd_read")
declare function fd_read(stream: u32, vectors: usize, count: usize, done: usize): u32;
@external("wasi_snapshot_preview1", "fd_write")
declare function fd_write(stream: u32, vectors: usize, count: usize, done: usize): u32;
@external("wasi_snapshot_preview1", "proc_exit")
declare function proc_exit(code: u32): void;

const SIZE: usize = 65536;
const call = memory.data(16); // a buffer's place and length, and how many bytes were moved
let room: usize = SIZE;
let buffer: usize = heap.alloc(room);

// The next line, without its end; null at the end of the input.
function readLine(): string | null {
  let length: usize = 0;
  do {
    if (length == room) {
      room *= 2;
      buffer = heap.realloc(buffer, room);
    }
    store<usize>(call, buffer + length);
    store<usize>(call + 4, room - length);
    if (fd_read(0, call, 1, call + 8) != 0 || load<u32>(call + 8) == 0) return null;
    length += load<u32>(call + 8);
  } while (load<u8>(buffer + length - 1) != 10); // a read gives bytes of one line only
  return String.UTF8.decodeUnsafe(buffer, length - 1);
}

export function write(stream: u32, text: string): void {
  const bytes = String.UTF8.encode(text);
  let place = changetype<usize>(bytes);
  let left: usize = bytes.byteLength;
  while (left > 0) {
    store<usize>(call, place);
    store<usize>(call + 4, left);
    if (fd_write(stream, call, 1, call + 8) != 0) return;
    place += load<u32>(call + 8);
    left -= load<u32>(call + 8);
  }
}

// Called when the program fails, for example at a place that a list does not have.
export function stop(message: string | null, file: string | null, row: u32, column: u32): void {
  write(2, `${message ? message : "failed"} in ${file ? file : "?"}:${row}:${column}\n`);
  proc_exit(1);
}

function answer(): void {
  const move = choose();
  if (move) write(1, `{"type": "move", "move": ${move}, "turn": ${json.int(json.get(0, "turn"))}}\n`);
  else write(1, '{"type": "error", "error": "I found no move"}\n');
}

for (let text = readLine(); text !== null; text = readLine()) {
  json.setLine(text);
  const type = json.get(0, "type");
  if (json.is(type, "hello")) setSeed(json.int(json.get(0, "seed"))); // a game begins
  else if (json.is(type, "turn")) answer();
  // Other messages want no answer: "observe", "refused" (a new "turn" follows), "over", and any new ones.
}
