// The dialogs that change memories: edit, write, supersede, merge, move, relate.

/** Opens the form that edits a memory in place. */
async function editMemory(/** @type {any} */ shownMemory) {
  if (asOf) return;
  /** @type {any} */
  let memory;
  try {
    memory = (await callAbout("memory_inspect", shownMemory.id, { memory_id: shownMemory.id, include_relations: false })).memory;
  } catch (error) {
    tellFailure(error);
    return;
  }
  const content = h(
    "textarea",
    { rows: String(Math.min(16, Math.max(4, Math.ceil(memory.content.length / 70) + 1))), name: "content", dir: "auto" },
    memory.content,
  );
  const scope = select(
    [
      ["global", "all projects"],
      ["group", "only its project"],
    ],
    memory.scope,
  );
  const confidence = h("input", { type: "number", min: "0", max: "1", step: "any", value: String(memory.confidence), name: "confidence" });
  const expires = h("input", { type: "date", value: memory.expires_at ? dayKey(memory.expires_at) : "", name: "expires" });
  const metadata = h(
    "textarea",
    { rows: "5", class: "mono", name: "metadata", spellcheck: "false" },
    JSON.stringify(memory.metadata, null, 2),
  );
  const fault = h("p", { class: "failed", role: "alert" });
  const body = [
    field("Text", content),
    fault,
    h(
      "div",
      { class: "fields" },
      field("Known in", scope),
      field("Confidence, 0 to 1", confidence),
      field("Expires", expires, "Empty: never."),
    ),
    h("details", null, h("summary", null, "Metadata"), field("JSON; replaces all of it", metadata)),
  ];
  /** @type {any} */
  let changed = {};
  const save = async () => {
    fault.textContent = "";
    try {
      changed = editedFields(memory, { content, scope, confidence, expires, metadata });
    } catch (error) {
      fault.textContent = sentenceOf(error);
      return undefined;
    }
    if (Object.keys(changed).length === 0) return true;
    const now = (await callAbout("memory_inspect", memory.id, { memory_id: memory.id, include_relations: false })).memory;
    if (now.updated_at !== memory.updated_at) {
      fault.replaceChildren(
        "It was changed while you wrote. It now says: ",
        h("q", null, visibleText(now.content)),
        " Save again to replace that.",
      );
      memory.updated_at = now.updated_at;
      return undefined;
    }
    return true;
  };
  const isSaved = await openDialog(
    "Edit",
    body,
    [
      {
        label: "Save",
        value: () =>
          save().catch((error) => {
            fault.textContent = sentenceOf(error);
            return undefined;
          }),
        kind: "primary",
      },
    ],
    "wide",
  );
  if (!isSaved || Object.keys(changed).length === 0) return;
  await change("Saved", () => callAbout("edit", memory.id, { memory_id: memory.id, ...changed }));
}

/** Returns the fields that differ from the memory. */
function editedFields(/** @type {any} */ memory, /** @type {Record<string, any>} */ fields) {
  /** @type {Record<string, any>} */
  const changed = {};
  if (!fields.content.value.trim()) throw new Error("The text must not be empty. To take the memory away, forget it.");
  if (fields.content.value !== memory.content) changed.content = fields.content.value;
  if (fields.scope.value !== memory.scope) changed.scope = fields.scope.value;
  if (Number(fields.confidence.value) !== memory.confidence) changed.confidence = Number(fields.confidence.value);
  const expires = memory.expires_at ? dayKey(memory.expires_at) : "";
  if (fields.expires.value !== expires) changed.expires_at = fields.expires.value || "never";
  const metadata = JSON.parse(fields.metadata.value || "{}");
  if (JSON.stringify(metadata) !== JSON.stringify(memory.metadata)) changed.metadata = metadata;
  return changed;
}

/** Opens the form that writes a new memory. */
async function newMemory() {
  if (asOf) return;
  const content = h("textarea", { rows: "5", name: "content", dir: "auto" });
  const type = select(
    TYPES.map((name) => [name, `${name}: ${TYPE_HINTS[name]}`]),
    "semantic",
  );
  const project = projectSelect("", "the default");
  const fault = h("p", { class: "failed", role: "alert" });
  const body = [
    field("Text", content, "One statement that can be understood alone, with names and full dates."),
    fault,
    h("div", { class: "fields" }, field("Type", type), field("Project", project)),
  ];
  const save = async () => {
    try {
      return await call("store_memory", { content: content.value, type: type.value, group: project.value });
    } catch (error) {
      fault.textContent = sentenceOf(error);
      return undefined;
    }
  };
  const stored = await openDialog("New memory", body, [{ label: "Store", value: save, kind: "primary" }], "wide");
  if (!stored) return;
  if (stored.deduplicated) toast("This is known already; the memory that says so was strengthened");
  else await change("Stored", async () => ({ wrote: stored.id }));
  go(address("memories", "", { id: stored.id }));
}

/** A choice of projects. */
function projectSelect(/** @type {string} */ chosen, /** @type {string} */ none) {
  return select([["", none], ...boot.groups.map((group) => /** @type {[string, string]} */ ([group.id, group.name]))], chosen, {
    name: "project",
  });
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
                h("span", { class: "muted small" }, ` ${shortTime(memory.created_at)}`),
              ),
            ),
          ),
      );
      if (results.children.length === 0) results.textContent = "Nothing found";
    } catch (error) {
      results.textContent = sentenceOf(error);
    }
  }
  if (options.text) find();
  return { picker, results };
}

