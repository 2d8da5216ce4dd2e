// New bot: an editor, the doctor's findings as they are made, entering; or a token for a bot that dials in.

import { API, get, onSubmit, pageData, post, say, sentence } from "./api.js";
import { CodeEditor } from "./codeeditor.js";
import { html } from "./draw.js";
import { FIELDS, TYPES } from "./protocol.js";

const data = pageData();
const part = (id) => document.getElementById(id);
const MOST = 64 * 1024,
  MAIN = "main.py",
  KEPT = `ludodrome-bot-${data.game}`;
const SIGNS = { held: "✓", note: "i", warning: "!", failure: "✗", skipped: "–" };
const NAME = /^[A-Za-z_][A-Za-z_0-9]*\.(py|json|txt|csv)$/;
const bytes = (text) => new TextEncoder().encode(text).length;

// The files of the bot, and which of them is in the editor

let files = { [MAIN]: data.source };
let current = MAIN;
/** A zip or a module that is entered instead: { name, size, archive }. */
let packed = null;

function restored() {
  if (data.bot) return { [MAIN]: data.source };
  try {
    const kept = localStorage.getItem(KEPT);
    return kept?.startsWith("{") ? JSON.parse(kept) : { [MAIN]: kept || data.source };
  } catch {
    return { [MAIN]: data.source };
  }
}

function changed(text, lines) {
  files[current] = text;
  const size = Object.values(files).reduce((sum, one) => sum + bytes(one), 0),
    several = Object.keys(files).length > 1;
  part("size").textContent = `${lines} lines, ${(size / 1024).toFixed(1)} of 64 KB`;
  part("size").classList.toggle("bad", size > MOST);
  try {
    if (!data.bot) localStorage.setItem(KEPT, several ? JSON.stringify(files) : files[MAIN]);
  } catch {
    /* then it is not kept */
  }
}

