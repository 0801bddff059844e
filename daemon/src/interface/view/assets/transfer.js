// Import by drag and drop, and export as a file.

/** A file of more bytes is not looked through before it is sent. */
const PREVIEW_BYTES = 64 * 1024 * 1024;

/** @type {File | null} The file that was dropped on another view. */
let droppedFile = null;

/** @returns {View} */
function transferView() {
  const preview = h("div", { class: "import-preview", "aria-live": "polite" });
  const input = h("input", {
    type: "file",
    accept: ".jsonl,.ndjson,.json,.txt",
    class: "unseen",
    id: "import-file",
    onchange: () => input.files[0] && look(input.files[0]),
  });
  const zone = h(
    "div",
    { class: "drop-zone" },
    icon("transfer"),
    h("p", null, h("strong", null, "Drop a file here"), " or ", h("label", { class: "button", for: "import-file" }, "choose one"), input),
    h("p", { class: "muted small" }, "A file of loci export or loci dump. Other programs' memories: loci import --from …"),
  );
  const layout = select(
    [
      ["lines", "Lines of JSON"],
      ["document", "One JSON document"],
      ["dump", "Sorted lines for git"],
    ],
    "lines",
    { name: "layout" },
  );
  const vectors = h("input", { type: "checkbox", name: "vectors" });
  const result = h("div", { class: "import-result" });

  async function look(/** @type {File} */ file) {
    preview.replaceChildren(h("p", { class: "muted" }, "Reading …"));
    result.replaceChildren();
    const own = h("input", { type: "checkbox", name: "own" });
    const skip = h("input", { type: "checkbox", name: "skip" });
    const counts = await countRecords(file);
    preview.replaceChildren(
      h("p", null, h("strong", null, visibleText(file.name)), ` · ${bytesOf(file.size)}`),
      counts.failure
        ? h("p", { class: "failed" }, counts.failure)
        : h(
            "ul",
            { class: "counts" },
            [...counts.kinds].map(([kind, count]) => h("li", null, `${NUMBER.format(count)} ${kind}`)),
          ),
      counts.samples.length > 0 &&
        h(
          "ul",
          { class: "diff" },
          counts.samples.map((text) => h("li", { class: "plus" }, visibleText(text))),
        ),
      h("label", { class: "check" }, own, h("span", null, "These are my own texts: keep the trust that the file claims")),
      h("label", { class: "check" }, skip, h("span", null, "Skip lines that cannot be imported")),
      h(
        "div",
        { class: "toolbar" },
        button("Import", () => importFile(file, own.checked, skip.checked), { kind: "primary", id: "import-button" }),
        button("Cancel", () => preview.replaceChildren(), {}),
      ),
    );
    document.getElementById("import-button")?.focus();
  }

  async function importFile(/** @type {File} */ file, /** @type {boolean} */ own_texts, /** @type {boolean} */ skip_bad) {
    preview.replaceChildren(h("p", { class: "muted" }, "Importing …"));
    const first = `${JSON.stringify({ session: boot.session, arguments: { own_texts, skip_bad } })}\n`;
    const reply = await change("Imported", async () =>
      (
        await request("/api/import", { method: "POST", headers: { "Content-Type": "application/x-ndjson" }, body: new Blob([first, file]) })
      ).json(),
    );
    preview.replaceChildren();
    if (reply) result.replaceChildren(importReport(reply));
  }

  async function exportStore() {
    try {
      const response = await request("/api/export", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ session: boot.session, arguments: { layout: layout.value, vectors: vectors.checked } }),
      });
      const blob = await response.blob();
      const tail = await blob.slice(Math.max(0, blob.size - 4096)).text();
      const last = tail.trimEnd().split("\n").at(-1) ?? "";
      if (last.startsWith('{"error":')) throw new RequestFailed(JSON.parse(last).error, 500);
      const link = h("a", {
        href: URL.createObjectURL(blob),
        download: `loci-${dayKey(new Date().toISOString())}.${layout.value === "document" ? "json" : "jsonl"}`,
      });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      toast(`Exported: ${bytesOf(blob.size)}`);
    } catch (error) {
      tellFailure(error);
    }
  }

  if (droppedFile) look(droppedFile);
  droppedFile = null;
  const heading = h("h1", { tabindex: "-1" }, "Import & export");
  const element = h(
    "div",
    { class: "page" },
    heading,
    card(
      "Import",
      h(
        "p",
        { class: "muted" },
        "Importing twice changes nothing, it is one change that can be undone, and nothing that you stored or confirmed is overwritten.",
      ),
      zone,
      preview,
      result,
    ),
    card(
      "Export",
      h("p", { class: "muted" }, "Everything that is stored, as a file on this machine."),
      h("div", { class: "fields" }, field("Layout", layout), h("label", { class: "check" }, vectors, h("span", null, "With vectors"))),
      h("div", { class: "toolbar" }, button("Export", exportStore, { kind: "primary" })),
    ),
  );
  return { element, focus: () => heading.focus(), drop: look };
}

