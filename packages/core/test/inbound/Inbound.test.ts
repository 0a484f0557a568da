import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, References } from "effect"
import { TestClock } from "effect/testing"
import { ContactStore } from "../../src/contacts/ContactStore.ts"
import { Customers } from "../../src/contacts/Customers.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import type { MessageId } from "../../src/Id.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import type { InboundItem } from "../../src/inbound/InboundItem.ts"
import type { InboundMessage } from "../../src/inbound/InboundMessage.ts"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import type { Named } from "../../src/media/MediaStep.ts"
import { MediaStore } from "../../src/media/MediaStore.ts"
import type { Report } from "../../src/messages/Message.ts"
import { Messages } from "../../src/messages/Messages.ts"
import type { NumberChange, NumberName } from "../../src/numbers/PhoneNumber.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import * as SenderBlock from "../../src/numbers/SenderBlock.ts"
import { StoreError } from "../../src/StoreError.ts"
import { iso } from "../../src/Time.ts"
import { day, hour, second } from "../checks.ts"
import { inProcess } from "../clock.ts"
import { logged } from "../logged.ts"
import { start } from "../samples.ts"
import { foundation, issueKey, key, newId, plain, stubProvider, type World, world } from "../world.ts"

const setUp = () => {
  const provider = stubProvider()
  const layer = Layer.mergeAll(Inbound.layer, Messages.layer, Customers.layer).pipe(
    Layer.provideMerge(Layer.merge(ApiKeys.layer, provider.layer)),
    Layer.provideMerge(foundation)
  )
  return { provider, layer }
}

const upstream = <E>(
  test: (
    given: ReturnType<typeof setUp>
  ) => Effect.Effect<void, E, Layer.Success<ReturnType<typeof setUp>["layer"]>>
) =>
() =>
  Effect.suspend(() => {
    const given = setUp()
    return Effect.andThen(TestClock.setTime(start), test(given).pipe(Effect.provide(given.layer)))
  })

/** A message that was just sent. */
const sent = Effect.gen(function*() {
  const { number, workspace } = yield* world()
  const { key: apiKey } = yield* issueKey(workspace.id)
  const answer = yield* Messages.use((messages) =>
    Effect.flatMap(
      newId("req"),
      (requestId) =>
        messages.send({ workspaceId: workspace.id, apiKeyId: apiKey.id, key: key("k"), requestId, message: plain() })
    )
  )
  const message = Messages.use((messages) => messages.get(workspace.id, answer.messageId))
  return { ...answer, number, workspace, message }
})

const receive = (...items: ReadonlyArray<InboundItem>) => Inbound.use((inbound) => inbound.receive(items))

const status = (
  reference: MessageId | null,
  status: Report["status"],
  at: number,
  providerMessageId: string | null = "wamid.1"
): InboundItem => ({
  _tag: "Status",
  providerNumberId: null,
  reference,
  report: {
    status,
    at,
    providerMessageId,
    error: status === "failed" ? { code: "forbidden", reason: "provider_policy", message: "no" } : null
  }
})

const received = (
  number: { readonly providerNumberId: string },
  fields: Partial<InboundMessage> = {}
): InboundItem => ({
  _tag: "Message",
  message: {
    providerNumberId: number.providerNumberId,
    providerMessageId: "wamid.in.1",
    customer: { phone: "+12025550123", userId: null },
    at: start,
    type: "text",
    content: { body: "Hello" },
    context: null,
    preference: undefined,
    ...fields
  }
})

const events = (workspaceId: Parameters<EventStore["Service"]["list"]>[0]) =>
  Effect.map(
    EventStore.use((store) => store.list(workspaceId, {}, { limit: 100, after: null })),
    ({ items }) => items
  )
const told = (workspaceId: Parameters<EventStore["Service"]["list"]>[0]) =>
  Effect.map(events(workspaceId), (all) => all.map(({ type }) => type))

