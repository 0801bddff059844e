// The next maintenance run as a difference: which episodes go, which summaries and facts come, and what cleanup would forget.

/** @returns {View} */
function maintenanceView() {
  return pageView("Maintenance", {
    intro: "What the next run would do. Nothing is changed until it runs, and every step can be undone.",
    ask: async () => {
      const [reply, cleanup] = await Promise.all([call("maintenance", { action: "plan" }), call("cleanup", { dry_run: true })]);
      return { reply, memories: cleanup.memories };
    },
    draw: ({ reply, memories }) => [
      card(
        "Schedule",
        factList([
          ["Runs by itself", reply.paused ? "paused" : reply.enabled ? "yes" : "no (maintenance.enabled in the configuration)"],
          ["Last run", timeOf(reply.last_run_at)],
          reply.next_run_at && ["Next run", longTime(reply.next_run_at)],
          ["This run", planSentence(reply.plan)],
        ]),
        h(
          "div",
          { class: "toolbar" },
          reply.plan.steps.length > 0 && button("Run all steps", () => runSteps(reply.plan.steps.length), { kind: "small-button primary" }),
          reply.plan.steps.length > 0 && button("Run the first step", () => runSteps(1), { kind: "small-button" }),
          button(reply.paused ? "Resume" : "Pause", () => pauseMaintenance(!reply.paused), { kind: "small-button" }),
        ),
      ),
      reply.plan.steps.length === 0 ? nothing("Nothing is due.") : h("div", { class: "plan" }, reply.plan.steps.slice(0, 60).map(stepCard)),
      reply.plan.steps.length > 60 && h("p", { class: "muted" }, `${counted(reply.plan.steps.length - 60, "further step")}.`),
      card(
        `Cleanup (${memories.length})`,
        h("p", { class: "muted" }, "Faded memories that were not used for months; loci cleanup forgets them."),
        memories.length > 0 &&
          h(
            "ul",
            { class: "diff" },
            memories
              .slice(0, 50)
              .map((/** @type {any} */ memory) =>
                h(
                  "li",
                  { class: "minus" },
                  memoryLink(memory.id, visibleText(memory.preview)),
                  h("span", { class: "muted small" }, ` ${percent(memory.confidence)}, last used `, timeOf(memory.used_at)),
                ),
              ),
          ),
      ),
    ],
  });
}

/** What a run does, in numbers. */
function planSentence(/** @type {any} */ plan) {
  const made = `${counted(plan.compacted, "episode")} compacted, ${counted(plan.promoted, "fact")} promoted or linked`;
  return `${made}, in ${counted(plan.steps.length, "step")}`;
}

/** One step as lines that go and lines that come. */
function stepCard(/** @type {any} */ step) {
  const count = step.members.length;
  const titles = /** @type {Record<string, string>} */ ({
    compact: `${counted(count, "episode")} of ${step.week ?? "a week"} become a summary`,
    promote: `${counted(count, "episode")} become a fact`,
    link: `${counted(count, "episode")} support a fact`,
  });
  const isCompact = step.act === "compact";
  const texts = isCompact ? step.texts : step.texts.slice(1);
  const ids = isCompact ? step.members : step.members.filter((/** @type {string} */ id) => id !== step.from);
  const gone = texts.map((/** @type {string} */ text, /** @type {number} */ at) =>
    h("li", { class: isCompact ? "minus" : "same" }, ids[at] ? memoryLink(ids[at], visibleText(text)) : visibleText(text)),
  );
  const made = isCompact
    ? h("li", { class: "plus" }, `A summary of these ${count}; they stay readable as its sources`)
    : h(
        "li",
        { class: step.act === "link" ? "same" : "plus" },
        step.from ? memoryLink(step.from, visibleText(step.texts[0] ?? "")) : visibleText(step.texts[0] ?? ""),
      );
  return h(
    "section",
    { class: "card step" },
    h("h2", null, titles[step.act] ?? step.act, h("span", { class: "muted small" }, ` ${step.project ?? ""}`)),
    h(
      "ul",
      { class: "diff" },
      gone,
      count > texts.length && isCompact && h("li", { class: "minus" }, `and ${count - texts.length} more`),
      made,
    ),
  );
}

/** Runs steps one after the other; tells how many, with one undo for all of them. */
async function runSteps(/** @type {number} */ most) {
  await change(most === 1 ? "One step was run" : "Maintenance has run", async () => {
    const acts = [];
    for (let step = 0; step < most; step += 1) {
      const reply = await call("maintenance", { action: "run", restart: step === 0 || undefined }, { long: true });
      if (reply.done?.journal) acts.push(reply.done.journal);
      if (step % 5 === 4) announce(`${step + 1} of ${most} steps`);
      if (!reply.left) break;
    }
    return { acts };
  });
}

/** Pauses maintenance or lets it go on; the journal does not hold that, so this page remembers the way back. */
function pauseMaintenance(/** @type {boolean} */ isPaused) {
  const to = (/** @type {boolean} */ pause) => call("maintenance", { action: pause ? "pause" : "resume" });
  return inTurn(async () => {
    try {
      await to(isPaused);
      const label = isPaused ? "Maintenance is paused" : "Maintenance runs again";
      const ways = { switchBack: () => to(!isPaused), switchAgain: () => to(isPaused) };
      remember({ label, name: `“${label}”`, at: Date.now(), acts: [], ...ways });
      refreshView();
    } catch (error) {
      tellFailure(error);
    }
  });
}
