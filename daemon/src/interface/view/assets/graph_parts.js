// What the graph begins with, and how its drawing is moved and scaled.

/** The entities to begin with. */
function entityList() {
  const find = h("input", {
    type: "search",
    placeholder: "Find an entity",
    "aria-label": "Find an entity",
    oninput: () => view.refresh?.(),
  });
  const view = pageView("Graph", {
    intro: "Choose an entity; its relations open hop by hop.",
    tools: find,
    ask: () => call("list", { type: "entity", all_groups: true, sort: "used", limit: 200, text: find.value.trim(), text_chars: 120 }),
    draw: (reply) =>
      reply.memories.length === 0
        ? [nothing("No entity. Agents store people, projects and systems as entities, and relate them.")]
        : [
            h(
              "ul",
              { class: "entities" },
              reply.memories.map((/** @type {any} */ memory) =>
                h(
                  "li",
                  null,
                  h("a", { class: "card", href: address("graph", memory.id) }, visibleText(oneLine(memory.content ?? memory.preview))),
                ),
              ),
            ),
          ],
  });
  return view;
}

/** Moves and scales a drawing with the pointer and the wheel. */
function moveByPointer(
  /** @type {any} */ drawing,
  /** @type {{x: number, y: number}} */ zoom,
  /** @type {() => void} */ place,
  /** @type {(by: number) => void} */ rescale,
) {
  /** @type {{x: number, y: number} | null} */
  let last = null;
  drawing.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.target instanceof Element && event.target.closest(".node")) return;
    last = { x: event.clientX, y: event.clientY };
    drawing.setPointerCapture(event.pointerId);
  });
  drawing.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!last) return;
    zoom.x += event.clientX - last.x;
    zoom.y += event.clientY - last.y;
    last = { x: event.clientX, y: event.clientY };
    place();
  });
  for (const name of ["pointerup", "pointercancel"])
    drawing.addEventListener(name, () => {
      last = null;
    });
  drawing.addEventListener(
    "wheel",
    (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      rescale(event.deltaY < 0 ? 1.12 : 0.89);
    },
    { passive: false },
  );
}
