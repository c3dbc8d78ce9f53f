// Written by `remit install opencode`. Every tool call is put to Remit, which answers or refuses; whatever goes wrong
// here is a throw, and a throw blocks the call. If this file does not load at all, the settings' `"**": "deny"` stands:
// only `config` below lifts it.
import { spawn } from "node:child_process"

const LIMIT = 30_000
const stringify = JSON.stringify
const parse = JSON.parse

function ask(command, directory, event) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, REMIT_OPENCODE_DIRECTORY: directory }
    const child = spawn("/bin/sh", ["-c", command], { cwd: directory, env, stdio: ["pipe", "pipe", "pipe"] })
    const out = []
    const err = []
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT)
    child.stdout.on("data", (chunk) => out.push(chunk))
    child.stderr.on("data", (chunk) => err.push(chunk))
    child.stdin.on("error", () => {})
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, out: Buffer.concat(out).toString("utf8"), err: Buffer.concat(err).toString("utf8") })
    })
    child.stdin.end(event)
  })
}

async function caller(client, session, call) {
  const about = await client.session.get({ path: { id: session } })
  const said = await client.session.messages({ path: { id: session } })
  const parent = about?.data?.parentID ?? null
  let root = session
  for (let above = parent; above; root = above, above = (await client.session.get({ path: { id: above } }))?.data?.parentID);
  for (const message of [...(said?.data ?? [])].reverse()) {
    if (message.parts?.some((part) => part.callID === call)) {
      return { parent, root, agent: message.info?.agent ?? message.info?.mode }
    }
  }
  throw new Error("Remit: nobody can say which agent calls; nothing may run")
}

export default {
  id: "remit",
  async server({ client, directory }, options) {
    const { command } = options
    return {
      async config(settings) {
        // The floor is ours; what people say beside it stays as it is.
        if (settings.permission && typeof settings.permission === "object") delete settings.permission["**"]
      },
      async "tool.execute.before"(input, output) {
        // Plain data in the place of whatever another plugin left there: what is judged is what runs.
        const args = parse(stringify(output.args ?? {}))
        const { agent, parent, root } = await caller(client, input.sessionID, input.callID)
        const event = { event: "before", session: input.sessionID, call: input.callID, tool: input.tool }
        const said = await ask(command, directory, stringify({ ...event, args, agent, parent, root, cwd: directory }))
        let answer = null
        try {
          answer = parse(said.out)
        } catch {}
        if (said.code !== 0 || answer === null || typeof answer !== "object") {
          const why = answer?.verdict === "deny" ? answer.reason : said.err.trim()
          throw new Error(why || "Remit: the hook failed; nothing may run. Tell the person who runs you.")
        }
        if (answer.verdict !== "allow" && stringify(answer) !== "{}") {
          throw new Error(answer.reason || "Remit: the hook gave no answer that this plugin knows; nothing may run")
        }
        const wanted = answer.args ?? args
        for (const key of Reflect.ownKeys(output.args)) delete output.args[key]
        for (const key of Object.keys(wanted)) {
          const value = { value: wanted[key], writable: true, enumerable: true, configurable: true }
          Object.defineProperty(output.args, key, value)
        }
        if (stringify(output.args) !== stringify(wanted)) throw new Error("Remit: the arguments can't be kept as judged")
      },
      async "tool.execute.after"(input) {
        const event = { event: "after", session: input.sessionID, call: input.callID }
        await ask(command, directory, stringify(event)).catch(() => {})
      },
    }
  },
}
