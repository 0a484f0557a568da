import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Contact, keysOf, placeOf } from "../../src/contacts/Contact.ts"
import { keyOf } from "../../src/contacts/CustomerNames.ts"
import { reasonOf } from "../../src/Errors.ts"
import type { MessageId, WorkspaceId } from "../../src/Id.ts"
import type { IdempotencyKey } from "../../src/Idempotency.ts"
import { pairBucket, phoneNumberBucket, standard, workspaceBucket } from "../../src/limits/Limits.ts"
import { counts, poolOf } from "../../src/limits/MessagingLimit.ts"
import { monthOf } from "../../src/limits/Quota.ts"
import { accept, type Bound, type Found, type Loaded, type Need, type OfNumber } from "../../src/messages/AcceptStep.ts"
import type { Message, OutboundMessage } from "../../src/messages/Message.ts"
import type { Accepted, AcceptSend } from "../../src/messages/MessageStore.ts"
import type { PhoneNumber } from "../../src/numbers/PhoneNumber.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import type { Workspace } from "../../src/workspaces/Workspace.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, day, hour, minute, second, upTo } from "../checks.ts"
import { apiKey, binding, contact, id, message, sender, start, template, templated, text } from "../samples.ts"

const nameOf = ({ request }: Pick<AcceptSend, "request">) => `${request.workspaceId} ${request.key}`

/** The storage of some workspaces' sends. */
class World {
  readonly workspaces = new Map<WorkspaceId, Workspace>()
  readonly numbers: Array<PhoneNumber> = []
  readonly contacts = new Map<string, Contact>()
  readonly bounds = new Map<string, Bound>()
  readonly buckets = new Map<string, number>()
  readonly quotas = new Map<string, number>()
  /** When customers were counted, by number and customer. */
  readonly counted = new Map<string, number>()
  readonly marketing = new Map<string, ReadonlyArray<number>>()
  /** Numbers whose count includes lapsed customers, and how many. */
  readonly lapsed = new Map<string, number>()
  readonly needed: Array<Need> = []
  /** The messages of a campaign to the customer under their other keys. */
  readonly twins: Array<Message> = []

  add(workspace: Partial<Workspace> = {}, number: Partial<PhoneNumber> = {}): this {
    const own = {
      id: id("ws"),
      name: "W",
      createdAt: start,
      tier: null,
      monthlyQuota: null,
      suspended: false,
      ...workspace
    }
    this.workspaces.set(own.id, own)
    this.numbers.push(sender({ workspaceId: own.id, providerAccountId: "account-1", ...number }))
    return this
  }

  accept(batch: ReadonlyArray<AcceptSend>, now: Loaded["now"] = (asked) => asked): ReadonlyArray<Accepted> {
    const loaded = { now, found: (command: AcceptSend) => this.found(command) }
    const decided = accept(loaded, batch)
    if ("needs" in decided) {
      this.needed.push(...decided.needs)
      for (const id of decided.needs.flatMap(({ phoneNumberIds }) => phoneNumberIds)) this.lapsed.delete(id)
      return this.accept(batch, now)
    }
    const { claims, moved, numbers, pairs, quotas, unbound, workspaces } = decided.writes
    for (const { fullAt, id } of workspaces) this.buckets.set(workspaceBucket(id), fullAt)
    for (const { fullAt, id } of numbers) this.buckets.set(phoneNumberBucket(id), fullAt)
    for (const { countedAt, customer, fullAt, marketing, phoneNumberId } of pairs) {
      this.buckets.set(pairBucket(phoneNumberId, customer), fullAt)
      if (marketing !== null) this.marketing.set(pairBucket(phoneNumberId, customer), marketing.at)
      if (countedAt !== null) this.counted.set(placeOf({ phoneNumberId, key: customer }), countedAt)
    }
    for (const { customer, phoneNumberId } of moved) this.counted.delete(placeOf({ phoneNumberId, key: customer }))
    for (const { messages, month, workspaceId } of quotas) {
      const name = `${workspaceId} ${month}`
      this.quotas.set(name, (this.quotas.get(name) ?? 0) + messages)
    }
    for (const [name, bound] of this.bounds) if (unbound.includes(bound.message.id)) this.bounds.delete(name)
    for (const { claim, message, quotaMonth, request } of claims) {
      const name = nameOf({ request })
      const before = this.bounds.get(name)?.binding ??
        binding({ messageId: message.id, fingerprint: request.fingerprint })
      this.bounds.set(name, { binding: { ...before, claim }, message, quotaMonth, isBusy: false })
    }
    return decided.answers
  }

