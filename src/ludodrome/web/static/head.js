// The head of every page: on a narrow screen the tabs scroll, and say so with an edge that fades.

for (const nav of document.querySelectorAll(".names, .tabs")) {
  const look = () => {
    nav.classList.toggle("before", nav.scrollLeft > 1);
    nav.classList.toggle("after", nav.scrollLeft < nav.scrollWidth - nav.clientWidth - 1);
  };
  const here = nav.querySelector("[aria-current]");
  if (here) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - (nav.clientWidth - here.offsetWidth) / 2;
  nav.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(nav);
}
