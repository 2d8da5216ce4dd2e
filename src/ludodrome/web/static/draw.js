// Small parts of drawings: elements, the shapes of the seats, arrows, motion.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An SVG element. */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
/** An HTML element. */
export const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** The names of the seats, as the game's package has them, and with the shapes of their pieces. */
export const NAMES = (document.body.dataset.seats || "First|Second|Third").split("|");
export const SEATS = NAMES.map(
  (name, seat) => `${name.length > 1 ? name.toLowerCase() : name} ${["circle", "diamond", "square"][seat]}`,
);

/** The shape of a seat: round, diamond, square. Coordinates are absolute, so that CSS may move it. */
export function shape(seat, x, y, r, name = "token") {
  if (seat === 0) return svg("circle", { class: `${name} s0`, cx: x, cy: y, r });
  if (seat === 2)
    return svg("rect", {
      class: `${name} s2`,
      x: x - r * 0.88,
      y: y - r * 0.88,
      width: r * 1.76,
      height: r * 1.76,
      rx: r * 0.16,
    });
  const d = r * 1.2,
    k = r * 0.16;
  return svg("path", {
    class: `${name} s1`,
    d: `M${x - k} ${y - d + k}Q${x} ${y - d} ${x + k} ${y - d + k}L${x + d - k} ${y - k}Q${x + d} ${y} ${x + d - k} ${y + k}L${x + k} ${y + d - k}Q${x} ${y + d} ${x - k} ${y + d - k}L${x - d + k} ${y + k}Q${x - d} ${y} ${x - d + k} ${y - k}Z`,
  });
}

export const chip = (seat) =>
  svg(
    "svg",
    { class: "chip", viewBox: "0 0 24 24", "aria-hidden": "true" },
    shape(seat, 12, 12, seat === 1 ? 8.5 : 9, "box-mark"),
  );

/** The engine's best: a green arrow. It begins `beside` the middle of what moves, which stays readable. */
export function arrow(x0, y0, x2, y2, width = 9, beside = 0) {
  const whole = Math.hypot(x2 - x0, y2 - y0) || 1,
    length = whole - beside;
  const [ux, uy] = [(x2 - x0) / whole, (y2 - y0) / whole],
    [x1, y1] = [x0 + ux * beside, y0 + uy * beside];
  const head = Math.min(width * 2.6, length * 0.6);
  const at = (along, across) =>
    `${(x1 + ux * along - uy * across).toFixed(1)} ${(y1 + uy * along + ux * across).toFixed(1)}`;
  const w = width / 2,
    neck = length - head;
  return svg("path", {
    class: "arrow",
    d: `M${at(0, w)}L${at(neck, w)}L${at(neck, w * 3)}L${at(length, 0)}L${at(neck, -w * 3)}L${at(neck, -w)}L${at(0, -w)}Z`,
  });
}

const still = matchMedia("(prefers-reduced-motion: reduce)");
export const moves = () => !still.matches;
export const STEP = 220;

/** Short motion; none where the reader prefers none. */
export function motion(node, frames, duration = STEP, delay = 0) {
  if (!node || !moves()) return;
  node.animate(frames, { duration, delay, easing: "ease-out", fill: "backwards" });
}

export const slide = (node, dx, dy) =>
  motion(node, [{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "translate(0, 0)" }]);

export function grow(node, x, y, delay = 0) {
  if (!node) return;
  node.style.transformOrigin = `${x}px ${y}px`;
  motion(
    node,
    [
      { transform: "scale(0.3)", opacity: 0 },
      { transform: "scale(1)", opacity: 1 },
    ],
    STEP,
    delay,
  );
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
