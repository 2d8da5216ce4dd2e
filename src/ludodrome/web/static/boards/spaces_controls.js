// What stands below the board of spaces: the word, and the buttons to lay a board, to run a round, to fill a deck.

import { chip, html, NAMES } from "../draw.js";
import { places } from "./decks.js";
import { finished } from "./spaces_codes.js";
import { ENDINGS, pointsAt } from "./spaces_round.js";

/** Steps of traps in the fog that are listed at once. */
const MAX_TRAPS = 12;

export class Controls {
  constructor(board) {
    this.board = board;
    this.equipped = null;
    /** What could be done next when the server last said so. */
    this.possible = { step: true, trap: false, goal: false };
  }

  /** The round that is played or prepared, of how many; empty if there is only one. */
  whichRound(number) {
    const { rounds } = this.board.model.state;
    return rounds > 1 ? `Round ${number} of ${rounds}. ` : "";
  }

  /** Bring words and buttons up to date; `round`: the one that is shown, null while a board is laid. */
  show(round) {
    const button = (name, act, on = true, extra = {}) =>
      html(
        "button",
        {
          class: `button tight${extra.first ? " first" : ""}`,
          type: "button",
          disabled: !on,
          onclick: act,
          ...extra.more,
        },
        name,
      );
    if (round) this.roundControls(round, button);
    else if (this.board.mapped) {
      this.equip("map");
      this.board.tell(
        `${this.board.model.word || ""} Your boards are the rows, the others the columns; a click runs a round.`,
      );
    } else if (!this.board.building()) {
      this.equip("none");
      this.board.tell(this.board.model.word || "");
    } else this.buildControls(button);
  }

  roundControls(round, button) {
    const k = this.board.running,
      end = this.board.lastStep(),
      points = pointsAt(round, k),
      [own, other] = [points[this.board.eyes], points[1 - this.board.eyes]];
    const words = k >= end ? ENDINGS[round.ended] : `Step ${k + 1} of ${end + 1}.`;
    const seen = this.board.selected
      ? `Board ${this.board.selected.own + 1} against board ${this.board.selected.other + 1}.`
      : this.board.trial
        ? "A test run."
        : this.whichRound(this.board.model.state.history.length).trim();
    this.board.tell(`${seen} ${words}${this.fogWords(round, k)}`.trim());
    const kind = `round ${end} ${this.board.trial?.id} ${Boolean(this.board.selected)} ${this.board.model.interactive}`;
    if (this.equipped !== kind || this.equippedRound !== round) {
      this.equippedRound = round;
      this.equipped = null;
      this.tally = html("span", { class: "tally" });
      this.range = html("input", {
        type: "range",
        min: 0,
        max: end,
        "aria-label": "Step of the round",
        oninput: (event) => this.board.scrub(Number(event.target.value)),
      });
      this.equip(
        kind,
        html(
          "span",
          { class: "points-so-far", title: "Points in this round" },
          html("span", {}, "This round"),
          chip(this.board.eyes),
          this.tally,
          chip(1 - this.board.eyes),
        ),
        this.range,
        button("▶", () => this.board.roll(), true, { more: { "aria-label": "Run the round" } }),
        ...this.roundButtons(button),
      );
    }
    this.tally.textContent = `${own} : ${other}`;
    if (Number(this.range.value) !== k) this.range.value = k;
  }

  roundButtons(button) {
    if (this.board.selected)
      return [
        button(
          "All rounds",
          () => {
            clearTimeout(this.board.timer);
            this.board.selected = this.board.running = null;
            this.board.render();
          },
          true,
          { first: true },
        ),
      ];
    if (this.board.trial) {
      const against = html(
        "select",
        { class: "rival", "aria-label": "Run it against", onchange: (event) => this.board.tryOut(event.target.value) },
        ...this.board
          .rivals()
          .map(([id, words]) => html("option", { value: id, selected: id === this.board.trial.id }, words)),
      );
      return [against, button("Back to my board", () => this.board.build(), true, { first: true })];
    }
    return this.board.model.interactive ? [button("Next round", () => this.board.build(), true, { first: true })] : [];
  }

  /** The steps at which a board in the fog set traps. */
  fogWords(round, k) {
    const lists = [this.board.eyes, 1 - this.board.eyes]
      .filter((seat) => round.fog?.[seat])
      .map((seat) => {
        const steps = round.traps[seat].map(([step]) => step).filter((step) => step <= k + 1);
        const whose = round.fog.every(Boolean) ? NAMES[seat] : "The other";
        if (!steps.length) return "";
        const last = steps.slice(-MAX_TRAPS),
          which = last.length < steps.length ? ", the last ones" : "";
        return steps.length === 1
          ? ` ${whose} set a trap at step ${steps[0]}.`
          : ` ${whose} set ${steps.length} traps${which} at steps ${last.join(", ")}.`;
      });
    return lists.join("");
  }

