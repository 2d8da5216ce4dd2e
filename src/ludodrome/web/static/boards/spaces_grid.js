// The grid of spaces: its frame, coordinates on the rim, and a window that pans and zooms where it is large.
//
// Squares are one pattern, not one node each, so that a grid of 100 x 100 is as quick as one of 3 x 3.

import { html, svg } from "../draw.js";

export const CELL = 92,
  GAP = 4,
  GOAL = 58;
export const PITCH = CELL + GAP;
const PAD = 9;
/** Up to this size squares are large, and pieces small in them. */
const FEW = 4;
/** Squares across the window at scale 1. */
const ACROSS = 10;
/** Pixels of a square: where boards are laid with ease, where numbers are readable, where pieces are. */
const COMFORT = 44,
  NEAR = 32,
  MID = 13;
const ZOOM = 1.5,
  MOST_PIXELS = 96;
/** Pixels that a finger or a mouse moves before it drags. */
const SLACK = 7;
const LABELS = [1, 2, 5, 10, 20, 25, 50];
let grids = 0;

export class Grid {
  /** `viewed()` is called when the window shows something else. */
  constructor(host, size, viewed) {
    Object.assign(this, { host, size, viewed, pointers: new Map(), dragged: false, level: "" });
    const number = ++grids,
      across = Math.min(size, ACROSS) * PITCH - GAP + 2 * PAD;
    this.width = size * PITCH - GAP + 2 * PAD;
    this.height = this.width + 2 * (GOAL + GAP);
    this.fitting = across / this.width;
    this.window = [across, this.height * this.fitting];
    this.rim = [across * 0.046, across * 0.036];
    this.scale = this.fitting;
    this.x = this.y = 0;
    const [w, h] = this.window,
      [left, top] = this.rim;
    this.offers = svg("g");
    this.marks = svg("g", { "pointer-events": "none" });
    this.words = [];
    this.camera = svg("g", {}, ...this.#ground(number), this.offers, this.marks);
    this.rows = svg("g", { class: "rim", "aria-hidden": "true" });
    this.cols = svg("g", { class: "rim", "aria-hidden": "true" });
    this.svg = svg(
      "svg",
      { viewBox: `${-left} ${-top} ${w + left} ${h + top}`, class: size > FEW ? "grid many" : "grid" },
      svg(
        "defs",
        {},
        svg(
          "pattern",
          { id: `cells-${number}`, x: PAD, y: this.top, width: PITCH, height: PITCH, patternUnits: "userSpaceOnUse" },
          svg("rect", { class: "cell", width: CELL, height: CELL, rx: 7 }),
        ),
        svg("clipPath", { id: `window-${number}` }, svg("rect", { x: -2, y: -2, width: w + 4, height: h + 4 })),
      ),
      svg("g", { "clip-path": size > ACROSS ? `url(#window-${number})` : null }, this.camera),
      this.rows,
      this.cols,
    );
    this.buttons = this.#buttons();
    host.replaceChildren(this.svg, this.buttons);
    this.svg.addEventListener("pointerdown", (event) => this.#down(event));
    this.svg.addEventListener("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"]) this.svg.addEventListener(name, (event) => this.#up(event));
    this.svg.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.sizes = new ResizeObserver(() => this.#measure());
    this.sizes.observe(host);
    this.#measure();
  }

  get top() {
    return GOAL + GAP + PAD;
  }
  /** Pixels of a square. */
  get pixels() {
    return PITCH * this.scale * this.unit;
  }
  /** Whether the whole grid is too small to lay a board on with ease. */
  get zoomable() {
    return PITCH * this.fitting * this.unit < COMFORT;
  }
  get zoomed() {
    return this.scale > this.fitting * 1.001;
  }
  /** The radius of a piece; two in a square are smaller. */
  piece(shared) {
    return this.size > FEW ? (shared ? 18 : 23) : 14;
  }
  /** A pixel in the units of the drawing. */
  get hair() {
    return 1 / (this.scale * this.unit);
  }

  close() {
    this.sizes.disconnect();
  }

  // Places

  corner(row, col) {
    const y = row < 0 ? 0 : this.top + row * PITCH + (row >= this.size ? PAD : 0);
    return [PAD + col * PITCH, y];
  }
  high(row) {
    return row < 0 || row >= this.size ? GOAL : CELL;
  }
  middle(row, col) {
    const [x, y] = this.corner(row, col);
    return [x + CELL / 2, y + this.high(row) / 2];
  }
  /** The square at a point of the screen; null outside. */
  squareAt(clientX, clientY) {
    const [x, y] = this.#point(clientX, clientY),
      [cx, cy] = [(x - this.x) / this.scale, (y - this.y) / this.scale];
    const col = Math.floor((cx - PAD + GAP / 2) / PITCH),
      row = cy < GOAL + GAP ? -1 : Math.min(this.size, Math.floor((cy - this.top + GAP / 2) / PITCH));
    return col < 0 || col >= this.size || cy < 0 || cy > this.height ? null : [Math.max(-1, row), col];
  }
  /** Whether a point of the drawing is in the window, or near it. */
  seesPoint(x, y) {
    const far = 3 * PITCH * this.scale;
    const [wx, wy] = [x * this.scale + this.x, y * this.scale + this.y];
    return wx > -far && wy > -far && wx < this.window[0] + far && wy < this.window[1] + far;
  }

  #point(clientX, clientY) {
    const box = this.svg.getBoundingClientRect(),
      [left, top] = this.rim;
    return [(clientX - box.left) / this.unit - left, (clientY - box.top) / this.unit - top];
  }

  // Drawing

  #ground(number) {
    const { size, width } = this,
      inner = width;
    const goals = [-1, size].flatMap((row) =>
      Array.from({ length: size }, (_, col) => {
        const [x, y] = this.corner(row, col);
        return svg("rect", { class: "goal", x: x + 3, y: y + 6, width: CELL - 6, height: GOAL - 12, rx: 8 });
      }),
    );
    this.above = this.#words(-1);
    this.below = this.#words(size);
    return [
      svg("rect", { class: "frame", x: 0, y: GOAL + GAP, width, height: inner, rx: 14 }),
      svg("rect", { x: PAD, y: this.top, width: size * PITCH, height: size * PITCH, fill: `url(#cells-${number})` }),
      ...goals,
      this.above,
      this.below,
    ];
  }

  #words(row) {
    return svg(
      "g",
      { class: "goal-words" },
      ...Array.from({ length: this.size }, (_, col) => {
        const [x, y] = this.middle(row, col);
        return svg("text", { class: "goal-word", x, y });
      }),
    );
  }

