// Places the nodes of a graph: related ones attract each other, all others repel. Pure: numbers in, numbers out.

/**
 * @typedef {{id: string, label: string, kind: string, x: number, y: number, isOpen: boolean, hop: number, left: number}} GraphNode
 * @typedef {{from: string, to: string, predicate: string}} GraphEdge
 */

/** Length that an edge wants to have, and how many rounds of moving are made after a change. */
const EDGE_LENGTH = 130;
const ROUNDS = 160;

/**
 * Moves the nodes; those in `fixed` stay.
 * @param {GraphNode[]} nodes
 * @param {GraphEdge[]} edges
 * @param {Set<string>} fixed
 */
function layOut(nodes, edges, fixed) {
  const at = new Map(nodes.map((node, index) => [node.id, index]));
  const pairs = edges.map((edge) => [at.get(edge.from) ?? 0, at.get(edge.to) ?? 0]);
  for (let round = 0; round < ROUNDS; round += 1) {
    const heat = 24 * (1 - round / ROUNDS) + 0.5;
    const push = nodes.map(() => [0, 0]);
    for (let i = 0; i < nodes.length; i += 1) {
      for (let j = i + 1; j < nodes.length; j += 1) repel(nodes, push, i, j);
    }
    for (const [i, j] of pairs) attract(nodes, push, i, j);
    nodes.forEach((node, index) => {
      if (fixed.has(node.id)) return;
      const [dx, dy] = push[index];
      const length = Math.hypot(dx, dy) || 1;
      const step = Math.min(length, heat);
      node.x += (dx / length) * step;
      node.y += (dy / length) * step * 0.85;
    });
  }
}

/** @param {GraphNode[]} nodes @param {number[][]} push @param {number} i @param {number} j */
function repel(nodes, push, i, j) {
  // Labels are wide: nodes beside each other need more room than nodes above each other.
  const dx = (nodes[i].x - nodes[j].x) / 1.6 || (i - j) * 0.01;
  const dy = nodes[i].y - nodes[j].y || (j - i) * 0.01;
  const square = Math.max(100, dx * dx + dy * dy);
  const force = 9000 / square;
  const length = Math.sqrt(square);
  push[i][0] += (dx / length) * force * 1.6;
  push[i][1] += (dy / length) * force;
  push[j][0] -= (dx / length) * force * 1.6;
  push[j][1] -= (dy / length) * force;
}

/** @param {GraphNode[]} nodes @param {number[][]} push @param {number} i @param {number} j */
function attract(nodes, push, i, j) {
  const dx = nodes[j].x - nodes[i].x;
  const dy = nodes[j].y - nodes[i].y;
  const length = Math.hypot(dx, dy) || 1;
  const force = (length - EDGE_LENGTH) * 0.06;
  push[i][0] += (dx / length) * force;
  push[i][1] += (dy / length) * force;
  push[j][0] -= (dx / length) * force;
  push[j][1] -= (dy / length) * force;
}
