// Changes of the store. Each can be undone: from the message that tells it, with `u`, or in the history of acts.

/**
 * What this page did, newest last: acts of the journal, a memory that it wrote, or a switch with its way back. `refusal` says why it cannot
 * be undone.
 * @typedef {{label: string, name: string, at: number, acts: number[], wrote?: string, forgot?: number, switchBack?: () => Promise<any>,
 *   switchAgain?: () => Promise<any>, refusal?: string, message?: any}} Change
 */

/** Changes of this page, and those that it undid. */
const changes = {
  done: /** @type {Change[]} */ ([]),
  undone: /** @type {Change[]} */ ([]),
  turn: /** @type {Promise<any>} */ (Promise.resolve()),
};

/** After this time an undo of what this page did is asked about first, in milliseconds. */
const RECENT_MS = 10 * 60_000;

/** How the undo of a change is called; others have the name of their message. */
const UNDO_NAMES = /** @type {Record<string, string>} */ ({
  Saved: "edit",
  Pinned: "pin",
  Unpinned: "unpin",
  Forgotten: "forgetting",
  Rejected: "rejection",
  Restored: "restoring",
  Confirmed: "confirmation",
  Superseded: "replacement",
  Merged: "merge",
  Moved: "move",
  Related: "relation",
  Stored: "storing",
  "Marked as given up": "giving up",
});

/** Runs changes, undos and redos one after another: a key that is pressed twice acts twice, each time on what is newest then. */
function inTurn(/** @type {() => Promise<any>} */ act) {
  const turn = changes.turn.then(act);
  changes.turn = turn.catch(() => null);
  return turn;
}

/** Names a change with the text of its memory. */
function changeName(/** @type {string} */ label, /** @type {string} */ text) {
  const name = UNDO_NAMES[label] ?? label;
  const line = oneLine(text);
  return line ? `${name} of “${line.length > 60 ? `${line.slice(0, 60)}…` : line}”` : name;
}

/** Remembers a change of this page as the newest, and tells it. */
function remember(/** @type {Change} */ made) {
  changes.done.push(made);
  changes.undone.length = 0;
  offerUndo(made, made.label);
}

function offerUndo(/** @type {Change} */ made, /** @type {string} */ sentence) {
  made.message?.remove();
  made.message = toast(sentence, { action: made.refusal ? undefined : ["Undo", () => undoChange(made)] });
}

/** Remembers what cannot be undone: `u` says so, and does not take something else. */
function rememberFinal(/** @type {string} */ label, /** @type {string} */ refusal, /** @type {any} */ message) {
  changes.done.push({ label, name: label, at: Date.now(), acts: [], refusal, message });
}

/** Forgets what this page did: its undo would act on another store or as another person. */
function dropChanges() {
  changes.done.length = 0;
  changes.undone.length = 0;
}

/**
 * Makes a change, tells it, and shows what the store holds then. Returns the reply, or `null` if it failed.
 * @param {string} label what was done, for example "Forgotten"
 * @param {() => Promise<any>} act returns a reply with `act`, or with `acts` and `wrote`, the id of a new memory
 * @param {string} [text] that of the memory
 */
function change(label, act, text = "") {
  return inTurn(async () => {
    try {
      const reply = await act();
      const acts = reply.acts ?? (reply.act ? [reply.act] : []);
      if (acts.length === 0 && !reply.wrote) rememberFinal(label, "It changed nothing.", toast(`${label}: nothing was changed`));
      else remember({ label, name: changeName(label, text), at: Date.now(), acts, wrote: reply.wrote });
      refreshView();
      return reply;
    } catch (error) {
      tellFailure(error);
      return null;
    }
  });
}

/** Takes back a change in the store. */
async function revert(/** @type {Change} */ made) {
  if (made.switchBack) await made.switchBack();
  if (made.acts.length > 0) await call("undo", { ids: made.acts });
  if (!made.wrote) return;
  try {
    made.forgot = (await callAbout("forget_memory", made.wrote, { memory_id: made.wrote, reason: "undone in loci view" })).act;
  } catch (error) {
    if (made.acts.length > 0) await call("redo", { id: made.acts.at(-1) });
    throw error;
  }
}

/** Makes a change again that was taken back. */
async function repeat(/** @type {Change} */ made) {
  if (made.switchAgain) await made.switchAgain();
  if (made.forgot) await call("undo", { id: made.forgot });
  made.forgot = undefined;
  if (made.acts.length > 0) await call("redo", { id: made.acts.at(-1) });
}

/** Undoes one change of this page. */
function undoChange(/** @type {Change} */ made) {
  return inTurn(() => undoNow(made));
}

async function undoNow(/** @type {Change} */ made) {
  const at = changes.done.indexOf(made);
  if (at < 0) {
    toast(`Undone already: ${made.name}`);
    return;
  }
  changes.done.splice(at, 1);
  made.message?.remove();
  if (made.refusal) {
    const before = changes.done.at(-1);
    toast(`${made.label}: this cannot be undone. ${made.refusal}${before ? ` Undo again takes back: ${before.name}` : ""}`);
    return;
  }
  try {
    await revert(made);
    changes.undone.push(made);
    made.message = toast(`Undone: ${made.name}`, { action: ["Redo", () => redoLast()] });
    refreshView();
  } catch (error) {
    // What somebody else has undone meanwhile is not offered again; anything else can be tried again.
    const isGone = error instanceof RequestFailed && /already undone/.test(error.failure.message);
    if (!isGone) changes.done.splice(at, 0, made);
    toast(`Not undone: ${made.name}. ${sentenceOf(error)}`, { kind: "error" });
    refreshView();
  }
}

