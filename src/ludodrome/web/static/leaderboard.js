// The leaderboard: filters and sorting of the lines that came with the page.

const body = document.querySelector("#board tbody"),
  lines = [...body.rows],
  heads = [...document.querySelectorAll("#board th[data-sort]")];
const owner = document.getElementById("owner"),
  least = document.getElementById("least");
const kinds = [...document.querySelectorAll("#filters [data-kind]")];
let kind = "";

function filter() {
  let shown = 0;
  for (const line of lines) {
    const { dataset } = line;
    const fits =
      (!kind || dataset.kind === kind) &&
      Number(dataset.games) >= Number(least.value) &&
      (!owner.value || (owner.value === "me" ? dataset.mine === "yes" : dataset.owner === owner.value.slice(1)));
    line.hidden = !fits;
    shown += fits;
  }
  document.getElementById("nobody").hidden = shown > 0;
}

function sort(head) {
  const key = head.dataset.sort,
    text = key === "name";
  const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") !== "descending" : !text;
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const compare = (a, b) =>
    text ? a.dataset.name.localeCompare(b.dataset.name) : Number(a.dataset[key]) - Number(b.dataset[key]);
  lines.sort((a, b) => (down ? -1 : 1) * compare(a, b));
  body.append(...lines);
}

for (const head of heads) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  button.addEventListener("click", () => sort(head));
  head.replaceChildren(button);
}
for (const button of kinds)
  button.addEventListener("click", () => {
    kind = button.dataset.kind;
    for (const other of kinds) other.setAttribute("aria-pressed", String(other === button));
    filter();
  });
owner.addEventListener("change", filter);
least.addEventListener("change", filter);
document.getElementById("filters").hidden = false;
