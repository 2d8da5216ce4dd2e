// Tables whose headings are buttons that sort them. Without scripts they stand as they are, in the order of places.
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0];
  const key = (row, at) => {
    const cell = row.cells[at];
    const text = cell.dataset.key ?? cell.textContent.trim();
    const value = Number(text);
    return text !== "" && !Number.isNaN(value) ? value : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  [...table.tHead.rows[0].cells].forEach((heading, at) => {
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") === "descending" || (at < 2 && !heading.hasAttribute("aria-sort"));
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => compare(key(a, at), key(b, at)) * (up ? 1 : -1));
      body.append(...rows);
    });
  });
}