  /** Marks the last try of a key as not sent. */
  release(command: AcceptSend): void {
    const bound = this.bounds.get(nameOf(command))!
    this.bounds.set(nameOf(command), { ...bound, binding: { ...bound.binding, claim: null } })
  }

  private found(command: AcceptSend): Found {
    const { message: { from, to }, now, request: { workspaceId } } = command
    const workspace = this.workspaces.get(workspaceId)
    const number = this.numbers.find((one) =>
      one.workspaceId === workspaceId && (from === undefined ? one.isDefault : from === one.id)
    )
    const contact = number &&
      [...this.contacts.values()].find((one) =>
        one.phoneNumberId === number.id && (one.key === keyOf(to) || one.customer.userId === to)
      )
    const pool = number === undefined ? [] : this.pool(number)
    return {
      workspace: workspace && { workspace, fullAt: this.buckets.get(workspaceBucket(workspaceId)) ?? 0 },
      apiKey: command.apiKeyId === id("key") ? apiKey() : undefined,
      sender: number && this.sender(number, now),
      template: template({ variables: [] }),
      contact,
      suppressions: [],
      pairs: pool.flatMap((phoneNumberId) =>
        keysOf(to, contact).map((key) => {
          const at = this.counted.get(placeOf({ phoneNumberId, key }))
          return {
            phoneNumberId,
            customer: key,
            fullAt: this.buckets.get(pairBucket(phoneNumberId, key)),
            countedAt: at !== undefined && counts(at, now) ? at : null,
            marketingAt: this.marketing.get(pairBucket(phoneNumberId, key)) ?? []
          }
        })
      ),
      isKnownName: false,
      twins: this.twins,
      bound: this.bounds.get(nameOf(command)),
      quotaUsed: (month) => this.quotas.get(`${workspaceId} ${month}`) ?? 0,
      queued: 0
    }
  }

  private sender(number: PhoneNumber, now: number): OfNumber {
    const pool = this.pool(number)
    const exact = (id: string) =>
      [...this.counted].filter(([name, at]) => name.startsWith(`${id}:`) && counts(at, now)).length
    return {
      number,
      fullAt: this.buckets.get(phoneNumberBucket(number.id)) ?? 0,
      customers: new Map(pool.map((id) => [id, exact(id) + (this.lapsed.get(id) ?? 0)])),
      isExact: pool.every((id) => !this.lapsed.has(id))
    }
  }

  private pool(number: PhoneNumber): ReadonlyArray<PhoneNumber["id"]> {
    return this.numbers.filter((other) => poolOf(other) === poolOf(number)).map(({ id }) => id)
  }
}

interface Send {
  readonly n?: number
  readonly key?: string
  readonly fingerprint?: string
  readonly message?: OutboundMessage
  readonly now?: number
  readonly workspaceId?: WorkspaceId
  readonly limits?: AcceptSend["limits"]
}

/** The `n`th send, by default with its own key and customer. */
const send = (
  { fingerprint = "one", key, limits = standard, message, n = 1, now = start, workspaceId = id("ws") }: Send = {}
): AcceptSend => ({
  now,
  request: { workspaceId, route: "POST /v1/messages", key: (key ?? `key ${n}`) as IdempotencyKey, fingerprint },
  apiKeyId: id("key"),
  queue: null,
  later: null,
  message: message ?? { ...templated([]), to: customerOf(n) },
  hash: `hash ${n}`,
  messageId: id("msg", n),
  claimToken: `t${n}`,
  leaseUntil: now + 30 * second,
  limits,
  provider: "sandbox",
  capabilities: Capabilities.all
})