/** Replaces a memory by another one, or by a new text. */
async function supersedeMemory(/** @type {any} */ memory) {
  if (asOf) return;
  const content = h("textarea", { rows: "4", name: "content", dir: "auto" }, memory.content ?? memory.preview);
  const { picker, results } = memoryPicker("Or a memory that is stored already", { not: memory.id });
  results.addEventListener("pick", () => {
    content.value = "";
  });
  const fault = h("p", { class: "failed", role: "alert" });
  const body = [
    h("p", { class: "quote" }, visibleText(memory.content ?? memory.preview)),
    field("The new text", content),
    picker.element,
    fault,
  ];
  const isReady = () => {
    const isNew = content.value.trim() && content.value.trim() !== (memory.content ?? memory.preview).trim();
    if (isNew || picker.chosen) return true;
    fault.textContent = "Write what is true now, or choose the memory that says it.";
    return undefined;
  };
  if (!(await openDialog("Supersede this memory", body, [{ label: "Supersede", value: isReady, kind: "primary" }], "wide"))) return;
  await change("Superseded", async () => {
    const group = await projectFor(memory.id);
    let by = picker.chosen;
    let wrote;
    if (content.value.trim()) {
      const stored = await call("store_memory", { content: content.value, type: memory.type, scope: memory.scope, group });
      by = stored.id;
      wrote = stored.deduplicated ? undefined : stored.id;
    }
    const reply = await call("supersede", { old: memory.id, new: by, group });
    return { acts: reply.act ? [reply.act] : [], wrote };
  });
}

/** Finds the memory that this one is merged with. */
async function mergeWith(/** @type {any} */ memory) {
  const { picker } = memoryPicker("Which memory says the same?", { not: memory.id, text: oneLine(memory.content).slice(0, 200) });
  if (
    await openDialog(
      "Merge with",
      picker.element,
      [{ label: "Next", value: () => (picker.chosen ? true : undefined), kind: "primary" }],
      "wide",
    )
  ) {
    await mergeMemories(memory.id, picker.chosen);
  }
}

/** Merges two memories: one keeps the text that the person writes, the other is superseded by it. */
async function mergeMemories(/** @type {string} */ first, /** @type {string} */ second) {
  try {
    const texts = await Promise.all(
      [first, second].map(async (id) => (await callAbout("memory_inspect", id, { memory_id: id, include_relations: false })).memory),
    );
    const content = h("textarea", { rows: "6", name: "content", dir: "auto" }, texts[0].content);
    const keep = texts.map((memory, at) =>
      h(
        "label",
        { class: "pick" },
        h("input", {
          type: "radio",
          name: "keep",
          value: memory.id,
          checked: at === 0,
          onchange: () => {
            content.value = memory.content;
          },
        }),
        h(
          "span",
          null,
          h("span", { class: "muted small" }, `${storedBy(memory)}, ${shortTime(memory.created_at)}: `),
          visibleText(memory.content),
        ),
      ),
    );
    const body = [
      h("fieldset", null, h("legend", null, "Keep"), keep),
      diffOf(texts[1].content, texts[0].content),
      field("The merged text", content),
    ];
    const kept = await openDialog(
      "Merge two memories",
      body,
      [{ label: "Merge", kind: "primary", value: () => (content.value.trim() ? body[0].querySelector("input:checked").value : undefined) }],
      "wide",
    );
    if (!kept) return;
    const other = kept === first ? second : first;
    await change("Merged", () => mergeInto(kept, other, content.value, texts.find((memory) => memory.id === kept).content));
  } catch (error) {
    tellFailure(error);
  }
}

/** Supersedes one memory by another, and gives that the merged text; both acts are undone together. */
async function mergeInto(
  /** @type {string} */ kept,
  /** @type {string} */ other,
  /** @type {string} */ content,
  /** @type {string} */ before,
) {
  const first = await callAbout("supersede", other, { old: other, new: kept });
  if (content === before) return first;
  try {
    const second = await callAbout("edit", kept, { memory_id: kept, content });
    return { acts: [first.act, second.act].filter(Boolean) };
  } catch (error) {
    if (first.act) await call("undo", { id: first.act });
    throw error;
  }
}

/** Moves memories to another project. */
async function moveMemories(/** @type {string[]} */ ids) {
  const project = projectSelect("", "choose");
  if (
    !(await openDialog(`Move ${memoriesOf(ids.length)}`, field("To the project", project), [
      { label: "Move", value: () => (project.value ? true : undefined), kind: "primary" },
    ]))
  )
    return;
  await change("Moved", async () => {
    const acts = [];
    for (const [group, memory_ids] of await byProject(ids))
      acts.push((await call("move_to", { memory_ids, to: project.value, group })).act);
    for (const id of ids) projectOfMemory.delete(id);
    return { acts: acts.filter(Boolean) };
  });
}

/** Relates an entity to another. */
async function relateEntity(/** @type {any} */ memory) {
  const predicate = h("input", { type: "text", maxlength: "64", name: "predicate", placeholder: "works_at" });
  const { picker } = memoryPicker("To which entity?", { not: memory.id, type: "entity" });
  const body = [
    h("p", { class: "quote" }, visibleText(memory.content)),
    field("How", predicate, "For example works_at, manages, part_of."),
    picker.element,
  ];
  const isReady = () => (predicate.value.trim() && picker.chosen ? true : undefined);
  if (!(await openDialog("Relate", body, [{ label: "Relate", value: isReady, kind: "primary" }]))) return;
  await change("Related", () =>
    callAbout("store_relation", memory.id, { subject_id: memory.id, predicate: predicate.value.trim(), object_id: picker.chosen }),
  );
}
