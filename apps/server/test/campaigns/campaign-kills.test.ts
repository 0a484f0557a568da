/**
 * A campaign over several processes that are killed while they send: no customer is written to twice, each has an
 * outcome, and the counts are those of the simulated Cloud API (contract §11).
 */
import { assert, layer } from "@effect/vitest"
import { CampaignStep } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { Context, Effect, Layer } from "effect"
import * as checks from "../checks.ts"
import { call } from "../harness.ts"
import { kill, sql, type Steered } from "../processes.ts"
import { processes } from "../whatsapp/whatsapp-processes.ts"

const recipients = Extent.of(600, 3000)

/** How many processes are killed, each after an equal part of the calls. */
const kills = Extent.of(3, 8)

class Killing extends Context.Service<Killing, Effect.Success<typeof processes>>()(
  "@wac/server/test/campaigns/campaign-kills.test/Killing"
) {
  static readonly layer = Layer.effect(Killing, processes)
}

/** Slow enough that processes die in between. */
const limits = {
  WAC_LIMITS: JSON.stringify({
    phoneNumberTiers: { coexistence: 250, standard: 250, high: 250 },
    pair: { everySeconds: 0.001, burst: 1_000_000 }
  })
}

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

layer(Killing.layer, { excludeTestServices: true })("kill -9 beside a campaign", (it) => {
  it.effect(
    "no customer is written to twice, and every one has an outcome",
    () =>
      Effect.gen(function*() {
        const { api, database, pass, session, start } = yield* Killing
        const alive: Array<Steered> = []
        const begin = Effect.map(start(limits), (process) => void alive.push(process))
        yield* begin
        yield* begin
        yield* begin
        const ask = (path: string, options: Parameters<typeof call>[1] = {}) =>
          call(`${alive.at(-1)!.url}/internal/campaigns${path}`, {
            ...options,
            headers: { ...session, ...options?.headers }
          })
        const created = yield* ask("", {
          body: { name: "All", template: { name: "hello_world", language: "en_US" }, share: 0.9 }
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
        yield* ask(`/${id}/start`, { method: "POST" })

        const sends = Effect.map(api.calls, (calls) => calls.filter(({ to }) => to !== undefined))
        for (let died = 1; died <= kills; died++) {
          const share = Math.floor((recipients * died) / (kills + 2))
          yield* checks.until(sends, ({ length }) => length >= share)
          yield* kill(alive.shift()!)
          yield* begin
        }
        // claims of the dead end, and others learn what came of them
        yield* checks.until(
          Effect.gen(function*() {
            const { body } = yield* ask(`/${id}`)
            if (body.status !== "completed") {
              for (const process of alive) yield* pass(CampaignStep.lease, process)
            }
            return body
          }),
          ({ status }) => status === "completed"
        )

        const calls = yield* sends
        const perCustomer = new Map<string, number>()
        for (const { to } of calls) perCustomer.set(to!, (perCustomer.get(to!) ?? 0) + 1)
        assert.deepStrictEqual([...perCustomer].filter(([, count]) => count > 1), [])
        const { counts } = (yield* ask(`/${id}`)).body
        assert.strictEqual(counts.total, recipients)
        assert.strictEqual(counts.queued, 0)
        const named = counts.sent + counts.delivered + counts.read
        const taken = calls.filter(({ processed }) => processed).length
        // an answer that was lost leaves an unknown outcome, which a report may name later
        assert.isAtMost(named, taken)
        assert.isAtLeast(named + counts.unknown + counts.failed, taken)
        assert.strictEqual(counts.skipped, 0)
        const completions = yield* sql<{ readonly type: string }>(
          database,
          "select type from events where type = 'campaign.completed'"
        )
        assert.lengthOf(completions, 1)
      }).pipe(Effect.scoped),
    Extent.of(120_000, 600_000)
  )
})
