/**
 * Processes that reach PostgreSQL by a pooler, as Debian ships it: sends with kills, and what one of them revokes.
 */
import { assert, describe, it } from "@effect/vitest"
import { SendBinding } from "@wac/core"
import * as PgBouncer from "@wac/testbed/PgBouncer"
import { Duration, Effect, Exit } from "effect"
import * as checks from "../checks.ts"
import { call, createKey, hello, send } from "../harness.ts"
import { emptyDatabase, kill, masterKey, postgres, signedIn, sql, startSteered, withKey } from "../processes.ts"
import { upstream } from "../upstream.ts"

const pooled = Effect.gen(function*() {
  const database = yield* Effect.flatMap(postgres, emptyDatabase)
  const pooler = yield* Effect.acquireRelease(
    Effect.promise(() => PgBouncer.start(database)),
    (pooler) => Effect.promise(pooler.stop)
  )
  const provider = yield* upstream
  const env = { DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: database, WAC_MASTER_KEY: masterKey() }
  return { database, provider, env }
})

/** How many sends are under way at once, and how many there are in all. */
const callers = 8
const sends = 48

describe("processes behind a pooler", PgBouncer.needed, () => {
  it.live("behind a pooler, revocations apply within two seconds, and each message is sent once despite kills", () =>
    Effect.gen(function*() {
      const { database, env, provider } = yield* pooled
      const [a, b] = yield* Effect.all([startSteered(env, provider.url), startSteered(env, provider.url)], {
        concurrency: 2
      })
      const { key, session } = yield* signedIn(a)
      assert.strictEqual((yield* call(`${b.url}/readyz`)).status, 200)

      const other = yield* createKey(a.url, session)
      const bearer = { authorization: `Bearer ${other.apiKey}` }
      const asked = call(`${b.url}/v1/templates`, { headers: bearer })
      assert.strictEqual((yield* asked).status, 200)
      const revoked = yield* call(`${a.url}/internal/api-keys/${other.id}`, { method: "DELETE", headers: session })
      assert.strictEqual(revoked.status, 204)
      const { accepted, refusal } = yield* checks.untilRefused(asked)
      checks.assertError(refusal, 401, { code: "unauthorized", reason: "revoked_key" })
      assert.isBelow(accepted, 2000)

      // by way of the one that dies, and again by the one that stays
      const numbers = Array.from({ length: sends }, (_, i) => ({
        to: `+1555${7_000_000 + i}`,
        idempotencyKey: withKey(crypto.randomUUID())
      }))
      const firsts = yield* Effect.forEach(numbers, ({ idempotencyKey, to }, i) =>
        Effect.gen(function*() {
          if (i === sends / 2) yield* kill(a)
          return yield* Effect.exit(send({ url: a.url, key }, hello(to), idempotencyKey))
        }), { concurrency: callers })
      yield* b.order({ _tag: "Advance", millis: Duration.toMillis(SendBinding.lease) })
      const answers = yield* Effect.forEach(
        numbers,
        ({ idempotencyKey, to }) => send({ url: b.url, key }, hello(to), idempotencyKey),
        { concurrency: callers }
      )
      for (const [i, answer] of answers.entries()) {
        const asked = yield* provider.askedFor(numbers[i]!.to)
        const first = firsts[i]!
        if (Exit.isSuccess(first)) assert.deepStrictEqual([answer.status, answer.text], [200, first.value.text])
        if (answer.status === 200) {
          assert.deepStrictEqual(asked, [answer.body.message_id])
        } else {
          checks.assertError(answer, 504, { code: "server_error", reason: "outcome_unknown" })
          assert.isAtMost(asked.length, 1)
        }
      }
      assert.isAtLeast(answers.filter(({ status }) => status === 200).length, sends - callers)

      // nobody's settings are in what others have next
      const sessions = yield* sql<{ named: number; timeout: string }>(
        env.DATABASE_URL,
        "select count(*)::int as named, current_setting('lock_timeout') as timeout from pg_prepared_statements"
      )
      assert.strictEqual(sessions[0]!.timeout, "0")
      const [listening] = yield* sql<{ count: number }>(
        database,
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and query like " +
          "'LISTEN %'"
      )
      assert.strictEqual(listening!.count, 1)
    }).pipe(Effect.scoped))
})
