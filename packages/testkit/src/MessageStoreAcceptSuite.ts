/**
 * Conformance of `MessageStore.accept`: what it makes, what it refuses, and in which order it looks.
 */
import { assert } from "@effect/vitest"
import {
  ApiKeyStore,
  ContactStore,
  Errors,
  EventStore,
  Limits,
  type Message,
  MessageStore,
  PhoneNumberStore,
  type RateLimit,
  RateLimitStore,
  TemplateStore,
  WorkspaceStore
} from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "./Fixture.ts"

const { accept, customer, day, describe, hour, inbound, template, text, world } = Fixture

/** Asserts that nothing is left of a send that was refused. */
const assertNothingLeft = (command: MessageStore.AcceptSend) =>
  Effect.gen(function*() {
    const { messageId, now, request } = command
    const messages = yield* MessageStore.MessageStore
    const events = yield* EventStore.EventStore
    assert.deepStrictEqual(yield* messages.get(request.workspaceId, messageId), Option.none())
    assert.deepStrictEqual(yield* messages.lookUp(request, now), { _tag: "Unbound" })
    const { items } = yield* events.list(request.workspaceId, {}, { limit: 10, after: null })
    assert.deepStrictEqual(items.filter(({ orderKey }) => orderKey === messageId), [])
  })

interface Refusal {
  readonly name: string
  readonly world?: Fixture.WorldOptions
  /** Makes things so that the send is refused. */
  readonly arrange: (own: Fixture.World) => Fixture.Step<Fixture.SendOptions>
  readonly expected: string
  readonly param?: string
  /** Puts things right. */
  readonly undo?: (own: Fixture.World) => Fixture.Step<unknown>
}

const configure =
  (settings: Parameters<WorkspaceStore.WorkspaceStore["Service"]["configure"]>[1]) =>
  (own: Fixture.World): Fixture.Step<void> =>
    WorkspaceStore.WorkspaceStore.use((store) => store.configure(own.workspace.id, settings))

const configureNumber = (settings: PhoneNumberStore.PhoneNumberSettings) => (own: Fixture.World): Fixture.Step<void> =>
  PhoneNumberStore.PhoneNumberStore.use((store) => store.configure(own.number.id, settings))

const asking = (message: Message.OutboundMessage) => () => Effect.succeed({ message })

