// What a list of memories shows: pages by attribute, or the best results of a search followed by everything that contains its words.

/** Memories of one page, and of one page when the person has jumped far ahead. */
const PAGE = 100;
const LONG_PAGE = 500;
/** Characters of a text that a row shows. */
const ROW_CHARS = 240;
/** Results of a search by meaning in one project, and projects that are searched when none is chosen. */
const BEST = 20;
const SEARCHED_PROJECTS = 6;

const FILTERS = ["type", "project", "client", "trust", "status", "month", "from", "to", "scope", "flags", "sort"];

/** Returns the arguments of `list` and `facets` that an address asks for. */
function listFilters(/** @type {URLSearchParams} */ query) {
  const month = query.get("month") ?? "";
  const project = query.get("project") ?? "";
  return {
    type: query.get("type") ?? "",
    scope: query.get("scope") ?? "",
    status: query.get("status") ?? "",
    client: query.get("client") ?? "",
    trust: query.get("trust") ?? "",
    flags: query.get("flags") === "1" || undefined,
    group: project,
    from_group: project ? true : undefined,
    all_groups: project ? undefined : true,
    text: (query.get("q") ?? "").trim(),
    date_from: query.get("from") || (month && `${month}-01`),
    date_to: query.get("to") || (month && lastDayOf(month)),
  };
}

class Feed {
  /** @param {URLSearchParams} query @param {() => void} changed called when there is more or other to show */
  constructor(query, changed) {
    this.query = query;
    this.changed = changed;
    this.text = (query.get("q") ?? "").trim();
    this.filters = listFilters(query);
    this.sort = query.get("sort") || "newest";
    /** @type {any[]} */
    this.best = [];
    /** @type {any[]} */
    this.rows = [];
    this.total = 0;
    this.note = "";
    /** @type {{note?: string} | undefined} */
    this.past = undefined;
    /** @type {number | undefined} */
    this.next = undefined;
    this.wanted = 0;
    this.isLoading = false;
    this.isLoaded = false;
    this.failure = "";
    this.aborter = new AbortController();
  }

  /** Gives up what is still asked. */
  close() {
    this.aborter.abort();
  }

  /** Number of rows that can be shown, those included that are not loaded yet. */
  length() {
    return this.best.length + Math.max(this.rows.length, this.total - this.hidden());
  }

  /** Number of the memories of the list that are among the best already. */
  hidden() {
    return this.bestInList ?? 0;
  }

  /** Returns the memory of a row, if it is loaded. */
  at(/** @type {number} */ index) {
    return index < this.best.length ? this.best[index] : this.rows[index - this.best.length];
  }

  /** Returns the row of a memory, or -1. */
  indexOf(/** @type {string} */ id) {
    const best = this.best.findIndex((memory) => memory.id === id);
    if (best >= 0) return best;
    const row = this.rows.findIndex((memory) => memory.id === id);
    return row < 0 ? -1 : row + this.best.length;
  }

  /** Loads the first page. */
  async load() {
    try {
      const [best, page] = await Promise.all([this.text ? this.search() : [], this.page(undefined, PAGE)]);
      if (this.aborter.signal.aborted) return;
      this.best = best;
      const ids = new Set(best.map((memory) => memory.id));
      const shared = page.memories.filter((/** @type {any} */ memory) => ids.has(memory.id)).length;
      this.bestInList = page.next === undefined ? shared : await this.countBest([...ids]);
      this.take(page.memories);
      this.next = page.next;
      this.total = page.total;
      this.past = page.as_of;
      this.isLoaded = true;
      this.failure = "";
    } catch (error) {
      if (isAborted(error)) return;
      this.failure = sentenceOf(error);
    }
    this.changed();
  }

  /** Begins with the page that came with the document. */
  begin(/** @type {any} */ page) {
    this.take(page.memories);
    this.next = page.next;
    this.total = page.total;
    this.isLoaded = true;
  }

  take(/** @type {any[]} */ memories) {
    const known = new Set([...this.best, ...this.rows].map((memory) => memory.id));
    for (const memory of memories) if (!known.has(memory.id)) this.rows.push(memory);
  }

  /** @param {number | undefined} before @param {number} limit @param {string[]} [ids] */
  page(before, limit, ids) {
    const sort = this.text && !ids ? "newest" : this.sort;
    return call("list", { ...this.filters, sort, before, limit, ids, text_chars: ROW_CHARS }, { signal: this.aborter.signal });
  }

  /** Counts the best results that the list of texts holds too, when that list has several pages. */
  async countBest(/** @type {string[]} */ ids) {
    if (ids.length === 0) return 0;
    return (await this.page(undefined, ids.length, ids)).total;
  }

