// A tree of moves in a link: "a~b~^1~c" is a, then b, and beside b a side line with c.
//
// Moves follow each other; "^2" goes two moves back before the next one. The main line comes first.

/** The tree below a root as a text; `textOf` gives the notation of a node's move. */
export function formatTree(root, textOf) {
  const parts = [];
  let last = 0;
  const walk = (one, depth) => {
    for (const child of one.children) {
      if (last > depth) parts.push(`^${last - depth}`);
      parts.push(textOf(child));
      last = depth + 1;
      walk(child, depth + 1);
    }
  };
  walk(root, 0);
  return parts.join("~");
}

/** The nodes of a tree in the order of its text, the root first. */
export const nodesOf = (root) => [root, ...root.children.flatMap(nodesOf)];

/** The runs of moves of a text: how many moves to go back first, and the moves. */
export function parseTree(text) {
  const runs = [{ back: 0, moves: [] }];
  for (const part of text.split("~").filter(Boolean)) {
    if (/^\^\d+$/.test(part)) runs.push({ back: Number(part.slice(1)), moves: [] });
    else runs.at(-1).moves.push(part);
  }
  return runs;
}