describe("a process with a wrong clock", () => {
  const wrong = it.effect.each([40 * day, -40 * day])

  wrong(
    "a customer's STOP counts, even if the process's clock is wrong by %i ms",
    (ahead) =>
      upstream(() =>
        Effect.gen(function*() {
          const { number, workspace } = yield* world()
          const stop = received(number, { content: { body: "STOP" }, preference: "opt_out" })
          assert.deepStrictEqual(yield* inProcess(ahead)(receive(stop)), [undefined])
          const [contact] = yield* ContactStore.use((store) => store.named(workspace.id, "+12025550123"))
          assert.isTrue(contact?.optedOut)
        })
      )()
  )

  wrong(
    "a customer's file is due at once and dated by its arrival, even if the clock is wrong by %i ms",
    (ahead) =>
      upstream(() =>
        Effect.gen(function*() {
          const { number, workspace } = yield* world()
          const file = { providerMediaId: "1", sha256: null, filename: null }
          yield* inProcess(ahead)(receive(received(number, { type: "image", content: {}, file })))
          const store = yield* MediaStore
          const claimed = yield* store.claimAwaited({ now: start, until: start + hour, limit: 10 })
          assert.deepStrictEqual(claimed.map(({ awaited }) => [awaited.workspaceId, awaited.createdAt]), [
            [workspace.id, start]
          ])
        })
      )()
  )

  wrong(
    "a report about a number counts in its time, even if the clock is wrong by %i ms",
    (ahead) =>
      upstream(() =>
        Effect.gen(function*() {
          const { number } = yield* world()
          const { providerNumberId } = number
          const tell = (at: number, blocked: boolean): InboundItem => ({
            _tag: "Number",
            number: { providerNumberId },
            at,
            change: {
              block: blocked ? SenderBlock.of("quality", at, { code: "131048", message: "Spam rate limit hit" }) : null
            }
          })
          yield* receive(tell(start - hour, true))
          yield* inProcess(ahead)(receive(tell(start, false)))
          const [found] = yield* PhoneNumberStore.use((store) => store.named({ providerNumberId }))
          assert.isNull(found!.block)
        })
      )()
  )

  it.effect(
    "a message is too old if it was sent 30 days before its post arrived, however late the post is processed",
    upstream(() =>
      Effect.gen(function*() {
        const { number } = yield* world()
        const { apply } = yield* Inbound
        yield* TestClock.adjust("3 days")
        const late = received(number, { at: start - 30 * day + 1 })
        assert.isUndefined(yield* apply(late, start))
        const old = received(number, { at: start - 30 * day, providerMessageId: "wamid.in.2" })
        assert.strictEqual((yield* apply(old, start))?.reason, "too_old")
      })
    )
  )
})

describe("status reports", () => {
  it.effect(
    "a status report advances the message, found by our reference or by the provider's id",
    upstream(() =>
      Effect.gen(function*() {
        const { message, messageId, workspace } = yield* sent
        yield* receive(status(messageId, "delivered", start + 1000, null))
        assert.strictEqual((yield* message).status, "delivered")
        yield* receive(status(null, "read", start + 2000, "wamid.1"))
        const { deliveredAt, readAt, status: now } = yield* message
        assert.deepStrictEqual([now, deliveredAt, readAt], ["read", start + 1000, start + 2000])
        assert.deepStrictEqual(yield* told(workspace.id), ["message.sent", "message.delivered", "message.read"])
      })
    )
  )

  it.effect(
    "repeated reports in disorder record every step once and in order",
    upstream(() =>
      Effect.gen(function*() {
        const { message, messageId, workspace } = yield* sent
        yield* TestClock.adjust(5 * second)
        yield* receive(
          status(messageId, "read", start + 2000),
          status(messageId, "delivered", start + 1000),
          status(messageId, "read", start + 2000),
          status(messageId, "sent", start + 500),
          status(messageId, "delivered", start + 1000)
        )
        yield* receive(status(messageId, "read", start + 9000), status(messageId, "failed", start + 9000))
        const { deliveredAt, readAt, sentAt, status: now } = yield* message
        assert.deepStrictEqual([now, sentAt, deliveredAt, readAt], ["read", start, start + 2000, start + 2000])
        assert.deepStrictEqual(
          (yield* events(workspace.id)).map(({ createdAt, data, sequence, type }) => [
            type,
            sequence,
            createdAt,
            data[`${type.slice("message.".length)}_at`]
          ]),
          [
            ["message.sent", 1, start, iso(start)],
            ["message.delivered", 2, start + 5000, iso(start + 2000)],
            ["message.read", 3, start + 5000, iso(start + 2000)]
          ]
        )
      })
    )
  )

  it.effect(
    "a failure report carries the reason",
    upstream(() =>
      Effect.gen(function*() {
        const { message, messageId, workspace } = yield* sent
        yield* receive(status(messageId, "failed", start + 1000))
        assert.deepStrictEqual([(yield* message).status, (yield* message).failedAt], ["failed", start + 1000])
        const [, failed] = yield* events(workspace.id)
        assert.deepStrictEqual([failed?.type, failed?.data.error], ["message.failed", {
          code: "forbidden",
          reason: "provider_policy",
          message: "no"
        }])
      })
    )
  )

  it.effect(
    "reports about unknown messages are ignored, and do not stop later ones",
    upstream(() =>
      Effect.gen(function*() {
        const { message, messageId } = yield* sent
        yield* receive(
          status(yield* newId("msg"), "read", start, "wamid.unknown"),
          status(null, "read", start, "wamid.unknown"),
          status(null, "read", start, null),
          status(messageId, "delivered", start)
        )
        assert.strictEqual((yield* message).status, "delivered")
      })
    )
  )

  it.effect(
    "reports about a number other than the message's sender are ignored",
    upstream(() =>
      Effect.gen(function*() {
        const { message, messageId, number } = yield* sent
        const { number: other } = yield* world()
        const delivered = (providerNumberId: string): InboundItem => ({
          _tag: "Status",
          providerNumberId,
          reference: messageId,
          report: { status: "delivered", at: start, providerMessageId: "wamid.1", error: null }
        })
        yield* receive(delivered(other.providerNumberId))
        assert.strictEqual((yield* message).status, "sent")
        yield* receive(delivered(number.providerNumberId))
        assert.strictEqual((yield* message).status, "delivered")
      })
    )
  )
})

