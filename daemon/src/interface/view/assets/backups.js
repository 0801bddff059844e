// Whether all is well: checks, warnings, the store in numbers, the daemon, and the backups.

/** @returns {View} */
function backupsView() {
  const state = { findings: /** @type {any[] | null} */ (null) };
  const view = pageView("Health", {
    tools: [
      button("Check everything", () => check(), { kind: "small-button" }),
      button("Back up now", () => backUp(), { kind: "small-button primary" }),
    ],
    ask: async () => {
      const [status, list, stats] = await Promise.all([get("/api/status"), get("/api/backups"), call("memory_stats")]);
      return {
        status: {
          ...status,
          uptime_s: Math.floor(status.uptime_s / 60) * 60,
          latencies: [...status.latencies].sort((a, b) => b.calls - a.calls).slice(0, 12),
        },
        list,
        stats,
      };
    },
    draw: ({ status, list, stats }) => [
      warningsCard(status),
      h("div", { class: "columns" }, storeCard(status, stats), daemonCard(status)),
      state.findings &&
        card(
          "Check",
          h(
            "ul",
            { class: "findings" },
            state.findings.map((finding) =>
              h(
                "li",
                { class: `verdict-${finding.verdict}` },
                h("strong", null, finding.part),
                " ",
                visibleText(finding.found),
                finding.next_step && h("p", { class: "small" }, visibleText(finding.next_step)),
              ),
            ),
          ),
        ),
      card(`Backups (${list.backups.length})`, backupTable(list.backups, status.backups)),
      card(
        "Calls since the start",
        tableOf(
          ["Verb", "Calls", "Failed", "Median", "p99", "Slowest"],
          status.latencies.map((/** @type {any} */ verb) =>
            h(
              "tr",
              null,
              h("td", null, verb.verb),
              h("td", null, NUMBER.format(verb.calls)),
              h("td", null, verb.failed),
              h("td", null, `${verb.p50_ms.toFixed(1)} ms`),
              h("td", null, `${verb.p99_ms.toFixed(1)} ms`),
              h("td", null, `${verb.max_ms.toFixed(1)} ms`),
            ),
          ),
          "Calls",
        ),
      ),
    ],
  });
  async function check() {
    try {
      toast("Checking …");
      state.findings = (await call("doctor", {}, { long: true })).findings;
      await view.refresh?.(true);
      announce(`${counted(state.findings?.length ?? 0, "finding")}`);
    } catch (error) {
      tellFailure(error);
    }
  }
  async function backUp() {
    try {
      const made = await call("backup", {}, { long: true });
      toast(`Backed up: ${made.id}, ${bytesOf(made.bytes)}, verified`);
      await view.refresh?.(true);
    } catch (error) {
      tellFailure(error);
    }
  }
  return view;
}

function warningsCard(/** @type {any} */ status) {
  const told = new Set(status.storage.map((/** @type {any} */ warning) => `${warning.message.replace(/\.$/, "")}. ${warning.next_step}.`));
  const others = status.warnings.filter((/** @type {string} */ warning) => !told.has(warning));
  const parts = status.degraded.map((/** @type {string} */ part) =>
    h("li", { class: "verdict-warn" }, `Does not work at the moment: ${part}`),
  );
  const rows = [
    ...parts,
    ...status.storage.map((/** @type {any} */ warning) =>
      h(
        "li",
        { class: "verdict-warn" },
        h("strong", null, visibleText(warning.message)),
        h("p", { class: "small" }, visibleText(warning.next_step), " · since ", timeOf(warning.since)),
      ),
    ),
    ...others.map((/** @type {string} */ warning) => h("li", { class: "verdict-warn" }, visibleText(warning))),
  ];
  return card(
    rows.length === 0 ? "All is well" : "Needs attention",
    rows.length === 0 ? h("p", { class: "muted" }, "No warnings.") : h("ul", { class: "findings" }, rows),
  );
}

function storeCard(/** @type {any} */ status, /** @type {any} */ stats) {
  return card(
    "Store",
    factList([
      ["Active", memoriesOf(status.memories)],
      ["Size", bytesOf(stats.db_size_bytes)],
      ["Relations", NUMBER.format(stats.entity_relations)],
      ["Forgotten", NUMBER.format(stats.forgotten)],
      ["Candidates", NUMBER.format(stats.candidates ?? 0)],
      ["Faded", NUMBER.format(stats.flagged)],
      ["Without vector", NUMBER.format(stats.without_vector)],
      ["Oldest", timeOf(stats.oldest_memory)],
      ["Newest", timeOf(stats.newest_memory)],
      ["File", h("span", { class: "mono" }, visibleText(status.database))],
    ]),
  );
}

function daemonCard(/** @type {any} */ status) {
  return card(
    "Daemon",
    factList([
      ["Version", `${status.version}, process ${status.pid}`],
      ["Running for", durationOf(status.uptime_s)],
      ["Model", `${status.model.id}: ${status.model.state}`],
      ["Index", status.index?.state ?? "opening"],
      ["Agents", NUMBER.format(status.sessions.length)],
      [
        "Waiting",
        `${status.queues.writer} writes, ${status.queues.readers} reads, ${NUMBER.format(status.queues.embedding)} texts for the model`,
      ],
      status.re_embedding && ["Re-embedding", `${NUMBER.format(status.re_embedding.done)} of ${NUMBER.format(status.re_embedding.total)}`],
      ["Last full check", timeOf(status.last_full_check)],
      ["HTTP", status.http ? "open" : "closed"],
    ]),
  );
}

function backupTable(/** @type {any[]} */ backups, /** @type {any} */ state) {
  const faults = (state.faults ?? []).map((/** @type {string} */ fault) => h("p", { class: "failed" }, visibleText(fault)));
  if (backups.length === 0) return [faults, nothing("No backup yet.")];
  const rows = [...backups]
    .reverse()
    .map((backup) =>
      h(
        "tr",
        null,
        h("td", null, timeOf(backup.created_at)),
        h("td", null, backup.reason),
        h("td", null, backup.memories === undefined ? "" : NUMBER.format(backup.memories)),
        h("td", null, bytesOf(backup.bytes)),
        h("td", null, backup.fault ? h("span", { class: "failed" }, visibleText(backup.fault)) : ["verified ", timeOf(backup.verified_at)]),
        h("td", null, backup.drilled_at ? ["tested ", timeOf(backup.drilled_at)] : "not tested yet"),
        h("td", { class: "mono" }, backup.id),
      ),
    );
  return [
    faults,
    tableOf(["Made", "Why", "Memories", "Size", "Verified", "Tested", "Name"], rows, "Backups"),
    h("p", { class: "muted small" }, "loci backup restore NAME puts one back; the store as it was is kept."),
  ];
}