const customerOf = (n: number) => `+1202555${String(n).padStart(4, "0")}` as const

/** The answer in one word. */
const said = (answer: Accepted): string => answer._tag === "Refused" ? reasonOf(answer.error)! : answer._tag

const saidOf = (answers: ReadonlyArray<Accepted>) => answers.map(said)

describe("accepting sends", () => {
  it("a send is claimed at the storage's time, and its lease keeps its length", () => {
    const world = new World().add()
    const [answer] = world.accept([send()], () => start + day)
    assert(answer?._tag === "Claimed")
    assert.deepStrictEqual([answer.message.createdAt, answer.message.status], [start + day, "sending"])
    const { binding: { claim }, quotaMonth } = world.bounds.get(nameOf(send()))!
    assert.deepStrictEqual(claim, { token: "t1", leaseUntil: start + day + 30 * second })
    assert.strictEqual(quotaMonth, monthOf(start + day))
    assert.lengthOf(answer.readings, 3)
  })

  it("of sends with one key in a batch, one is claimed, and the others join or conflict", () => {
    const world = new World().add()
    const one = { key: "k" }
    assert.deepStrictEqual(
      saidOf(world.accept([send(one), send({ ...one, n: 2 }), send({ ...one, n: 3, fingerprint: "two" })])),
      ["Claimed", "Running", "Conflict"]
    )
    assert.strictEqual(world.bounds.get(nameOf(send(one)))?.message.id, id("msg"))
    assert.deepStrictEqual([...world.quotas.values()], [1])
  })

  describe("of a campaign that a version before began", () => {
    const ana = "+447911123451"
    /** Messages to one customer, which are queued under these keys, each with the number under which it was. */
    const queued = (world: World, keys: ReadonlyArray<string>) =>
      keys.map((key, i): AcceptSend => {
        const content = { ...templated([]), to: ana }
        const command = {
          ...send({ n: i + 1, key, message: content }),
          apiKeyId: null,
          queue: { campaignId: id("cmp") }
        }
        world.bounds.set(nameOf(command), {
          binding: binding({ messageId: command.messageId, fingerprint: command.request.fingerprint }),
          message: message({ id: command.messageId, status: "queued", content: { ...content, to: key } }),
          quotaMonth: null,
          isBusy: false
        })
        return command
      })

    it.each([["+4407911123451", ana], [ana, "+4407911123451"]])(
      "a customer with messages under %s and %s gets one, to the number without the national prefix",
      (...keys) => {
        const world = new World().add()
        const answers = world.accept(queued(world, keys))
        assert.deepStrictEqual(saidOf(answers), ["Claimed", "Duplicate"])
        assert(answers[0]?._tag === "Claimed")
        assert.strictEqual(answers[0].message.content.to, ana)
      }
    )

    it("a message that was sent under the number with its national prefix counts", () => {
      const world = new World().add()
      world.twins.push(message({ status: "sent", content: { ...templated([]), to: "+4407911123451" } }))
      assert.deepStrictEqual(saidOf(world.accept(queued(world, [ana]))), ["Duplicate"])
    })
  })

  it("each limit counts what earlier sends in the batch have spent", () => {
    const limits = (fields: Partial<typeof standard.defaults>) => ({
      ...standard,
      defaults: { ...standard.defaults, ...fields }
    })
    const three = (one: Send) => saidOf(new World().add().accept([1, 2, 3].map((n) => send({ n, ...one }))))
    assert.deepStrictEqual(three({ limits: limits({ monthlyQuota: 2 }) }), ["Claimed", "Claimed", "quota_exhausted"])
    assert.deepStrictEqual(three({ limits: limits({ messagingLimit: 2 }) }), [
      "Claimed",
      "Claimed",
      "messaging_limit_reached"
    ])
    assert.deepStrictEqual(three({ limits: { ...standard, workspaceTiers: { standard: 1 } } }), [
      "Claimed",
      "Claimed",
      "workspace"
    ])
    assert.deepStrictEqual(three({ limits: { ...standard, phoneNumberTiers: { standard: 1 } } }), [
      "Claimed",
      "Claimed",
      "phone_number"
    ])
    assert.deepStrictEqual(
      three({ limits: { ...standard, pair: { everySeconds: 6, burst: 2 } }, message: templated([]) }),
      ["Claimed", "Claimed", "pair"]
    )
  })

  it("a customer who already counts, or has written, costs nothing of the messaging limit", () => {
    const limits = { ...standard, defaults: { ...standard.defaults, messagingLimit: 1 } }
    const world = new World().add()
    const phoneNumberId = world.numbers[0]!.id
    const written = { phoneNumberId, key: customerOf(3) }
    world.contacts.set(placeOf(written), contact({ ...written, lastInboundAt: start }))
    const sends = [
      send({ n: 1, limits }),
      send({ n: 3, limits }),
      send({ n: 1, key: "other", limits }),
      send({ n: 2, limits })
    ]
    assert.deepStrictEqual(saidOf(world.accept(sends)), ["Claimed", "Claimed", "Claimed", "messaging_limit_reached"])
    assert.deepStrictEqual([...world.counted], [[placeOf({ phoneNumberId, key: customerOf(1) }), start]])
  })

  it("an exact count is requested only if the limit is reached, and then decided again", () => {
    const limits = { ...standard, defaults: { ...standard.defaults, messagingLimit: 2 } }
    const world = new World().add()
    const { id: phoneNumberId } = world.numbers[0]!
    world.lapsed.set(phoneNumberId, 1)
    assert.deepStrictEqual(saidOf(world.accept([send({ n: 1, limits })])), ["Claimed"])
    assert.deepStrictEqual(world.needed, [])
    const now = start + minute
    assert.deepStrictEqual(saidOf(world.accept([2, 3].map((n) => send({ n, limits, now })))), [
      "Claimed",
      "messaging_limit_reached"
    ])
    assert.deepStrictEqual(world.needed, [{ phoneNumberIds: [phoneNumberId], lapsed: now - day }])
  })

  it("numbers that share a messaging limit count a customer once, for the number that wrote last", () => {
    const limits = { ...standard, defaults: { ...standard.defaults, messagingLimit: 1 } }
    const other = id("pn", 2)
    const world = new World().add().add({}, { id: other, phoneNumber: "+14155550002", isDefault: false })
    const to = (n: number, from?: string) => ({
      ...templated([]),
      to: customerOf(n),
      ...(from === undefined ? {} : { from })
    })
    assert.deepStrictEqual(
      saidOf(world.accept([
        send({ n: 1, limits, message: to(1) }),
        send({ n: 2, limits, message: to(1, other) }),
        send({ n: 3, limits, message: to(2, other) })
      ])),
      ["Claimed", "Claimed", "messaging_limit_reached"]
    )
    assert.deepStrictEqual([...world.counted], [[placeOf({ phoneNumberId: other, key: customerOf(1) }), start]])
    const now = start + hour
    assert.deepStrictEqual(
      saidOf(
        world.accept([send({ n: 4, limits, message: to(1), now }), send({ n: 5, limits, message: to(2), now })])
      ),
      ["Claimed", "messaging_limit_reached"]
    )
    assert.deepStrictEqual([...world.counted], [[
      placeOf({ phoneNumberId: world.numbers[0]!.id, key: customerOf(1) }),
      now
    ]])
  })

  it("a refusal writes nothing", () => {
    const world = new World().add()
    const refused = { ...send(), message: text() }
    const decided = accept({
      now: (asked) => asked,
      found: () => ({
        workspace: { workspace: world.workspaces.get(id("ws"))!, fullAt: 0 },
        apiKey: apiKey(),
        sender: { number: world.numbers[0]!, fullAt: 0, customers: new Map(), isExact: true },
        template: undefined,
        contact: undefined,
        suppressions: [],
        pairs: [],
        bound: undefined,
        isKnownName: false,
        twins: [],
        quotaUsed: () => 0,
        queued: 0
      })
    }, [refused])
    assert(!("needs" in decided))
    assert.deepStrictEqual(saidOf(decided.answers), ["outside_service_window"])
    assert.deepStrictEqual(decided.writes, {
      workspaces: [],
      numbers: [],
      pairs: [],
      moved: [],
      quotas: [],
      unbound: [],
      claims: [],
      queued: []
    })
  })

  it("a person's send needs no API key, and is limited like one with a key", () => {
    const world = new World().add()
    const [answer] = world.accept([{ ...send(), apiKeyId: null }])
    assert(answer?._tag === "Claimed")
    assert.isNull(answer.message.apiKeyId)
    const withKey = new World().add().accept([send()])
    assert.deepStrictEqual(answer.readings, withKey[0]!.readings)
    const [suspended] = new World().add({ suspended: true }).accept([{ ...send(), apiKeyId: null }])
    assert.strictEqual(said(suspended!), "workspace_suspended")
  })

  it.each<[string, Partial<AcceptSend>, Partial<Workspace>]>([
    ["invalid_key", { apiKeyId: id("key", 2) }, {}],
    ["invalid_key", {}, { id: id("ws", 2) }],
    ["workspace_suspended", {}, { suspended: true }]
  ])("%s comes before everything else, without a reading", (reason, command, workspace) => {
    const world = new World().add(workspace)
    const [answer] = world.accept([{ ...send(), ...command }])
    assert.strictEqual(said(answer!), reason)
    assert.deepStrictEqual(answer!.readings, [])
    assert.strictEqual(world.buckets.size, 0)
  })
})

