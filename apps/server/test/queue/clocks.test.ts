/**
 * Queued messages beside processes whose clocks are wrong: the storage's clock decides when they are due (contract §15).
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello } from "../harness.ts"
import { freshDatabase, masterKey, postgres, signedIn, startSteered } from "../processes.ts"
import { upstream } from "../upstream.ts"

const hour = 3_600_000

it.live("processes whose clocks are hours ahead or behind, or jump, send a message once and not before its time", () =>
  Effect.gen(function*() {
    const provider = yield* upstream
    const env = {
      DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase),
      WAC_MASTER_KEY: masterKey(),
      TEST_TIME: "storage"
    }
    const [ahead, behind] = [
      yield* startSteered(env, provider.url, 5 * hour),
      yield* startSteered(env, provider.url, -5 * hour)
    ]
    const { key } = yield* signedIn(ahead)
    const queue = (name: string, sendAt: number) =>
      call(`${ahead.url}/v1/messages`, {
        headers: { authorization: `Bearer ${key.apiKey}`, "idempotency-key": name },
        body: { ...hello(), send_at: new Date(sendAt).toISOString() }
      })
    const soon = checks.now() + 3000
    const far = yield* queue("far", checks.now() + 2 * hour)
    const near = yield* queue("near", soon)
    assert.deepStrictEqual([far.status, near.status], [202, 202], near.text)
    yield* ahead.order({ _tag: "Advance", millis: 24 * hour })
    yield* behind.order({ _tag: "Advance", millis: -24 * hour })
    yield* checks.untilStatus({ url: ahead.url, key }, near.body.message_id, "sent")
    assert.isAtLeast(checks.now(), soon)
    yield* Effect.sleep("2 seconds")
    const calls = yield* provider.calls
    assert.deepStrictEqual(calls.map(({ messageId }) => messageId), [near.body.message_id])
    const { body } = yield* checks.stored({ url: behind.url, key }, far.body.message_id)
    assert.strictEqual(body.status, "queued")
  }).pipe(Effect.scoped))