const refusals: ReadonlyArray<Refusal> = [
  {
    name: "a key that does not exist",
    arrange: () => Effect.map(Fixture.id("key"), (apiKeyId) => ({ apiKeyId })),
    expected: "unauthorized/invalid_key"
  },
  {
    name: "a key of another workspace",
    arrange: ({ start }) => Effect.scoped(Effect.map(world({ start }), ({ key }) => ({ apiKeyId: key.id }))),
    expected: "unauthorized/invalid_key"
  },
  {
    name: "a revoked key",
    arrange: ({ start, workspace }) =>
      Effect.gen(function*() {
        const { id } = yield* Fixture.issuedKey(workspace.id, start)
        const keys = yield* ApiKeyStore.ApiKeyStore
        yield* keys.revoke(workspace.id, id, start)
        return { apiKeyId: id }
      }),
    expected: "unauthorized/revoked_key"
  },
  {
    name: "a key that expires at this instant",
    arrange: ({ start, workspace }) =>
      Effect.map(Fixture.issuedKey(workspace.id, start - hour, { expiresAt: start }), ({ id }) => ({ apiKeyId: id })),
    expected: "unauthorized/expired_key"
  },
  {
    name: "a suspended workspace",
    world: { workspace: { suspended: true } },
    arrange: () => Effect.succeed({}),
    expected: "forbidden/workspace_suspended",
    undo: configure({ suspended: false })
  },
  {
    name: "a sender that the workspace does not have",
    arrange: asking(template({ from: "+14155550000" })),
    expected: "forbidden/sender_not_available",
    param: "from"
  },
  {
    name: "another workspace's number",
    arrange: ({ start }) =>
      Effect.scoped(Effect.map(world({ start }), ({ number }) => ({ message: template({ from: number.id }) }))),
    expected: "forbidden/sender_not_available",
    param: "from"
  },
  {
    name: "a number that may not send",
    world: { number: { available: false } },
    arrange: () => Effect.succeed({}),
    expected: "forbidden/sender_not_available",
    undo: configureNumber({ available: true })
  },
  {
    name: "a template that does not exist",
    arrange: asking(template({ name: "none" })),
    expected: "forbidden/template_not_found",
    param: "template.name"
  },
  {
    name: "a template's other language",
    arrange: asking(template({ name: "plain", language: "en" })),
    expected: "forbidden/template_not_found",
    param: "template.name"
  },
  {
    name: "a pending template",
    arrange: asking(template({ name: "waiting", bodyParams: ["a"] })),
    expected: "forbidden/template_not_approved",
    param: "template.name"
  },
  {
    name: "a rejected template",
    arrange: asking(template({ name: "refused" })),
    expected: "forbidden/template_not_approved",
    param: "template.name"
  },
  {
    name: "a paused template",
    arrange: asking(template({ name: "stopped" })),
    expected: "forbidden/template_not_approved",
    param: "template.name"
  },
  {
    name: "too few values",
    arrange: asking(template({ name: "order", bodyParams: ["1"] })),
    expected: "invalid_body/template_params_mismatch",
    param: "template.bodyParams"
  },
  {
    name: "too many values",
    arrange: asking(template({ name: "order", bodyParams: ["1", "2", "3"] })),
    expected: "invalid_body/template_params_mismatch",
    param: "template.bodyParams"
  },
  {
    name: "no values at all",
    arrange: asking(template({ name: "order" })),
    expected: "invalid_body/template_params_mismatch",
    param: "template.bodyParams"
  },
  {
    name: "values for a template without placeholders",
    arrange: asking(template({ name: "plain", bodyParams: ["1"] })),
    expected: "invalid_body/template_params_mismatch",
    param: "template.bodyParams"
  },
  {
    name: "a template whose header needs a value",
    arrange: asking(template({ name: "picture", bodyParams: ["1"] })),
    expected: "invalid_body/template_params_mismatch",
    param: "template.name"
  },
  {
    name: "text to who opted out, in an open window",
    arrange: (own) => Effect.as(inbound(own, { at: own.start - 1, preference: "opt_out" }), { message: text() }),
    expected: "forbidden/opted_out",
    param: "to",
    undo: (own) => inbound(own, { preference: "opt_in" })
  },
  {
    name: "marketing to who opted out",
    arrange: (own) =>
      Effect.as(inbound(own, { at: own.start - 1, preference: "opt_out" }), {
        message: template({ name: "promo", bodyParams: ["shoes"] })
      }),
    expected: "forbidden/opted_out",
    param: "to",
    undo: (own) => inbound(own, { preference: "opt_in" })
  },
  {
    name: "text to who never wrote",
    arrange: asking(text()),
    expected: "forbidden/outside_service_window",
    param: "type",
    undo: inbound
  },
  {
    name: "a quota of nothing",
    world: { workspace: { monthlyQuota: 0 } },
    arrange: () => Effect.succeed({}),
    expected: "forbidden/quota_exhausted",
    undo: configure({ monthlyQuota: 1 })
  },
  {
    name: "a messaging limit of nobody",
    world: { number: { messagingLimit: 0 } },
    arrange: () => Effect.succeed({}),
    expected: "forbidden/messaging_limit_reached",
    undo: configureNumber({ messagingLimit: 1 })
  }
]

