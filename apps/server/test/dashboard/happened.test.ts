/**
 * What happened is found in the dashboard: what a message said, what a request was, and anything by one search.
 */
import { Effect, Exit, Scope } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { createKey, receiver as makeReceiver, send, setWebhook } from "../harness.ts"
import { browser as launch, signedIn, type Visit } from "./browser.ts"
import * as workspace from "./workspace.ts"

const scope = Scope.makeUnsafe()

const inScope = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.provide(Effect.orDie(effect), scope))

/** A customer's messages: one that arrived, and one that failed. */
const set = Effect.gen(function*() {
  const server = yield* workspace.empty
  const { session, url } = server
  const receiver = yield* makeReceiver
  yield* setWebhook({ session, url }, { url: receiver.url })
  const key = yield* createKey(url, session, { name: "Order service" })
  const sent = yield* send({ key, url }, {
    to: "+15551240007",
    type: "template",
    template: { name: "order_update", language: "en_US", bodyParams: ["<b>Ana</b>", "1042"] },
    client_reference: "order-1042"
  })
  assert.strictEqual(sent.status, 200, sent.text)
  return { ...server, key, sent: sent.body as { readonly message_id: string; readonly provider_message_id: string } }
})

let browser: Browser
let server: Effect.Success<typeof set>
let person: Visit

beforeAll(async () => {
  ;[browser, server] = await Promise.all([inScope(launch), inScope(set)])
  person = await signedIn(browser, server)
})
afterAll(async () => {
  person.assertSound()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

it("a message's page shows the template with its values and as the phone shows it, and each step with its delivery", async () => {
  const { page } = person
  await person.open(`/messages/${server.sent.message_id}`)
  const sent = region(page, "What was sent")
  await sent.getByText("Template order_update · en_US").waitFor()
  await sent.getByRole("figure", { name: "Preview of order_update" })
    .getByText("Hi <b>Ana</b>, your order 1042 is on its way. Reply to this message with any question.").waitFor()
  const steps = region(page, "Timeline")
  for (const type of ["message.sent", "message.delivered", "message.read"]) {
    await steps.getByRole("link", { name: `Delivered delivery of ${type}`, exact: true }).waitFor()
  }
  await page.getByText("Not reported").or(page.getByText("Charged · Utility")).waitFor()
})
