/**
 * What people do to a campaign that several processes send at once (contract §11): start it twice, pause, resume and
 * cancel it. How soon a pause takes effect is measured by `npm run bench -- campaign`.
 */
import { assert, it } from "@effect/vitest"
import { CampaignWorkStep } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call } from "../harness.ts"
import { freshDatabase, kill, postgres, sql } from "../processes.ts"
import { processesOn } from "../whatsapp/whatsapp-processes.ts"

const recipients = Extent.of(1500, 20_000)

/** What the campaign may use of 1,000 messages in a second. */
const share = Extent.of(0.1, 0.5)

const customer = (n: number) => `+49151${10_000_000 + n}`

const sum = (counts: { readonly [outcome: string]: number }, ...outcomes: ReadonlyArray<string>): number =>
  outcomes.reduce((sum, outcome) => sum + counts[outcome]!, 0)

it.live(
  "three processes start a campaign once, pause it, resume it, and leave nobody undecided when it is cancelled",
  () =>
    Effect.gen(function*() {
      const database = yield* Effect.flatMap(postgres, freshDatabase)
      const { api, pass, session, start } = yield* processesOn(database, { sentAfter: null, readAfter: null, lanes: 4 })
      yield* Effect.orDie(api.changeNumber(api.identity.numbers[0].id, { throughput: { level: "HIGH" } }))
      const processes = yield* Effect.replicateEffect(start({ WAC_LIMITS: "{}" }), 3)
      const [first, second, third] = processes.map(({ url }) => `${url}/internal/campaigns`) as [string, string, string]

      const created = yield* call(first, {
        headers: session,
        body: { name: "All", template: { name: "hello_world", language: "en_US" }, share }
      })
      const { id } = created.body
      yield* call(`${first}/${id}/recipients`, {
        method: "PUT",
        headers: { ...session, "content-type": "application/x-ndjson" },
        body: Array.from({ length: recipients }, (_, n) => `{"to":"${customer(n)}"}\n`).join("")
      })
      const act = (by: string, verb: string) => call(`${by}/${id}/${verb}`, { method: "POST", headers: session })
      const get = Effect.map(call(`${third}/${id}`, { headers: session }), ({ body }) => body)
      const reached = Effect.map(api.recipients, ({ size }) => size)
      const untilReached = (count: number) => checks.until(reached, (size) => size >= count)
      yield* act(first, "check")
      yield* checks.until(get, ({ status }) => status === "ready")

      const starts = yield* Effect.forEach([first, second, third, first, second, third], (by) => act(by, "start"), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        starts.map(({ body, status }) => [status, body.status]),
        starts.map(() => [200, "running"])
      )

      yield* untilReached(recipients / 5)
      assert.strictEqual((yield* act(second, "pause")).body.status, "paused")
      // what had its slot before is sent
      let before = -1
      yield* checks.until(
        Effect.gen(function*() {
          yield* Effect.sleep("1 second")
          const now = yield* reached
          const isCalm = now === before
          before = now
          return isCalm
        }),
        (isCalm) => isCalm
      )
      assert.isBelow(before, recipients)
      for (const process of processes) yield* pass(CampaignWorkStep.lease, process)
      yield* Effect.sleep("2 seconds")
      assert.strictEqual(yield* reached, before)

      assert.strictEqual((yield* act(third, "resume")).body.status, "running")
      yield* untilReached(before + recipients / 5)
      assert.strictEqual((yield* act(first, "cancel")).body.status, "cancelled")
      yield* kill(processes[1]!)
      const done = yield* checks.until(
        Effect.gen(function*() {
          const campaign = yield* get
          // the claims of the dead process end
          if (campaign.completedAt === null) {
            yield* Effect.sleep("1 second")
            for (const process of [processes[0]!, processes[2]!]) yield* pass(CampaignWorkStep.lease, process)
          }
          return campaign
        }),
        ({ completedAt }) => completedAt !== null
      )
      const tallies = yield* api.recipients
      assert.deepStrictEqual([...tallies].filter(([, { accepted, repeated }]) => accepted > 1 || repeated > 0), [])
      assert.strictEqual(done.status, "cancelled")
      assert.strictEqual(sum(done.counts, "queued"), 0)
      assert.isAbove(sum(done.counts, "skipped"), 0)
      assert.strictEqual(sum(done.counts, "sent", "delivered", "failed", "unknown", "skipped"), recipients)
      const { counts } = yield* checks.until(get, ({ counts }) => sum(counts, "delivered") === tallies.size)
      assert.strictEqual(sum(counts, "skipped"), sum(done.counts, "skipped"))
      assert.strictEqual(yield* reached, tallies.size)
      const completions = yield* sql<{ readonly status: string }>(
        database,
        "select data ->> 'status' as status from wac.events where type = 'campaign.completed'"
      )
      assert.deepStrictEqual(completions.map(({ status }) => status), ["cancelled"])
    }).pipe(Effect.scoped, Effect.orDie),
  Extent.of(600_000, 1_200_000)
)