it.effect(
  "items about unknown things are logged in one line, at debug level if that is usual",
  upstream(() =>
    logged((lines) =>
      Effect.gen(function*() {
        const { number } = yield* world()
        yield* receive(status(null, "read", start), status(null, "sent", start), { _tag: "Skipped", kind: "calls" })
        yield* receive(status(null, "read", start), received({ providerNumberId: "nobody" }), received(number))
        yield* receive(received(number))
        assert.deepStrictEqual(lines, [
          {
            level: "Debug",
            message: "ignored parts of the provider's report: a status of an unknown message (2 times), calls"
          },
          {
            level: "Info",
            message: "ignored parts of the provider's report: a status of an unknown message, " +
              "a customer's message to an unknown number"
          }
        ])
      })
    ).pipe(Effect.provideService(References.MinimumLogLevel, "All"))
  )
)

describe("the recipient in a status", () => {
  it.effect(
    "a status's recipient is the customer of its message, who is opted out and gets the status's names",
    upstream(() =>
      Effect.gen(function*() {
        const { message, messageId, number, workspace } = yield* sent
        const { content: { to } } = yield* message
        const { providerNumberId } = number
        const told = (more: object) =>
          ({ ...status(messageId, "failed", start), providerNumberId, ...more }) as InboundItem
        const contact = (name: string) =>
          Effect.map(
            ContactStore.use((store) => store.get(workspace.id, number.id, name)),
            Option.map(({ customer, optedOut }) => [customer, optedOut])
          )
        yield* receive(told({ recipient: { phone: to, userId: "US.1" } }))
        assert.deepStrictEqual(yield* contact("US.1"), Option.some([{ phone: to, userId: "US.1" }, false]))
        yield* receive(told({ preference: "opt_out" }))
        const known = { phone: to, userId: "US.1" }
        assert.deepStrictEqual(yield* contact(to), Option.some([known, true]))
        yield* receive(told({ recipient: { phone: "+22997123456", userId: null } }))
        assert.deepStrictEqual(
          yield* contact("+22997123456"),
          Option.some([{ ...known, aliases: ["+22997123456"] }, true])
        )
      })
    )
  )

  it.effect(
    "a status of an erased customer's message stores no name of theirs, and an opt-out in it counts",
    upstream(() =>
      Effect.gen(function*() {
        const { message, messageId, number, workspace } = yield* sent
        const { content: { to } } = yield* message
        const told = (more: object) =>
          ({
            ...status(messageId, "delivered", start),
            providerNumberId: number.providerNumberId,
            recipient: { phone: to, userId: "US.1" },
            ...more
          }) as InboundItem
        const contacts = Effect.map(
          ContactStore.use((store) => store.list(workspace.id, {}, { limit: 10, after: null })),
          ({ items }) => items.map(({ customer, optedOut }) => [customer, optedOut])
        )
        yield* Customers.use((customers) => customers.erase(workspace.id, to))
        yield* receive(told({}))
        assert.strictEqual((yield* message).status, "delivered")
        assert.deepStrictEqual(yield* contacts, [])
        yield* receive(told({ preference: "opt_out" }))
        assert.deepStrictEqual(yield* contacts, [[{ phone: to, userId: "US.1" }, true]])
      })
    )
  )
})

