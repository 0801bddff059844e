// Agents that are connected, and what hooks gave to them: what was injected, what was withheld, and why.

/** Receipts that are asked at once. */
const RECEIPTS = 60;

/** @returns {View} */
function sessionsView(/** @type {Route} */ route) {
  const session = route.query.get("session") ?? "";
  const all = route.query.get("all") === "1";
  const box = h("input", {
    type: "checkbox",
    checked: all,
    onchange: (/** @type {any} */ event) => go(address("sessions", "", { session, all: event.target.checked ? "1" : "" })),
  });
  const limit = Number(route.query.get("limit")) || RECEIPTS;
  return pageView("Sessions", {
    intro: "Agents that are connected now, and what hooks added to their conversations.",
    tools: h("label", { class: "check" }, box, h("span", null, "Also events at which nothing happened")),
    ask: async () => {
      const [status, injected] = await Promise.all([get("/api/status"), call("injected", { session, all: all || undefined, limit })]);
      return { sessions: status.sessions, injected, hooks: status.hooks };
    },
    draw: ({ sessions, injected, hooks }) => [
      card("Connected now", sessions.length === 0 ? nothing("No agent is connected.") : sessionTable(sessions)),
      hooks.clients?.length > 0 &&
        card(
          "Hooks",
          tableOf(
            ["Client", "Last event", "Last delivery", "Delivered", "Missed"],
            hooks.clients.map((/** @type {any} */ client) =>
              h(
                "tr",
                null,
                h("td", null, visibleText(client.client)),
                h("td", null, timeOf(client.last_event)),
                h("td", null, timeOf(client.last_delivery)),
                h("td", null, client.delivered),
                h("td", null, client.missed),
              ),
            ),
            "Hooks",
          ),
        ),
      card(
        "Injected",
        session && h("p", null, `Only session ${visibleString(session)}. `, h("a", { href: address("sessions") }, "All sessions")),
        injected.receipts.length === 0
          ? nothing("No hook has delivered anything yet. loci setup adds the hooks to clients.")
          : bySession(injected.receipts),
        injected.more &&
          h("a", { class: "button", href: address("sessions", "", { session, all: all ? "1" : "", limit: String(limit * 3) }) }, "Older"),
      ),
    ],
    update: () => false,
  });
}

function sessionTable(/** @type {any[]} */ sessions) {
  return tableOf(
    ["Client", "Project", "Calls", "Connected", "Session", "State"],
    sessions.map((entry) =>
      h(
        "tr",
        null,
        h("td", null, visibleText(entry.client ?? "not named yet")),
        h("td", null, visibleText(entry.group)),
        h("td", null, NUMBER.format(entry.calls)),
        h("td", null, timeOf(entry.since)),
        h("td", null, entry.id ? h("a", { href: address("history", "", { session: entry.id }) }, `acts of ${entry.id.slice(-6)}`) : ""),
        h("td", null, entry.off ? visibleText(`off: ${entry.off}`) : "on"),
      ),
    ),
    "Connected agents",
  );
}

/** Receipts under the session that they belong to, newest first. */
function bySession(/** @type {any[]} */ receipts) {
  const sessions = new Map();
  for (const receipt of receipts) sessions.set(receipt.session, [...(sessions.get(receipt.session) ?? []), receipt]);
  return [...sessions].map(([session, entries]) =>
    h(
      "section",
      { class: "receipts" },
      h(
        "h3",
        null,
        visibleText(`${entries[0].client} · ${entries[0].project ?? "no project"}`),
        session && [" · ", h("a", { href: address("sessions", "", { session }) }, visibleString(session.slice(0, 8)))],
      ),
      h("ol", null, entries.map(receiptItem)),
    ),
  );
}

const OUTCOMES = /** @type {Record<string, string>} */ ({
  delivered: "delivered",
  silent: "nothing delivered",
  missed: "missed",
  stored: "stored",
  reminded: "reminded",
  closed: "closed",
  reset: "reset",
});

function receiptItem(/** @type {any} */ receipt) {
  const memory = (/** @type {any} */ entry) =>
    h(
      "li",
      null,
      memoryLink(entry.id, visibleText(entry.preview)),
      entry.why && h("span", { class: "mark" }, visibleText(entry.why)),
      entry.edited && h("span", { class: "mark" }, "changed since"),
    );
  return h(
    "li",
    { class: `receipt outcome-${receipt.outcome}` },
    h(
      "p",
      null,
      timeOf(receipt.at),
      " · ",
      h("strong", null, visibleText(receipt.event)),
      ` · ${OUTCOMES[receipt.outcome] ?? receipt.outcome}`,
      receipt.reason && ` · ${visibleString(receipt.reason)}`,
      receipt.tokens > 0 && ` · ${counted(receipt.tokens, "token")}`,
    ),
    receipt.memories?.length > 0 && h("ul", { class: "links injected" }, receipt.memories.map(memory)),
    receipt.withheld?.length > 0 &&
      h(
        "details",
        null,
        h("summary", null, `${memoriesOf(receipt.withheld.length)} withheld`),
        h("ul", { class: "links" }, receipt.withheld.map(memory)),
      ),
  );
}
