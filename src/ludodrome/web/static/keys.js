// What this browser keeps: the keys of seats, and where one was last. Private windows may keep nothing.

const PREFIX = "ludodrome";

export function store(name, value) {
  try {
    localStorage.setItem(`${PREFIX} ${name}`, value);
  } catch {
    /* then it is not kept */
  }
}
export function recalled(name) {
  try {
    return localStorage.getItem(`${PREFIX} ${name}`);
  } catch {
    return null;
  }
}

/** The key of a seat: `role` is owner or guest. */
export const storeKey = (play, role, key) => store(`key ${play} ${role}`, key);
export const keyOf = (play, role) => recalled(`key ${play} ${role}`);
