/**
 * A campaign over three processes, one of which is killed every two seconds, and PostgreSQL once: no customer is
 * written to twice, each has an outcome, and the counts are those of the simulated Cloud API (contract §11).
 */
import { assert, it } from "@effect/vitest"
import { CampaignWorkStep } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, type call } from "../harness.ts"
import { freshDatabase, ownPostgres, sql } from "../processes.ts"
import { supervised } from "../supervisor.ts"
import { processesOn } from "../whatsapp/whatsapp-processes.ts"

const recipients = Extent.of(360, 100_000)

/** PostgreSQL dies once so many recipients were tried, and no process dies any more after so many. */
const [crashAfter, calmAfter] = [recipients * Extent.of(0.4, 0.5), recipients * Extent.of(0.6, 0.95)] as const

/** A part of what the tier allows in a second, such that several processes die on the way. */
const share = Extent.of(0.02, 0.9)

/** Reports come in posts of many, as from an upstream under load. */
const reports = { sentAfter: null, readAfter: null, batchMost: 200, batchLinger: 100, lanes: 4 } as const

const customer = (n: number) => `+49151${10_000_000 + n}`

/** Looks at a campaign until it is completed, and carries out `prod` when nothing has changed for a while. */
const completed = (look: Effect.Effect<Answer["body"]>, prod: Effect.Effect<void>) =>
  Effect.gen(function*() {
    for (let queued = recipients;;) {
      const campaign = yield* look
      if (campaign.status === "completed") return campaign
      if (campaign.counts.queued === queued) yield* prod
      queued = campaign.counts.queued
      yield* Effect.sleep("2 seconds")
    }
  })

it.live(
  "kill -9 beside a campaign writes to no customer twice, and every one has an outcome",
  () =>
    Effect.gen(function*() {
      const postgres = yield* ownPostgres
      const database = yield* freshDatabase(postgres.url)
      const { api, pass, session, start } = yield* processesOn(database, reports)
      yield* Effect.orDie(api.changeNumber(api.identity.numbers[0].id, { throughput: { level: "HIGH" } }))
      // the wire breaks beside what the kills lose
      yield* api.fault({ random: { rate: 0.005 } })
      const processes = yield* supervised(start({ WAC_LIMITS: "{}" }))
      const ask = (path: string, options: Parameters<typeof call>[1] = {}) =>
        processes.ask(
          `/internal/campaigns${path}`,
          { ...options, headers: { ...session, ...options?.headers } },
          ({ status }) => status < 500
        )
      const created = yield* ask("", {
        // lost outcomes are failures after 10 minutes; those of many kills come together
        body: { name: "All", template: { name: "hello_world", language: "en_US" }, share, maxFailureRate: 1 }
      })
      assert.strictEqual(created.status, 201, created.text)
      const { id } = created.body
      const file = Array.from({ length: recipients }, (_, n) => `{"to":"${customer(n)}"}\n`).join("")
      const uploaded = yield* ask(`/${id}/recipients`, {
        method: "PUT",
        headers: { "content-type": "application/x-ndjson" },
        body: file
      })
      assert.strictEqual(uploaded.status, 200, uploaded.text)
      yield* ask(`/${id}/check`, { method: "POST" })
      yield* checks.until(ask(`/${id}`), ({ body }) => body.status === "ready")

      const calm = yield* processes.unsettle
      yield* ask(`/${id}/start`, { method: "POST" })
      const untilTried = (count: number) =>
        checks.until(
          Effect.delay(ask(`/${id}`), "200 millis"),
          ({ body }) => body.counts.queued <= recipients - count
        )
      yield* untilTried(crashAfter)
      yield* postgres.crash
      yield* postgres.start
      yield* untilTried(calmAfter)
      const killed = yield* calm
      const done = yield* completed(
        Effect.map(ask(`/${id}`), ({ body }) => body),
        // the claims of the dead end, and others learn what came of them
        Effect.suspend(() =>
          Effect.forEach(processes.alive, (process) => pass(CampaignWorkStep.lease, process), { discard: true })
        )
      )
      assert.deepInclude(done.counts, { total: recipients, queued: 0, skipped: 0 })

      const look = Effect.gen(function*() {
        const { body: { counts } } = yield* ask(`/${id}`)
        const { text } = yield* ask(`/${id}/recipients`, { headers: { accept: "text/csv" } })
        const rows = parse(text, { bom: true, columns: true }) as ReadonlyArray<Readonly<Record<string, string>>>
        // last, since upstream accepts some calls late, and what is delivered was accepted before
        const tallies = yield* api.recipients
        const accepted = new Set([...tallies].flatMap(([to, tally]) => tally.accepted > 0 ? [to] : []))
        return { counts, rows, tallies, accepted }
      })
      // the provider's reports name what answers did not
      const { accepted, counts, rows, tallies } = yield* checks.until(
        look,
        ({ accepted, counts }) => counts.delivered >= accepted.size
      )
      assert.deepStrictEqual([...tallies].filter(([, { accepted, repeated }]) => accepted > 1 || repeated > 0), [])
      const { failed, unknown, ...others } = counts
      assert.deepStrictEqual(others, {
        total: recipients,
        queued: 0,
        sent: 0,
        delivered: accepted.size,
        read: 0,
        held: 0,
        skipped: 0
      })
      // after 10 minutes without a report, an unknown outcome is a failure
      assert.strictEqual(failed + unknown, recipients - accepted.size)
      assert.lengthOf(rows, recipients)
      for (const { outcome, reason, to } of rows) {
        assert.include(
          accepted.has(to!.replace("'", "")) ? ["delivered"] : ["unknown", "failed delivery_unknown"],
          `${outcome} ${reason}`.trim()
        )
      }
      assert.lengthOf(
        yield* sql<{ readonly type: string }>(
          database,
          "select type from wac.events where type = 'campaign.completed'"
        ),
        1
      )
      assert.isAtLeast(killed, 3)
    }).pipe(Effect.scoped),
  Extent.of(600_000, 3_600_000)
)
