// New bot: an editor, the doctor's findings as they are made, entering; or a token for a bot that dials in.

import { API, get, pageData, post, say, sentence } from "./api.js";
import { html } from "./draw.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const MOST = 64 * 1024,
  KEPT = `ludodrome-bot-${data.game}`;
const SIGNS = { held: "✓", note: "i", warning: "!", failure: "✗", skipped: "–" };
const area = part("source"),
  gutter = part("gutter");

// The editor

function restored() {
  if (data.bot) return data.source;
  try {
    return localStorage.getItem(KEPT) || data.source;
  } catch {
    return data.source;
  }
}

function changed() {
  const lines = area.value.split("\n").length,
    size = new TextEncoder().encode(area.value).length;
  gutter.textContent = Array.from({ length: lines }, (_, at) => at + 1).join("\n");
  gutter.scrollTop = area.scrollTop;
  part("size").textContent = `${lines} lines, ${(size / 1024).toFixed(1)} of 64 KB`;
  part("size").classList.toggle("bad", size > MOST);
  try {
    if (!data.bot) localStorage.setItem(KEPT, area.value);
  } catch {
    /* then it is not kept */
  }
}

/** Changes a part of the text so that the browser's own undo knows of it. */
function replace(from, to, text) {
  area.setSelectionRange(from, to);
  if (!document.execCommand("insertText", false, text)) area.setRangeText(text, from, to, "end");
  changed();
}

function indent(back) {
  const { value, selectionStart: from, selectionEnd: to } = area;
  const begin = value.lastIndexOf("\n", from - 1) + 1;
  if (from === to && !back) {
    replace(from, to, " ".repeat(4 - ((from - begin) % 4)));
    return;
  }
  const end = to > from && value[to - 1] === "\n" ? to - 1 : to;
  const block = value.slice(begin, end).split("\n");
  const moved = block.map((line) => (back ? line.replace(/^ {1,4}/, "") : `    ${line}`)).join("\n");
  replace(begin, end, moved);
  area.setSelectionRange(
    from === to ? Math.max(begin, from - 4 * back) : begin,
    from === to ? Math.max(begin, from - 4 * back) : begin + moved.length,
  );
}

let leaving = false;
area.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    leaving = true;
    say("Press Tab to leave the editor.");
    return;
  }
  if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
    event.preventDefault();
    indent(event.shiftKey);
  } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    const before = area.value.slice(area.value.lastIndexOf("\n", area.selectionStart - 1) + 1, area.selectionStart);
    const space = /^ */.exec(before)[0] + (/:\s*(#.*)?$/.test(before) ? "    " : "");
    event.preventDefault();
    replace(area.selectionStart, area.selectionEnd, `\n${space}`);
    area.blur();
    area.focus();
  }
  if (!["Tab", "Shift"].includes(event.key)) leaving = false;
});
area.addEventListener("input", changed);
area.addEventListener("blur", () => {
  leaving = false;
});
area.addEventListener("scroll", () => {
  gutter.scrollTop = area.scrollTop;
});
area.value = restored();
changed();

// The doctor

const wait = () => html("span", { class: "wait" }, html("i"), html("i"), html("i"));
function tell(parts, tone = "", where = "word") {
  part(where).replaceChildren(...[parts].flat());
  part(where).className = `word ${tone}`;
}

function finding({ grade, sentence: text, stderr }) {
  const line = html(
    "li",
    { class: grade },
    html("span", { class: "sign", "aria-hidden": "true" }, SIGNS[grade]),
    html("span", { class: "what" }, html("span", { class: "aside" }, `${grade}: `), sentence(text)),
    stderr && html("pre", { tabindex: "0" }, stderr.trim()),
  );
  part("findings").append(line);
  line.scrollIntoView({ block: "nearest" });
}

function busy(yes) {
  for (const id of ["check", "enter"]) part(id).disabled = yes;
}

