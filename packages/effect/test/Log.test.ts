import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { promisify } from "node:util"
import { assert, it } from "vitest"
import { closing, failure, fresh, hello, start, until } from "./instance.ts"

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

/** Its log rejects, as that of a host whose own service of logs is down. */
const rejecting = `
  import { createWac, memory, sandbox } from "wac"
  let lines = 0
  const log = async () => {
    lines++
    throw new Error("the log is down")
  }
  const wac = await createWac({ storage: memory(), provider: sandbox(), log })
  await wac.handler(new Request("http://localhost/v1/events"))
  // a rejection that nobody handles would end the process before this
  await new Promise((resolve) => setImmediate(resolve))
  await wac.close()
  console.log(lines > 0)
`

it("a log that rejects changes nothing, and the process continues", async () => {
  const { stderr, stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=source", "--input-type=module", "--eval", rejecting],
    { cwd: import.meta.dirname }
  )
  assert.deepStrictEqual([stdout, stderr], ["true\n", ""])
})

/** It logs an error once its stderr has no reader. */
const withoutReader = `
  import { createWac, fakeClock, memory, sandbox } from "wac"
  import { once } from "node:events"
  const clock = fakeClock()
  const wac = await createWac({ storage: memory(), provider: sandbox(), clock })
  let thrown = 0
  wac.on("message.sent", () => {
    thrown++
    throw new Error("thrown by the host")
  })
  console.log("ready")
  await once(process.stdin, "data")
  for (const to of ["+15551234567", "+15551234568"]) {
    await wac.messages.send(
      { to, type: "template", template: { name: "hello_world", language: "en_US" } },
      { idempotencyKey: to }
    )
    await clock.advance("1 second")
    await new Promise((resolve) => setImmediate(resolve))
  }
  await wac.close()
  console.log("thrown " + thrown + ", left on stderr " + process.stderr.listenerCount("error"))
  process.stdin.destroy()
`

it("a process whose stderr has lost its reader continues after an error is logged", async () => {
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "--eval", withoutReader], {
    cwd: import.meta.dirname
  })
  closing(async () => void child.kill("SIGKILL"))
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece
  })
  await until(() => text === "ready\n")
  child.stderr.destroy()
  await once(child.stderr, "close")
  child.stdin.end("go")
  const [code] = await once(child, "close")
  assert.deepStrictEqual([code, text], [0, "ready\nthrown 2, left on stderr 0\n"])
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