describe("customers' messages", () => {
  for (
    const [how, remove] of [
      ["was deleted", (file: Named) => MediaStore.use((store) => store.remove({ ...file, now: start, only: "file" }))],
      [
        "was erased with its customer",
        ({ workspaceId }: Named) => Customers.use((customers) => customers.erase(workspaceId, "+12025550123"))
      ]
    ] as const
  ) {
    it.effect(
      `a repeated message does not bring back its file, which ${how}`,
      upstream(() =>
        Effect.gen(function*() {
          const { number, workspace } = yield* world()
          const file = { providerMediaId: "1", sha256: null, filename: null }
          const image = received(number, { type: "image", content: {}, file })
          const claim = Effect.flatMap(
            Clock.currentTimeMillis,
            (now) => MediaStore.use((store) => store.claimAwaited({ now, until: now + hour, limit: 10 }))
          )
          yield* receive(image)
          const [claimed] = yield* claim
          const named = { workspaceId: workspace.id, id: claimed!.awaited.id }
          yield* remove(named)
          // its bytes are deleted once the claim of its download has ended
          yield* TestClock.adjust(hour)
          yield* MediaStore.use((store) => store.forget(named, start + hour))
          assert.deepStrictEqual(yield* receive(image), [undefined])
          assert.deepStrictEqual(yield* claim, [])
        })
      )
    )
  }

  it.effect(
    "a customer's message opens the window of the number, and records an event",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        yield* TestClock.adjust(second)
        yield* receive(received(number, { at: start + 300 }))
        const contact = yield* ContactStore.use((store) => store.get(workspace.id, number.id, "+12025550123"))
        assert.deepStrictEqual(Option.getOrThrow(contact), {
          workspaceId: workspace.id,
          phoneNumberId: number.id,
          key: "+12025550123",
          customer: { phone: "+12025550123", userId: null },
          isUserFirst: false,
          knownSince: start + 300,
          lastInboundAt: start + 300,
          optedOut: false,
          preferenceAt: null
        })
        const [event, ...others] = yield* events(workspace.id)
        assert.deepStrictEqual(others, [])
        assert.match(String(event!.data.message_id), /^msg_/)
        assert.deepStrictEqual(event, {
          id: event!.id,
          workspaceId: workspace.id,
          type: "message.received",
          createdAt: start + second,
          orderKey: null,
          sequence: null,
          data: {
            message_id: event!.data.message_id!,
            provider_message_id: "wamid.in.1",
            from: "+12025550123",
            to: "+14155550100",
            type: "text",
            text: { body: "Hello" },
            received_at: iso(start + 300),
            late: false
          },
          trace: null
        })
      })
    )
  )

  it.effect(
    "a repeated message counts once",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        yield* receive(received(number), received(number), received(number, { at: start + hour }))
        yield* receive(received(number))
        assert.deepStrictEqual(yield* told(workspace.id), ["message.received"])
        yield* receive(received(number, { providerMessageId: "wamid.in.2" }))
        assert.deepStrictEqual(yield* told(workspace.id), ["message.received", "message.received"])
      })
    )
  )

  it.effect(
    "a message moves the window only forward, and never into the future",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        const lastInboundAt = Effect.map(
          ContactStore.use((store) => store.get(workspace.id, number.id, "+12025550123")),
          (contact) => Option.getOrThrow(contact).lastInboundAt
        )
        yield* receive(received(number, { providerMessageId: "1", at: start - hour }))
        assert.strictEqual(yield* lastInboundAt, start - hour)
        yield* receive(received(number, { providerMessageId: "2", at: start - 2 * hour }))
        assert.strictEqual(yield* lastInboundAt, start - hour)
        yield* receive(received(number, { providerMessageId: "3", at: start + 10 * day }))
        assert.strictEqual(yield* lastInboundAt, start)
      })
    )
  )

  it.effect(
    "messages opt out and in, and otherwise leave the preference",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        const optedOut = Effect.map(
          ContactStore.use((store) => store.get(workspace.id, number.id, "+12025550123")),
          (contact) => Option.getOrThrow(contact).optedOut
        )
        const seen: Array<boolean> = []
        for (const [i, preference] of ([undefined, "opt_out", undefined, "opt_in", undefined] as const).entries()) {
          yield* receive(received(number, { providerMessageId: `${i}`, at: start - second + i, preference }))
          seen.push(yield* optedOut)
        }
        assert.deepStrictEqual(seen, [false, true, true, false, false])
      })
    )
  )

  it.effect(
    "messages of 30 days ago are ignored, since duplicates are no longer recognized",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        yield* receive(received(number, { providerMessageId: "1", at: start - 30 * day }))
        assert.deepStrictEqual(yield* told(workspace.id), [])
        yield* receive(received(number, { providerMessageId: "2", at: start - 30 * day + 1 }))
        assert.deepStrictEqual(yield* told(workspace.id), ["message.received"])
      })
    )
  )

  it.effect(
    "messages to unknown numbers are ignored",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        yield* receive(received({ providerNumberId: "nobody" }), received(number))
        assert.deepStrictEqual(yield* told(workspace.id), ["message.received"])
      })
    )
  )

  it.effect(
    "messages of any kind have their content under the kind's name",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        yield* receive(received(number, { type: "button", content: { text: "Yes", payload: "yes" } }))
        const [event] = yield* events(workspace.id)
        assert.deepStrictEqual([event!.data.type, event!.data.button], ["button", { text: "Yes", payload: "yes" }])
      })
    )
  )
})