/** Completions after a beginning of a line: fields inside of quotes, and what `type` may be. */
function words(before) {
  if (!/["']$/.test(before)) return [];
  if (/["']type["']\]?\s*(:|==|!=|in)\s*[([{]?\s*["']$/.test(before)) return Object.entries(TYPES);
  const state = data.fields.filter((name) => !(name in FIELDS)).map((name) => [name, "of the position"]);
  return [...Object.entries(FIELDS), ...state];
}

const editor = new CodeEditor(part("editor"), { changed, words, problem: part("problem") });

function open(name) {
  current = name;
  packed = null;
  editor.value = files[name];
  tabs();
}

function tabs() {
  const names = Object.keys(files);
  part("tabs").replaceChildren(
    ...names.map((name) =>
      html(
        "button",
        { type: "button", "aria-pressed": String(name === current && !packed), onclick: () => open(name) },
        name,
      ),
    ),
    ...(packed ? [html("button", { type: "button", "aria-pressed": "true" }, packed.name)] : []),
  );
  part("remove").hidden = !packed && current === MAIN;
  part("remove").textContent = packed ? `Remove ${packed.name}` : `Delete ${current}`;
  part("editor").hidden = Boolean(packed);
  part("packed").hidden = !packed;
  if (packed)
    part("packed").textContent =
      `${packed.name}, ${(packed.size / 1024).toFixed(1)} KB. It is sent as it is, and opened only where the bot runs${/zip$/.test(packed.name) ? `: its file ${MAIN} is the program` : ""}.`;
}

function refuse(text) {
  tell(text, "no");
}

async function bring(chosen) {
  for (const file of chosen) {
    if (file.size > (/\.wasm$/.test(file.name) ? data.most_module : MOST)) {
      refuse(`${file.name} is too large: ${(file.size / 1024).toFixed(0)} KB.`);
      return;
    }
    if (/\.(zip|wasm)$/.test(file.name)) {
      const content = new Uint8Array(await file.arrayBuffer());
      let text = "";
      for (let at = 0; at < content.length; at += 8192) text += String.fromCharCode(...content.subarray(at, at + 8192));
      packed = { name: file.name, size: file.size, archive: btoa(text) };
    } else if (NAME.test(file.name)) {
      const name = chosen.length === 1 && /\.py$/.test(file.name) && Object.keys(files).length === 1 ? MAIN : file.name;
      files[name] = (await file.text()).replaceAll("\r\n", "\n");
      packed = null;
      current = name;
    } else refuse(`${file.name} is neither Python, JSON, text, CSV, a zip nor a WebAssembly module.`);
  }
  if (packed) tabs();
  else open(files[MAIN] && chosen.length > 1 ? MAIN : current);
  tell("");
}

part("files").addEventListener("change", async () => {
  await bring([...part("files").files]);
  part("files").value = "";
});
part("add").addEventListener("click", () => {
  let number = 1;
  while (`part${number}.py` in files) number++;
  files[`part${number}.py`] = `# In ${MAIN}: import part${number}\n`;
  open(`part${number}.py`);
  editor.area.focus();
});
part("remove").addEventListener("click", () => {
  if (!packed) delete files[current];
  open(MAIN);
});
files = restored();
if (!(MAIN in files)) files[MAIN] = data.source;
open(MAIN);
editor.host.dataset.files = "ready";

/** What is checked and entered. */
function upload() {
  if (packed) return { archive: packed.archive };
  return Object.keys(files).length > 1 ? { files } : { source: files[MAIN] };
}

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
  part("findings").scrollTop = part("findings").scrollHeight;
}

/** The place in the bot's own files where a traceback ends: { file, line }. */
function placeOf(stderr) {
  const found = [...stderr.matchAll(/File "(?:[^"]*[/\\])?([A-Za-z_][A-Za-z_0-9]*\.py)", line (\d+)/g)]
    .map(([, file, line]) => ({ file, line: Number(line) }))
    .filter(({ file, line }) => file in files && line <= files[file].split("\n").length);
  return found.at(-1) ?? null;
}

/** Why the bot failed, before everything else: its last words, the line, what the doctor says, its standard error. */
function cause(failed) {
  const box = part("cause");
  box.hidden = !failed;
  if (!failed) return;
  const stderr = (failed.stderr ?? "").trim(),
    last = stderr.split("\n").at(-1),
    place = packed ? null : placeOf(stderr);
  box.replaceChildren(
    html(
      "h3",
      {},
      last && /^[\w.]+(Error|Exception|Interrupt|Exit)?\b.*/.test(last) && place ? last : sentence(failed.sentence),
    ),
    ...(place
      ? [
          html(
            "p",
            {},
            html(
              "button",
              { type: "button", class: "link", onclick: () => show(place, last) },
              `${place.file}, line ${place.line}`,
            ),
            html("code", {}, files[place.file].split("\n")[place.line - 1].trim()),
          ),
          html("p", {}, sentence(failed.sentence)),
        ]
      : []),
    ...(stderr ? [html("pre", { tabindex: "0", "aria-label": "Its standard error" }, stderr)] : []),
  );
  if (place && place.file === current) editor.mark(place.line, last);
}

function show({ file, line }, text) {
  if (file !== current) open(file);
  editor.go(line);
  editor.mark(line, text);
}

function busy(yes) {
  for (const id of ["check", "enter"]) part(id).disabled = yes;
}

async function examine() {
  busy(true);
  part("findings").replaceChildren();
  cause(null);
  tell(["The check begins. ", wait()]);
  const counts = {};
  try {
    const answer = await fetch(`${API}/checks`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ game: data.game, ...upload() }),
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
          if (line.finding.grade === "failure" && !counts.failure) cause(line.finding);
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
onSubmit(part("form"), async () => {
  busy(true);
  cause(null);
  tell(["Playing a test game in each seat. ", wait()]);
  try {
    const made = data.bot
      ? await post(`/bots/${data.bot.id}/versions`, upload())
      : await post("/bots", { game: data.game, name: part("name").value, kind: "uploaded", ...upload() });
    try {
      if (!data.bot) localStorage.removeItem(KEPT);
    } catch {
      /* nothing was kept */
    }
    location.assign(`/${data.game}/bots/${made.id}`);
  } catch (error) {
    tell(error.body?.finding ? "The bot failed its check, so it was not entered." : sentence(error.message), "no");
    cause(error.body?.finding);
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
async function connectRemote() {
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
}
if (part("remote-form")) onSubmit(part("remote-form"), connectRemote);
part("copy")?.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(part("lines").textContent);
    say("Copied.");
    part("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(part("lines"));
  }
});
