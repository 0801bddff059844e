// Fields that choose a project or find a memory.

/** A choice of projects. */
function projectSelect(/** @type {string} */ chosen, /** @type {string} */ none) {
  const projects = boot.groups.map((group) => /** @type {[string, string]} */ ([group.id, visibleString(group.name)]));
  return select([["", none], ...projects], chosen, { name: "project" });
}

/**
 * A field that finds memories; its `chosen` is the id of the one that was taken.
 * @param {string} label
 * @param {{not: string, type?: string, text?: string}} options
 */
function memoryPicker(label, options) {
  const results = h("div", { class: "picker-results", role: "radiogroup", "aria-label": "Found" });
  const input = h("input", { type: "search", value: options.text ?? "", name: "find", autocomplete: "off", oninput: () => find() });
  const picker = { element: [field(label, input, "Words, or the id of a memory."), results], chosen: "", content: "" };
  let asked = 0;
  async function find() {
    asked += 1;
    const mine = asked;
    const query = input.value.trim();
    if (query.length < 2) return;
    try {
      const found = /^[0-9a-f-]{8,36}$/.test(query)
        ? (await call("find", { part: query })).memories
        : (await call("recall_memory", { query, type: options.type, max_results: 8, dry_run: true, group: await projectFor(options.not) }))
            .results;
      if (mine !== asked) return;
      results.replaceChildren(
        ...found
          .filter((/** @type {any} */ memory) => memory.id !== options.not)
          .map((/** @type {any} */ memory) =>
            h(
              "label",
              { class: "pick" },
              h("input", {
                type: "radio",
                name: "pick",
                value: memory.id,
                onchange: () => {
                  picker.chosen = memory.id;
                  picker.content = memory.content ?? memory.preview;
                  results.dispatchEvent(new CustomEvent("pick"));
                },
              }),
              h(
                "span",
                null,
                typeMark(memory.type ?? "semantic"),
                " ",
                visibleText(oneLine(memory.content ?? memory.preview).slice(0, 200)),
                h(
                  "span",
                  { class: "muted small" },
                  ` ${memory.group ? `${visibleString(memory.group)} · ` : ""}${shortTime(memory.created_at)}`,
                ),
              ),
            ),
          ),
      );
      if (results.children.length === 0) results.textContent = "Nothing found";
    } catch (error) {
      results.textContent = sentenceOf(error);
    }
  }
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const first = results.querySelector("input");
    if (event.key !== "ArrowDown" || !first) return;
    event.preventDefault();
    first.focus();
    first.click();
  });
  if (options.text) find();
  return { picker, results };
}
