// loci in Claude Code: a status line with what was delivered in this session, and /loci, which asks no model.
// Runs no program but `loci`; the model reads nothing of it, and no prompt waits for it.

const TIMEOUT_MS = 2000
const OFF = {
  incognito: "this session is incognito",
  project_file: "the .loci.toml of the project says so",
  person: "you switched the project off",
  not_opted_in: "the project has no .loci.toml",
}
const COMMANDS = "/loci why | undo | off | on | pin ID"

// Makes a text of the store one line without characters that a terminal obeys.
const oneLine = (text) => String(text ?? "").replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim()
const count = (number, noun, nouns) => `${number} ${number === 1 ? noun : nouns}`
const sizeText = (memories, tokens) => `${count(memories, "memory", "memories")}, ${count(tokens, "token", "tokens")}`
const short = (id) => String(id).slice(-8)

// Runs `loci ARGS --json` in the folder of the session; returns the reply, or `{ problem }` in one line. Never throws.
async function loci($, args) {
  try {
    const { stdout } = await $.process.run(["loci", ...args, "--json"], { timeoutMs: TIMEOUT_MS })
    const reply = JSON.parse(stdout)
    if (!reply.error) return reply
    const { code, message, hint } = reply.error
    const text = oneLine(message).replace(`${code}: `, "")
    return { code, problem: `loci: ${text}.${hint ? ` ${oneLine(hint)}` : ""}` }
  } catch (error) {
    const text = oneLine(error?.message ?? error)
    if (text.includes("ENOENT")) return { problem: "The program loci is not on PATH." }
    if (text.includes("still running")) return { problem: `loci did not answer within ${TIMEOUT_MS / 1000} s.` }
    return { problem: `loci could not be asked: ${text}` }
  }
}

// Returns the receipts of this session, newest first, with the sum of what was delivered.
async function delivered($) {
  const reply = await loci($, ["injected", await $.session.id(), "--limit", "1000"])
  const receipts = reply.receipts ?? []
  const given = receipts.filter((receipt) => receipt.outcome === "delivered")
  const memories = new Set(given.flatMap((receipt) => receipt.memories ?? []).map((memory) => memory.id)).size
  const tokens = given.reduce((sum, receipt) => sum + receipt.tokens, 0)
  return { ...reply, receipts, events: given.length, text: memories ? sizeText(memories, tokens) : undefined }
}

// Asks whether a daemon runs; this starts none, which the other commands of `loci` do.
const daemon = ($) => loci($, ["ctl", "status"])

async function showStatus($) {
  try {
    const { problem } = await daemon($)
    $.ui.status(problem ? undefined : (await delivered($)).text)
  } catch {
    // The status line is not worth a message.
  }
}

async function overview($, { off: projects = [], opt_in: optIn }) {
  const sum = await delivered($)
  if (sum.problem) return sum.problem
  const lines = [
    `Project: ${oneLine(sum.group)}. loci is ${sum.off ? `off: ${OFF[sum.off] ?? oneLine(sum.off)}` : "on"}.`,
    `Delivered in this session: ${sum.text ? `${sum.text}, at ${count(sum.events, "event", "events")}` : "nothing"}`,
  ]
  if (projects.length) lines.push(`Projects that are off: ${projects.map(oneLine).join(", ")}`)
  if (optIn) lines.push("Only projects with a .loci.toml are served.")
  return [...lines, COMMANDS].join("\n")
}

function receiptText(receipt) {
  const memories = receipt.memories ?? []
  const size = memories.length ? sizeText(memories.length, receipt.tokens) : oneLine(receipt.outcome)
  const time = new Date(receipt.at).toTimeString().slice(0, 5)
  return [
    `${time} ${oneLine(receipt.event)}: ${size} (${oneLine(receipt.reason)})`,
    ...memories.map((memory) => `  ${short(memory.id)}  ${oneLine(memory.preview)}`),
    ...(receipt.withheld ?? []).map((memory) => `  ${short(memory.id)}  withheld, ${oneLine(memory.why)}: ${oneLine(memory.preview)}`),
  ].join("\n")
}

