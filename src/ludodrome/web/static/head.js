// What scrolls sideways on a narrow screen, tabs and tables, says so with an edge that fades.

for (const strip of document.querySelectorAll(".names, .tabs, .scroll")) {
  const look = () => {
    strip.classList.toggle("before", strip.scrollLeft > 1);
    strip.classList.toggle("after", strip.scrollLeft < strip.scrollWidth - strip.clientWidth - 1);
  };
  const here = strip.querySelector("[aria-current]");
  if (here) strip.scrollLeft = here.offsetLeft - strip.offsetLeft - (strip.clientWidth - here.offsetWidth) / 2;
  strip.addEventListener("scroll", look, { passive: true });
  const sizes = new ResizeObserver(look);
  for (const one of [strip, ...strip.children]) sizes.observe(one);
}