/** Undoes the last change of this page; asks if that was long ago. Without one, asks about the last of the store. */
function undoLast() {
  return inTurn(async () => {
    const made = changes.done.at(-1);
    if (made) {
      const isRecent = made.refusal || Date.now() - made.at < RECENT_MS;
      const name = h("p", null, visibleText(made.name));
      if (isRecent || (await openDialog("Undo this change?", name, [{ label: "Undo", value: true, kind: "primary" }]))) await undoNow(made);
      return;
    }
    try {
      const { undone } = await call("undo", { last: true, preview: true });
      const [act] = undone;
      if (act && (await confirmAct("Undo the last act? This page did not do it.", act, "Undo"))) await undoActNow(act);
    } catch (error) {
      tellFailure(error);
    }
  });
}

/** Takes back the last undo of this page; without one, asks about that of the store. */
function redoLast() {
  return inTurn(async () => {
    const made = changes.undone.at(-1);
    try {
      if (made) {
        await redoNow(made);
        return;
      }
      const { redone } = await call("redo", { preview: true });
      const act = redone[0];
      if (act && (await confirmAct("Redo what was undone last? This page did not undo it.", act, "Redo"))) await redoNow(storedChange(act));
    } catch (error) {
      tellFailure(error);
    }
  });
}

async function redoNow(/** @type {Change} */ made) {
  await repeat(made);
  const at = changes.undone.indexOf(made);
  if (at >= 0) changes.undone.splice(at, 1);
  changes.done.push(made);
  made.at = Date.now();
  offerUndo(made, `Done again: ${made.name}`);
  refreshView();
}

/**
 * An act of the journal as a change that this page can undo and redo.
 * @returns {Change}
 */
function storedChange(/** @type {any} */ act) {
  const known = [...changes.done, ...changes.undone].find((made) => made.acts.includes(act.id));
  const [first] = act.changed ?? [];
  const text = act.changed?.length === 1 ? (first.preview ?? "") : "";
  return known ?? { label: actName(act.act), name: changeName(actName(act.act), text), at: Date.now(), acts: [act.id] };
}

/** Rows from which on an act is large: undoing it is asked about first. */
const LARGE_ACT = 50;

/** Undoes an act of the history. */
async function undoAct(/** @type {any} */ act) {
  if (act.rows >= LARGE_ACT && !(await confirmAct(`Undo all of this? It changed ${counted(act.rows, "row")}.`, act, "Undo"))) return;
  await inTurn(() => undoActNow(act));
}

async function undoActNow(/** @type {any} */ act) {
  const made = storedChange(act);
  if (changes.done.includes(made)) {
    await undoNow(made);
    return;
  }
  try {
    await call("undo", { id: act.id }, { long: act.rows >= LARGE_ACT });
    changes.undone.push(made);
    made.message = toast(`Undone: ${made.name}`, { action: ["Redo", () => redoLast()] });
    refreshView();
  } catch (error) {
    tellFailure(error);
  }
}

/** Makes an undone act of the history again. */
function redoAct(/** @type {any} */ act) {
  return inTurn(() => redoNow(storedChange(act)).catch(tellFailure));
}

/** Asks before an act that this page did not make is undone or redone. */
function confirmAct(/** @type {string} */ title, /** @type {any} */ act, /** @type {string} */ label) {
  return openDialog(title, actSummary(act), [{ label, value: true, kind: "primary" }]);
}

/** Returns the text of a memory, or what is known of it. */
function textOf(/** @type {any} */ memory) {
  return memory.content ?? memory.preview ?? "";
}

/** Pins or unpins a memory. */
function pinMemory(/** @type {any} */ memory) {
  const pinned = !memory.pinned;
  return change(pinned ? "Pinned" : "Unpinned", () => callAbout("pin", memory.id, { memory_id: memory.id, pinned }), textOf(memory));
}

/** Declares what a memory is. */
function categorise(/** @type {any} */ memory, /** @type {string} */ category) {
  return change(`Category ${category}`, () => callAbout("edit", memory.id, { memory_id: memory.id, category }), textOf(memory));
}

/** Says whether briefs and hooks give a memory; the same again takes it back. */
function giveUnasked(/** @type {any} */ memory, /** @type {string} */ when) {
  const unasked = memory.metadata?.unasked === when ? "auto" : when;
  return change(`Given unasked: ${unasked}`, () => callAbout("edit", memory.id, { memory_id: memory.id, unasked }), textOf(memory));
}

/** Forgets a memory, or restores it if it is not active. */
function forgetMemory(/** @type {any} */ memory, /** @type {string} */ reason = "") {
  if (memory.status === "forgotten") return restoreMemory(memory);
  return change("Forgotten", () => callAbout("forget_memory", memory.id, { memory_id: memory.id, reason }), textOf(memory));
}

/** Rejects a candidate: it is forgotten, as `loci review --candidates` does. */
function rejectCandidate(/** @type {any} */ memory) {
  return change("Rejected", () => callAbout("forget_memory", memory.id, { memory_id: memory.id }), textOf(memory));
}

/** Makes a memory active again. */
function restoreMemory(/** @type {any} */ memory) {
  return change("Restored", () => callAbout("restore_memory", memory.id, { memory_id: memory.id }, [memory]), textOf(memory));
}

/** Confirms a memory: it is trusted as the person's own. */
function confirmMemory(/** @type {any} */ memory) {
  return change("Confirmed", () => callAbout("confirm", memory.id, { memory_id: memory.id }, [memory]), textOf(memory));
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
  const label = rejected ? "Marked as given up" : "Forgotten";
  return change(label, () => callAbout("forget_memory", memory.id, parameters), textOf(memory));
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
