// A long list of which only the visible rows are elements. Rows have one height; the arrow keys move through them.

/** Rows that are kept above and below the visible ones. */
const SPARE_ROWS = 6;

class VirtualList {
  /**
   * @param {{label: string, make: () => any, fill: (row: any, index: number) => void, need: (end: number) => void,
   *   choose: (index: number, how: "move" | "open" | "enter") => void}} owner
   */
  constructor(owner) {
    this.owner = owner;
    this.total = 0;
    this.active = -1;
    this.rowHeight = 64;
    this.frame = 0;
    /** @type {Map<number, any>} */
    this.rows = new Map();
    /** @type {any[]} */
    this.free = [];
    this.inner = h("div", { class: "vlist-inner", role: "presentation" });
    this.element = h(
      "div",
      {
        class: "vlist",
        role: "listbox",
        "aria-label": owner.label,
        tabindex: "0",
        onscroll: () => this.draw(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event),
        onfocus: () => this.active < 0 && this.focus(),
      },
      this.inner,
    );
    this.resized = new ResizeObserver(() => {
      this.rowHeight = parseFloat(getComputedStyle(this.element).getPropertyValue("--row-height")) || 64;
      this.layout();
    });
    this.resized.observe(this.element);
  }

  /** Ends the observation of the size. */
  close() {
    this.resized.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Sets the number of rows, and shows all visible rows as they are now. */
  show(/** @type {number} */ total) {
    this.total = total;
    if (this.active >= total) this.active = total - 1;
    this.layout();
  }

  layout() {
    setStyle(this.inner, "height", `${this.total * this.rowHeight}px`);
    this.drawNow(true);
  }

  /** Draws in the next frame. */
  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => this.drawNow(false));
  }

  /** Returns the first visible row, and the one behind the last. */
  range() {
    const first = Math.floor(this.element.scrollTop / this.rowHeight);
    return [first, Math.min(this.total, first + Math.ceil(this.element.clientHeight / this.rowHeight) + 1)];
  }

  drawNow(/** @type {boolean} */ refill) {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const [first, last] = this.range();
    const start = Math.max(0, first - SPARE_ROWS);
    const end = Math.min(this.total, last + SPARE_ROWS);
    for (const [index, row] of this.rows) {
      const isKept = (index >= start && index < end) || (index === this.active && index < this.total);
      if (isKept) continue;
      this.rows.delete(index);
      if (this.free.length < 8 && row !== document.activeElement) {
        row.hidden = true;
        this.free.push(row);
      } else {
        row.remove();
      }
    }
    for (let index = start; index < end; index += 1) this.drawRow(index, refill);
    if (this.active >= 0 && this.active < this.total) this.drawRow(this.active, refill);
    this.element.tabIndex = this.active >= 0 ? -1 : 0;
    this.owner.need(end);
  }

  drawRow(/** @type {number} */ index, /** @type {boolean} */ refill) {
    let row = this.rows.get(index);
    if (row && !refill) return;
    if (!row) {
      row = this.free.pop();
      if (row) {
        row.hidden = false;
      } else {
        row = this.owner.make();
        row.addEventListener("click", () => this.clicked(row));
        this.inner.append(row);
      }
      row.dataset.index = String(index);
      this.rows.set(index, row);
    }
    setStyle(row, "transform", `translateY(${index * this.rowHeight}px)`);
    row.setAttribute("aria-posinset", String(index + 1));
    row.setAttribute("aria-setsize", String(this.total));
    row.tabIndex = index === this.active ? 0 : -1;
    row.setAttribute("aria-selected", String(index === this.active));
    this.owner.fill(row, index);
  }

  clicked(/** @type {any} */ row) {
    this.move(Number(row.dataset.index), "open");
  }

  /** Makes a row the active one and shows it. */
  move(/** @type {number} */ to, /** @type {"move" | "open"} */ how = "move") {
    if (this.total === 0) return;
    this.setActive(Math.max(0, Math.min(this.total - 1, to)));
    this.reveal();
    this.rows.get(this.active)?.focus({ preventScroll: true });
    this.owner.choose(this.active, how);
  }

  /** Marks a row as the active one without moving the focus. */
  setActive(/** @type {number} */ index) {
    const before = this.active;
    this.active = index;
    for (const changed of [before, index]) {
      const row = this.rows.get(changed);
      row?.setAttribute("aria-selected", String(changed === index));
      if (row) row.tabIndex = changed === index ? 0 : -1;
    }
    this.element.tabIndex = index >= 0 ? -1 : 0;
    if (index >= 0) this.drawRow(index, false);
  }

  /** Scrolls until the active row is visible. */
  reveal() {
    const top = this.active * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + this.rowHeight - clientHeight;
    this.drawNow(false);
  }

  /** Gives the focus to the active row, or to the first; opens nothing. */
  focus() {
    if (this.total === 0) return false;
    this.setActive(Math.max(0, this.active));
    this.reveal();
    this.rows.get(this.active)?.focus({ preventScroll: true });
    return true;
  }

  onKey(/** @type {KeyboardEvent} */ event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
    const steps = /** @type {Record<string, number>} */ ({
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: this.total - 1,
    });
    if (event.key in steps) {
      event.preventDefault();
      this.move(steps[event.key]);
    } else if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      this.owner.choose(this.active, "enter");
    }
  }
}