describe("accepting under a key that was used before", () => {
  const used = (fields: Partial<Bound>): World => {
    const world = new World().add()
    world.bounds.set(nameOf(send()), {
      binding: binding({ messageId: id("msg", 9) }),
      message: message({ id: id("msg", 9) as MessageId, statusAt: start - hour, createdAt: start - hour }),
      quotaMonth: "2026-01",
      isBusy: false,
      ...fields
    })
    return world
  }

  it("a message that was certainly not sent is tried again, and spends its quota once", () => {
    const world = used({})
    const limits = { ...standard, defaults: { ...standard.defaults, monthlyQuota: 0 } }
    const [answer] = world.accept([send({ limits })])
    assert(answer?._tag === "Claimed")
    assert.strictEqual(answer.message.id, id("msg", 9))
    assert.deepStrictEqual([answer.message.createdAt, answer.message.statusAt], [start - hour, start])
    assert.strictEqual(world.quotas.size, 0)
  })

  it("a message whose quota was returned spends it again", () => {
    const world = used({ quotaMonth: null })
    assert.deepStrictEqual(saidOf(world.accept([send()])), ["Claimed"])
    assert.deepStrictEqual([...world.quotas.values()], [1])
  })

  it("an expired key can be taken by another message", () => {
    const world = used({ binding: binding({ messageId: id("msg", 9), expiresAt: start }) })
    assert.deepStrictEqual(saidOf(world.accept([send({ fingerprint: "two" })])), ["Claimed"])
    assert.strictEqual(world.bounds.get(nameOf(send()))?.message.id, id("msg"))
  })

  it("a message that another transaction holds is running", () => {
    assert.deepStrictEqual(saidOf(used({ isBusy: true }).accept([send()])), ["Running"])
    assert.deepStrictEqual(saidOf(used({ isBusy: true }).accept([send({ fingerprint: "two" })])), ["Conflict"])
  })
})

