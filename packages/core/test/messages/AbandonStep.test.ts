import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { keyOf } from "../../src/contacts/CustomerNames.ts"
import type { IdempotencyKey } from "../../src/Idempotency.ts"
import * as Limits from "../../src/limits/Limits.ts"
import { monthOf } from "../../src/limits/Quota.ts"
import { abandon, type Tried } from "../../src/messages/AbandonStep.ts"
import type { AcceptSend } from "../../src/messages/MessageStore.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, day, hour, minute, second, upTo } from "../checks.ts"
import { binding, id, message, sender, start, templated } from "../samples.ts"

const customerOf = (n: number) => `+1202555${String(n).padStart(4, "0")}` as const

const claimOf = (n: number) => `claim ${n}`

/** The `n`th send to a customer. Its key is its message's id. */
const send = (n: number, customer = n): AcceptSend => ({
  now: start,
  request: {
    workspaceId: id("ws"),
    route: "POST /v1/messages",
    key: id("msg", n) as string as IdempotencyKey,
    fingerprint: "one"
  },
  apiKeyId: id("key"),
  queue: null,
  later: null,
  message: { ...templated([]), to: customerOf(customer) },
  hash: `hash ${customer}`,
  messageId: id("msg", n),
  claimToken: claimOf(n),
  leaseUntil: start + 30 * second,
  limits: Limits.standard,
  provider: "sandbox",
  capabilities: Capabilities.all
})

/** A send after its first try, which counted a customer who had not counted before. */
const tried = (n: number, lastTry: Partial<Tried["lastTry"]> = {}): Tried => ({
  message: message({ id: id("msg", n) }),
  binding: binding({ messageId: id("msg", n), claim: { token: claimOf(n), leaseUntil: start + 30 * second } }),
  quotaMonth: monthOf(start),
  returnedMonth: null,
  lastTry: { statusAtBefore: null, counted: { at: start, before: null }, ...lastTry }
})

/** The storage of one workspace with one number. Every bucket is an hour from full. */
class World {
  readonly sends: Map<string, Tried>
  workspaceFullAt = start + hour
  numberFullAt = start + hour
  readonly pairs = new Map<string, { readonly fullAt: number; readonly countedAt: number | null }>()
  quota: number
  customers = 0

  constructor(sends: ReadonlyArray<Tried>) {
    this.sends = new Map(sends.map((send) => [send.message.id, send]))
    this.quota = sends.length
  }

  abandon(batch: ReadonlyArray<AcceptSend>): void {
    const { writes } = abandon({
      now: (asked) => asked,
      found: ({ message: { to }, request: { key } }) => ({
        send: this.sends.get(key),
        workspace: { tier: null },
        workspaceFullAt: this.workspaceFullAt,
        number: sender(),
        numberFullAt: this.numberFullAt,
        pairs: [{ customer: keyOf(to), ...this.pairs.get(keyOf(to)) ?? { fullAt: undefined, countedAt: null } }]
      })
    }, batch)
    for (const send of writes.sends) {
      this.sends.set(send.message.id, { ...send, lastTry: this.sends.get(send.message.id)!.lastTry })
    }
    for (const id of writes.removed) this.sends.delete(id)
    for (const { messages } of writes.quotas) this.quota += messages
    for (const { fullAt } of writes.workspaces) this.workspaceFullAt = fullAt
    for (const { customers, fullAt } of writes.numbers) {
      this.numberFullAt = fullAt
      this.customers -= customers
    }
    for (const { countedAt, customer, fullAt } of writes.pairs) this.pairs.set(customer, { fullAt, countedAt })
    assert.deepStrictEqual([writes.events, writes.names], [[], []])
  }
}

/** A world with one customer, who counts since now. */
const worldOf = (...sends: ReadonlyArray<Tried>): World => {
  const world = new World(sends)
  world.pairs.set(customerOf(1), { fullAt: start + hour, countedAt: start })
  world.customers = 1
  return world
}

