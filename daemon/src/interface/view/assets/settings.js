// The configuration in force with the origin of each value, the projects, and the bridge to clients' own memory.

/** @returns {View} */
function settingsView(/** @type {Route} */ route) {
  const find = h("input", {
    type: "search",
    placeholder: "Find a setting",
    "aria-label": "Find a setting",
    value: route.query.get("find") ?? "",
    oninput: () => filter(),
  });
  const table = h("div", null);
  let keys = /** @type {any[]} */ ([]);
  function filter() {
    const words = find.value.toLowerCase();
    const shownKeys = keys.filter((entry) => `${entry.key} ${valueText(entry.value)} ${entry.from}`.toLowerCase().includes(words));
    table.replaceChildren(
      tableOf(
        ["Setting", "Value", "From"],
        shownKeys.map((entry) =>
          h(
            "tr",
            { class: entry.from === "default" ? "" : "is-set" },
            h("th", { scope: "row", class: "mono" }, entry.key),
            h(
              "td",
              { class: "wrap mono" },
              visibleText(valueText(entry.value)),
              entry.waits !== undefined && h("span", { class: "mark" }, `${valueText(entry.waits)} after a restart`),
            ),
            h("td", null, entry.from),
          ),
        ),
        "Settings",
      ),
    );
  }
  return pageView("Settings", {
    ask: async () => {
      const [config, groups, bridge] = await Promise.all([
        call("config"),
        call("groups"),
        call("bridge", { files: true }).catch(() => null),
      ]);
      boot.groups = groups.groups;
      return { config, groups: groups.groups, bridge };
    },
    draw: ({ config, groups, bridge }) => {
      keys = config.keys;
      filter();
      return [
        card(`Projects (${groups.length})`, groups.length === 0 ? nothing("No project yet.") : projectTable(groups)),
        card(
          "Configuration",
          h(
            "p",
            { class: "muted" },
            config.exists ? "Values from " : "Every value is its default; there is no file ",
            h("span", { class: "mono" }, config.file),
            ". loci config --help says how to change them.",
          ),
          find,
          table,
        ),
        bridge && card("Memory files of clients", bridgeTable(bridge)),
      ];
    },
  });
}

function projectTable(/** @type {any[]} */ groups) {
  const rows = groups.map((group) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, h("a", { href: address("memories", "", { project: group.id }) }, visibleText(group.name))),
      h("td", null, `${NUMBER.format(group.active)} of ${NUMBER.format(group.memories)}`),
      h(
        "td",
        { class: "wrap" },
        (group.aliases ?? []).map((/** @type {string} */ alias) => h("span", { class: "mark" }, visibleText(alias))),
      ),
      h("td", null, group.isolated ? "isolated" : "", group.off ? " off" : ""),
      h(
        "td",
        null,
        h(
          "div",
          { class: "row-tools" },
          button("Rename", () => renameProject(group), { kind: "small-button" }),
          button("Alias", () => aliasProject(group), { kind: "small-button" }),
          button(group.off ? "Switch on" : "Switch off", () => switchProject(group), { kind: "small-button" }),
          h("a", { class: "button small-button", href: address("timeline", group.id) }, "Timeline"),
        ),
      ),
    ),
  );
  return tableOf(["Project", "Active", "Aliases", "State", "Change"], rows, "Projects");
}

/** Asks for a name. */
async function askName(/** @type {string} */ title, /** @type {string} */ label, /** @type {string} */ value) {
  const input = h("input", { type: "text", name: "name", maxlength: "128", value });
  return (
    (await openDialog(title, field(label, input), [
      { label: "Save", kind: "primary", value: () => (input.value.trim() ? input.value.trim() : undefined) },
    ])) || ""
  );
}

async function renameProject(/** @type {any} */ group) {
  const to = await askName(`Rename ${visibleString(group.name)}`, "New name", group.name);
  if (to && to !== group.name) await change("Project renamed", () => call("groups_rename", { group: group.id, to }));
}

async function aliasProject(/** @type {any} */ group) {
  const alias = await askName(`Another name of ${visibleString(group.name)}`, "Name; one that it has already is removed", "");
  if (alias)
    await change("Alias changed", () =>
      call("groups_alias", { group: group.id, alias, remove: (group.aliases ?? []).includes(alias) || undefined }),
    );
}

/** Switches loci off or on in a project; the journal does not hold that, so this page remembers the way back. */
function switchProject(/** @type {any} */ group) {
  const to = (/** @type {boolean} */ off) => call("groups_switch", { group: group.id, off });
  return inTurn(async () => {
    try {
      const reply = await to(!group.off);
      const label = `loci is ${reply.state} in ${visibleString(reply.name)}`;
      const ways = { switchBack: () => to(Boolean(group.off)), switchAgain: () => to(!group.off) };
      remember({ label, name: `“${label}”`, at: Date.now(), acts: [], ...ways });
      refreshView();
    } catch (error) {
      tellFailure(error);
    }
  });
}

function bridgeTable(/** @type {any} */ bridge) {
  if (bridge.clients.length === 0) return nothing("No memory file is watched. loci bridge on CLIENT begins.");
  return [
    tableOf(
      ["Client", "Folder", "Files", "Versions", "Imported", "Looked at"],
      bridge.clients.map((/** @type {any} */ client) =>
        h(
          "tr",
          null,
          h("td", null, client.client),
          h("td", { class: "mono" }, visibleText(client.folder)),
          h("td", null, client.files),
          h("td", null, client.versions),
          h("td", null, client.imported),
          h("td", null, timeOf(client.scanned_at)),
        ),
      ),
      "Watched clients",
    ),
    bridge.files?.length > 0 &&
      tableOf(
        ["File", "Project", "Versions", "Changed"],
        bridge.files.map((/** @type {any} */ file) =>
          h(
            "tr",
            null,
            h("td", { class: "mono" }, visibleText(file.path), file.gone && h("span", { class: "mark" }, "deleted")),
            h("td", null, visibleText(file.project ?? "")),
            h("td", null, file.versions),
            h("td", null, timeOf(file.changed_at)),
          ),
        ),
        "Watched files",
      ),
    (bridge.problems ?? []).map((/** @type {string} */ problem) => h("p", { class: "failed" }, visibleText(problem))),
  ];
}
