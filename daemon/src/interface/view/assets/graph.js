// The graph of entities: begins at one, and opens hop by hop. What the drawing shows is also a list, for those who do not see it.

/** Nodes at which no further one is opened by itself. */
const MAX_NODES = 250;

/** @returns {View} */
function graphView(/** @type {Route} */ route) {
  return route.id ? entityGraph(route.id) : entityList();
}

/** Returns the name of an entity: that of its metadata, otherwise the beginning of its text. */
function entityName(/** @type {string} */ preview, /** @type {any} */ metadata = {}) {
  const name =
    typeof metadata.name === "string" && metadata.name ? metadata.name : preview.split(/ (?:is|are|was|works|runs) |[,.;:(]/u, 1)[0];
  return name.length > 28 ? `${name.slice(0, 27)}…` : name;
}

/** @returns {View} */
function entityGraph(/** @type {string} */ root) {
  /** @type {Map<string, GraphNode>} */
  const nodes = new Map();
  /** @type {Map<string, GraphEdge>} */
  const edges = new Map();
  let selected = root;
  const zoom = { x: 0, y: 0, scale: 1 };
  const scene = s("g", null);
  const arrow = s(
    "defs",
    null,
    s(
      "marker",
      { id: "arrow", viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "7", markerHeight: "7", orient: "auto" },
      s("path", { d: "M0 0L8 4L0 8z" }),
    ),
  );
  const drawing = s("svg", { class: "graph", role: "group", "aria-label": "Entities and their relations" }, arrow, scene);
  const panel = h("aside", { class: "graph-panel", "aria-label": "The chosen entity" });
  const tools = h(
    "div",
    { class: "graph-tools" },
    button("All entities", () => go("#/graph"), { icon: "back", kind: "small-button" }),
    button("Closer", () => rescale(1.25), { kind: "small-button" }),
    button("Further", () => rescale(0.8), { kind: "small-button" }),
    button("Fit", () => fit(), { kind: "small-button" }),
    button("Open all one hop", () => openAll(), { kind: "small-button" }),
  );
  const element = h(
    "div",
    { class: "graph-view" },
    h("h1", { class: "unseen", tabindex: "-1" }, "Graph"),
    h("div", { class: "graph-stage" }, tools, drawing),
    panel,
  );

  /** Adds the relations of an entity. */
  async function open(/** @type {string} */ id) {
    let before;
    const from = nodes.get(id);
    /** @type {string[]} */
    const added = [];
    do {
      const reply = await callAbout("memory_inspect", id, { memory_id: id, relations_before: before });
      if (!nodes.has(id)) addNode(id, reply.memory, 0, undefined);
      const node = /** @type {GraphNode} */ (nodes.get(id));
      node.label = entityName(reply.memory.content, reply.memory.metadata);
      node.kind = reply.memory.type;
      for (const relation of reply.relations) {
        const other = relation.object ?? relation.subject;
        if (addNode(other.id, other, node.hop + 1, node)) added.push(other.id);
        const [start, end] = relation.object ? [id, other.id] : [other.id, id];
        edges.set(`${start} ${relation.predicate} ${end}`, { from: start, to: end, predicate: relation.predicate });
      }
      if (reply.relations.length === 0 && before === undefined) {
        for (const other of reply.mentions ?? []) {
          if (addNode(other.id, other, node.hop + 1, node)) added.push(other.id);
          edges.set(`${id} mentions ${other.id}`, { from: id, to: other.id, predicate: "mentions" });
        }
      }
      before = reply.relations_next;
    } while (before && nodes.size < MAX_NODES);
    /** @type {GraphNode} */ (nodes.get(id)).isOpen = true;
    const fixed = new Set(from ? [...nodes.keys()].filter((key) => nodes.size > 60 && !added.includes(key)) : [id]);
    fixed.add(root);
    layOut([...nodes.values()], [...edges.values()], fixed);
    draw();
    announce(added.length === 0 ? "No further relations" : `${counted(added.length, "entity", "entities")} opened`);
  }

  /** Adds a node beside the one that it was found by; returns whether it is new. */
  function addNode(
    /** @type {string} */ id,
    /** @type {any} */ memory,
    /** @type {number} */ hop,
    /** @type {GraphNode | undefined} */ beside,
  ) {
    if (nodes.has(id)) return false;
    const angle = nodes.size * 2.399963;
    const [x, y] = beside ? [beside.x + Math.cos(angle) * EDGE_LENGTH, beside.y + Math.sin(angle) * EDGE_LENGTH] : [0, 0];
    nodes.set(id, {
      id,
      label: entityName(memory.content ?? memory.preview, memory.metadata),
      kind: memory.type ?? "entity",
      x,
      y,
      isOpen: false,
      hop,
      left: 0,
    });
    return true;
  }

  function draw() {
    const focused = document.activeElement instanceof Element ? document.activeElement.getAttribute("data-node") : null;
    const lines = [...edges.values()].map((edge) => {
      const [a, b] = [nodes.get(edge.from), nodes.get(edge.to)];
      if (!a || !b) return "";
      const isNear = edge.from === selected || edge.to === selected;
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
      // An arrow from below would end under the label.
      const below = uy < -0.2 ? 28 / -uy : 0;
      const gap = below > 0 && Math.abs(ux) * below < b.label.length * 4 + 20 ? Math.min(below, length / 2) : 12;
      return s(
        "g",
        { class: isNear ? "edge near" : "edge" },
        s("line", { x1: a.x + ux * 9, y1: a.y + uy * 9, x2: b.x - ux * gap, y2: b.y - uy * gap, "marker-end": "url(#arrow)" }),
        isNear && s("text", { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 - 3, "text-anchor": "middle" }, edge.predicate),
      );
    });
    const circles = [...nodes.values()].map((node) =>
      s(
        "g",
        {
          class: `node kind-${node.kind} ${node.isOpen ? "is-open" : ""} ${node.id === selected ? "is-selected" : ""}`,
          role: "button",
          tabindex: "0",
          "data-node": node.id,
          "aria-label": `${node.label}${node.isOpen ? ", opened" : ""}`,
          transform: `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`,
          onclick: () => choose(node.id),
          onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            choose(node.id);
          },
        },
        s("circle", { class: "target", r: "16" }),
        s("circle", { r: node.id === root ? 9 : 7 }),
        s("text", { y: 22, "text-anchor": "middle" }, node.label),
      ),
    );
    scene.replaceChildren(...lines.filter(Boolean), ...circles);
    if (focused) scene.querySelector(`[data-node="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  /** Chooses a node, and opens it. */
  async function choose(/** @type {string} */ id) {
    selected = id;
    draw();
    try {
      if (!nodes.get(id)?.isOpen) {
        await open(id);
        fit();
      }
      await drawPanel(id);
    } catch (error) {
      tellFailure(error);
    }
  }

  async function openAll() {
    try {
      for (const node of [...nodes.values()].filter((candidate) => !candidate.isOpen)) if (nodes.size < MAX_NODES) await open(node.id);
      fit();
    } catch (error) {
      tellFailure(error);
    }
  }

  async function drawPanel(/** @type {string} */ id) {
    const reply = await callAbout("memory_inspect", id, { memory_id: id });
    if (id !== selected) return;
    const own = [...edges.values()].filter((edge) => edge.from === id || edge.to === id);
    redraw(panel, [
      h("h2", null, nodes.get(id)?.label),
      headOf(reply.memory),
      h("p", { class: "item-text", dir: "auto" }, visibleText(reply.memory.content)),
      h(
        "div",
        { class: "toolbar" },
        h("a", { class: "button small-button", href: address("memory", id) }, "Read"),
        reply.memory.type === "entity" && tool("Relate", () => relateEntity(reply.memory)),
        tool("Begin here", () => go(address("graph", id))),
      ),
      h("h3", null, `Relations (${own.length})`),
      h(
        "ul",
        { class: "links" },
        own.map((edge) => {
          const other = edge.from === id ? edge.to : edge.from;
          const step = button(nodes.get(other)?.label ?? shortId(other), () => choose(other), { kind: "link" });
          step.dataset.key = `step-${other}-${edge.predicate}`;
          return h(
            "li",
            null,
            h("span", { class: "predicate" }, edge.from === id ? `${edge.predicate} →` : `← ${edge.predicate}`),
            " ",
            step,
          );
        }),
      ),
      linked("graph-mentions", "Mentioned in", reply.mentioned_in),
    ]);
  }

  function place() {
    const { clientWidth: width, clientHeight: height } = drawing;
    scene.setAttribute("transform", `translate(${width / 2 + zoom.x} ${height / 2 + zoom.y}) scale(${zoom.scale})`);
  }
  function rescale(/** @type {number} */ by) {
    const scale = Math.max(0.2, Math.min(3, zoom.scale * by));
    zoom.x *= scale / zoom.scale;
    zoom.y *= scale / zoom.scale;
    zoom.scale = scale;
    place();
  }
  function fit() {
    const all = [...nodes.values()];
    const [left, right] = [Math.min(...all.map((node) => node.x)) - 70, Math.max(...all.map((node) => node.x)) + 70];
    const [top, bottom] = [Math.min(...all.map((node) => node.y)) - 40, Math.max(...all.map((node) => node.y)) + 44];
    zoom.scale = Math.max(0.2, Math.min(1.4, drawing.clientWidth / (right - left), drawing.clientHeight / (bottom - top)));
    zoom.x = (-(left + right) / 2) * zoom.scale;
    zoom.y = (-(top + bottom) / 2) * zoom.scale;
    place();
  }
  moveByPointer(drawing, zoom, place, rescale);
  const resized = new ResizeObserver(() => fit());
  open(root)
    .then(() => {
      resized.observe(drawing);
      return drawPanel(root);
    })
    .catch((error) => panel.replaceChildren(h("p", { class: "failed" }, sentenceOf(error))));
  return {
    element,
    close: () => resized.disconnect(),
    refresh: () => drawPanel(selected).catch(tellFailure),
    focus: () => /** @type {any} */ (scene.querySelector(".node") ?? element.querySelector("h1")).focus(),
    keys: [
      ["+", "Closer", () => rescale(1.25)],
      ["-", "Further", () => rescale(0.8)],
      ["0", "Fit", fit],
      ["a", "Open all one hop", openAll],
      ["o", "Read the chosen entity", () => go(address("memory", selected))],
    ],
  };
}
