import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { InvalidBody, ServerError } from "../../src/Errors.ts"
import type { Recorded } from "../../src/events/Event.ts"
import type { MessageId } from "../../src/Id.ts"
import { monthOf } from "../../src/limits/Quota.ts"
import * as KeyedMessage from "../../src/messages/KeyedMessage.ts"
import type { ApplyReport, EventIds, SendEnd, SettleSend, SweepResult } from "../../src/messages/MessageStore.ts"
import { applyReport, settle, settleDirectly, type Sweep, sweep } from "../../src/messages/OutcomeStep.ts"
import type { Writes } from "../../src/messages/SendBatch.ts"
import type { Answer } from "../../src/messages/SendBinding.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, day, hour, second, upTo } from "../checks.ts"
import { binding, id, message, report, start } from "../samples.ts"

const messages = 4

const claimOf = (n: number) => `claim ${n}`

const claimed = (n: number): KeyedMessage.KeyedMessage => ({
  message: message({ id: id("msg", n) }),
  binding: binding({
    messageId: id("msg", n),
    claim: { token: claimOf(n), leaseUntil: start + 30 * second }
  }),
  quotaMonth: monthOf(start),
  returnedMonth: null
})

const ids = (n: number, count = 2): EventIds => ({
  events: Array.from({ length: count }, (_, i) => id("evt", 100 * n + i)),
  deliveries: Array.from({ length: count }, (_, i) => id("dlv", 100 * n + i))
})

/** The storage of one workspace's sends, all claimed at first. */
class World {
  readonly sends = new Map(Array.from({ length: messages }, (_, n) => [id("msg", n), claimed(n)]))
  readonly names = new Map<string, MessageId>()
  readonly events: Array<Recorded> = []
  /** The messages that a sweep will look at, and when. */
  readonly deadlines: Array<Writes["deadlines"][number]> = Array.from({ length: messages }, (_, n) => ({
    workspaceId: id("ws"),
    dueAt: start + 30 * second,
    messageId: id("msg", n)
  }))
  quota = messages

  settle(batch: ReadonlyArray<SettleSend>): ReadonlyArray<boolean> {
    return this.write(settle({ now: (asked) => asked, send: (id) => this.sends.get(id) }, batch))
  }

  applyReport(batch: ReadonlyArray<ApplyReport>): ReadonlyArray<boolean> {
    return this.report(batch).map((one) => one !== undefined)
  }

  report(batch: ReadonlyArray<ApplyReport>) {
    return this.write(applyReport({
      now: (asked) => asked,
      send: (id) => this.sends.get(id),
      named: (name) => this.names.get(name),
      number: (name) => name === "number" ? id("pn") : undefined
    }, batch))
  }

  sweep(batch: ReadonlyArray<Sweep>): ReadonlyArray<SweepResult> {
    return this.write(sweep({ now: (asked) => asked, candidates: [...this.sends.values()] }, batch))
  }

  private write<A>({ answers, writes }: { readonly answers: A; readonly writes: Writes }): A {
    for (const send of writes.sends) this.sends.set(send.message.id, send)
    for (const { messageId, providerMessageId } of writes.names) {
      if (!this.names.has(providerMessageId)) this.names.set(providerMessageId, messageId)
    }
    for (const { messages } of writes.quotas) this.quota += messages
    this.events.push(...writes.events)
    this.deadlines.push(...writes.deadlines)
    return answers
  }
}

const failure: Answer = {
  _tag: "Failed",
  error: new ServerError({ reason: "provider_unavailable", message: "away" }),
  requestId: id("req")
}
const refusal: Answer = {
  _tag: "Failed",
  error: new InvalidBody({ reason: "undeliverable", param: "to", message: "cannot be reached" }),
  requestId: id("req")
}

const ends: { readonly [Tag in SendEnd["_tag"]]: (n: number, now: number) => SendEnd } = {
  Accepted: (n) => ({ _tag: "Accepted", providerMessageId: `wamid.${n}` }),
  Refused: (_, now) => ({ _tag: "Refused", report: report("failed", now), answer: refusal }),
  NotSent: () => ({ _tag: "NotSent", answer: failure }),
  Unknown: () => ({ _tag: "Unknown" })
}

const ending = (n: number, tag: SendEnd["_tag"], now = start, at = n): SettleSend => ({
  now,
  message: message({ id: id("msg", n) }),
  claimToken: claimOf(n),
  end: ends[tag](n, now),
  ids: ids(at)
})