async function examine() {
  busy(true);
  part("findings").replaceChildren();
  const counts = {};
  try {
    const answer = await fetch(`${API}/checks`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ game: data.game, source: area.value }),
    });
    if (!answer.ok) throw new Error((await answer.json()).error);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines.filter(Boolean).map((text) => JSON.parse(text))) {
        if (line.note) tell([`${sentence(line.note.split(": ")[1])} `, wait()]);
        if (line.finding) {
          counts[line.finding.grade] = (counts[line.finding.grade] || 0) + 1;
          finding(line.finding);
        }
        if (line.trouble) throw new Error(line.trouble);
      }
    }
    const bad = counts.failure || 0,
      doubtful = counts.warning || 0;
    tell(
      bad
        ? `${bad} ${bad === 1 ? "failure" : "failures"}: the bot would lose matches.`
        : doubtful
          ? `You can enter it. ${doubtful} ${doubtful === 1 ? "warning" : "warnings"} to look at.`
          : "All checks passed. You can enter it.",
      bad ? "no" : "yes",
    );
  } catch (error) {
    tell(sentence(error.message || "the server does not answer"), "no");
  }
  busy(false);
}

part("check").addEventListener("click", examine);
part("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  busy(true);
  tell(["Playing a test game in each seat. ", wait()]);
  try {
    const made = data.bot
      ? await post(`/bots/${data.bot.id}/versions`, { source: area.value })
      : await post("/bots", { game: data.game, name: part("name").value, kind: "uploaded", source: area.value });
    try {
      if (!data.bot) localStorage.removeItem(KEPT);
    } catch {
      /* nothing was kept */
    }
    location.assign(`/${data.game}/bots/${made.id}`);
  } catch (error) {
    tell(sentence(error.message), "no");
    busy(false);
  }
});

// A remote bot

function choose(remote) {
  part("here").hidden = remote;
  part("remote").hidden = !remote;
  part("to-here").setAttribute("aria-pressed", String(!remote));
  part("to-remote").setAttribute("aria-pressed", String(remote));
}

const program = (id, token) => `import json, time
from websockets.sync.client import connect

URL = "${location.origin.replace(/^http/, "ws")}${API}/bots/${id}/connect"
TOKEN = "${token}"

while True:  # cut off? connect again: the match goes on where it was
    try:
        with connect(URL, additional_headers={"Authorization": f"Bearer {TOKEN}"}) as arena:
            for turn in map(json.loads, arena):
                if turn["type"] == "turn":
                    move = turn["legal_moves"][0]  # your choice
                    answer = {"type": "move", "move": move, "turn": turn["turn"], "match": turn["match"]}
                    arena.send(json.dumps(answer))
    except OSError:
        time.sleep(1)`;

async function follow(id) {
  for (;;) {
    try {
      const { here } = await get(`/bots/${id}`);
      part("presence").textContent = here ? "connected" : "not connected";
      part("presence").className = `kind ${here ? "here" : "off"}`;
    } catch {
      /* the next one may come through */
    }
    await new Promise((done) => setTimeout(done, 2000));
  }
}

part("to-here")?.addEventListener("click", () => choose(false));
part("to-remote")?.addEventListener("click", () => choose(true));
part("remote-form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const made = await post("/bots", { game: data.game, name: part("remote-name").value, kind: "remote" });
    part("secret").textContent = made.token;
    part("lines").textContent = program(made.id, made.token);
    part("remote-made").hidden = false;
    tell(
      [
        `${made.name} is entered. Run this code and it plays. `,
        html("a", { href: `/${data.game}/bots/${made.id}` }, "Its page"),
      ],
      "yes",
      "remote-word",
    );
    follow(made.id);
  } catch (error) {
    tell(sentence(error.message), "no", "remote-word");
  }
});
part("copy")?.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(part("lines").textContent);
    say("Copied.");
    part("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(part("lines"));
  }
});
