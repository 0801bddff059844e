// loci for OpenCode 2: gives the brief of the project and what fits a prompt to the model. Written by `loci setup opencode`.
import { spawn } from "node:child_process"
import { Plugin } from "@opencode/plugin"

const LOCI = "@LOCI@"
const TIMEOUT_MS = { "session-start": 5000, prompt: 2000, "post-compact": 5000 }

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

// Returns the text of the last message of the user, and its number.
function lastPrompt(messages) {
  const at = messages.findLastIndex((message) => (message.role ?? message.type) === "user")
  const content = messages[at]?.content ?? messages[at]?.text ?? ""
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n")
  return { at, text }
}

export default Plugin.define({
  id: "loci",
  async setup(ctx) {
    // Session id -> the brief, and the last prompt with what was recalled for it: the hook runs before every step of a turn.
    const sessions = new Map()
    const cwd = ctx.directory ?? process.cwd()
    const input = (session, name, more) => ({ session_id: session, cwd, hook_event_name: name, ...more })
    await ctx.session.hook("context", async (event) => {
      const session = event.sessionID
      if (!session) return
      if (!sessions.has(session)) {
        sessions.set(session, { brief: hook("session-start", input(session, "SessionStart", { source: "startup" })), at: -1 })
      }
      const state = sessions.get(session)
      const brief = await state.brief
      const { at, text } = lastPrompt(event.messages ?? [])
      if (text && at !== state.at) {
        state.at = at
        state.recalled = await hook("prompt", input(session, "UserPromptSubmit", { prompt: text }))
      }
      for (const part of [brief, state.recalled]) if (part) event.system.push({ type: "text", text: part })
    })
    await ctx.session.hook("compaction", (event) => {
      const state = sessions.get(event.sessionID)
      if (state) state.brief = hook("post-compact", input(event.sessionID, "PostCompact", {}))
    })
  },
})
