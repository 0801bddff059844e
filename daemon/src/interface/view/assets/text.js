// Shows the text of memories as text: hidden characters become visible, and words of a query are marked. Links stay text.

/** Characters that change or hide what is read: controls, zero-width, directions, tags, fillers. */
const HIDDEN = new RegExp(
  "[" +
    "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb" +
    "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}" +
    "]",
  "gu",
);

/** Names of the more frequent ones. */
const HIDDEN_NAMES = /** @type {Record<number, string>} */ ({
  0x07: "bell",
  0x08: "backspace",
  0x0d: "carriage return",
  0x1b: "escape",
  0xad: "soft hyphen",
  0x200b: "zero-width space",
  0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "end of direction",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2069: "end of isolate",
  0xfeff: "byte order mark",
});

/** Returns true if a joiner at this place holds an emoji together, so that it hides nothing. */
function joinsEmoji(/** @type {string} */ text, /** @type {number} */ at) {
  if (text[at] !== "\u200d") return false;
  // One character at a time: an expression that ends with a class and `$` misses characters outside the basic plane in Chromium.
  const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "";
  const after = [...text.slice(at + 1, at + 3)][0] ?? "";
  return /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u.test(before) && /^\p{Extended_Pictographic}/u.test(after);
}

/**
 * Splits a text into strings and elements that name its hidden characters.
 * @param {string} text
 * @returns {any[]}
 */
function visibleText(text) {
  const parts = [];
  let start = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const at = match.index;
    const code = match[0].codePointAt(0) ?? 0;
    if (joinsEmoji(text, at) || (code === 0x0d && text[at + 1] === "\n")) continue;
    parts.push(text.slice(start, at));
    const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    parts.push(h("span", { class: "hidden-char", title: HIDDEN_NAMES[code] ?? "hidden character" }, number));
    start = at + match[0].length;
  }
  parts.push(text.slice(start));
  return parts;
}

/** Like `visibleText`, for places that hold only a string. */
function visibleString(/** @type {string} */ text) {
  return text.replace(HIDDEN, (found, at) =>
    joinsEmoji(text, at) ? found : `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** Returns the words of a query that are worth marking. */
function queryWords(/** @type {string} */ query) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  return [...new Set(words)].filter((word) => (word.length > 2 || /[^a-z]/.test(word)) && !STOP_WORDS.has(word)).slice(0, 12);
}

const STOP_WORDS = new Set(
  "the and for was are who what when where why how did does has have with from that this our its not you your his her she they which".split(
    " ",
  ),
);

/**
 * Returns a text with its hidden characters visible and the words of a query marked.
 * @param {string} text
 * @param {string[]} words as `queryWords` returns them
 * @returns {any[]}
 */
function markedText(text, words) {
  if (words.length === 0) return visibleText(text);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${escaped.join("|")})[\\p{L}\\p{N}_]{0,3}`, "giu");
  const parts = [];
  let start = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(...visibleText(text.slice(start, match.index)), h("mark", null, visibleText(match[0])));
    start = match.index + match[0].length;
  }
  parts.push(...visibleText(text.slice(start)));
  return parts;
}

/**
 * Returns the words of two texts with what was taken away and what was added, by the longest common part.
 * @param {string} before
 * @param {string} after
 * @returns {{kind: "same" | "gone" | "new", text: string}[]}
 */
function wordDiff(before, after) {
  const a = before.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  const b = after.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  if (a.length * b.length > 400_000)
    return [
      { kind: "gone", text: before },
      { kind: "new", text: after },
    ];
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] =
        a[i] === b[j] ? table[(i + 1) * width + j + 1] + 1 : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  /** @type {{kind: "same" | "gone" | "new", text: string}[]} */
  const parts = [];
  const add = (/** @type {"same" | "gone" | "new"} */ kind, /** @type {string} */ text) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else parts.push({ kind, text });
  };
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add("same", a[i]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && table[(i + 1) * width + j] >= table[i * width + j + 1])) {
      add("gone", a[i]);
      i += 1;
    } else {
      add("new", b[j]);
      j += 1;
    }
  }
  return parts;
}

/**
 * Shows the difference of two texts.
 * @param {string} before
 * @param {string} after
 */
function diffOf(before, after) {
  const tags = { same: "span", gone: "del", new: "ins" };
  return h(
    "p",
    { class: "diff-text", dir: "auto" },
    wordDiff(before, after).map((part) => h(tags[part.kind], null, visibleText(part.text))),
  );
}