async function why($) {
  const { problem, receipts } = await delivered($)
  if (problem) return problem
  if (!receipts.length) return "loci has delivered and withheld nothing in this session."
  const older = receipts.length > 20 ? [`The last 20 of ${receipts.length} receipts; all: loci injected`] : []
  return [...older, ...receipts.slice(0, 20).reverse().map(receiptText)].join("\n")
}

// Returns what this session did last and how it is taken back: an act by its number, a plain store by forgetting it.
function lastAct({ acts = [], stored = [] }) {
  const act = acts.find((entry) => !entry.undone_at)
  const store = stored.find((memory) => memory.status === "active")
  if (store && !(act && act.at >= store.at)) {
    const what = `stored “${oneLine(store.preview)}”`
    return { what, command: ["forget", store.id, "--yes"], back: `loci restore ${short(store.id)}` }
  }
  if (!act) return undefined
  const textOf = ({ preview, before }) => `“${oneLine(preview)}”${before ? ` (before: “${oneLine(before)}”)` : ""}`
  const what = `${oneLine(act.act)} ${(act.changed ?? []).map(textOf).join(", ")}`.trim()
  return { what, command: ["undo", String(act.id), "--yes"], back: `loci redo ${act.id}` }
}

async function undo($) {
  const history = await loci($, ["history", "--session", await $.session.id()])
  const last = history.code === "not_found" ? undefined : history.problem ?? lastAct(history)
  if (!last) return "This session has changed no memory that can be taken back."
  if (typeof last === "string") return last
  let answer
  try {
    const options = ["Take it back", "Keep it"]
    answer = await $.ui.ask(`The last act of this session: ${last.what}. Take it back?`, { options, header: "loci" })
  } catch {
    // Dismissed, or nobody can be asked.
  }
  if (answer !== "Take it back") return `Nothing was taken back. The last act of this session: ${last.what}`
  const { problem } = await loci($, last.command)
  return problem ?? `Taken back: ${last.what}. To have it again: ${last.back}`
}

async function incognito($, flags) {
  const { problem } = await loci($, ["ctl", "incognito", await $.session.id(), ...flags])
  if (problem) return problem
  return flags.length ? "loci is on in this session." : "loci is off in this session: it neither reads nor stores. /loci on ends that."
}

async function pin($, id) {
  if (!/^[0-9a-f-]{4,36}$/i.test(id ?? "")) return "Which memory? /loci pin ID, with an id of /loci why"
  const { problem } = await loci($, ["pin", id])
  return problem ?? `Pinned ${id}: its confidence no longer fades. loci pin ${id} --off ends that.`
}

async function runCommand($, [word = "", id]) {
  const { problem, switches = {} } = await daemon($)
  if (problem) return problem
  switch (word) {
    case "":
      return overview($, switches)
    case "why":
      return why($)
    case "undo":
      return undo($)
    case "off":
      return incognito($, [])
    case "on":
      return incognito($, ["--off"])
    case "pin":
      return pin($, id)
    default:
      return COMMANDS
  }
}

export function register(on) {
  let isWorking = false

  on("session.start", async ($, e, next) => {
    try {
      const description = "What loci delivered in this session"
      await $.command.register({ name: "loci", description, argumentHint: "[why|undo|off|on|pin ID]", immediate: true })
    } catch (error) {
      $.ui.log(`/loci was not added: ${oneLine(error?.message ?? error)}`, { to: "debug" })
    }
    return next(e)
  })

  // A turn begins after the hooks of its prompt. Not awaited: no turn waits for the status line.
  on("turn.start", async ($, e, next) => {
    if (e.agentId) return next(e)
    isWorking = true
    void showStatus($)
    return next(e)
  })
  on("turn.complete", async ($, e, next) => {
    if (e.agentId) return next(e)
    isWorking = false
    void showStatus($)
    return next(e)
  })
  on("session.end", async ($, e, next) => {
    $.ui.status(undefined)
    return next(e)
  })

  on("command.run", { command: "loci" }, async ($, e) => {
    const words = e.args.trim().split(/\s+/).filter(Boolean)
    const text = await runCommand($, words)
    // Claude Code gives the model the text of a command that ran during a turn, but no line of the log.
    if (!isWorking) return { text, isTextDisplayOnly: true }
    for (const line of text.split("\n")) $.ui.log(line)
    return {}
  })
}
