// Test: the official TypeScript MCP client, generation 1 or 2, stores and recalls memories through `loci mcp`.
//
//   node node_sdk.mjs PACKAGES LOCI PROJECT sdk|client [auto|legacy]
//
// PACKAGES is the folder with node_modules. The server inherits the environment of this process; node_clients.py creates and removes the
// home. `sdk` is generation 1, which has one way to connect; `client` is generation 2.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const TOOLS = ["memory_stats", "recall_memory", "store_memory"];
const MEMORIES = [
  { content: "Anna drinks green tea before work.", type: "semantic" },
  { content: "The nightly backup of the ledger goes to a disk in Lisbon.", type: "procedural" },
  { content: "On 3 March 2026 the release was postponed because the login page crashed.", type: "episodic" },
];
// A paraphrase of the first memory without a common word.
const QUESTION = "Which hot beverage does she like in the morning?";
const INFO = { name: "loci-tests", version: "1" };

const [packages, loci, project, generation, mode = "legacy"] = process.argv.slice(2);
const load = createRequire(`${packages}/`);
const server = { command: loci, args: ["mcp"], env: process.env, cwd: project };

// The client of generation 1 does not expose the negotiated version, but sets it on the transport.
function generation1() {
  const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
  const transport = new StdioClientTransport(server);
  let protocolVersion;
  transport.setProtocolVersion = (version) => (protocolVersion = version);
  return { client: new Client(INFO), transport, protocolVersion: () => protocolVersion };
}

function generation2() {
  const { Client } = load("@modelcontextprotocol/client");
  const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
  const client = new Client(INFO, { versionNegotiation: { mode } });
  return { client, transport: new StdioClientTransport(server), protocolVersion: () => client.getNegotiatedProtocolVersion() };
}

// Calls a tool that must succeed; returns its structured content, which must equal its text.
async function callOk(client, name, args) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
  assert(!isError, `${name} refused: ${content[0].text}`);
  assert.deepEqual(JSON.parse(content[0].text), structuredContent, `${name}: the text is not the structuredContent`);
  assert(!("degraded" in structuredContent), `${name} is degraded; is the model installed (loci model download)?`);
  return structuredContent;
}

async function check(client) {
  const offered = (await client.listTools()).tools.map((tool) => tool.name);
  for (const tool of TOOLS) assert(offered.includes(tool), `offered only ${offered}`);

  const ids = [];
  for (const memory of MEMORIES) ids.push((await callOk(client, "store_memory", memory)).id);
  assert.equal(new Set(ids).size, MEMORIES.length, `memories share an id: ${ids}`);

  const { results } = await callOk(client, "recall_memory", { query: QUESTION });
  assert.equal(results[0]?.id, ids[0], `the paraphrase found ${JSON.stringify(results)}`);
  assert.equal(results[0].content, MEMORIES[0].content, "the content was changed");

  const bad = await client.callTool({ name: "store_memory", arguments: { content: "A bad type.", type: "poem" } });
  assert(bad.isError && bad.content[0].text.includes("type"), `a bad type was accepted: ${JSON.stringify(bad)}`);

  const stats = await callOk(client, "memory_stats", {});
  assert.equal(stats.active_memories, MEMORIES.length, "wrong count");
}

const { client, transport, protocolVersion } = generation === "client" ? generation2() : generation1();
await client.connect(transport);
try {
  const modern = protocolVersion() >= "2026";
  assert.equal(modern, generation === "client" && mode === "auto", `${generation}, ${mode} speaks ${protocolVersion()}`);
  await check(client);
  console.log(`package @modelcontextprotocol/${generation}, mode ${mode}, protocol ${protocolVersion()}`);
} finally {
  await client.close();
}
