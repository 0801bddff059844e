// The journal: every change that can be undone, of the whole store or of one session.

/** @returns {View} */
function historyView(/** @type {Route} */ route) {
  const session = route.query.get("session") ?? "";
  const limit = Number(route.query.get("limit")) || 50;
  return pageView(session ? "What a session did" : "History", {
    intro: session
      ? `Session ${visibleString(session)}`
      : "Every change of the store, newest first. A plain store is not a change: it is undone by forgetting.",
    tools: session ? button("Undo all of this session", () => undoSession(session), { kind: "danger" }) : undefined,
    ask: () => call("history", { session, limit }),
    draw: (reply) => [
      reply.stored?.length > 0 &&
        card(
          `Stored (${reply.stored.length})`,
          h(
            "ul",
            { class: "links" },
            reply.stored.map((/** @type {any} */ memory) =>
              h(
                "li",
                null,
                typeMark(memory.type),
                " ",
                memoryLink(memory.id, visibleText(memory.preview)),
                memory.status !== "active" && h("span", { class: `mark status-${memory.status}` }, memory.status),
              ),
            ),
          ),
        ),
      reply.acts.length === 0
        ? nothing("No changes.")
        : h(
            "ul",
            { class: "acts card" },
            reply.acts.map((/** @type {any} */ act) =>
              h(
                "li",
                { class: act.undone_at ? "is-undone" : "" },
                h("span", { class: "act-number muted" }, act.id),
                actSummary(act),
                undoButton(act),
              ),
            ),
          ),
      reply.next !== undefined && h("a", { class: "button", href: address("history", "", { session, limit: String(limit * 4) }) }, "Older"),
    ],
    update: () => false,
  });
}

/** Undoes everything that a session did, after showing what that is. */
async function undoSession(/** @type {string} */ session) {
  try {
    const preview = await call("undo", { session, preview: true });
    const body = [
      h(
        "p",
        null,
        `${memoriesOf(preview.removed?.length ?? 0)} that it stored are removed, ${counted(preview.undone.length, "change")} undone.`,
      ),
      preview.removed?.length > 0 &&
        h(
          "ul",
          { class: "links minus-list" },
          preview.removed.slice(0, 20).map((/** @type {any} */ memory) => h("li", { class: "minus" }, visibleText(memory.preview))),
        ),
      preview.skipped?.length > 0 &&
        h("p", { class: "muted" }, `${counted(preview.skipped.length, "thing")} kept: ${visibleString(preview.skipped[0].reason)}`),
    ];
    if (!(await openDialog("Undo all of this session?", body, [{ label: "Undo all", value: true, kind: "danger" }], "wide"))) return;
    await change("The session was undone", () => call("undo", { session }, { long: true }));
  } catch (error) {
    tellFailure(error);
  }
}
