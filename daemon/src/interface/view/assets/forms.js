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
    return inTurn(() => callAbout("edit", memory.id, { memory_id: memory.id, ...changed }));
  };
  const saved = await openDialog(
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
  if (saved && saved !== true) await change("Saved", async () => saved, changed.content ?? memory.content);
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
  const here = `${visibleString(boot.project?.name ?? "none")} (the folder of loci view)`;
  const project = projectSelect(shown.route.query.get("project") ?? "", here);
  const fault = h("p", { class: "failed", role: "alert" });
  const body = [
    field("Text", content, "One statement that can be understood alone, with names and full dates."),
    fault,
    h("div", { class: "fields" }, field("Type", type), field("Project", project)),
  ];
  const save = async () => {
    try {
      return await inTurn(() => call("store_memory", { content: content.value, type: type.value, group: project.value }));
    } catch (error) {
      fault.textContent = sentenceOf(error);
      return undefined;
    }
  };
  const stored = await openDialog("New memory", body, [{ label: "Store", value: save, kind: "primary" }], "wide");
  if (!stored) return;
  if (stored.deduplicated) {
    const message = toast("This is known already; the memory that says so was strengthened");
    rememberFinal("Strengthened", "No memory was written.", message);
  } else {
    await change("Stored", async () => ({ wrote: stored.id }), content.value);
  }
  go(address("memories", "", { id: stored.id }));
}

/** Replaces a memory by another one, or by a new text, which is stored where the memory is. */
async function supersedeMemory(/** @type {any} */ memory) {
  if (asOf) return;
  const text = textOf(memory);
  const content = h("textarea", { rows: "4", name: "content", dir: "auto" }, text);
  const { picker, results } = memoryPicker("Or a memory that is stored already", { not: memory.id });
  results.addEventListener("pick", () => {
    content.value = "";
  });
  const fault = h("p", { class: "failed", role: "alert" });
  const place = [visibleString(memory.group ?? "no project"), memory.scope === "global" ? "known in all projects" : "only in this project"];
  const body = [
    h("p", { class: "quote" }, visibleText(text)),
    field("The new text", content, `It is stored in the project ${place.join(", ")}, as this memory is.`),
    picker.element,
    fault,
  ];
  const save = async () => {
    fault.textContent = "";
    const isNew = content.value.trim() && content.value.trim() !== text.trim();
    if (!isNew && !picker.chosen) {
      fault.textContent = "Write what is true now, or choose the memory that says it.";
      return undefined;
    }
    try {
      return await inTurn(() => supersedeBy(memory, isNew ? content.value : "", picker.chosen));
    } catch (error) {
      fault.textContent = sentenceOf(error);
      return undefined;
    }
  };
  const saved = await openDialog("Supersede this memory", body, [{ label: "Supersede", value: save, kind: "primary" }], "wide");
  if (saved) await change("Superseded", async () => saved, text);
}

/** Supersedes by a new text, or by a stored memory. A text that was stored is taken back if the memory cannot be superseded by it. */
async function supersedeBy(/** @type {any} */ memory, /** @type {string} */ content, /** @type {string} */ chosen) {
  if (!content) return callAbout("supersede", memory.id, { old: memory.id, new: chosen });
  const group = boot.groups.find((known) => known.name === memory.group)?.id ?? memory.group;
  const stored = await call("store_memory", { content, type: memory.type, scope: memory.scope, group });
  const wrote = stored.deduplicated ? undefined : stored.id;
  try {
    const reply = await call("supersede", { old: memory.id, new: stored.id, group });
    return { acts: reply.act ? [reply.act] : [], wrote };
  } catch (error) {
    if (wrote) {
      await call("forget_memory", { memory_id: wrote, group, reason: "its memory could not be superseded" });
      throw new Error(`${sentenceOf(error)} The new text was taken back; nothing has changed.`);
    }
    throw error;
  }
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
            // A text that the person has written stays; the other is not one that closing the form would lose.
            if (texts.every((text) => text.content !== content.value)) return;
            content.value = memory.content;
            content.defaultValue = memory.content;
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
    const fault = h("p", { class: "failed", role: "alert" });
    const save = async () => {
      fault.textContent = "";
      try {
        const keptId = body[0].querySelector("input:checked").value;
        return await inTurn(() => mergeInto(texts, keptId, content.value));
      } catch (error) {
        fault.replaceChildren(...visibleText(sentenceOf(error)));
        return undefined;
      }
    };
    const merged = await openDialog("Merge two memories", [body, fault], [{ label: "Merge", kind: "primary", value: save }], "wide");
    if (merged) await change("Merged", async () => merged, content.value);
  } catch (error) {
    tellFailure(error);
  }
}

/**
 * Gives one memory the merged text and supersedes the other by it, as one act. Refuses once if one of them has changed since it was shown.
 * @param {any[]} texts
 * @param {string} keep
 * @param {string} content
 */
async function mergeInto(texts, keep, content) {
  if (!content.trim()) throw new Error("The merged text must not be empty.");
  for (const memory of texts) {
    const now = (await callAbout("memory_inspect", memory.id, { memory_id: memory.id, include_relations: false })).memory;
    if (now.updated_at === memory.updated_at && now.status === memory.status) continue;
    Object.assign(memory, { updated_at: now.updated_at, status: now.status });
    throw new Error(`One was changed meanwhile; it is ${now.status} and says: “${now.content}” Merge again to go on.`);
  }
  const kept = texts.find((memory) => memory.id === keep);
  const other = texts.find((memory) => memory.id !== keep);
  const changed = content === kept.content ? undefined : content;
  return callAbout("edit", keep, { memory_id: keep, content: changed, supersedes: other.id });
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