describe("the number of a message", () => {
  const counted = (item: (number: World["number"]) => InboundItem) =>
    Effect.gen(function*() {
      const { number, workspace } = yield* world()
      const calls: Array<string> = []
      const counting = Layer.merge(
        Layer.effect(
          PhoneNumberStore,
          Effect.map(PhoneNumberStore, (store) => ({
            ...store,
            named: (name: NumberName) => {
              calls.push("named")
              return store.named(name)
            }
          }))
        ),
        Layer.effect(
          ContactStore,
          Effect.map(ContactStore, (store) => ({
            ...store,
            recordInbound: (command: Parameters<typeof store.recordInbound>[0]) => {
              calls.push("recordInbound")
              return store.recordInbound(command)
            }
          }))
        )
      )
      yield* receive(item(number)).pipe(Effect.provide(Layer.fresh(Inbound.layer).pipe(Layer.provide(counting))))
      return { calls, told: yield* told(workspace.id) }
    })

  it.effect(
    "a message's number is looked up once, even if the message has a file",
    upstream(() =>
      Effect.gen(function*() {
        const file = { providerMediaId: "1", sha256: null, filename: null }
        const image = { type: "image", content: {}, file }
        assert.deepStrictEqual(yield* counted((number) => received(number, image)), {
          calls: ["named", "recordInbound"],
          told: ["message.received"]
        })
      })
    )
  )

  it.effect(
    "if no workspace has it, the storage is asked nothing else",
    upstream(() =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* counted(() => received({ providerNumberId: "unknown" })), {
          calls: ["named"],
          told: []
        })
      })
    )
  )
})

describe("words about numbers", () => {
  const word = (number: NumberName, change: NumberChange, at = start): InboundItem => ({
    _tag: "Number",
    number,
    at,
    change
  })
  const stored = ({ workspace }: Pick<World, "workspace">) =>
    Effect.map(PhoneNumberStore.use((store) => store.list(workspace.id)), ([number]) => number!)

  it.effect(
    "reports about a number are applied by their time, and a block stops later sends",
    upstream(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* sent
        const { key: apiKey } = yield* issueKey(workspace.id)
        const block = SenderBlock.of("quality", start, { code: "131048", message: "Spam rate limit hit" })
        yield* receive(word(number, { quality: "red", block }), word(number, { quality: "green" }, start - 1))
        assert.deepStrictEqual(yield* stored({ workspace }), {
          ...number,
          block,
          learned: { ...number.learned, quality: "red" }
        })
        const again = Messages.use((messages) =>
          Effect.flatMap(newId("req"), (requestId) =>
            messages.send({
              workspaceId: workspace.id,
              apiKeyId: apiKey.id,
              key: key("k2"),
              requestId,
              message: plain()
            }))
        )
        const error = yield* Effect.flip(again)
        assert.deepStrictEqual([error.code, error.provider], ["forbidden", block.provider!])
        yield* TestClock.adjust(1)
        yield* receive(word(number, { block: null }, start + 1))
        assert.strictEqual((yield* again).messageId.slice(0, 4), "msg_")
      })
    )
  )

  it.effect(
    "a report about an account applies to all its numbers, and one about unknown numbers to none",
    upstream(() =>
      Effect.gen(function*() {
        const one = yield* world()
        const { providerAccountId } = one.number
        const two = yield* world()
        yield* receive(word({ providerAccountId: "nobody" }, { quality: "red" }))
        yield* receive(word({ providerAccountId }, { messagingLimit: 250 }))
        for (const world of [one, two]) {
          assert.deepStrictEqual((yield* stored(world)).learned, { ...world.number.learned, messagingLimit: 250 })
        }
      })
    )
  )

  it.effect(
    "a report from the future does not outrank later ones",
    upstream(() =>
      Effect.gen(function*() {
        const own = yield* world()
        yield* receive(word(own.number, { quality: "red" }, start + day))
        yield* TestClock.adjust(second)
        yield* receive(word(own.number, { quality: "green" }, start + second))
        assert.strictEqual((yield* stored(own)).learned.quality, "green")
      })
    )
  )
})

