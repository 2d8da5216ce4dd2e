// A record is dropped, or chosen, and shown.

import { post, sentence } from "./api.js";

const drop = document.getElementById("drop"),
  file = document.getElementById("file"),
  refusal = document.getElementById("refusal");

async function bring(chosen) {
  if (!chosen) return;
  refusal.textContent = "";
  try {
    const record = JSON.parse(await chosen.text());
    location.assign(`/games/${(await post("/replays", record)).id}`);
  } catch (error) {
    refusal.textContent =
      error instanceof SyntaxError ? `${chosen.name} is not a record: it is not JSON.` : sentence(error.message);
  }
}

file.addEventListener("change", () => bring(file.files[0]));
for (const kind of ["dragover", "dragenter"])
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  bring(event.dataTransfer.files[0]);
});
