// An editor for Python: a text area, its text painted in colours behind it, problems marked in their lines, and a
// list of completions. The server reads the source (tokens and problems); until it has, the old colours stay.
//
// Only the lines in view are painted, so a long source costs no more than a short one.

import { post, say, sentence } from "./api.js";
import { html } from "./draw.js";

const LINE = 20,
  ABOVE = 14,
  LEFT = 12,
  BEYOND = 6;
/** Milliseconds without a key after which the source is read. */
const PAUSE = 450;
const MOST = 9;
const WORD = /[A-Za-z_][A-Za-z_0-9]*$/;

export class CodeEditor {
  /** host: holds gutter, paint, text area and completions; words: completions for a place in a line, [word, meaning]. */
  constructor(host, { changed, words, problem }) {
    this.host = host;
    this.area = host.querySelector("textarea");
    this.gutter = host.querySelector(".gutter");
    this.paintbox = host.querySelector(".paint");
    this.menu = host.querySelector(".completions");
    this.problemLine = problem;
    this.calls = { changed, words };
    this.lines = [""];
    /** The last reading: its lines of text, and the runs of each. */
    this.known = { lines: [], runs: [], byText: new Map() };
    this.problems = [];
    /** A problem of another source than the parser: where a check failed. */
    this.extra = null;
    this.offers = [];
    this.leaving = false;
    this.version = 0;
    this.listen();
    new ResizeObserver(() => this.paint()).observe(host);
  }

  get value() {
    return this.area.value;
  }

  set value(text) {
    this.area.value = text;
    this.area.scrollTop = this.area.scrollLeft = 0;
    this.known = { lines: [], runs: [], byText: new Map() };
    this.problems = [];
    this.update();
    this.read();
  }

  // The text

