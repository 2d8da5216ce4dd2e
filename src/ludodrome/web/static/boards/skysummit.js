// Skysummit's states and moves, for the tower board.

import { TowerBoard } from "./towers.js";

export class GameBoard extends TowerBoard {
  static editor = async () => (await import("./towers_editor.js")).skysummit;

  read(state) {
    return { heights: state.board, workers: state.workers };
  }

  readMove(raw) {
    return raw.t === "place" ? { place: raw.to, raw } : { w: raw.w, to: raw.to, build: raw.build, raw };
  }

  attempt({ place, w, to, build }) {
    return place ? { t: "place", to: place } : { t: "move", w, to, build };
  }
}
