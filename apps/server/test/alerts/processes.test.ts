/**
 * Alerts where several processes share a database: whoever notices a matter first tells of it, and nobody else does.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, receiver, setWebhook, signIn, start } from "../harness.ts"
import { moving } from "../movable.ts"
import { mailbox } from "../people/mailbox.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

it.live("a problem and its end are each reported once, however many processes run", () =>
  Effect.gen(function*() {
    const mail = yield* mailbox
    const environment = {
      ...checks.unlimited,
      DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase),
      WAC_MASTER_KEY: masterKey(),
      SMTP_URL: mail.url
    }
    const processes = yield* Effect.replicateEffect(moving(start({ environment })), 3)
    const { url } = processes[0]!
    const session = yield* signIn(url)
    const [own, alerts] = [yield* receiver, yield* receiver]
    yield* setWebhook({ session, url }, { url: own.url })
    yield* call(`${url}/internal/alerts/settings`, {
      method: "PUT",
      headers: session,
      body: { emails: ["ops@example.com"], url: alerts.url }
    })
    const list = (query: string) => call(`${url}/internal/alerts?${query}`, { headers: session })
    /** Each process looks twice. */
    const look = Effect.forEach([1, 2], () => Effect.forEach(processes, ({ pass }) => pass("1 minute")))
    yield* call(`${url}/internal/webhook/pause`, { method: "POST", headers: session })
    yield* look
    yield* checks.until(list("open=true"), ({ body }) => body.data.length === 1)
    yield* alerts.take(1)
    yield* mail.to("ops@example.com")
    yield* call(`${url}/internal/webhook/resume`, { headers: session, body: { force: true } })
    yield* look
    yield* checks.until(list("open=true"), ({ body }) => body.data.length === 0)
    yield* alerts.take(1)
    yield* checks.until(Effect.sync(() => mail.received.length), (count) => count >= 2)
    yield* look
    const posted = yield* alerts.requests
    assert.deepStrictEqual(
      posted.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).type),
      ["alert.opened", "alert.closed"]
    )
    assert.lengthOf(mail.received, 2)
    assert.lengthOf((yield* list("limit=10")).body.data, 1)
  }).pipe(Effect.scoped))
