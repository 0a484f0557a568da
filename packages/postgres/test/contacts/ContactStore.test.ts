/**
 * The records of customers' messages that prevent duplicates.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { MessageStore } from "@wac/core"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Effect } from "effect"
import { storageAndClient } from "../servers.ts"

const { day, minute } = Fixture
const { inbound } = MessageFixture

it.live("a record is deleted once its message can no longer be repeated", () =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const remembered = Effect.map(
      client<{ readonly many: number }>`select count(*)::int as many from wac.inbound_messages`,
      ([row]) => row!.many
    )
    const sweep = (now: number) => MessageStore.MessageStore.use((store) => store.sweep(now))
    const own = yield* Fixture.world()
    yield* Effect.forEach(
      Array.from({ length: 1100 }, (_, i) => i),
      (i) => inbound(own, { at: own.start - (i % 2) * day, now: own.start, customer: MessageFixture.customer(i) }),
      // none waits for more than a busy machine carries out before the deadline of a batch
      { concurrency: 64 }
    )
    // a message dated in the future is remembered for longer
    yield* inbound(own, { at: own.start + minute, now: own.start })
    yield* sweep(own.start + 31 * day - 1)
    assert.strictEqual(yield* remembered, 1101)
    yield* sweep(own.start + 31 * day)
    assert.strictEqual(yield* remembered, 1)
    yield* sweep(own.start + 31 * day + minute)
    assert.strictEqual(yield* remembered, 0)
  }).pipe(Effect.provide(storageAndClient)))
