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
    // Session id -> every text that it was given, and its last prompt: the hook runs before every step of a turn, and OpenCode keeps none
    // of them. What an earlier process held is lost, so a session that is not here is given its texts again.
    const sessions = new Map()
    const cwd = ctx.directory ?? process.cwd()
    const input = (session, name, more) => ({ session_id: session, cwd, hook_event_name: name, ...more })
    await ctx.session.hook("context", async (event) => {
      const session = event.sessionID
      if (!session) return
      if (!sessions.has(session)) {
        const brief = hook("session-start", input(session, "SessionStart", { source: "restart" }))
        sessions.set(session, { texts: [brief], at: -1 })
      }
      const state = sessions.get(session)
      await state.texts[0]
      const { at, text } = lastPrompt(event.messages ?? [])
      if (text && at !== state.at) {
        state.at = at
        state.texts.push(hook("prompt", input(session, "UserPromptSubmit", { prompt: text })))
      }
      for (const part of await Promise.all(state.texts)) if (part) event.system.push({ type: "text", text: part })
    })
    await ctx.session.hook("compaction", async (event) => {
      const state = sessions.get(event.sessionID)
      if (!state) return
      Object.assign(state, { texts: [], at: -1 })
      await hook("post-compact", input(event.sessionID, "PostCompact", {}))
    })
  },
})
