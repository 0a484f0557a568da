// A receiver for Deno, Bun, Cloudflare Workers and other fetch-style hosts: `deno serve -E --port 3000 fetch.ts`
import type { WebhookEvent } from "@wac/verifier"
import { webhook } from "@wac/verifier/fetch"

/** Where events are kept. In place of this memory: Deno KV, D1, a table with the id as its key. */
const inbox = new Map<string, WebhookEvent>()

/** Keeps an event once; a repetition changes nothing, and is answered with 200 like the first. */
const store = (event: WebhookEvent): boolean => {
  const isNew = !inbox.has(event.id)
  inbox.set(event.id, inbox.get(event.id) ?? event)
  return isNew
}

/** Done after the answer, which has to be there within 5 seconds. */
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

interface Context {
  waitUntil(work: Promise<void>): void
}

export default {
  // Workers hand over `env` and `ctx`; elsewhere the secret is in `process.env`, and nobody waits for the work
  fetch: webhook<readonly [Request, Environment?, Context?]>(
    { secret: (_request, env) => env?.WEBHOOK_SECRET ?? process.env["WEBHOOK_SECRET"] },
    (event, _request, _env, ctx) => {
      if (!store(event)) return
      const done = work(event).catch(console.error)
      ctx?.waitUntil(done)
    }
  )
}