  /** The word in the places above and below the grid. */
  setWords(above, below) {
    for (const [group, word] of [
      [this.above, above],
      [this.below, below],
    ])
      if (group.dataset.word !== word) {
        group.dataset.word = word;
        for (const text of group.children) text.textContent = word;
      }
  }

  #labels() {
    const [w, h] = this.window,
      [left, top] = this.rim;
    const every = (pixels) => LABELS.find((step) => step * this.pixels >= pixels) ?? 50;
    const texts = (count, step, at, put) =>
      Array.from({ length: Math.ceil(count / step) }, (_, number) => number * step)
        .map((number) => [number, at(number)])
        .filter(([, [place, end]]) => place >= -1 && place <= end + 1)
        .map(([number, [place]]) => put(number, place));
    const text = (x, y, number) => svg("text", { class: "coordinate", x, y }, String(number));
    this.rows.replaceChildren(
      ...texts(
        this.size,
        every(17),
        (row) => [this.middle(row, 0)[1] * this.scale + this.y, h],
        (row, y) => text(-left / 2, y, row),
      ),
    );
    this.cols.replaceChildren(
      ...texts(
        this.size,
        every(21),
        (col) => [this.middle(0, col)[0] * this.scale + this.x, w],
        (col, x) => text(x, -top / 2, col),
      ),
    );
  }

  // The window

  #measure() {
    const across = this.window[0] + this.rim[0];
    this.unit = (this.host.clientWidth || across) / across;
    this.svg.style.setProperty("--unit", 1 / this.unit);
    this.buttons.hidden = !this.zoomable;
    this.#set(this.zoomable ? this.scale : this.fitting, this.x, this.y);
  }

  #set(scale, x, y) {
    const most = Math.max(this.fitting, MOST_PIXELS / (PITCH * this.unit)),
      [w, h] = this.window;
    this.scale = Math.min(most, Math.max(this.fitting, scale));
    const within = (offset, whole, part) =>
      whole * this.scale <= part
        ? (part - whole * this.scale) / 2
        : Math.min(0, Math.max(part - whole * this.scale, offset));
    this.x = within(x, this.width, w);
    this.y = within(y, this.height, h);
    const { pixels } = this;
    this.level = pixels >= NEAR ? "near" : pixels >= MID ? "mid" : "far";
    this.camera.setAttribute(
      "transform",
      `translate(${this.x.toFixed(2)} ${this.y.toFixed(2)}) scale(${this.scale.toFixed(5)})`,
    );
    this.camera.setAttribute("class", this.level);
    this.camera.style.setProperty("--hair", this.hair);
    this.svg.classList.toggle("zoomable", this.zoomable);
    this.svg.classList.toggle("zoomed", this.zoomed);
    this.#labels();
    this.viewed();
  }

  /** Zoom, and keep a point of the window where it is; default: its middle. */
  zoom(factor, [px, py] = [this.window[0] / 2, this.window[1] / 2]) {
    const before = this.scale;
    const most = Math.max(this.fitting, MOST_PIXELS / (PITCH * this.unit)),
      scale = Math.min(most, Math.max(this.fitting, before * factor)),
      by = scale / before;
    this.#set(scale, px - (px - this.x) * by, py - (py - this.y) * by);
  }

  fit() {
    this.#set(this.fitting, 0, 0);
  }

  /** Show a square with room to lay a board around it; a window that is large enough stays as it is. */
  approach(row, col) {
    if (!this.zoomable) return;
    const scale = Math.max(this.scale, COMFORT / (PITCH * this.unit)),
      [x, y] = this.middle(row, col);
    this.#set(scale, this.window[0] / 2 - x * scale, this.window[1] / 2 - y * scale);
  }

  /** Pan as little as needed to have a square and its neighbours in the window. */
  keepInView(row, col) {
    if (!this.zoomed) return;
    const [x, y] = this.middle(row, col),
      room = 1.7 * PITCH * this.scale;
    const shifted = (offset, place, part) => {
      const at = place * this.scale + offset;
      return at < room ? offset + room - at : at > part - room ? offset - (at - part + room) : offset;
    };
    const [nx, ny] = [shifted(this.x, x, this.window[0]), shifted(this.y, y, this.window[1])];
    if (nx !== this.x || ny !== this.y) this.#set(this.scale, nx, ny);
  }

  #buttons() {
    const button = (text, label, act) =>
      html("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    return html(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("+", "Zoom in", () => this.zoom(ZOOM)),
      button("−", "Zoom out", () => this.zoom(1 / ZOOM)),
      button("Fit", "Show the whole grid", () => this.fit()),
    );
  }

  // Fingers and the mouse

  #down(event) {
    if (!this.zoomable || (event.pointerType === "mouse" && event.button !== 0)) return;
    if (!this.pointers.size) this.dragged = false;
    this.pointers.set(event.pointerId, {
      x: event.clientX,
      y: event.clientY,
      fromX: event.clientX,
      fromY: event.clientY,
    });
  }

  #move(event) {
    const one = this.pointers.get(event.pointerId);
    if (!one) return;
    const before = { ...one };
    one.x = event.clientX;
    one.y = event.clientY;
    if (this.pointers.size === 1) {
      if (!this.zoomed || (!this.dragged && Math.hypot(one.x - one.fromX, one.y - one.fromY) < SLACK)) return;
      if (!this.dragged) this.svg.setPointerCapture(event.pointerId);
      this.dragged = true;
      this.#set(this.scale, this.x + (one.x - before.x) / this.unit, this.y + (one.y - before.y) / this.unit);
      return;
    }
    const other = [...this.pointers.entries()].find(([id]) => id !== event.pointerId)[1];
    const apart = (a) => Math.hypot(a.x - other.x, a.y - other.y) || 1;
    this.dragged = true;
    this.zoom(apart(one) / apart(before), this.#point((one.x + other.x) / 2, (one.y + other.y) / 2));
  }

  #up(event) {
    this.pointers.delete(event.pointerId);
    if (!this.pointers.size) setTimeout(() => (this.dragged = false), 0);
  }

  #wheel(event) {
    if (!this.zoomable) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 240), this.#point(event.clientX, event.clientY));
      return;
    }
    const { x, y } = this,
      [right, down] = event.shiftKey ? [event.deltaY, event.deltaX] : [event.deltaX, event.deltaY];
    this.#set(this.scale, x - right / this.unit, y - down / this.unit);
    if (this.x !== x || this.y !== y) event.preventDefault();
  }
}
