// A test of the receiver with an event that it cannot work on: `node --test`
import { exampleEvent, signDelivery } from "@wac/verifier/testing"
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { it } from "node:test"

const secret = "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM="

// no version of the service sends a failure without its error
const broken = { ...exampleEvent("message.failed"), data: { message_id: "msg_1" } }
const event = (id: string) => ({ ...exampleEvent("message.delivered", { data: { message_id: id } }), id: `evt_${id}` })

/** Starts the receiver, posts the broken event and one more, and stops the receiver once that one is worked on. */
const run = async (DATABASE: string, id: string): Promise<void> => {
  const receiver = spawn(process.execPath, ["main.ts"], {
    cwd: import.meta.dirname,
    env: { PORT: "0", DATABASE, WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "ignore"]
  })
  const ended = once(receiver, "exit")
  try {
    let output = ""
    let url: string | undefined
    for await (const chunk of receiver.stdout) {
      output += chunk
      const [found] = /http:\S+/.exec(output) ?? []
      if (url === undefined && found !== undefined) {
        url = `${found}/webhook`
        for (const payload of [broken, event(id)]) {
          assert.equal((await fetch(url, await signDelivery({ payload, secret }))).status, 200)
        }
      }
      if (output.includes(`${id} arrived`)) return
    }
    assert.fail(`the receiver ended, after it wrote: ${output}`)
  } finally {
    receiver.kill()
    await ended
  }
}

it("an event that cannot be worked on stops no other event, and no start", async () => {
  const directory = await mkdtemp(join(tmpdir(), "receiver-"))
  try {
    for (const id of ["msg_2", "msg_3"]) await run(join(directory, "inbox.db"), id)
  } finally {
    await rm(directory, { recursive: true })
  }
})