const reporting = (
  n: number,
  status: "sent" | "delivered" | "read" | "failed",
  fields: Partial<ApplyReport> & { readonly name?: string } = {}
): ApplyReport => {
  const { name = `wamid.${n}`, now = start, ...given } = fields
  return {
    now,
    providerNumberId: "number",
    reference: id("msg", n),
    report: report(status, now, { providerMessageId: name }),
    ids: ids(n),
    ...given
  }
}

const typesOf = (events: ReadonlyArray<Recorded>) => events.map(({ event: { sequence, type } }) => [type, sequence])

describe("the outcome of a send", () => {
  it.each<[SendEnd["_tag"], string, ReadonlyArray<string>, number]>([
    ["Accepted", "sent", ["message.sent"], messages],
    ["Refused", "failed", ["message.failed"], messages - 1],
    ["NotSent", "sending", [], messages],
    ["Unknown", "unknown", [], messages]
  ])("%s leaves it %s", (tag, status, types, quota) => {
    const world = new World()
    assert.deepStrictEqual(world.settle([ending(1, tag)]), [true])
    const after = world.sends.get(id("msg", 1))!
    assert.strictEqual(after.message.status, status)
    assert.isNull(after.binding!.claim)
    assert.deepStrictEqual(world.events.map(({ event }) => event.type), types)
    assert.strictEqual(world.quota, quota)
  })

  it("only the claim's owner can settle a send, once", () => {
    const world = new World()
    const others = { ...ending(1, "Accepted"), claimToken: claimOf(2) }
    const elsewhere = { ...ending(1, "Accepted"), message: message({ id: id("msg", 1), workspaceId: id("ws", 2) }) }
    assert.deepStrictEqual(
      world.settle([others, elsewhere, ending(9, "Accepted"), ending(1, "Unknown"), ending(1, "Accepted")]),
      [false, false, false, true, false]
    )
    assert.strictEqual(world.sends.get(id("msg", 1))!.message.status, "unknown")
  })

  it("earlier reports stay in force, and their provider id answers", () => {
    const world = new World()
    world.applyReport([reporting(1, "delivered", { name: "wamid.first" })])
    world.settle([ending(1, "Accepted")])
    const { binding, message } = world.sends.get(id("msg", 1))!
    assert.deepStrictEqual([message.status, message.providerMessageId], ["delivered", "wamid.first"])
    assert.strictEqual(binding!.answer?._tag, "Sent")
    assert.deepStrictEqual(typesOf(world.events), [["message.sent", 1], ["message.delivered", 2]])
  })

  it("a direct write equals the decision from what is stored", () => {
    const world = new World()
    const now = start + hour
    const command = ending(1, "Accepted", now)
    const decided = settleDirectly(command, now)!
    world.settle([command])
    const after = world.sends.get(id("msg", 1))!
    assert.deepStrictEqual(decided.message, after.message)
    assert.deepStrictEqual([decided.event], world.events)
    assert.deepStrictEqual(after.binding, { ...claimed(1).binding!, claim: null, expiresAt: decided.expiresAt })
  })

  it("a direct write takes a campaign's message out of the queue and counts it, as the decision does", () => {
    const command = {
      ...ending(1, "Accepted"),
      message: message({ id: id("msg", 1), campaignId: id("cmp"), apiKeyId: null, variant: "b" })
    }
    const stored: KeyedMessage.KeyedMessage = {
      message: command.message,
      binding: binding({ messageId: command.message.id, claim: { token: claimOf(1), leaseUntil: start + second } }),
      quotaMonth: null,
      returnedMonth: null
    }
    const { writes } = settle({ now: (asked) => asked, send: () => stored }, [command])
    const decided = settleDirectly(command, start)!
    assert.deepStrictEqual(writes.sends.map(({ message }) => message), [decided.message])
    assert.deepStrictEqual(writes.tallies, [{ campaignId: id("cmp"), changes: decided.tallies }])
    assert.deepStrictEqual(decided.tallies.map(({ outcome, recipients, variant }) => [outcome, recipients, variant]), [
      ["queued", -1, "b"],
      ["sent", 1, "b"]
    ])
    assert.deepStrictEqual(writes.dequeued, [id("msg", 1)])
    assert.isNull(decided.expiresAt)
    assert.deepStrictEqual(settleDirectly(ending(1, "Accepted"), start)!.tallies, [])
  })

  it.each<[string, SettleSend]>([
    ["was refused", ending(1, "Refused")],
    ["was not sent", ending(1, "NotSent")],
    ["is unknown", ending(1, "Unknown")],
    ["was told of before", { ...ending(1, "Accepted"), message: message({ status: "sent", sequence: 1 }) }]
  ])("an outcome of a send that %s is never settled directly", (_, command) => {
    assert.isUndefined(settleDirectly(command, start))
  })
})