const intervals = {
  workspace: Limits.workspace(Limits.standard, null).interval,
  number: Limits.phoneNumber(Limits.standard, null).interval,
  pair: Limits.pair(Limits.standard).interval
}

describe("abandoning a send", () => {
  it("abandoning a first try restores message, quota, tokens and the customer's place", () => {
    const world = worldOf(tried(1))
    world.abandon([send(1)])
    assert.strictEqual(world.sends.size, 0)
    assert.strictEqual(world.quota, 0)
    assert.strictEqual(world.workspaceFullAt, start + hour - intervals.workspace)
    assert.strictEqual(world.numberFullAt, start + hour - intervals.number)
    assert.deepStrictEqual(world.pairs.get(customerOf(1)), { fullAt: start + hour - intervals.pair, countedAt: null })
    assert.strictEqual(world.customers, 0)
  })

  it("abandoning a later try restores the message's previous state, and keeps its quota", () => {
    const world = worldOf(tried(1, { statusAtBefore: start - minute, counted: null }))
    world.abandon([send(1)])
    const { binding, message } = world.sends.get(id("msg", 1))!
    assert.deepStrictEqual([message.status, message.statusAt], ["sending", start - minute])
    assert.isNull(binding!.claim)
    assert.strictEqual(world.quota, 1)
    assert.strictEqual(world.pairs.get(customerOf(1))!.countedAt, start)
  })

  it("a message with later reports is kept, and so is its key from now on", () => {
    const sent = { ...tried(1), message: message({ id: id("msg", 1), status: "delivered", sequence: 2 }) }
    const world = worldOf(sent)
    world.abandon([send(1)])
    const after = world.sends.get(id("msg", 1))!
    assert.strictEqual(after.message.status, "delivered")
    assert.deepStrictEqual(after.binding, { ...sent.binding!, claim: null, expiresAt: start + day })
    assert.strictEqual(world.quota, 1)
  })

  it("a customer gets their previous place back, unless they were messaged again since", () => {
    const before = start - hour
    const had = worldOf(tried(1, { counted: { at: start, before } }))
    had.abandon([send(1)])
    assert.deepStrictEqual([had.pairs.get(customerOf(1))!.countedAt, had.customers], [before, 1])
    const again = worldOf(tried(1, { counted: { at: start - 1, before: null } }))
    again.abandon([send(1)])
    assert.deepStrictEqual([again.pairs.get(customerOf(1))!.countedAt, again.customers], [start, 1])
  })

  it("only the claim's owner can abandon, once", () => {
    const world = worldOf(tried(1), tried(2))
    world.abandon([{ ...send(1), claimToken: claimOf(2) }, send(3), send(2), send(2)])
    assert.deepStrictEqual([...world.sends.keys()], [id("msg", 1)])
    assert.strictEqual(world.workspaceFullAt, start + hour - intervals.workspace)
    assert.strictEqual(world.quota, 1)
  })
})

const abandoned = Schema.Struct({ n: between(1, 5), customer: between(1, 2), isOwner: Schema.Boolean })

it.prop("a batch returns the same as its commands one by one", {
  commands: upTo(abandoned, 12),
  sizes
}, (_) => {
  const play = (sizes: ReadonlyArray<number>) => {
    const world = worldOf(
      tried(1),
      tried(2, { counted: { at: start, before: start - hour } }),
      tried(3, { statusAtBefore: start - minute }),
      tried(4, { counted: null }),
      { ...tried(5), message: message({ id: id("msg", 5), status: "delivered", sequence: 1 }) }
    )
    inBatches(_.commands, sizes, () => "abandon", (_, batch) => {
      world.abandon(batch.map(({ customer, isOwner, n }) => ({
        ...send(n, customer),
        ...(isOwner ? {} : { claimToken: "another's" })
      })))
      return batch
    })
    return { ...world }
  }
  assert.deepStrictEqual(play(_.sizes), play([]))
}, checks)
