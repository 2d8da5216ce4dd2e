// Sign in and sign up.
import { onSubmit, ownPage, pageData, post, sentence } from "./api.js";

const { new: isNew } = pageData();
const form = document.getElementById("sign");
const no = document.getElementById("no");
const name = document.getElementById("name");
const password = document.getElementById("password");

// What else is asked for after the password: a new password for a one-time password, the code of the second factor.
const steps = isNew
  ? []
  : [
      { key: "new_password", box: document.getElementById("replace"), field: document.getElementById("replacement") },
      { key: "second_factor", box: document.getElementById("factor"), field: document.getElementById("code") },
    ];
const extra = () =>
  Object.fromEntries(
    steps
      .filter(({ box }) => !box.hidden)
      .map(({ key, field }) => [key === "second_factor" ? "code" : key, field.value]),
  );

for (const link of document.querySelectorAll("a[data-keep]")) link.href += location.search;

onSubmit(form, async () => {
  if (!name.value.trim()) return refuse("Enter your name.", name);
  if (!password.value) return refuse("Enter a password.", password);
  const missing = steps.find(({ box, field }) => !box.hidden && !field.value.trim());
  if (missing) return refuse("Fill in this field, too.", missing.field);
  const button = form.querySelector("button");
  button.disabled = true;
  no.textContent = "";
  try {
    await post(isNew ? "/accounts" : "/session", { name: name.value.trim(), password: password.value, ...extra() });
    location.replace(ownPage(new URLSearchParams(location.search).get("next")));
  } catch (error) {
    button.disabled = false;
    const asked = steps.filter(({ key }) => error.body?.[key]);
    const opened = asked.filter(({ box }) => box.hidden);
    for (const { box } of opened) box.hidden = false;
    if (opened.length) return opened[0].field.focus(); // no refusal: the password was right
    const last = asked.find(({ key }) => key === "second_factor");
    if (last) last.field.value = "";
    refuse(error.message, last?.field || steps.find(({ box }) => !box.hidden)?.field || (isNew ? name : password));
  }
});

for (const field of [name, password])
  field.addEventListener("input", () => {
    for (const { box } of steps) box.hidden = true;
  });

function refuse(text, field) {
  no.textContent = sentence(text);
  field.focus();
}
