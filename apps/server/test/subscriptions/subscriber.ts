/**
 * A program with a durable subscription. It appends a line to a file when a handler begins, and one when it ends, so
 * that what happened before a kill is known.
 */
import { appendFileSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { createWac, postgres, sandbox } from "wac"

const [database = "", masterKey = "", file = "", failEvery = "0", concurrency = "1"] = process.argv.slice(2)

const wac = await createWac({ storage: postgres(database), provider: sandbox(), masterKey })

const note = (...words: ReadonlyArray<string | number>) => appendFileSync(file, `${words.join(" ")}\n`)

let handled = 0
await wac.subscribe("kills", {
  types: ["message.sent", "message.delivered", "message.read"]
}, async ({ data, id, type }, { attempt }) => {
  note("begin", id, data.message_id, type, attempt, process.pid)
  await new Promise((resolve) => setTimeout(resolve, 3))
  if (++handled % Number(failEvery) === 0) {
    note("fail", id, data.message_id, type, attempt, process.pid)
    throw new Error("this one fails")
  }
  note("end", id, data.message_id, type, attempt, process.pid)
}, { concurrency: Number(concurrency) })

process.stdout.write("subscribed\n")
// a process that is killed keeps nothing by itself
flushCompileCache()
