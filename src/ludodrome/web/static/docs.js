// The documentation: the search, the contents on a narrow screen, wide blocks that scroll.

import { say } from "./api.js";
import { html } from "./draw.js";

const FEW = 8;
const MANY = 60;
const AROUND = 70;
const form = document.getElementById("find");
const field = document.getElementById("query");
const found = document.getElementById("found");
const results = document.getElementById("results");
let index = null;

function load() {
  index ??= fetch(form.dataset.index).then((answer) => {
    if (!answer.ok) throw new Error(`the index of the search could not be loaded (${answer.status})`);
    return answer.json().then(prepare);
  });
  return index;
}

// Lower case, with a space between the words of names such as IllegalMove.
function plain(text) {
  return text.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").toLowerCase();
}

function prepare({ pages, sections }) {
  return sections.map(([at, anchor, title, text]) => {
    const heading = plain(title);
    return {
      page: pages[at],
      anchor,
      title,
      text,
      heading,
      name: plain(pages[at][1]),
      whole: `${heading} ${plain(text)}`,
    };
  });
}

function wordsOf(text) {
  return plain(text).match(/[\p{L}\p{N}_]+/gu) ?? [];
}

// A section is found if it has every word of the query, at least as the beginning of a word.
function rank({ heading, whole, name, page }, words, phrase) {
  let score = page[2] === "Reference" ? 0 : 1; // people before programs
  for (const word of words) {
    const hits = whole.split(new RegExp(`(?<![\\p{L}\\p{N}])${word}`, "u")).length - 1;
    if (!hits) return 0;
    score += Math.min(hits, 5) / (10 + whole.length / 400);
    if (heading.includes(word)) score += 1;
    if (name.includes(word)) score += 0.5;
  }
  if (words.length > 1 && whole.includes(phrase)) score += 2;
  return heading === phrase ? score + 4 : score;
}

async function search(query) {
  const words = wordsOf(query);
  if (!words.length) return [];
  const sections = await load();
  const phrase = words.join(" ");
  return sections
    .map((section) => ({ ...section, score: rank(section, words, phrase) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score);
}

function excerpt(text, query) {
  const words = wordsOf(query);
  const low = text.toLowerCase();
  const phrase = low.indexOf(words.join(" "));
  const at = phrase >= 0 ? phrase : Math.max(0, low.indexOf(words[0]));
  const start = at > AROUND ? low.indexOf(" ", at - AROUND) + 1 : 0;
  const piece = text.slice(start, at + 2 * AROUND);
  const marked = new RegExp(`(${words.join("|")})`, "giu");
  const parts = piece.split(marked).map((part, number) => (number % 2 ? html("mark", {}, part) : part));
  return [start ? "… " : "", ...parts, start + piece.length < text.length ? " …" : ""];
}

function entry({ anchor, title, text, page: [address, name, part] }, query) {
  const root = form.getAttribute("action").replace("search.html", "");
  const where = [part, name].filter((word, at, all) => word && word !== title && all.indexOf(word) === at).join(" › ");
  return html(
    "li",
    {},
    html("a", { href: `${root}${address}${anchor ? `#${anchor}` : ""}` }, title),
    where ? html("span", { class: "where" }, where) : "",
    html("p", {}, ...excerpt(text, query)),
  );
}

function count(number) {
  if (!number) return "Nothing was found. Try fewer or shorter words.";
  return number === 1 ? "1 section was found." : `${number} sections were found.`;
}

async function list(node, query, most) {
  try {
    const all = await search(query);
    if (field.value.trim() !== query) return;
    const head = html("p", { class: "count" }, count(all.length));
    node.replaceChildren(head, html("ul", {}, ...all.slice(0, most).map((one) => entry(one, query))));
    if (all.length > most && node === found)
      node.append(html("a", { class: "all", href: address(query) }, `All ${all.length} results`));
    say(count(all.length));
  } catch (error) {
    node.replaceChildren(html("p", { class: "count" }, `The search does not work: ${error.message}.`));
  }
}

function address(query) {
  return `${form.getAttribute("action")}?q=${encodeURIComponent(query)}`;
}

async function ask() {
  const query = field.value.trim();
  if (results) {
    history.replaceState(null, "", query ? address(query) : form.getAttribute("action"));
    return list(results, query, MANY);
  }
  if (!query) return close();
  await list(found, query, FEW);
  found.hidden = false;
}

function close() {
  found.hidden = true;
}

let waiting = 0;
field.addEventListener("focus", () => load().catch(() => (index = null)), { once: true });
field.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(ask, 120);
});
form.addEventListener("submit", (event) => {
  event.preventDefault(); // the server's policy forbids forms that lead anywhere
  const query = field.value.trim();
  if (results) ask();
  else if (query) location.href = address(query);
});
form.addEventListener("keydown", (event) => {
  const links = [field, ...form.querySelectorAll(".found:not([hidden]) a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    close();
    field.focus();
  } else if (step && links.length > 1) {
    event.preventDefault();
    links[(links.indexOf(document.activeElement) + step + links.length) % links.length].focus();
  }
});
document.addEventListener("click", (event) => {
  if (!form.contains(event.target)) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, textarea")) return;
  event.preventDefault();
  field.focus();
});

const unfold = document.getElementById("unfold");
unfold.addEventListener("click", () => {
  const open = document.body.classList.toggle("unfolded");
  unfold.setAttribute("aria-expanded", String(open));
});
const tree = document.getElementById("tree");
const current = tree.querySelector('[aria-current="page"]');
if (current) tree.scrollTop = current.offsetTop - tree.clientHeight / 2;
for (const one of document.querySelectorAll(".prose pre, .prose .wide"))
  if (one.scrollWidth <= one.clientWidth) one.removeAttribute("tabindex");
if (results) {
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  if (field.value) ask();
  field.focus();
}
