/**
 * The blocks of numbers while processes of the version before, which knows no basis of a block, run beside this one.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { PhoneNumberStore, SenderBlock } from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Effect } from "effect"
import { storageAndClient } from "../servers.ts"

const { hour } = Fixture

it.live("a block that the version before wrote rests on a report, whatever the block before rested on", () =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const store = yield* PhoneNumberStore.PhoneNumberStore
    const { number: { id, providerNumberId }, start, workspace } = yield* Fixture.world()
    const observe = (block: SenderBlock.SenderBlock) =>
      store.observe({ name: { providerNumberId }, now: block.since, at: block.since, change: { block } })
    const held = Effect.map(store.list(workspace.id), ([number]) => number!.block)
    /** As the version before writes a block. */
    const write = ({ reason, scope, since, until }: SenderBlock.SenderBlock) =>
      client`update wac.phone_numbers set block_reason = ${reason}, block_scope = ${scope}, blocked_since = ${since},
        blocked_until = ${until}, block_told_at = ${since} where id = ${id}`
    const restriction = {
      ...SenderBlock.of("restricted", start, null),
      scope: "outside_window",
      until: start + 24 * hour,
      basis: "term"
    } as const
    const ban = SenderBlock.of("restricted", start + hour, null)
    yield* observe(restriction)
    // it also writes blocks as they were, with another field of the number
    yield* write(restriction)
    assert.deepStrictEqual(yield* held, restriction)
    yield* write(ban)
    assert.deepStrictEqual(yield* held, ban)
    const met = SenderBlock.of("quality", start + 2 * hour, null, "send")
    yield* observe(met)
    assert.deepStrictEqual(yield* held, met)
    yield* client`update wac.phone_numbers set block_reason = null, block_scope = null, blocked_since = null,
      blocked_until = null where id = ${id}`
    assert.isNull(yield* held)
    yield* write(ban)
    assert.deepStrictEqual(yield* held, ban)
  }).pipe(Effect.provide(storageAndClient)))
