// A receiver for Next.js: a route handler, `app/webhook/route.ts`
import type { WebhookEvent } from "@wac/verifier"
import { webhook } from "@wac/verifier/fetch"

/** Where events are kept. In place of this memory: your database, in a table with the event's id as its key. */
const inbox = new Map<string, WebhookEvent>()

/** Keeps an event once; a repetition changes nothing, and is answered with 200 like the first. */
const store = async (event: WebhookEvent): Promise<void> => {
  if (inbox.has(event.id)) return
  inbox.set(event.id, event)
  console.log(event.type, event.id)
}

// The secret is read per request, since the build runs this module too and has none. Do slow work in `after()` of
// "next/server", or from the table: the answer has to be there within 5 seconds.
export const POST = webhook({ secret: () => process.env["WEBHOOK_SECRET"] }, async (event) => {
  await store(event)
})