const command = Schema.Struct({
  kind: Schema.Literals(["send", "send", "send", "release"]),
  workspace: between(1, 2),
  key: between(1, 6),
  fingerprint: Schema.Literals(["one", "one", "one", "two"]),
  customer: between(1, 4),
  content: Schema.Literals(["template", "template", "text", "unknown sender"]),
  seconds: between(0, 90)
})

const limits: AcceptSend["limits"] = {
  workspaceTiers: { standard: 2 },
  phoneNumberTiers: { standard: 1 },
  pair: { everySeconds: 6, burst: 2 },
  defaults: { workspaceTier: "standard", phoneNumberTier: "standard", monthlyQuota: 8, messagingLimit: 3 }
}

const toBoth = upTo(Schema.Struct({ key: between(1, 12), isToUser: Schema.Boolean, seconds: between(0, 30) }), 30)

it.prop("a customer with two names is one, whichever of them each send has", { commands: toBoth, sizes }, (_) => {
  const userId = "US.13491208655302741918"
  const limits = { ...standard, pair: { everySeconds: 6, burst: 4 }, frequencyCap: { messages: 3, days: 1 } }
  const play = (isToUser: (command: (typeof _.commands)[number]) => boolean) => {
    const world = new World().add()
    const known = { phoneNumberId: world.numbers[0]!.id, key: customerOf(1) }
    world.contacts.set(placeOf(known), contact({ ...known, customer: { phone: customerOf(1), userId } }))
    const answers = inBatches(
      _.commands,
      _.sizes,
      () => "send",
      (_kind, batch) =>
        saidOf(world.accept(batch.map((command) =>
          send({
            n: command.key,
            limits,
            now: start + command.seconds * second,
            message: { ...templated([]), to: isToUser(command) ? userId : customerOf(1) }
          })
        )))
    )
    return { answers, buckets: world.buckets, counted: world.counted, marketing: world.marketing }
  }
  assert.deepStrictEqual(play(({ isToUser }) => isToUser), play(() => false))
}, checks)

