// A receiver for Deno, Bun, Cloudflare Workers and other fetch-style hosts: `deno serve -E --port 3000 fetch.ts`
import type { WebhookEvent } from "@wac/verifier"
import { webhook } from "@wac/verifier/fetch"

/** The ids of events whose work is done. In place of this memory: Deno KV, D1, a table with the id as its key. */
const done = new Set<string>()

/** It has to be done within 5 seconds. Longer work: put the event into a queue or a table here, and do it from there. */
const work = async (event: WebhookEvent): Promise<void> => {
  switch (event.type) {
    case "message.delivered":
      return console.log(`${event.data.message_id} arrived at ${event.data.delivered_at}`)
    case "message.received":
      return console.log(event.data.type === "text" ? `${event.data.from}: ${event.data.text.body}` : event.data.type)
    default:
      return console.log(event.type)
  }
}

interface Environment {
  readonly WEBHOOK_SECRET?: string
}

export default {
  // Workers hand over `env`; elsewhere the secret is in `process.env`
  fetch: webhook<readonly [Request, Environment?]>(
    { secret: (_request, env) => env?.WEBHOOK_SECRET ?? process.env["WEBHOOK_SECRET"] },
    async (event) => {
      if (done.has(event.id)) return
      // remembered after the work: if the work fails, the answer is 500, and the event comes again
      await work(event)
      done.add(event.id)
    }
  )
}
