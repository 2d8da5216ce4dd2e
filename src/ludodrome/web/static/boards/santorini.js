// Santorini's states and moves, for the tower board.

import { cellName, cellNumber, TowerBoard } from "./towers.js";

const LETTERS = "NWG";

export class GameBoard extends TowerBoard {
  static shape = [["players", "Players", [2, 3]]];
  static fields = { players: { limits: [2, 3] } };
  static editor = async () => (await import("./towers_editor.js")).santorini;

  read(state) {
    return { heights: state.board.flat(), workers: state.workers.map((pair) => pair.map(cellNumber)) };
  }

  readMove(raw) {
    return { w: Number(raw[2]) - 1, to: cellNumber(raw.slice(5, 7)), build: cellNumber(raw.slice(7, 9)), raw };
  }

  attempt({ w, to, build }) {
    const seat = this.model.seat,
      from = this.now.workers[seat][w];
    return `[${LETTERS[seat]}${w + 1}${cellName(from)}${cellName(to)}${cellName(build)}]`;
  }
}
