// Loads the mod for Claude Code and runs events and commands of one session with a thin stand-in of the client's API.
//
//   node mod_stand_in.mjs MODULE < {"session": ID, "steps": [{"command": "why", "answer": LABEL}, {"event": "turn.start"}, …]}
//
// Prints one line of JSON for each step: the text of the command, the status line, the question that was asked. Programs run as the client
// runs them: no shell, an error if the program cannot start or is still running at the timeout.
import { execFile } from "node:child_process"
import { pathToFileURL } from "node:url"

const input = JSON.parse(await new Response(process.stdin).text())
const hooks = []
const seen = { status: undefined, question: undefined, logs: [], running: [] }
let label

function run(argv, init = {}) {
  const ended = new Promise((resolve, reject) => {
    execFile(argv[0], argv.slice(1), { timeout: init.timeoutMs ?? 30_000, killSignal: "SIGKILL" }, (error, stdout, stderr) => {
      if (error?.killed) reject(new Error(`mod: $.process.run(${argv[0]}) aborted: still running after ${init.timeoutMs}ms`))
      else if (typeof error?.code === "string") reject(new Error(`mod: $.process.run(${argv[0]}) failed to start: ${error.code}`))
      else resolve({ exitCode: error?.code ?? 0, stdout, stderr })
    })
  })
  seen.running.push(ended.catch(() => {}))
  return ended
}

const $ = {
  command: { register: async (command) => (seen.command = command) },
  process: { run },
  session: { id: async () => input.session },
  ui: {
    status: (text) => (seen.status = text),
    log: (text) => seen.logs.push(text),
    ask: async (question) => {
      seen.question = question
      if (label === undefined) throw new Error("nobody can be asked")
      return label
    },
  },
}

// Runs the hooks of an event; returns the result and how long it took, without what runs in the background.
async function fire(name, event) {
  const hook = hooks.find((registered) => registered.name === name && (registered.matcher?.command ?? event.command) === event.command)
  const begin = performance.now()
  const result = await hook.run($, Object.freeze(event), async (passed) => passed)
  return { result, ms: performance.now() - begin }
}

// Waits until what is ready to run in the background has run.
const settled = () => new Promise((resolve) => setImmediate(resolve))

const { register } = await import(pathToFileURL(process.argv[2]))
register((name, ...rest) => hooks.push({ name, matcher: rest.length > 1 ? rest[0] : undefined, run: rest.at(-1) }))
await fire("session.start", {})
for (const step of input.steps) {
  label = step.answer
  seen.question = undefined
  const { result, ms } = step.event ? await fire(step.event, {}) : await fire("command.run", { command: "loci", args: step.command })
  await settled()
  while (seen.running.length) {
    await seen.running.shift()
    await settled()
  }
  console.log(JSON.stringify({ ...result, status: seen.status ?? null, question: seen.question ?? null, ms, logs: seen.logs }))
}