  buildControls(button) {
    const { whole, sequence } = this.board.builder;
    const can = this.canDo(sequence);
    const kind = (name, mode) =>
      html(
        "button",
        {
          type: "button",
          "aria-pressed": String(this.board.mode === mode),
          disabled: mode === "trap" && !can.trap,
          onclick: () => this.board.setMode(mode),
        },
        name,
      );
    const segments = html(
      "span",
      { class: "segments", role: "group", "aria-label": "What a click does" },
      kind("Step", "piece"),
      kind("Trap", "trap"),
    );
    const back = button("Back", () => this.board.builder.cut(this.board.sequence.length - 1), sequence.length > 0);
    const clear = button("Clear", () => this.board.builder.cut(0), sequence.length > 0);
    const on = button("To goal", () => this.board.builder.complete(), sequence.length > 0 && !whole, {
      more: { title: "Go on to the goal as directly as possible" },
    });
    const tried = button("Test run", () => this.board.tryOut(this.board.rivals()[0][0]), sequence.length > 0, {
      more: { title: "Run this board, finished or not, against another" },
    });
    const begun = Math.min(1, sequence.length);
    if (this.board.decked) {
      this.deckControls(button, [segments, back, clear, on, tried]);
      return;
    }
    this.board.tell(
      whole
        ? "The board is complete. Lay it, or take steps back."
        : !begun
          ? `${this.whichRound(this.board.model.state.history.length + 1)}${this.board.laid() ? "The other board is shown, turned around. " : ""}Choose where to start on the bottom row.`
          : `Step ${sequence.length + 1}: ${this.nextWords(sequence)}`,
    );
    this.equip(
      `board ${this.board.mode} ${begun} ${whole} ${can.trap}`,
      segments,
      back,
      ...(this.board.model.plain ? [] : [clear, on, tried]),
      button("Lay board", () => this.board.lay(), whole, { first: true }),
    );
  }

  /** What can be done next; while the server has not answered, as it was. */
  canDo(sequence) {
    const { known, next } = this.board.builder,
      has = (type) => next.some((one) => one.type === type);
    if (known) this.possible = { step: has("piece"), trap: has("trap"), goal: has("final") };
    return sequence.length ? this.possible : { ...this.possible, trap: false };
  }

  /** What to do now, and only what can be done. */
  nextWords(sequence) {
    const { step, trap, goal } = this.possible;
    if (this.board.mode === "trap") return "choose the square for your trap.";
    if (goal && !step) return "step into the goal.";
    if (trap) return "choose the next square, or choose Trap to set a trap.";
    return sequence.at(-1)?.type === "trap" ? "the trap is set. Now you must step." : "choose the next square.";
  }

  /** The buttons below the board. Those that are there already stay: a click may just be coming down on one. */
  equip(kind, ...nodes) {
    if (kind === this.equipped) return;
    this.equipped = kind;
    this.board.tools.replaceChildren(...nodes);
  }

  deckControls(button, [segments, back, clear, on, tried]) {
    const ready = this.board.deck.every(finished),
      { whole, sequence } = this.board.builder,
      next = this.board.deck.findIndex((one) => !finished(one));
    this.board.tell(
      ready
        ? "The deck is complete. Lay it, or change a board."
        : whole
          ? `Board ${this.board.at + 1} is complete.`
          : sequence.length
            ? `Board ${this.board.at + 1} of ten: ${this.nextWords(sequence)}`
            : `Board ${this.board.at + 1} of ten: choose where to start on the bottom row.`,
    );
    this.equip(
      `deck ${this.board.mode} ${this.possible.trap} ${this.board.at} ${this.board.deck.map((one) => `${Math.min(1, one.length)}${finished(one)}`)}`,
      places(this.board.deck, this.board.at, this.board.eyes, (number) => this.board.turnTo(number)),
      segments,
      back,
      on,
      tried,
      ready ? clear : button("Fill up", () => this.board.fillUp(), true, { more: { title: "with random boards" } }),
      ready
        ? button("Lay deck", () => this.board.lay(), true, { first: true })
        : button("Next board", () => this.board.turnTo(next), whole, { first: true }),
    );
  }
}
