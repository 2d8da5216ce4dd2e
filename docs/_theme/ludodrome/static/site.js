// The documentation's few moving parts: the search field, the contents on a narrow screen, wide things that scroll.
for (const form of document.querySelectorAll("form.find")) {
  const field = form.querySelector("input");
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) field.value = asked;
  form.addEventListener("submit", (event) => {
    event.preventDefault(); // the server's policy lets no form go anywhere, so the page goes itself
    const words = field.value.trim();
    if (words) location.href = `${form.getAttribute("action")}?q=${encodeURIComponent(words)}`;
  });
}

const unfold = document.querySelector(".unfold");
unfold?.addEventListener("click", () => {
  const open = document.body.classList.toggle("open");
  unfold.setAttribute("aria-expanded", String(open));
});

for (const one of document.querySelectorAll(".text pre, .text .wide, .text dt")) {
  if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
}
