/**
 * A database that was restored from a backup sends no campaign unasked (contract §11).
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { wac } from "../commandLine.ts"
import { call, ready } from "../harness.ts"
import { freshDatabase, masterKey, postgres, sql } from "../processes.ts"

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

it.live("a campaign in a restored database waits until the operator confirms it, and then sends", () =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    const variables = { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
    const campaign = yield* Effect.scoped(Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: variables })
      const created = yield* call(`${url}/internal/campaigns`, {
        headers: session,
        body: {
          name: "Later",
          template: { name: "hello_world", language: "en_US" },
          startAt: checks.timeIn(3_600_000),
          share: 0.9
        }
      })
      const path = `/internal/campaigns/${created.body.id}`
      const act = (verb: string) => call(`${url}${path}/${verb}`, { method: "POST", headers: session })
      yield* call(`${url}${path}/recipients`, {
        method: "PUT",
        headers: { ...session, "content-type": "application/x-ndjson" },
        body: [1, 2, 3].map((n) => `{"to":"${customer(n)}"}\n`).join("")
      })
      assert.strictEqual((yield* act("check")).status, 200)
      yield* checks.until(call(`${url}${path}`, { headers: session }), ({ body }) => body.status === "ready")
      assert.strictEqual((yield* act("start")).body.status, "scheduled")
      return { id: created.body.id as string, path }
    }))
    assert.include((yield* wac(variables)("campaigns list")).stdout, "no campaign waits")
    // the backup is from an hour ago
    yield* sql(database, "update wac.heartbeats set beat_at = beat_at - 3600000")
    yield* sql(
      database,
      "update wac.campaigns set work_at = 0, state = jsonb_set(state::jsonb, '{startAt}', '0')::json"
    )

    const { session, url } = yield* ready({ environment: variables })
    const get = call(`${url}${campaign.path}`, { headers: session })
    const waiting = yield* checks.until(get, ({ body }) => body.status !== "scheduled")
    assert.deepInclude(waiting.body, { status: "paused", pausedReason: "restored" })
    assert.strictEqual(waiting.body.counts.queued, 3)
    const listed = yield* wac(variables)("campaigns list")
    assert.include(listed.stdout, `${campaign.id} of`)
    const endAt = (notAfter: string) =>
      call(`${url}${campaign.path}`, { method: "PATCH", headers: session, body: { notAfter } })
    yield* endAt(checks.timeIn(-60_000))
    const refusing = yield* wac(variables)("campaigns confirm --json")
    assert.strictEqual(refusing.code, "one campaign still waits")
    const refused = JSON.parse(refusing.stdout)
    assert.deepStrictEqual(refused.campaigns, [])
    assert.deepInclude(refused.refused[0], { id: campaign.id, name: "Later" })
    assert.include(refused.refused[0].message, "the campaign's end (notAfter) has passed")
    assert.include((yield* wac(variables)("campaigns confirm")).stdout, `${campaign.id} of`)
    assert.deepInclude((yield* get).body, { status: "paused", pausedReason: "restored" })
    yield* endAt(checks.timeIn(3_600_000))
    // a file that all recipients get was deleted since
    const header = JSON.stringify({ type: "image", image: { media: "med_01K8ZQ8F6G0H2J4K6M8N0P2Q4R" } })
    yield* sql(
      database,
      `update wac.campaigns set state = jsonb_set(state::jsonb, '{template,header}', '${header}')::json`
    )
    const lacking = yield* wac(variables)("campaigns confirm --json")
    assert.strictEqual(lacking.code, "one campaign still waits")
    const [without] = JSON.parse(lacking.stdout).refused
    assert.deepInclude(without, { id: campaign.id })
    assert.strictEqual(without.message, "template.header.image.media does not name a file of this workspace")
    assert.deepInclude((yield* get).body, { status: "paused", pausedReason: "restored" })
    yield* sql(database, "update wac.campaigns set state = (state::jsonb #- '{template,header}')::json")
    const confirmed = yield* wac(variables)("campaigns confirm --json")
    assert.deepInclude(JSON.parse(confirmed.stdout).campaigns[0], { id: campaign.id, name: "Later" })
    assert.include((yield* wac(variables)("campaigns confirm")).stdout, "no campaign waits")
    const done = yield* checks.until(get, ({ body }) => body.status === "completed")
    assert.strictEqual(done.body.counts.queued, 0)
    const audit = yield* call(`${url}/internal/audit`, { headers: session })
    assert.isTrue(
      audit.body.data.some(({ action, by, target }: (typeof audit)["body"]) =>
        action === "campaign.resume" && by === null && target === campaign.id
      )
    )
  }).pipe(Effect.scoped, Effect.orDie))

it.live("WAC_RESTORED makes campaigns of a younger copy wait", () =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    const variables = { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
    yield* Effect.scoped(ready({ environment: variables }))
    yield* sql(
      database,
      `insert into wac.campaigns (id, workspace_id, work_at, state)
      select 'cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R', id, 0,
        json_build_object('id', 'cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R', 'status', 'running')
      from wac.workspaces`
    )
    yield* ready({ environment: { ...variables, WAC_RESTORED: "true" } })
    yield* checks.until(
      sql<{ readonly reason: string }>(database, "select state ->> 'pausedFor' as reason from wac.campaigns"),
      ([row]) => row?.reason === "restored"
    )
  }).pipe(Effect.scoped, Effect.orDie))
