/**
 * A campaign that a version before canonical names had begun (decision 0038): it kept national prefixes, as in
 * `+44 0…`, in the messages that it queued and in their keys.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, ready } from "../harness.ts"
import { emptyDatabase, masterKey, postgres, sql } from "../processes.ts"

const ana = "+447911123451"
const prefixed = "+4407911123451"
const ben = "+447911123452"

/** A campaign to these customers, checked and not started. */
const checkedCampaign = (customers: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, emptyDatabase)
    const { session, url } = yield* ready({
      environment: { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
    })
    const created = yield* call(`${url}/internal/campaigns`, {
      headers: session,
      body: { name: "Old", template: { name: "hello_world", language: "en_US" }, share: 0.9 }
    })
    const at = `${url}/internal/campaigns/${created.body.id}`
    const act = (verb: string) => call(`${at}/${verb}`, { method: "POST", headers: session })
    const get = call(at, { headers: session })
    const until = (is: (campaign: Answer["body"]) => boolean) => checks.until(get, ({ body }) => is(body))
    yield* call(`${at}/recipients`, {
      method: "PUT",
      headers: { ...session, "content-type": "application/x-ndjson" },
      body: customers.map((to) => `{"to":"${to}"}\n`).join("")
    })
    yield* act("check")
    yield* until(({ status }) => status === "ready")
    return {
      act,
      until,
      /** Lets a message be as the version before stored it: to a number with its national prefix. */
      before: (to: string) =>
        sql(
          database,
          `update wac.messages set key = '${prefixed}', content = jsonb_set(content::jsonb, '{to}', '"${prefixed}"')::json
          where key = '${to}'`
        ),
      /** Lets a message wait until another time. */
      due: (to: string, at: number) =>
        sql(
          database,
          `update wac.campaign_queue set due_at = ${at} where message_id in (select id from wac.messages where key = '${to}')`
        ),
      /** Each recipient, its status and the reason of its end. */
      rows: Effect.map(
        call(`${at}/recipients`, { headers: session }),
        ({ body }) =>
          body.data.map(({ error, status, to }: Answer["body"]) => [to, status === "skipped" ? error.reason : "sent"])
      ),
      /** To whom messages were given to the provider. */
      sent: Effect.map(
        call(`${url}/internal/events?type=message.sent&limit=100`, { headers: session }),
        ({ body }) => body.data.map(({ data }: Answer["body"]) => data.to).sort()
      )
    }
  })

it.live("a message that was queued to a number with its national prefix is sent once, to the number itself", () =>
  Effect.gen(function*() {
    const { act, before, rows, sent, until } = yield* checkedCampaign([ana, ben])
    yield* before(ana)
    yield* act("start")
    const done = yield* until(({ status }) => status === "completed")
    assert.deepInclude(done.body.counts, { total: 2, queued: 0, skipped: 0, failed: 0 })
    assert.deepStrictEqual(yield* rows, [[ana, "sent"], [ben, "sent"]])
    assert.deepStrictEqual(yield* sent, [ana, ben])
  }).pipe(Effect.scoped, Effect.orDie))

it.live("a customer whom a campaign's queue has with and without the national prefix gets one message", () =>
  Effect.gen(function*() {
    const { act, before, sent, until } = yield* checkedCampaign([ana, ben])
    yield* before(ben)
    yield* act("start")
    const done = yield* until(({ status }) => status === "completed")
    assert.deepInclude(done.body.counts, { total: 2, queued: 0, skipped: 1, failed: 0 })
    assert.deepStrictEqual(done.body.reasons, [{ outcome: "skipped", reason: "duplicate", recipients: 1 }])
    assert.deepStrictEqual(yield* sent, [ana])
  }).pipe(Effect.scoped, Effect.orDie))

it.live("a customer to whom the version before has written under the national prefix gets no second message", () =>
  Effect.gen(function*() {
    const { act, before, due, rows, until } = yield* checkedCampaign([ben, ana])
    yield* due(ana, 1e15)
    yield* act("start")
    yield* until(({ counts }) => counts.queued === 1)
    yield* before(ben)
    yield* due(ana, 0)
    const done = yield* until(({ status }) => status === "completed")
    assert.deepInclude(done.body.counts, { total: 2, queued: 0, skipped: 1 })
    assert.deepStrictEqual(yield* rows, [[prefixed, "sent"], [ana, "duplicate"]])
  }).pipe(Effect.scoped, Effect.orDie))
