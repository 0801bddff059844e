// What is known now and was not known then, or the other way: the difference of two times. Only where the daemon can answer about the past.

/** @returns {View} */
function changesView(/** @type {Route} */ route) {
  const since = route.query.get("since") || "7d";
  const choice = select(
    [
      ["1d", "since yesterday"],
      ["7d", "since a week ago"],
      ["30d", "since a month ago"],
      ["365d", "since a year ago"],
      ...(/\d{4}/.test(since) ? [/** @type {[string, string]} */ ([since, `since ${longTime(since)}`])] : []),
    ],
    since,
    { "aria-label": "Since when", onchange: (/** @type {any} */ event) => go(address("changes", "", { since: event.target.value })) },
  );
  return pageView("What changed", {
    tools: choice,
    ask: () => call("diff", { since, all_groups: true, limit: 200 }),
    draw: (reply) => [
      reply.note && h("p", { class: "muted" }, reply.note),
      reply.changes.length === 0
        ? nothing("Nothing has changed since then.")
        : h("p", null, memoriesOf(reply.total), reply.total > reply.changes.length && `, the latest ${reply.changes.length} are shown`),
      reply.changes.map((/** @type {any} */ entry) =>
        h(
          "article",
          { class: "item card" },
          h(
            "div",
            { class: "detail-head" },
            h("strong", null, entry.change),
            typeMark(entry.type),
            h(
              "span",
              { class: "muted small" },
              visibleText(`${entry.client ?? "you"} · `),
              timeOf(entry.at),
              entry.group && visibleText(` · ${entry.group}`),
            ),
          ),
          entry.before !== undefined
            ? diffOf(entry.before, entry.text)
            : h(
                "p",
                { class: "item-text", dir: "auto" },
                h(["new", "restored"].includes(entry.change) ? "ins" : "span", null, visibleText(entry.text)),
              ),
          entry.fields?.length > 0 && h("p", { class: "small muted" }, `Also changed: ${entry.fields.join(", ")}`),
          entry.reason && h("p", { class: "small" }, "Reason: ", visibleText(entry.reason)),
          h("div", { class: "toolbar" }, h("a", { class: "button small-button", href: address("memory", entry.id) }, "Open")),
        ),
      ),
    ],
    update: () => false,
  });
}
