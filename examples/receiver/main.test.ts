// A test of the receiver with events as the service sends them, and without the service: `node --test`
import { exampleEvent, signDelivery } from "@wac/verifier/testing"
import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, it } from "node:test"

const secret = "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM="

/** Starts the receiver. */
const start = async (DATABASE: string) => {
  const receiver = spawn(process.execPath, ["main.ts"], {
    cwd: import.meta.dirname,
    env: { PORT: "0", DATABASE, WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "ignore"]
  })
  let output = ""
  receiver.stdout.on("data", (chunk) => (output += chunk))
  /** Resolves to what the receiver has written, once that matches. */
  const written = async (expected: RegExp): Promise<RegExpExecArray> => {
    for (let found = expected.exec(output);; found = expected.exec(output)) {
      if (found !== null) return found
      await Promise.race([
        once(receiver.stdout, "data"),
        once(receiver, "exit").then(() => assert.fail(`the receiver ended, after it wrote: ${output}`))
      ])
    }
  }
  const url = `${(await written(/http:\S+/))[0]}/webhook`
  return { receiver, url, written, output: () => output }
}

let url: string
let written: (expected: RegExp) => Promise<RegExpExecArray>
let output: () => string
let receiver: ChildProcess
before(async () => {
  ;({ output, receiver, url, written } = await start(":memory:"))
})
after(() => receiver.kill())

it("an event that comes twice is worked on once", async () => {
  const event = exampleEvent("message.delivered", { data: { message_id: "msg_1" } })
  for (const _attempt of [1, 2]) {
    assert.equal((await fetch(url, await signDelivery({ payload: event, secret }))).status, 200)
  }
  const reply = exampleEvent("message.received", { data: { from: "+15550002222", text: { body: "Thanks!" } } })
  assert.equal((await fetch(url, await signDelivery({ payload: reply, secret }))).status, 200)
  await written(/\+15550002222: Thanks!/)
  assert.equal(output().match(/msg_1 arrived/g)?.length, 1)
})

it("a delivery that another secret signed is refused", async () => {
  const forged = await signDelivery({ payload: exampleEvent("message.sent"), secret: "whsec_c29tZWJvZHkgZWxzZQ==" })
  assert.equal((await fetch(url, forged)).status, 400)
})

it("an event that cannot be worked on stops no other event, and no start", async () => {
  const directory = await mkdtemp(join(tmpdir(), "receiver-"))
  const database = join(directory, "inbox.db")
  try {
    for (const name of ["msg_2", "msg_3"]) {
      const { receiver, url, written } = await start(database)
      // no version of the service sends a failure without its error
      const broken = { ...exampleEvent("message.failed"), id: "evt_broken", data: { message_id: "msg_broken" } }
      assert.equal((await fetch(url, await signDelivery({ payload: broken, secret }))).status, 200)
      const event = { ...exampleEvent("message.delivered", { data: { message_id: name } }), id: `evt_${name}` }
      assert.equal((await fetch(url, await signDelivery({ payload: event, secret }))).status, 200)
      await written(new RegExp(`${name} arrived`))
      const ended = once(receiver, "exit")
      receiver.kill("SIGKILL")
      await ended
    }
  } finally {
    await rm(directory, { recursive: true })
  }
})
