// Sign in and sign up.
import { ownPage, pageData, post, sentence } from "./api.js";

const { new: isNew } = pageData();
const form = document.getElementById("sign");
const no = document.getElementById("no");
const name = document.getElementById("name");
const password = document.getElementById("password");

for (const link of document.querySelectorAll("a[data-keep]")) link.href += location.search;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!name.value.trim()) return refuse("Enter your name.", name);
  if (!password.value) return refuse("Enter a password.", password);
  const button = form.querySelector("button");
  button.disabled = true;
  no.textContent = "";
  try {
    await post(isNew ? "/accounts" : "/session", { name: name.value.trim(), password: password.value });
    location.replace(ownPage(new URLSearchParams(location.search).get("next")));
  } catch (error) {
    button.disabled = false;
    refuse(error.message, isNew ? name : password);
  }
});

function refuse(text, field) {
  no.textContent = sentence(text);
  field.focus();
}
