// The official TypeScript client of MCP, of either generation, stores and recalls through `loci mcp`.
//
//   node node_sdk.mjs PACKAGES LOCI PROJECT sdk|client [auto|legacy]
//
// PACKAGES holds node_modules; the server inherits this process's environment, so it is given a private one. Nothing of a home is made
// or removed here: node_clients.py does that. `sdk` is generation 1, which knows one way to connect; `client` is generation 2.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const TOOLS = ["memory_stats", "recall_memory", "store_memory"];
const MEMORIES = [
  { content: "Anna drinks green tea before work.", type: "semantic" },
  { content: "The nightly backup of the ledger goes to a disk in Lisbon.", type: "procedural" },
  { content: "On 3 March 2026 the release was postponed because the login page crashed.", type: "episodic" },
];
// Asks for the first memory and shares no word with it.
const QUESTION = "Which hot beverage does she like in the morning?";
const INFO = { name: "loci-tests", version: "1" };

const [packages, loci, project, generation, mode = "legacy"] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const server = { command: loci, args: ["mcp"], env: process.env, cwd: project };

// Generation 1 has no way to ask what was agreed; the transport is told by it.
function generation1() {
  const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
  const transport = new StdioClientTransport(server);
  let spoken;
  transport.setProtocolVersion = (version) => (spoken = version);
  return { client: new Client(INFO), transport, spoken: () => spoken };
}

function generation2() {
  const { Client } = load("@modelcontextprotocol/client");
  const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
  const client = new Client(INFO, { versionNegotiation: { mode } });
  return { client, transport: new StdioClientTransport(server), spoken: () => client.getNegotiatedProtocolVersion() };
}

// The structured content of a call that must succeed, and must say the same in its text.
async function answer(client, name, args) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
  assert(!isError, `${name} refused: ${content[0].text}`);
  assert.deepEqual(JSON.parse(content[0].text), structuredContent, `${name}: the text is not the structuredContent`);
  assert(!("degraded" in structuredContent), `${name} is degraded; is the model there (loci model download)?`);
  return structuredContent;
}

async function check(client) {
  const offered = (await client.listTools()).tools.map((tool) => tool.name);
  for (const tool of TOOLS) assert(offered.includes(tool), `offered only ${offered}`);

  const ids = [];
  for (const memory of MEMORIES) ids.push((await answer(client, "store_memory", memory)).id);
  assert.equal(new Set(ids).size, MEMORIES.length, `memories share an id: ${ids}`);

  const { results } = await answer(client, "recall_memory", { query: QUESTION });
  assert.equal(results[0]?.id, ids[0], `the paraphrase found ${JSON.stringify(results)}`);
  assert.equal(results[0].content, MEMORIES[0].content, "the content was changed");

  const bad = await client.callTool({ name: "store_memory", arguments: { content: "A bad type.", type: "poem" } });
  assert(bad.isError && bad.content[0].text.includes("type"), `a bad type was answered: ${JSON.stringify(bad)}`);

  const stats = await answer(client, "memory_stats", {});
  assert.equal(stats.active_memories, MEMORIES.length, "wrong count");
}

const { client, transport, spoken } = generation === "client" ? generation2() : generation1();
await client.connect(transport);
try {
  const modern = spoken() >= "2026";
  assert.equal(modern, generation === "client" && mode === "auto", `${generation}, ${mode} came to speak ${spoken()}`);
  await check(client);
  console.log(`package @modelcontextprotocol/${generation}, mode ${mode}, spoke ${spoken()}`);
} finally {
  await client.close();
}
