// Changes of the store. Each can be undone: from the message that tells it, with `u`, or in the history of acts.

/** @typedef {{label: string, acts: number[], wrote?: string}} Change what this page changed, newest act last */

/** Changes of this page, and those that it undid. */
const changes = { done: /** @type {Change[]} */ ([]), undone: /** @type {Change[]} */ ([]) };

/**
 * Makes a change, tells it, and shows what the store holds then. Returns the reply, or `null` if it failed.
 * @param {string} label what was done, for example "Forgotten"
 * @param {() => Promise<any>} act returns a reply with `act`, or with `acts` and `wrote`, the id of a new memory
 */
async function change(label, act) {
  try {
    const reply = await act();
    const acts = reply.acts ?? (reply.act ? [reply.act] : []);
    if (acts.length === 0 && !reply.wrote) {
      toast(`${label}: nothing was changed`);
    } else {
      const made = { label, acts, wrote: reply.wrote };
      changes.done.push(made);
      changes.undone.length = 0;
      toast(label, { action: ["Undo", () => undoChange(made)] });
    }
    refreshView();
    return reply;
  } catch (error) {
    tellFailure(error);
    return null;
  }
}

/** Undoes one change of this page. */
async function undoChange(/** @type {Change} */ made) {
  if (!changes.done.includes(made)) {
    toast("This is undone already");
    return;
  }
  try {
    if (made.acts.length > 0) await call("undo", { ids: made.acts });
    let acts = made.acts;
    if (made.wrote) {
      const reply = await callAbout("forget_memory", made.wrote, { memory_id: made.wrote, reason: "undone in loci view" });
      acts = reply.act ? [...acts, reply.act] : acts;
    }
    changes.done.splice(changes.done.indexOf(made), 1);
    changes.undone.push({ ...made, acts });
    toast(`Undone: ${made.label}`, { action: ["Redo", () => redoLast()] });
    refreshView();
  } catch (error) {
    tellFailure(error);
  }
}

/** Undoes the last change of this page; without one, asks about the last of the store. */
async function undoLast() {
  const made = changes.done.at(-1);
  if (made) {
    await undoChange(made);
    return;
  }
  try {
    const { undone } = await call("undo", { last: true, preview: true });
    const [act] = undone;
    if (act && (await confirmAct("Undo the last act?", act, "Undo"))) await undoAct(act, true);
  } catch (error) {
    tellFailure(error);
  }
}

/** Takes back the last undo of this page; without one, asks about that of the store. */
async function redoLast() {
  const made = changes.undone.at(-1);
  try {
    if (made) {
      if (made.wrote) await call("undo", { id: made.acts.at(-1) });
      const acts = made.wrote ? made.acts.slice(0, -1) : made.acts;
      if (acts.length > 0) await call("redo", { id: acts.at(-1) });
      changes.undone.pop();
      changes.done.push({ ...made, acts });
      toast(`Done again: ${made.label}`, { action: ["Undo", () => undoLast()] });
      refreshView();
      return;
    }
    const { redone } = await call("redo", { preview: true });
    if (redone[0] && (await confirmAct("Redo what was undone last?", redone[0], "Redo"))) {
      await call("redo", {});
      toast(`Done again: ${actName(redone[0].act)}`);
      refreshView();
    }
  } catch (error) {
    tellFailure(error);
  }
}

/** Rows from which on an act is large: undoing it is asked about first. */
const LARGE_ACT = 50;

/** Undoes an act of the history. */
async function undoAct(/** @type {any} */ act, isAsked = false) {
  try {
    if (!isAsked && act.rows >= LARGE_ACT && !(await confirmAct(`Undo all of this? It changed ${counted(act.rows, "row")}.`, act, "Undo")))
      return;
    await call("undo", { id: act.id }, { long: act.rows >= LARGE_ACT });
    changes.undone.push({ label: actName(act.act), acts: [act.id] });
    toast(`Undone: ${actName(act.act)}`, { action: ["Redo", () => redoLast()] });
    refreshView();
  } catch (error) {
    tellFailure(error);
  }
}

/** Asks before an act that this page did not make is undone or redone. */
function confirmAct(/** @type {string} */ title, /** @type {any} */ act, /** @type {string} */ label) {
  return openDialog(title, actSummary(act), [{ label, value: true, kind: "primary" }]);
}

/** Pins or unpins a memory. */
function pinMemory(/** @type {any} */ memory) {
  const pinned = !memory.pinned;
  return change(pinned ? "Pinned" : "Unpinned", () => callAbout("pin", memory.id, { memory_id: memory.id, pinned }));
}

/** Forgets a memory, or restores it if it is not active. */
function forgetMemory(/** @type {any} */ memory, /** @type {string} */ reason = "") {
  if (memory.status === "forgotten") return restoreMemory(memory);
  return change("Forgotten", () => callAbout("forget_memory", memory.id, { memory_id: memory.id, reason }));
}

/** Makes a memory active again. */
function restoreMemory(/** @type {any} */ memory) {
  return change("Restored", () => callAbout("restore_memory", memory.id, { memory_id: memory.id }));
}

/** Confirms a memory: it is trusted as the person's own. */
function confirmMemory(/** @type {any} */ memory) {
  return change("Confirmed", () => callAbout("confirm", memory.id, { memory_id: memory.id }));
}

/** Asks why a memory is forgotten or was given up. */
async function forgetWithReason(/** @type {any} */ memory, /** @type {boolean} */ rejected) {
  const reason = h("textarea", { rows: "3", maxlength: "1000", name: "reason" });
  const body = [
    h("p", { class: "quote" }, visibleText(memory.content ?? memory.preview)),
    field("Reason", reason, "Kept with the memory."),
  ];
  const title = rejected ? "Mark as tried and given up" : "Forget this memory";
  const sure = await openDialog(title, body, [
    { label: rejected ? "Reject" : "Forget", kind: "danger", value: () => (rejected && !reason.value.trim() ? undefined : true) },
  ]);
  if (!sure) return null;
  const parameters = { memory_id: memory.id, reason: reason.value.trim(), ...(rejected ? { rejected: true } : {}) };
  return change(rejected ? "Marked as given up" : "Forgotten", () => callAbout("forget_memory", memory.id, parameters));
}

/** Forgets several memories; those of other projects project by project. */
async function forgetAll(/** @type {string[]} */ ids) {
  const title = `Forget ${memoriesOf(ids.length)}?`;
  if (
    !(await openDialog(title, h("p", null, "They can be restored, and this can be undone."), [
      { label: "Forget", value: true, kind: "danger" },
    ]))
  )
    return;
  await change(`${memoriesOf(ids.length)} forgotten`, async () => {
    const acts = [];
    for (const [group, memory_ids] of await byProject(ids)) acts.push((await call("forget_many", { memory_ids, group })).act);
    return { acts: acts.filter(Boolean) };
  });
}

/** Sorts ids by the project by which a call must name them. */
async function byProject(/** @type {string[]} */ ids) {
  /** @type {Map<string | undefined, string[]>} */
  const sorted = new Map();
  for (const id of ids) {
    const project = await projectFor(id);
    sorted.set(project, [...(sorted.get(project) ?? []), id]);
  }
  return sorted;
}