  /** Replaces a part of the text so that the browser's own undo knows of it. */
  replace(from, to, text) {
    this.area.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, text)) this.area.setRangeText(text, from, to, "end");
    this.update();
  }

  update() {
    this.lines = this.area.value.split("\n");
    this.version += 1;
    this.extra = null;
    this.paint();
    this.calls.changed(this.area.value, this.lines.length);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), PAUSE);
  }

  /** Line and column of a place in the text, both from 0. */
  place(at = this.area.selectionStart) {
    const before = this.area.value.slice(0, at),
      begin = before.lastIndexOf("\n") + 1;
    return { line: before.split("\n").length - 1, column: at - begin, begin };
  }

  /** Goes to a line and column, both from 1. */
  go(line, column = 1) {
    const begin = this.lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0),
      at = begin + Math.min(column - 1, this.lines[line - 1]?.length ?? 0);
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.area.scrollTop = Math.max(0, (line - 1) * LINE - this.area.clientHeight / 2);
    this.paint();
  }

  indent(back) {
    const { value, selectionStart: from, selectionEnd: to } = this.area,
      begin = value.lastIndexOf("\n", from - 1) + 1;
    if (from === to && !back) {
      this.replace(from, to, " ".repeat(4 - ((from - begin) % 4)));
      return;
    }
    const end = to > from && value[to - 1] === "\n" ? to - 1 : to;
    const moved = value
      .slice(begin, end)
      .split("\n")
      .map((line) => (back ? line.replace(/^ {1,4}/, "") : `    ${line}`))
      .join("\n");
    this.replace(begin, end, moved);
    if (from === to) this.area.setSelectionRange(Math.max(begin, from - 4 * back), Math.max(begin, from - 4 * back));
    else this.area.setSelectionRange(begin, begin + moved.length);
  }

  // What the server reads

  async read() {
    clearTimeout(this.timer);
    const asked = this.version,
      text = this.area.value;
    let found;
    try {
      found = await post("/sources", { source: text });
    } catch (error) {
      if (error.status === 429 || error.status === 503) this.timer = setTimeout(() => this.read(), 4 * PAUSE);
      return;
    }
    if (asked !== this.version) return;
    const lines = text.split("\n");
    this.known = {
      lines,
      runs: found.lines,
      byText: new Map(lines.map((line, at) => [line, found.lines[at] ?? []])),
    };
    this.problems = found.problems;
    this.host.dataset.read = String(asked);
    this.paint();
    this.tell();
  }

  /** Marks where a check failed, until the text changes. */
  mark(line, text) {
    const column = 1 + (this.lines[line - 1] ?? "").search(/\S|$/);
    this.extra = { grade: "error", text, line, column, end: 0 };
    this.paint();
  }

  /** The first problem in words below the editor. */
  tell() {
    const first = this.problems.find(({ grade }) => grade === "error") ?? this.problems[0],
      wrong = first?.grade === "error";
    this.area.setAttribute("aria-invalid", String(Boolean(wrong)));
    this.problemLine.className = `problem ${first?.grade ?? ""}`;
    if (!first) {
      this.problemLine.replaceChildren();
      return;
    }
    const place = first.line ? `Line ${first.line}, column ${first.column}` : "The source";
    this.problemLine.replaceChildren(
      first.line
        ? html("button", { type: "button", class: "link", onclick: () => this.go(first.line, first.column) }, place)
        : place,
      `: ${sentence(first.text)}`,
    );
  }

  // Painting

  paint() {
    const { scrollTop, scrollLeft, clientHeight } = this.area,
      first = Math.max(0, Math.floor((scrollTop - ABOVE) / LINE) - BEYOND),
      last = Math.min(this.lines.length, first + Math.ceil(clientHeight / LINE) + 2 * BEYOND);
    const problems = new Map(
      [...this.problems, ...(this.extra ? [this.extra] : [])]
        .filter(({ line }) => line)
        .reverse()
        .map((one) => [one.line - 1, one]),
    );
    const numbers = [],
      texts = [];
    for (let at = first; at < last; at++) {
      const found = problems.get(at);
      numbers.push(
        html("span", found ? { class: found.grade, title: sentence(found.text) } : {}, `${found ? "✗ " : ""}${at + 1}`),
      );
      texts.push(this.paintLine(at, found));
    }
    const top = ABOVE + first * LINE - scrollTop;
    this.gutter.firstElementChild.replaceChildren(...numbers);
    this.gutter.firstElementChild.style.transform = `translateY(${top}px)`;
    this.gutter.style.minWidth = `${String(this.lines.length).length + 4}ch`;
    this.paintbox.firstElementChild.replaceChildren(...texts);
    this.paintbox.firstElementChild.style.transform = `translate(${LEFT - scrollLeft}px, ${top}px)`;
  }

  paintLine(at, problem) {
    const text = this.lines[at],
      parts = [];
    let from = 0;
    for (const [length, kind] of this.runsOf(at)) {
      if (from >= text.length) break;
      parts.push(kind ? html("i", { class: kind }, text.slice(from, from + length)) : text.slice(from, from + length));
      from += length;
    }
    if (from < text.length) parts.push(text.slice(from));
    const line = html("div", problem ? { class: problem.grade } : {}, ...(parts.length ? parts : ["\u200b"]));
    if (problem) {
      const start = Math.min(problem.column - 1, text.length),
        end = Math.max(start + 1, problem.end ? problem.end - 1 : text.length);
      const under = html("u", {});
      under.style.left = `${start}ch`;
      under.style.width = `${end - start}ch`;
      line.append(under, html("em", {}, sentence(problem.text)));
    }
    return line;
  }

  /** The runs of a line; of a changed one those that fit its beginning, and its end if the line is of the same place. */
  runsOf(at) {
    const text = this.lines[at],
      { lines, runs, byText } = this.known;
    if (lines[at] === text) return runs[at] ?? [];
    const same = byText.get(text);
    if (same) return same;
    const before = lines[at];
    if (before === undefined) return [];
    let common = 0;
    while (common < text.length && text[common] === before[common]) common++;
    const kept = [];
    let from = 0;
    for (const [length, kind] of runs[at] ?? []) {
      if (from >= common) break;
      kept.push([Math.min(length, common - from), kind]);
      from += length;
    }
    return kept;
  }

  // Completion

  complete(asked) {
    const { selectionStart: at, selectionEnd: end, value } = this.area,
      { begin } = this.place(at);
    const before = value.slice(begin, at),
      typed = WORD.exec(before)?.[0] ?? "",
      offers = at === end ? this.calls.words(before.slice(0, before.length - typed.length), asked) : [];
    const fit = offers.filter(([word]) => word.startsWith(typed) && word !== typed).slice(0, MOST);
    if (!fit.length || (!typed && !asked && !/["']$/.test(before))) this.close();
    else this.offer(fit, typed);
  }

  offer(fit, typed) {
    this.offers = fit;
    this.typed = typed;
    this.chosen = 0;
    const { line, column } = this.place();
    this.menu.replaceChildren(
      ...fit.map(([word, meaning], at) =>
        html(
          "li",
          { id: `completion-${at}`, role: "option", onpointerdown: (event) => this.pick(event, at) },
          html("b", {}, word),
          html("span", {}, meaning),
        ),
      ),
    );
    this.menu.hidden = false;
    const left = this.gutter.offsetWidth + LEFT + 2 - this.area.scrollLeft,
      below = ABOVE + (line + 1) * LINE - this.area.scrollTop,
      room = this.host.clientHeight - this.menu.offsetHeight - 8;
    this.menu.style.top = `${Math.max(0, below > room ? below - LINE - this.menu.offsetHeight : below)}px`;
    this.menu.style.left = `min(calc(${column - typed.length}ch + ${left}px), 100% - ${this.menu.offsetWidth + 8}px)`;
    this.choose(0);
    say(`${fit.length} completions. ${fit[0][0]}: ${fit[0][1]}`);
  }

  choose(at) {
    this.chosen = (at + this.offers.length) % this.offers.length;
    for (const [number, item] of [...this.menu.children].entries())
      item.setAttribute("aria-selected", String(number === this.chosen));
    this.area.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
    this.menu.children[this.chosen].scrollIntoView({ block: "nearest" });
  }

  pick(event, at) {
    event.preventDefault();
    this.choose(at);
    this.accept();
  }

  accept() {
    const [word] = this.offers[this.chosen],
      at = this.area.selectionStart;
    this.close();
    this.replace(at - this.typed.length, at, word);
    this.close();
  }

  close() {
    this.offers = [];
    this.menu.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  // Keys

  listen() {
    const { area } = this;
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("input", (event) => {
      this.update();
      if (event.inputType?.startsWith("insertText") || event.inputType?.startsWith("delete")) this.complete(false);
      else this.close();
    });
    area.addEventListener("blur", () => {
      this.leaving = false;
      this.close();
    });
    area.addEventListener("scroll", () => this.paint());
    area.addEventListener("click", () => this.close());
  }

  key(event) {
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey;
    if (this.offers.length && plain && this.menuKey(event.key)) {
      event.preventDefault();
      return;
    }
    if (event.key === "Escape") {
      this.leaving = true;
      say("Press Tab to leave the editor.");
      return;
    }
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.complete(true);
    } else if (event.key === "Tab" && !this.leaving && plain) {
      event.preventDefault();
      this.indent(event.shiftKey);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      const { begin } = this.place(),
        before = this.area.value.slice(begin, this.area.selectionStart);
      const space = /^ */.exec(before)[0] + (/:\s*(#.*)?$/.test(before) ? "    " : "");
      event.preventDefault();
      this.replace(this.area.selectionStart, this.area.selectionEnd, `\n${space}`);
      this.area.blur();
      this.area.focus();
    }
    if (!["Tab", "Shift"].includes(event.key)) this.leaving = false;
  }

  /** A key while completions are offered; whether it was meant for them. */
  menuKey(key) {
    if (key === "ArrowDown") this.choose(this.chosen + 1);
    else if (key === "ArrowUp") this.choose(this.chosen - 1);
    else if (key === "Enter" || key === "Tab") this.accept();
    else if (key === "Escape") this.close();
    else return false;
    return true;
  }
}