it.prop("batches decide the same as their commands one by one", { commands: upTo(command, 30), sizes }, (_) => {
  const play = (sizes: ReadonlyArray<number>) => {
    const world = new World()
      .add()
      .add({ id: id("ws", 2), monthlyQuota: 3 }, { id: id("pn", 2) })
    const counted = (n: number, at: number) =>
      world.counted.set(placeOf({ phoneNumberId: world.numbers[n - 1]!.id, key: customerOf(n) }), at)
    counted(1, start - day)
    counted(2, start - hour)
    const phoneNumberId = world.numbers[0]!.id
    const wrote = { phoneNumberId, key: customerOf(1) }
    world.contacts.set(placeOf(wrote), contact({ ...wrote, lastInboundAt: start - day + minute }))
    let made = 0
    const answers = inBatches(_.commands, sizes, ({ kind }) => kind, (kind, batch): ReadonlyArray<unknown> => {
      const sends = batch.map(({ content, customer: n, fingerprint, key, seconds, workspace }) => ({
        ...send({
          n,
          key: `key ${key}`,
          fingerprint,
          limits,
          workspaceId: id("ws", workspace),
          now: start + seconds * second,
          message: content === "text"
            ? { ...text(), to: customerOf(n) }
            : { ...templated([], content === "template" ? {} : { from: "none" }), to: customerOf(n) }
        }),
        messageId: id("msg", 100 + ++made)
      }))
      if (kind === "send") return world.accept(sends)
      for (const one of sends) if (world.bounds.has(nameOf(one))) world.release(one)
      return batch.map(() => null)
    })
    const { bounds, buckets, quotas } = world
    return { answers, bounds, buckets, quotas, counted: world.counted }
  }
  assert.deepStrictEqual(play(_.sizes), play([]))
}, checks)