describe("a report", () => {
  it("a report finds its message by our reference, then by the provider's id, and only of its own number", () => {
    const world = new World()
    world.settle([ending(1, "Accepted")])
    assert.deepStrictEqual(
      world.applyReport([
        reporting(2, "delivered"),
        reporting(9, "delivered", { name: "wamid.1" }),
        reporting(9, "read", { name: "wamid.2", reference: null }),
        reporting(3, "delivered", { providerNumberId: "another" }),
        reporting(9, "delivered", { name: "wamid.9", reference: null })
      ]),
      [true, true, true, false, false]
    )
    assert.deepStrictEqual(
      [1, 2, 3].map((n) => world.sends.get(id("msg", n))!.message.status),
      ["delivered", "read", "sending"]
    )
  })
})

describe("a correction", () => {
  const after = (world: World) => {
    const { message, quotaMonth } = world.sends.get(id("msg", 1))!
    return [message.status, quotaMonth === null ? "given back" : "spent", world.quota]
  }

  it("a refused message that was delivered spends its quota again, once, and keeps its stored answer", () => {
    const world = new World()
    world.settle([ending(1, "Refused")])
    assert.deepStrictEqual(after(world), ["failed", "given back", messages - 1])
    world.applyReport([reporting(1, "sent")])
    assert.deepStrictEqual(after(world), ["failed", "given back", messages - 1])
    world.applyReport([reporting(1, "delivered"), reporting(1, "delivered"), reporting(1, "read")])
    assert.deepStrictEqual(after(world), ["read", "spent", messages])
    assert.deepStrictEqual(world.sends.get(id("msg", 1))!.binding!.answer, refusal)
    assert.deepStrictEqual(world.events.map(({ event: { data, type } }) => [type, data["corrects"]]), [
      ["message.failed", undefined],
      ["message.sent", "failed"],
      ["message.delivered", "failed"],
      ["message.read", undefined]
    ])
  })

  it("a refusal of a message that was delivered gives no quota back", () => {
    const world = new World()
    world.applyReport([reporting(1, "delivered")])
    world.settle([ending(1, "Refused")])
    assert.deepStrictEqual(after(world), ["delivered", "spent", messages])
  })

  it("a message that nobody retried and that was sent after all spends its quota again", () => {
    const world = new World()
    world.settle([ending(1, "NotSent")])
    world.sweep([{ now: start + day, ids: ids(1, messages) }])
    assert.deepStrictEqual(after(world), ["failed", "given back", messages - 1])
    world.applyReport([reporting(1, "sent", { now: start + 40 * day })])
    assert.deepStrictEqual(after(world), ["sent", "spent", messages])
    assert.strictEqual(world.sends.get(id("msg", 1))!.quotaMonth, monthOf(start))
  })

  it("of the reports about a message, the first that says that it arrived is told apart, with the time of the send", () => {
    const world = new World()
    world.settle([ending(1, "Accepted")])
    const arrived = (...statuses: ReadonlyArray<"sent" | "delivered" | "read" | "failed">) =>
      world.report(statuses.map((status) => reporting(1, status))).map((one) => one!.arrivedOf)
    const [sent, failed, delivered, again] = arrived("sent", "failed", "delivered", "delivered")
    assert.deepStrictEqual([sent, failed, again], [null, null, null])
    assert.strictEqual(delivered, world.sends.get(id("msg", 1))!.message.sentAt)
    assert.isNotNull(delivered)
    assert.deepStrictEqual(arrived("read"), [null])
  })

  it("a failure that was reported and corrected leaves the quota spent", () => {
    const world = new World()
    world.settle([ending(1, "Accepted")])
    world.applyReport([reporting(1, "failed"), reporting(1, "delivered")])
    assert.deepStrictEqual(after(world), ["delivered", "spent", messages])
  })
})

