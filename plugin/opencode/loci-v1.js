// loci for OpenCode 1: gives the brief of the project and what fits a prompt to the model. Written by `loci setup opencode`.
import { spawn } from "node:child_process"

const LOCI = "@LOCI@"
const TIMEOUT_MS = { "session-start": 5000, prompt: 2000, "post-compact": 5000, "session-end": 2000 }

// Runs `loci hook opencode EVENT`; returns the text for the model, or nothing.
function hook(event, input) {
  return new Promise((resolve) => {
    const child = spawn(LOCI, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS[event] })
    let output = ""
    child.on("error", () => resolve(undefined))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part) => (output += part))
    child.on("close", () => {
      try {
        resolve(JSON.parse(output).context)
      } catch {
        resolve(undefined)
      }
    })
    child.stdin.end(JSON.stringify(input))
  })
}

export const LociPlugin = async ({ directory }) => {
  // Session id -> promise of the brief, which stays the same so that the prompt cache holds. OpenCode keeps what a prompt got with its
  // message, and not the brief: a session that this process does not know is resumed, so that its brief comes again.
  const briefs = new Map()
  const input = (session, name, more) => ({ session_id: session, cwd: directory, hook_event_name: name, ...more })
  const brief = (session) => {
    if (!briefs.has(session)) briefs.set(session, hook("session-start", input(session, "SessionStart", { source: "resume" })))
    return briefs.get(session)
  }
  return {
    "chat.message": async ({ sessionID }, output) => {
      await brief(sessionID)
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const text = prompt && (await hook("prompt", input(sessionID, "UserPromptSubmit", { prompt })))
      if (!text) return
      const { id, messageID } = texts[0]
      output.parts.push({ id: `${id}loci`, sessionID, messageID, type: "text", text, synthetic: true })
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      const text = sessionID && (await brief(sessionID))
      if (text) output.system.push(text)
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (!session || !briefs.has(session)) return
      if (event.type === "session.compacted") {
        briefs.set(session, hook("post-compact", input(session, "PostCompact", {})))
      } else if (event.type === "session.deleted") {
        briefs.delete(session)
        await hook("session-end", input(session, "SessionEnd", { reason: "deleted" }))
      }
    },
  }
}
