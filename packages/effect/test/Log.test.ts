import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, it } from "vitest"
import { failure, fresh, hello, start } from "./instance.ts"

const program = `
  import { createWac, fakeClock, memory, sandbox } from "wac"
  for (const log of [undefined, ({ level, message }) => level === "error" && console.log(message)]) {
    const clock = fakeClock()
    const wac = await createWac({ storage: memory(), provider: sandbox(), clock, ...(log && { log }) })
    wac.on("message.sent", () => {
      throw new Error("thrown by the host")
    })
    const message = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }
    await wac.messages.send(message, { idempotencyKey: "1" })
    await clock.advance("1 second")
    await wac.close()
  }
`

it("a listener's error goes to stderr with its stack, or to log if given, and nothing else is written", async () => {
  const { stderr, stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=source", "--input-type=module", "--eval", program],
    { cwd: import.meta.dirname }
  )
  assert.match(stderr, /^wac: a listener to message\.sent failed at evt_\w+\n/)
  assert.include(stderr, "thrown by the host")
  assert.strictEqual(stderr.match(/^wac: /gm)?.length, 1)
  assert.match(stdout, /^a listener to message\.sent failed at evt_\w+\n$/)
})

it("log must be a function, and an exception in it changes nothing", async () => {
  const { wac } = await start({
    log: () => {
      throw new Error("the log is full")
    }
  })
  wac.on("message.sent", () => {
    throw new Error("thrown by the host")
  })
  assert.strictEqual((await wac.messages.send(hello(), fresh())).status, "sent")
  assert.deepInclude(await failure(start({ log: "console" as never })), { param: "log" })
})
