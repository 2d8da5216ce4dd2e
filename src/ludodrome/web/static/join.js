// Takes the seat of a link, or goes back to it if this browser took it before.

import { pageData, post, sentence } from "./api.js";
import { recalled, store, storeKey } from "./keys.js";

const { link } = pageData(),
  status = document.getElementById("status");

async function join() {
  const known = recalled(`link ${link}`);
  if (known) return known;
  const { play, game, key } = await post(`/joins/${link}`),
    path = `/${game}/plays/${play}?as=guest`;
  storeKey(play, "guest", key);
  store(`link ${link}`, path);
  return path;
}

join()
  .then((path) => location.replace(path))
  .catch((error) => {
    status.textContent = sentence(error.message);
    document.querySelector("h1").textContent = error.status === 404 ? "This seat is taken" : "That did not work";
    document.getElementById("wait").remove();
    document.getElementById("other").hidden = false;
  });