/** Counts the lines of a file by kind, and shows the first texts. */
async function countRecords(/** @type {File} */ file) {
  /** @type {Map<string, number>} */
  const kinds = new Map();
  /** @type {string[]} */
  const samples = [];
  if (file.size > PREVIEW_BYTES) return { kinds: new Map([["lines in a file too large to look through", 0]]), samples, failure: "" };
  const text = await file.text();
  const names = /** @type {Record<string, string>} */ ({
    memory: "memories",
    group: "projects",
    relation: "relations",
    log: "log lines",
    vector: "vectors",
    tombstone: "deletions",
  });
  try {
    const records =
      text.trimStart().startsWith('{"loci":') && text.includes('"records":')
        ? JSON.parse(text).records
        : text
            .split("\n")
            .filter(Boolean)
            .map((line) => JSON.parse(line));
    for (const record of records) {
      if (!record.kind || record.kind === "end") continue;
      const name = names[record.kind] ?? record.kind;
      kinds.set(name, (kinds.get(name) ?? 0) + 1);
      if (record.kind === "memory" && samples.length < 5) samples.push(oneLine(String(record.content)).slice(0, 160));
    }
  } catch (error) {
    return { kinds, samples, failure: `Some lines are not JSON: ${error instanceof Error ? error.message : ""}` };
  }
  return { kinds, samples, failure: kinds.size === 0 ? "This is not a file of loci export or loci dump." : "" };
}

function importReport(/** @type {any} */ reply) {
  const skipped = (reply.skipped_lines ?? []).map((/** @type {any} */ line) =>
    h("li", null, `line ${line.line}: `, visibleText(line.reason)),
  );
  const notes = [...(reply.redacted ?? []).map((/** @type {string} */ text) => `Replaced: ${text}`), ...(reply.notes ?? [])];
  return h(
    "div",
    { role: "status" },
    h(
      "p",
      null,
      h(
        "strong",
        null,
        `${memoriesOf(reply.added)} added, ${NUMBER.format(reply.changed)} changed, ${NUMBER.format(reply.unchanged)} unchanged.`,
      ),
      reply.flagged > 0 && ` ${NUMBER.format(reply.flagged)} are flagged.`,
    ),
    reply.refused > 0 && h("p", null, `${counted(reply.refused, "line")} refused: their memories were deleted here.`),
    reply.skipped > 0 && [h("p", null, `${counted(reply.skipped, "line")} skipped:`), h("ul", { class: "plain" }, skipped)],
    notes.map((text) => h("p", { class: "small" }, visibleText(text))),
    h("a", { href: address("review", "", { tab: "imported" }) }, "Review what was imported"),
  );
}

/** Takes files that are dropped anywhere on the page. */
function acceptDroppedFiles() {
  const hasFile = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && document.body.classList.remove("dragging"));
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dragging");
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    if (shown.name === "transfer") {
      shown.view?.drop?.(file);
    } else {
      droppedFile = file;
      go(address("transfer"));
    }
  });
}