/** The readings of the first send of a workspace under the usual limits. */
const firstReadings: ReadonlyArray<RateLimit.Reading> = [
  {
    policy: { name: "workspace", interval: 10, capacity: 200 },
    remaining: 199,
    resetAfter: 10,
    allowed: true
  },
  {
    policy: { name: "phone_number", interval: 12.5, capacity: 160 },
    remaining: 159,
    resetAfter: 12.5,
    allowed: true
  },
  {
    policy: { name: "pair", interval: 6000, capacity: 45 },
    remaining: 44,
    resetAfter: 6000,
    allowed: true
  }
]

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a send that may be carried out is claimed, and its message kept as sending", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const templates = yield* TemplateStore.TemplateStore
      const own = yield* world()
      const message = template({ name: "order", bodyParams: ["№ 7", "“ready” \u{1F4E6}"], clientReference: "ref" })
      const { accepted, command } = yield* Fixture.claimed(own, { message, limits: Limits.standard })
      const expected: Message.Message = {
        id: command.messageId,
        workspaceId: own.workspace.id,
        apiKeyId: own.key.id,
        phoneNumberId: own.number.id,
        from: own.number.phoneNumber,
        content: message,
        status: "sending",
        statusAt: own.start,
        providerMessageId: null,
        createdAt: own.start,
        sentAt: null,
        deliveredAt: null,
        readAt: null,
        failedAt: null,
        error: null,
        sequence: 0
      }
      assert.deepStrictEqual(accepted.message, expected)
      assert.deepStrictEqual(accepted.sender, own.number)
      assert.strictEqual(accepted.contact, undefined)
      const { items } = yield* templates.list(own.workspace.id, { name: "order" }, { limit: 1, after: null })
      assert.deepStrictEqual(accepted.template, items[0]!)
      assert.deepStrictEqual(accepted.readings, firstReadings)
      assert.deepStrictEqual(yield* messages.get(own.workspace.id, command.messageId), Option.some(expected))
      assert.deepStrictEqual(yield* messages.lookUp(command.request, own.start), { _tag: "Running" })
    }))

  it.effect("a text is claimed in an open window, with the contact", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { at: own.start - hour, now: own.start - hour })
      const message: Message.OutboundMessage = {
        type: "text",
        to: customer(1),
        text: { body: "a".repeat(4096), previewUrl: true },
        clientReference: "x"
      }
      const { accepted } = yield* Fixture.claimed(own, { message })
      assert.deepStrictEqual(accepted.message.content, message)
      assert.strictEqual(accepted.template, undefined)
      assert.deepStrictEqual(accepted.contact, {
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        key: customer(1),
        customer: { phone: customer(1), userId: null },
        lastInboundAt: own.start - hour,
        optedOut: false,
        preferenceAt: null
      })
    }))

  it.effect.each(refusals)("refuses $name, and leaves nothing behind", (given) =>
    Effect.gen(function*() {
      const own = yield* world(given.world)
      const options = yield* given.arrange(own)
      const limits = Limits.standard
      const { accepted, command } = yield* accept(own, { ...options, limits })
      assert.strictEqual(describe(accepted), given.expected)
      if (accepted._tag !== "Refused") return assert.fail("not refused")
      assert.isTrue(Errors.isDomainError(accepted.error))
      assert.strictEqual(accepted.error.param, given.param)
      assert.isNotEmpty(accepted.error.message)
      yield* assertNothingLeft(command)
      // the key is free for another body, and every token, the quota and the messaging limit are untouched
      if (given.undo !== undefined) yield* given.undo(own)
      const again = yield* Fixture.claimed(own, {
        key: command.request.key,
        fingerprint: "another body",
        limits,
        ...(given.undo === undefined || options.message === undefined ? {} : { message: options.message })
      })
      assert.deepStrictEqual(again.accepted.readings, firstReadings)
    }))

  it.effect("no limiter is consulted for who may not come in, and only the workspace's for what may not go out", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const stranger = yield* accept(own, { apiKeyId: yield* Fixture.id("key") })
      assert.deepStrictEqual(stranger.accepted.readings, [])
      const refused = yield* accept(own, { message: text() })
      assert.deepStrictEqual(refused.accepted.readings.map(({ allowed, policy }) => [policy.name, allowed]), [
        ["workspace", true]
      ])
    }))

  it.effect("the checks come in the order of the contract", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeyStore.ApiKeyStore
      const buckets = yield* RateLimitStore.RateLimitStore
      const contacts = yield* ContactStore.ContactStore
      const own = yield* world()
      const { start, workspace } = own
      const limits: Limits.Limits = {
        ...Limits.standard,
        workspaceTiers: { small: 1 },
        phoneNumberTiers: { small: 1 },
        pair: { everySeconds: 1, burst: 1 },
        defaults: { ...Limits.standard.defaults, workspaceTier: "small", phoneNumberTier: "small" }
      }
      const bucketsOf = {
        workspace: { key: Limits.workspaceBucket(workspace.id), policy: Limits.workspace(limits, null) },
        number: { key: Limits.phoneNumberBucket(own.number.id), policy: Limits.phoneNumber(limits, null) },
        pair: { key: Limits.pairBucket(own.number.id, customer(1)), policy: Limits.pair(limits) }
      }
      // a key that is bound to another body, before everything is made wrong at once
      const { command: bound } = yield* Fixture.claimed(own, {
        now: start - hour,
        message: template({ to: customer(9) })
      })
      yield* configure({ suspended: true, monthlyQuota: 0 })(own)
      yield* configureNumber({ messagingLimit: 0 })(own)
      yield* inbound(own, { at: start - 2 * day, preference: "opt_out" })
      for (const bucket of [bucketsOf.workspace, bucketsOf.number, bucketsOf.pair]) {
        for (let i = 0; i < bucket.policy.capacity; i++) yield* buckets.spend([bucket], start)
      }
      const revoked = yield* Fixture.issuedKey(workspace.id, start)
      yield* keys.revoke(workspace.id, revoked.id, start)

      const told = (options: Fixture.SendOptions) =>
        Effect.map(accept(own, { limits, ...options }), ({ accepted }) => describe(accepted))
      const wrong = template({ name: "none", from: "+14155550000" })
      const conflict = { key: bound.request.key, fingerprint: "another body", message: wrong }

      assert.strictEqual(yield* told({ ...conflict, apiKeyId: revoked.id }), "unauthorized/revoked_key")
      assert.strictEqual(yield* told(conflict), "forbidden/workspace_suspended")
      yield* configure({ suspended: false })(own)
      assert.strictEqual(yield* told(conflict), "rate_limited/workspace")
      yield* buckets.giveBack([bucketsOf.workspace], start)
      assert.strictEqual(yield* told(conflict), "Conflict")
      yield* buckets.giveBack([bucketsOf.workspace], start)
      assert.strictEqual(yield* told({ message: wrong }), "forbidden/sender_not_available")
      assert.strictEqual(yield* told({ message: template({ name: "none" }) }), "forbidden/template_not_found")
      assert.strictEqual(yield* told({ message: template({ name: "waiting" }) }), "forbidden/template_not_approved")
      const promo = template({ name: "promo", bodyParams: ["shoes"] })
      assert.strictEqual(
        yield* told({ message: template({ name: "promo" }) }),
        "invalid_body/template_params_mismatch"
      )
      assert.strictEqual(yield* told({ message: promo }), "forbidden/opted_out")
      assert.strictEqual(yield* told({ message: text() }), "forbidden/opted_out")
      yield* inbound(own, { at: start - 2 * day + 1, preference: "opt_in" })
      assert.strictEqual(yield* told({ message: text() }), "forbidden/outside_service_window")
      assert.strictEqual(yield* told({ message: promo }), "forbidden/quota_exhausted")
      yield* configure({ monthlyQuota: null })(own)
      assert.strictEqual(yield* told({ message: promo }), "forbidden/messaging_limit_reached")
      yield* configureNumber({ messagingLimit: null })(own)
      assert.strictEqual(yield* told({ message: promo }), "rate_limited/phone_number")
      yield* buckets.giveBack([bucketsOf.number], start)
      assert.strictEqual(yield* told({ message: promo }), "rate_limited/pair")
      yield* buckets.giveBack([bucketsOf.pair], start)
      // through all this nothing was spent
      assert.strictEqual(yield* told({ message: promo }), "Claimed")
      assert.strictEqual(yield* told({ message: promo }), "rate_limited/workspace")
      const contact = Option.getOrThrow(yield* contacts.get(workspace.id, own.number.id, customer(1)))
      assert.strictEqual(contact.lastInboundAt, start - 2 * day + 1)
    }))

  it.effect("a key is live until the millisecond before it expires", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const key = yield* Fixture.issuedKey(own.workspace.id, own.start, { expiresAt: own.start + hour })
      yield* Fixture.claimed(own, { apiKeyId: key.id, now: own.start + hour - 1 })
      const { accepted } = yield* accept(own, { apiKeyId: key.id, now: own.start + hour })
      assert.strictEqual(describe(accepted), "unauthorized/expired_key")
    }))

  it.effect("a revoked key gets no replay either, another key of the workspace does", () =>
    Effect.gen(function*() {
      const keys = yield* ApiKeyStore.ApiKeyStore
      const own = yield* world()
      const { command } = yield* Fixture.sent(own)
      yield* keys.revoke(own.workspace.id, own.key.id, own.start)
      const again = { key: command.request.key }
      assert.strictEqual(describe((yield* accept(own, again)).accepted), "unauthorized/revoked_key")
      const other = yield* Fixture.issuedKey(own.workspace.id, own.start)
      const { accepted } = yield* accept(own, { ...again, apiKeyId: other.id })
      assert.strictEqual(accepted._tag, "Answered")
    }))

  it.effect("the service window is open for 24 hours from the customer's message, to the millisecond", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { at: own.start })
      const told = (now: number, message = text()) =>
        Effect.map(accept(own, { now, message }), ({ accepted }) => describe(accepted))
      assert.strictEqual(yield* told(own.start - 1), "forbidden/outside_service_window")
      assert.strictEqual(yield* told(own.start), "Claimed")
      assert.strictEqual(yield* told(own.start + day - 1), "Claimed")
      assert.strictEqual(yield* told(own.start + day), "forbidden/outside_service_window")
      assert.strictEqual(yield* told(own.start + day - 1, text(customer(2))), "forbidden/outside_service_window")
      // what we sent meanwhile did not renew it; what the customer writes does
      yield* inbound(own, { at: own.start + day })
      assert.strictEqual(yield* told(own.start + 2 * day - 1), "Claimed")
    }))

  it.effect("who opted out still gets templates that are not marketing, and everything after opting in", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* inbound(own, { at: own.start - 1, preference: "opt_out" })
      const told = (message: Message.OutboundMessage) =>
        Effect.map(accept(own, { message }), ({ accepted }) => describe(accepted))
      const promo = template({ name: "promo", bodyParams: ["shoes"] })
      assert.strictEqual(yield* told(template()), "Claimed")
      assert.strictEqual(yield* told(promo), "forbidden/opted_out")
      assert.strictEqual(yield* told(template({ name: "promo", bodyParams: ["a"], to: customer(2) })), "Claimed")
      yield* inbound(own, { preference: "opt_in" })
      assert.strictEqual(yield* told(promo), "Claimed")
      assert.strictEqual(yield* told(text()), "Claimed")
    }))

  it.effect("the sender is named by id or by number, or is the default one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      for (const from of [own.number.id, own.number.phoneNumber]) {
        const { accepted } = yield* Fixture.claimed(own, { message: template({ from }) })
        assert.deepStrictEqual(accepted.sender, own.number)
        assert.strictEqual(accepted.message.from, own.number.phoneNumber)
        assert.strictEqual(accepted.message.content.from, from)
      }
      const { accepted } = yield* Fixture.claimed(own)
      assert.deepStrictEqual(accepted.sender, own.number)
      assert.isFalse("from" in accepted.message.content)
    }))

  it.effect("a message is found in its own workspace only", () =>
    Effect.gen(function*() {
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const { command } = yield* Fixture.claimed(own)
      assert.deepStrictEqual(yield* messages.get(other.workspace.id, command.messageId), Option.none())
      assert.deepStrictEqual(yield* messages.get(own.workspace.id, yield* Fixture.id("msg")), Option.none())
      const foreign = { ...command.request, workspaceId: other.workspace.id }
      assert.deepStrictEqual(yield* messages.lookUp(foreign, own.start), { _tag: "Unbound" })
    }))
}
