/**
 * Conformance of `MessageStore.accept`: what it refuses, in which order it checks, and that a refusal leaves nothing
 * behind.
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
  RateLimitStore,
  WorkspaceStore
} from "@wac/core"
import { Effect, Exit, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, hour, world } = Fixture
const { accept, customer, describe, firstReadings, inbound, template, text } = MessageFixture

/** Asserts that a refused send left nothing behind. */
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
  /** Arranges for the send to be refused. */
  readonly arrange: (own: Fixture.World) => Fixture.Step<MessageFixture.SendOptions>
  readonly expected: string
  readonly param?: string
  /** Removes the cause of the refusal. */
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
    param: "template.header.image"
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

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect.each(refusals)("accept refuses $name, and leaves nothing behind", (given) =>
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
      // the key is free for a different body, and tokens, quota and messaging limit are untouched
      if (given.undo !== undefined) yield* given.undo(own)
      const again = yield* MessageFixture.claimed(own, {
        key: command.request.key,
        fingerprint: "another body",
        limits,
        ...(given.undo === undefined || options.message === undefined ? {} : { message: options.message })
      })
      assert.deepStrictEqual(again.accepted.readings, firstReadings)
    }))

  it.effect("no limiter is consulted for an unauthorized caller, and only the workspace's for a message that policy refuses", () =>
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
      // a key bound to a different body, before everything is made wrong at once
      const { command: bound } = yield* MessageFixture.claimed(own, {
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

      const told = (options: MessageFixture.SendOptions) =>
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
      // nothing was spent by all this
      assert.strictEqual(yield* told({ message: promo }), "Claimed")
      assert.strictEqual(yield* told({ message: promo }), "rate_limited/workspace")
      const contact = Option.getOrThrow(yield* contacts.get(workspace.id, own.number.id, customer(1)))
      assert.strictEqual(contact.lastInboundAt, start - 2 * day + 1)
    }))

  it.effect("a command at which something throws fails alone, and writes nothing", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const store = yield* MessageStore.MessageStore
      const sends = yield* Effect.replicateEffect(MessageFixture.sendCommand(own), 20)
      const bad = [0, 7, 8]
      const commands = sends.map((command, i): MessageStore.AcceptSend =>
        bad.includes(i)
          ? Object.defineProperty({ ...command }, "message", {
            enumerable: true,
            get: () => {
              throw new RangeError("Maximum call stack size exceeded")
            }
          })
          : command
      )
      const exits = yield* Effect.forEach(commands, (command) => Effect.exit(store.accept(command)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits.map(Exit.isSuccess), sends.map((_, i) => !bad.includes(i)))
      for (const i of bad) yield* assertNothingLeft(sends[i]!)
    }))
}