  /** Searches by meaning and words, in the chosen project or in the largest ones, and keeps what passes the filters. */
  async search() {
    const { type, scope, status, date_from, date_to } = this.filters;
    const searched = ["candidate", "rejected"].includes(status) ? status : "";
    if (status && !searched && !["active", "all", "pinned", "flagged"].includes(status)) return [];
    const parameters = {
      query: this.text,
      type,
      scope,
      status: searched,
      date_from,
      date_to,
      max_results: BEST,
      explain: true,
      dry_run: true,
      token_budget: undefined,
    };
    const projects = this.searched();
    const replies = await Promise.all(
      projects.map((group) => call("recall_memory", { ...parameters, group }, { signal: this.aborter.signal })),
    );
    const found = new Map();
    for (const reply of replies) {
      for (const result of reply.results) {
        const known = found.get(result.id);
        if (!known || known.score < result.score) found.set(result.id, result);
      }
    }
    this.note = replies.find((reply) => reply.hint)?.hint ?? "";
    this.isWeak = replies.every((reply) => reply.weak || reply.results.length === 0);
    const ids = [...found.values()]
      .sort((a, b) => b.score - a.score)
      .slice(0, BEST)
      .map((result) => result.id);
    if (ids.length === 0) return [];
    const listed = await call(
      "list",
      { ...this.filters, status: status || "all", text: "", ids, text_chars: ROW_CHARS, limit: ids.length },
      { signal: this.aborter.signal },
    );
    const rows = new Map(listed.memories.map((/** @type {any} */ memory) => [memory.id, memory]));
    return ids
      .filter((id) => rows.has(id))
      .map((id) => ({ ...rows.get(id), score: found.get(id).score, why: found.get(id).why, result: found.get(id) }));
  }

  /** Returns the projects that are searched; `undefined` is that of the page and what is known everywhere. */
  searched() {
    // The past is laid over the store for each call, so only one is made.
    if (this.filters.group || asOf) return [this.filters.group];
    const largest = [...boot.groups].sort((a, b) => b.active - a.active).filter((group) => !group.off && group.id !== boot.project?.id);
    return [undefined, ...largest.slice(0, SEARCHED_PROJECTS).map((group) => group.id)];
  }

  /** Loads until this many rows are there. */
  need(/** @type {number} */ end) {
    this.wanted = Math.max(this.wanted, end - this.best.length + 20);
    if (!this.isLoading && this.isLoaded && this.next !== undefined && this.rows.length < this.wanted) this.loadMore();
  }

  async loadMore() {
    this.isLoading = true;
    try {
      while (this.next !== undefined && this.rows.length < this.wanted) {
        const limit = this.wanted - this.rows.length > 300 ? LONG_PAGE : PAGE;
        const page = await this.page(this.next, limit);
        this.take(page.memories);
        this.next = page.next;
        this.total = page.total;
        if (page.next === undefined) this.total = this.rows.length + this.hidden();
        this.changed();
      }
    } catch (error) {
      if (!isAborted(error)) this.failure = sentenceOf(error);
    }
    this.isLoading = false;
  }

  /** Asks again for the first page and the visible rows; returns how many rows came before what was the first. */
  async refresh(/** @type {any[]} */ visible) {
    if (this.isLoading || !this.isLoaded) return 0;
    try {
      // All is asked first and then replaced at once: a row that is pressed meanwhile is the memory that it shows.
      const found = this.text ? await this.search() : [];
      const best = new Set(found.map((memory) => memory.id));
      const page = await this.page(undefined, PAGE);
      const fresh = new Map(page.memories.map((/** @type {any} */ memory) => [memory.id, memory]));
      const doubtful = [...this.rows.slice(0, PAGE), ...visible]
        .filter((memory) => memory && !fresh.has(memory.id) && !best.has(memory.id))
        .map((memory) => memory.id);
      const ids = [...new Set(doubtful)].slice(0, 300);
      const checked = new Map();
      if (ids.length > 0) for (const memory of (await this.page(undefined, ids.length, ids)).memories) checked.set(memory.id, memory);
      const isGone = (/** @type {any} */ memory) => ids.includes(memory.id) && !checked.has(memory.id);
      const bestInList = best.size > 0 ? await this.countBest([...best]) : 0;
      if (this.isLoading) return 0;
      const first = this.rows[0]?.id;
      const later = this.rows
        .filter((memory) => !fresh.has(memory.id) && !isGone(memory) && !best.has(memory.id))
        .map((memory) => checked.get(memory.id) ?? memory);
      this.best = found;
      this.rows = [...page.memories.filter((/** @type {any} */ memory) => !best.has(memory.id)), ...later];
      this.bestInList = bestInList;
      this.total = page.total;
      if (page.next === undefined) this.next = undefined;
      else if (this.next === undefined && this.rows.length + this.hidden() < this.total) this.next = page.next;
      this.changed();
      return Math.max(
        0,
        this.rows.findIndex((memory) => memory.id === first),
      );
    } catch (error) {
      if (!isAborted(error)) tellFailure(error);
      return 0;
    }
  }
}
