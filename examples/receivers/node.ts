// A receiver for Node: `WEBHOOK_SECRET=whsec_… node node.ts`
import { verify } from "@wac/verifier"
import { type NodeRequest, webhook } from "@wac/verifier/express"
import { link, mkdir, unlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { createInterface } from "node:readline"

const { INBOX: inbox = "inbox", PORT: port = "3000", WEBHOOK_SECRET: secret } = process.env

/** Keeps an event once, whole or not at all: `link` fails if the name is there already. */
const store = async (id: string, event: object) => {
  const temporary = `${inbox}/.${id}.${crypto.randomUUID()}`
  await writeFile(temporary, JSON.stringify(event))
  try {
    await link(temporary, `${inbox}/${id}.json`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error // 500: it comes again
  } finally {
    await unlink(temporary)
  }
}

// It answers 200 once the event is stored. The work comes later, from the inbox: 5 seconds are soon over. Leave a file of
// the event's name there after the work: the event can come again.
const receiver = webhook<NodeRequest>({ secret }, async (event) => {
  await store(event.id, event)
})

if (process.argv[2] === "check") {
  for await (const line of createInterface({ input: process.stdin })) {
    const { body, header, now, secret } = JSON.parse(line)
    const { ok } = await verify(Buffer.from(body, "base64"), header, secret, { now })
    process.stdout.write(ok ? "ok\n" : "refused\n")
  }
} else {
  await mkdir(inbox, { recursive: true })
  createServer(receiver).listen(Number(port), "127.0.0.1")
}
