// Reading JSON without building anything: a value is the place of its first character in the line.
// The text must be valid JSON, as the arena's lines are. -1 stands for what is not there; every function takes it.

export let line = "";

export function setLine(text: string): void {
  line = text;
}

function at(place: i32): i32 {
  return place < line.length ? line.charCodeAt(place) : 0;
}

function space(place: i32): i32 {
  while (at(place) == 32 || at(place) == 9 || at(place) == 10 || at(place) == 13) place++;
  return place;
}

// The end of a string: behind its second quotation mark.
function stringEnd(place: i32): i32 {
  for (place++; at(place) != 0 && at(place) != 34; place++) if (at(place) == 92) place++;
  return place + 1;
}

// The end of a value: the character behind it.
export function end(value: i32): i32 {
  let depth = 0;
  do {
    const c = at(value);
    if (c == 34) {
      value = stringEnd(value);
    } else if (c == 123 || c == 91) {
      depth++;
      value++;
    } else if (c == 125 || c == 93) {
      depth--;
      value++;
    } else if (depth > 0) {
      value++;
    } else {
      while (at(value) > 32 && at(value) != 44 && at(value) != 93 && at(value) != 125) value++;
    }
  } while (at(value) != 0 && depth > 0);
  return value;
}

// The first item of a list (of an object: its first key); -1 if it is empty, or neither.
export function first(list: i32): i32 {
  if (list < 0 || (at(list) != 91 && at(list) != 123)) return -1;
  list = space(list + 1);
  return at(list) == 93 || at(list) == 125 || at(list) == 0 ? -1 : list;
}

// The item after this one; -1 after the last.
export function next(item: i32): i32 {
  if (item < 0) return -1;
  item = space(end(item));
  return at(item) == 44 ? space(item + 1) : -1;
}

// The item of a list at a place, counted from 0.
export function item(list: i32, place: i32): i32 {
  let found = first(list);
  while (found >= 0 && place-- > 0) found = next(found);
  return found;
}

// Whether a value is this text. Escapes are not read: the arena writes none in words of the protocol.
export function is(value: i32, text: string): bool {
  return value >= 0 && at(value) == 34 && line.startsWith(text, value + 1) && at(value + 1 + text.length) == 34;
}

// What an object holds under a key.
export function get(object: i32, key: string): i32 {
  if (object < 0 || at(object) != 123) return -1;
  for (let name = first(object); name >= 0; name = next(name)) {
    const value = space(space(stringEnd(name)) + 1); // behind the colon
    if (is(name, key)) return value;
    name = value;
  }
  return -1;
}

// A whole number; true counts as 1, all else that is no number as 0.
export function int(value: i32): i64 {
  if (value < 0) return 0;
  if (at(value) == 116) return 1;
  const negative = at(value) == 45;
  if (negative) value++;
  let number: i64 = 0;
  for (; at(value) >= 48 && at(value) <= 57; value++) number = number * 10 + (at(value) - 48);
  return negative ? -number : number;
}

// The text of a value, as it stands in the line.
export function text(value: i32): string {
  return line.substring(value, end(value));
}