it.effect(
  "items that failed in the storage can be received again, and the others count once",
  upstream(() =>
    Effect.gen(function*() {
      const { number, workspace } = yield* world()
      const store = yield* ContactStore
      let calls = 0
      const failing = ContactStore.of({
        ...store,
        recordInbound: (command) =>
          ++calls === 2
            ? Effect.fail(new StoreError({ operation: "ContactStore.recordInbound" }))
            : store.recordInbound(command)
      })
      const items = [1, 2, 3].map((n) => received(number, { providerMessageId: `wamid.in.${n}` }))
      const once = Inbound.use((inbound) => inbound.receive(items)).pipe(
        Effect.provide(Layer.fresh(Inbound.layer)),
        Effect.provideService(ContactStore, failing)
      )
      assert.strictEqual((yield* Effect.flip(once))._tag, "StoreError")
      yield* once
      assert.deepStrictEqual(
        (yield* events(workspace.id)).map(({ data }) => data.provider_message_id),
        ["wamid.in.1", "wamid.in.2", "wamid.in.3"]
      )
    })
  )
)

describe("reports on customers other than messages", () => {
  const contactOf = ({ number, workspace }: World, key: string) =>
    ContactStore.use((store) => store.get(workspace.id, number.id, key))

  it.effect(
    "preferences are set and cleared, and older ones undo no newer ones",
    upstream(() =>
      Effect.gen(function*() {
        const own = yield* world()
        const { number: { providerNumberId } } = own
        const item = (preference: "opt_out" | "opt_in", at: number): InboundItem => ({
          _tag: "Preference",
          providerNumberId,
          customer: { phone: "+12025550123", userId: null },
          preference,
          at
        })
        const optedOut = Effect.map(contactOf(own, "+12025550123"), (contact) => Option.getOrThrow(contact).optedOut)
        yield* receive(item("opt_out", start - 2))
        assert.isTrue(yield* optedOut)
        yield* receive(item("opt_in", start - 1), item("opt_out", start - 2))
        assert.isFalse(yield* optedOut)
        yield* receive(received(own.number, { at: start - 3, preference: "opt_out" }))
        assert.isFalse(yield* optedOut)
      })
    )
  )

  it.effect(
    "a moved customer is found at the new number",
    upstream(() =>
      Effect.gen(function*() {
        const own = yield* world()
        yield* receive(received(own.number, { at: start - 1, preference: "opt_out" }), {
          _tag: "CustomerMoved",
          providerNumberId: own.number.providerNumberId,
          from: { phone: "+12025550123", userId: null },
          to: { phone: "+12025550199", userId: "US.1" },
          at: start
        })
        const { customer, lastInboundAt, optedOut } = Option.getOrThrow(yield* contactOf(own, "+12025550199"))
        assert.deepStrictEqual([customer.userId, lastInboundAt, optedOut], ["US.1", start - 1, true])
      })
    )
  )

  it.effect(
    "items about customers of an unknown number are ignored",
    upstream(() =>
      Effect.gen(function*() {
        const own = yield* world()
        const customer = { phone: "+12025550123", userId: null }
        const at = { providerNumberId: "nobody", at: start }
        yield* receive(
          { _tag: "Preference", ...at, customer, preference: "opt_out" },
          { _tag: "CustomerMoved", ...at, from: customer, to: { phone: "+12025550199", userId: null } },
          { _tag: "Skipped", kind: "weather" }
        )
        assert.isTrue(Option.isNone(yield* contactOf(own, "+12025550123")))
      })
    )
  )
})