describe("conclusions from silence", () => {
  it("silence leads step by step from the ended lease to unknown, to failed, and to a forgotten key", () => {
    const world = new World()
    const one = { unknown: 0, failed: 0, forgotten: 0 }
    const all = (count: number) => ({ now: start + count, ids: ids(1, messages) })
    assert.deepStrictEqual(world.sweep([all(30 * second - 1)]), [one])
    assert.deepStrictEqual(world.sweep([all(30 * second), all(30 * second)]), [{ ...one, unknown: messages }, one])
    const [failed] = world.sweep([all(day)])
    assert.deepStrictEqual(failed, { ...one, failed: messages })
    assert.strictEqual(world.quota, messages)
    const [forgotten] = world.sweep([all(2 * day)])
    assert.deepStrictEqual(forgotten, { ...one, forgotten: messages })
    assert.isTrue([...world.sends.values()].every(({ binding }) => binding === null))
  })

  it("as many conclusions with an event are drawn as there are identifiers", () => {
    const world = new World()
    world.sweep([{ now: start + hour, ids: ids(1, 0) }])
    const [first, second] = world.sweep([1, 2].map((n) => ({ now: start + day, ids: ids(n, messages - 1) })))
    assert.deepStrictEqual([first!.failed, second!.failed], [messages - 1, 1])
    assert.lengthOf(world.events, messages)
  })
})

const command = Schema.Struct({
  kind: Schema.Literals(["settle", "settle", "report", "report", "sweep"]),
  n: between(0, messages),
  end: Schema.Literals(["Accepted", "Refused", "NotSent", "Unknown"]),
  status: Schema.Literals(["sent", "delivered", "read", "failed"]),
  name: between(0, messages),
  isReferred: Schema.Boolean,
  elapsed: Schema.Literals([0, 1, second, 31 * second, hour, day])
})
type Command = typeof command.Type & { readonly place: number; readonly now: number }

const carriedOut = (commands: ReadonlyArray<Command>, sizes: ReadonlyArray<number>) => {
  const world = new World()
  const answers = inBatches<Command, boolean | SweepResult>(commands, sizes, ({ kind }) => kind, (kind, batch) => {
    if (kind === "sweep") return world.sweep(batch.map(({ now, place }) => ({ now, ids: ids(place, messages) })))
    if (kind === "settle") return world.settle(batch.map(({ end, n, now, place }) => ending(n, end, now, place)))
    return world.applyReport(batch.map(({ isReferred, n, name, now, place, status }) =>
      reporting(n, status, {
        now,
        name: `wamid.${name}`,
        ids: ids(place),
        ...(isReferred ? {} : { reference: null })
      })
    ))
  })
  return { answers, world }
}

describe("random sequences of sends", () => {
  const timed = (commands: ReadonlyArray<typeof command.Type>): ReadonlyArray<Command> => {
    let now = start
    return commands.map((one, place) => ({ ...one, place: place + 1, now: now += one.elapsed }))
  }

  const given = { commands: upTo(command, 24), sizes }

  it.prop("a batch decides the same as its commands one by one", given, (_) => {
    const commands = timed(_.commands)
    const together = carriedOut(commands, _.sizes)
    const apart = carriedOut(commands, [])
    assert.deepStrictEqual(together.answers, apart.answers)
    for (const what of ["sends", "names", "quota", "events"] as const) {
      assert.deepStrictEqual(together.world[what], apart.world[what], what)
    }
  }, checks)

  it.prop("the quota counts what may have been sent, and everything that was", given, (_) => {
    const { world } = carriedOut(timed(_.commands), _.sizes)
    const sends = [...world.sends.values()]
    assert.strictEqual(world.quota, sends.filter(({ quotaMonth }) => quotaMonth !== null).length)
    for (const { message: { status }, quotaMonth } of sends) {
      if (status !== "failed") assert.strictEqual(quotaMonth, monthOf(start), status)
    }
  }, checks)

  it.prop("events are numbered without a gap, and every deadline is swept in time", given, (_) => {
    const { world } = carriedOut(timed(_.commands), _.sizes)
    for (const send of world.sends.values()) {
      const { id, sequence } = send.message
      const told = world.events.flatMap(({ event }) => event.orderKey === id ? [event.sequence] : [])
      assert.deepStrictEqual(told, Array.from({ length: sequence }, (_, i) => i + 1))
      const deadline = KeyedMessage.deadlineOf(send)
      if (deadline === null) continue
      assert.isTrue(world.deadlines.some(({ dueAt, messageId }) => messageId === id && dueAt <= deadline))
    }
  }, checks)
})
