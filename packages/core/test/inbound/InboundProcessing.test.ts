/**
 * The whole path of provider posts, under random interleavings of posts, duplicates, disorder, crashes and storage
 * failures: no status moves back, nothing is lost, and nothing is recorded twice. The model folds the core's pure rule
 * over what was applied, in that order.
 */
import { assert, describe, it } from "@effect/vitest"
import { SeededRandom, StubProviderWebhook } from "@wac/testkit"
import { Cause, Clock, Effect, Exit, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ContactStore } from "../../src/contacts/ContactStore.ts"
import * as Event from "../../src/events/Event.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import type { EventId, MessageId } from "../../src/Id.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import type { InboundItem } from "../../src/inbound/InboundItem.ts"
import { InboundPosts } from "../../src/inbound/InboundPosts.ts"
import { InboundPostStore } from "../../src/inbound/InboundPostStore.ts"
import * as InboundRunner from "../../src/inbound/InboundRunner.ts"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import * as Message from "../../src/messages/Message.ts"
import { Messages } from "../../src/messages/Messages.ts"
import { MessageStore } from "../../src/messages/MessageStore.ts"
import { StoreError } from "../../src/StoreError.ts"
import type { Instant } from "../../src/Time.ts"
import { second } from "../checks.ts"
import { advance, settle } from "../clock.ts"
import { start } from "../samples.ts"
import { foundation, issueKey, key, plain, stubProvider, world } from "../world.ts"

const layer = Layer.mergeAll(Messages.layer, InboundPosts.layer).pipe(
  Layer.provideMerge(Layer.merge(ApiKeys.layer, stubProvider().layer)),
  Layer.provideMerge(foundation)
)

const customers = ["+12025550101", "+12025550102", "+12025550103"]

/** The outcome of a storage operation. */
type Fate = "done" | "refused" | "done, but not said" | "silent"

const settled: ReadonlyArray<Fate> = ["done"]
const troubled: ReadonlyArray<Fate> = ["done", "done", "done", "done", "refused", "done, but not said", "silent"]

/** A runner's storage, with random failures. */
const meeting = (random: SeededRandom.SeededRandom, isTroubled: () => boolean, isAlive: () => boolean) => {
  const fail = Effect.fail(new StoreError({ operation: "any" }))
  return <A, E>(step: Effect.Effect<A, E>, canBeSilent = true): Effect.Effect<A, E | StoreError> =>
    Effect.suspend((): Effect.Effect<A, E | StoreError> => {
      if (!isAlive()) return fail
      const fate = random.pick(isTroubled() ? troubled : settled)
      const aside = random.below(3) === 0 ? Effect.yieldNow : Effect.void
      switch (fate) {
        case "done":
          return aside.pipe(Effect.andThen(step), Effect.tap(aside))
        case "refused":
          return Effect.andThen(aside, fail)
        case "done, but not said":
          return aside.pipe(Effect.andThen(step), Effect.andThen(fail))
        case "silent":
          // until the storage's own deadline
          return canBeSilent ? Effect.andThen(Effect.sleep(5 * second), fail) : Effect.andThen(aside, fail)
      }
    })
}

const run = (seed: number, history: Array<string>) =>
  Effect.gen(function*() {
    const random = SeededRandom.make(seed)
    const messages = yield* MessageStore
    const contacts = yield* ContactStore
    const posts = yield* InboundPostStore
    const events = yield* EventStore
    const others = Layer.succeedContext(yield* Effect.context<Layer.Success<typeof layer>>())
    const { number, workspace } = yield* world()
    const { key: apiKey } = yield* issueKey(workspace.id)
    const messageOf = (id: MessageId) => Effect.map(messages.get(workspace.id, id), Option.getOrThrow)

    const sent: Array<Message.Message> = []
    for (let i = 0; i < 3; i++) {
      const { messageId } = yield* Messages.use(({ send }) =>
        send({
          workspaceId: workspace.id,
          apiKeyId: apiKey.id,
          key: key(`k${i}`),
          requestId: "req_00000000000000000000000000" as Parameters<typeof send>[0]["requestId"],
          message: plain(`+1202555020${i}`)
        })
      )
      sent.push(yield* messageOf(messageId))
    }

    // what the provider reports

    const reported: Array<{ readonly id: MessageId; readonly report: Message.Report }> = []
    const written = new Map<string, { readonly customer: string; readonly at: Instant }>()
    const told: Array<InboundItem> = []

    const report = Effect.fnUntraced(function*() {
      const { id, providerMessageId } = random.pick(sent)
      const status = random.pick(["sent", "delivered", "read", "delivered", "read", "failed"] as const)
      const failure = { code: "forbidden", reason: "provider_policy", message: "no" } as const
      const at = (yield* Clock.currentTimeMillis) - random.below(10 * second)
      const named = random.below(3)
      const report: Message.Report = {
        status,
        at,
        providerMessageId: named === 0 ? null : providerMessageId,
        error: status === "failed" ? failure : null
      }
      reported.push({ id, report })
      return {
        _tag: "Status",
        providerNumberId: number.providerNumberId,
        reference: named === 1 ? null : id,
        report
      } satisfies InboundItem
    })

    const write = Effect.fnUntraced(function*() {
      const customer = random.pick(customers)
      const providerMessageId = `wamid.in.${written.size}`
      const at = (yield* Clock.currentTimeMillis) - random.below(10 * second)
      written.set(providerMessageId, { customer, at })
      return {
        _tag: "Message",
        message: {
          providerNumberId: number.providerNumberId,
          providerMessageId,
          customer: { phone: customer, userId: null },
          at,
          type: "text",
          content: { body: providerMessageId },
          context: null,
          preference: undefined
        }
      } satisfies InboundItem
    })

    const bodies: Array<string> = []
    const post = (body: string) =>
      InboundPosts.use(({ receive }) =>
        receive(StubProviderWebhook.make(), new TextEncoder().encode(body), () => StubProviderWebhook.sign(body))
      )
    /** Some new items, some repeated, in any order. */
    const tell = Effect.fnUntraced(function*() {
      const items: Array<InboundItem> = []
      for (let n = random.below(6); n >= 0; n--) {
        const item = random.below(4) === 0 && told.length > 0
          ? random.pick(told)
          : random.below(2) === 0
          ? yield* report()
          : yield* write()
        items.push(item)
        told.push(item)
      }
      const body = StubProviderWebhook.bodyOf(random.shuffle(items), `${bodies.length}`)
      bodies.push(body)
      yield* post(body)
    })

    // the runners that process it

    /** The applied reports, in that order. */
    const applied: Array<{ readonly id: MessageId; readonly report: Message.Report; readonly now: Instant }> = []
    const noted = (command: Parameters<MessageStore["Service"]["applyReport"]>[0]) =>
      // the storage decides when it is applied
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { reference, report } = command
        const id = reference ?? sent.find(({ providerMessageId }) => providerMessageId === report.providerMessageId)!.id
        applied.push({ id, report, now })
      })
    let isTroubled = true

    const startRunner = Effect.gen(function*() {
      let isAlive = true
      const meet = meeting(random, () => isTroubled, () => isAlive)
      const scope = yield* Scope.make()
      const ports = Layer.mergeAll(
        Layer.succeed(
          MessageStore,
          MessageStore.of({
            ...messages,
            applyReport: (command) => meet(Effect.tap(messages.applyReport(command), noted(command)))
          })
        ),
        Layer.succeed(
          ContactStore,
          ContactStore.of({
            ...contacts,
            recordInbound: (command) => meet(contacts.recordInbound(command))
          })
        ),
        Layer.succeed(
          InboundPostStore,
          InboundPostStore.of({
            ...posts,
            // a claim and a release are always waited for, even if the runner stops
            claim: (command) => meet(posts.claim(command), false),
            complete: (command) => meet(posts.complete(command)),
            release: (command) => meet(posts.release(command), command.problem !== null)
          })
        ),
        StubProviderWebhook.layer()
      )
      yield* Layer.buildWithScope(
        Layer.fresh(InboundRunner.layer).pipe(
          Layer.provide(Layer.fresh(Inbound.layer)),
          Layer.provide(ports),
          Layer.provide(others)
        ),
        scope
      )
      const stop = Scope.close(scope, Exit.void)
      return {
        stop,
        kill: Effect.suspend(() => {
          isAlive = false
          return stop
        })
      }
    })
    const runners = [yield* startRunner, yield* startRunner]

    const again = Effect.fnUntraced(function*(end: "stop" | "kill") {
      const which = random.below(runners.length)
      yield* runners[which]![end]
      runners[which] = yield* startRunner
    })

    const steps: ReadonlyArray<readonly [string, () => Effect.Effect<void, unknown, InboundPosts>]> = [
      ["tell", tell],
      ["tell", tell],
      ["tell", tell],
      ["post again", () => bodies.length === 0 ? Effect.void : Effect.suspend(() => post(random.pick(bodies)))],
      ["stop", () => again("stop")],
      ["kill", () => again("kill")],
      // a few turns of the runners, so that the next step meets them anywhere
      ["run", () => Effect.replicateEffect(Effect.yieldNow, random.below(40), { discard: true })],
      ["run", () => settle],
      ["wait", () => TestClock.adjust(random.pick([10, second, 5 * second, 15 * second]))]
    ]
    const seen = new Map(sent.map((message) => [message.id, message]))
    const look = Effect.gen(function*() {
      for (const before of seen.values()) {
        const after = yield* messageOf(before.id)
        assertNoStepBack(before, after)
        seen.set(after.id, after)
      }
    })
    for (let i = 0; i < 60; i++) {
      const [name, step] = random.pick(steps)
      history.push(name)
      yield* step()
      yield* look
    }
    // failures are over; leases end, and failed posts are due again within ten minutes
    isTroubled = false
    // minute by minute, so that nobody computes on the way when to wake from a time that has long passed
    yield* Effect.replicateEffect(advance("1 minute"), 12, { discard: true })
    yield* look
    assert.deepStrictEqual(yield* posts.backlog, { waiting: 0, oldestReceivedAt: null, failing: 0, unreadable: 0 })

    const { items: all } = yield* events.list(workspace.id, {}, { limit: 10_000, after: null })

    // no report about our messages is lost, and each message is where the rule leads
    for (const { id, report } of reported) {
      assert.isTrue(applied.some((one) => one.id === id && isSame(one.report, report)), `lost: ${report.status}`)
    }
    for (const before of sent) {
      const model = applied.filter(({ id }) => id === before.id).reduce(
        ({ events, message }, { now, report }) => {
          const moved = Message.apply(message, report, now)
          const ids = moved.transitions.map((_, i) => `evt_${i}` as EventId)
          const told = Event.ofTransitions(moved.message, moved.transitions, { events: ids }, now)
          return { message: told.message, events: [...events, ...told.events] }
        },
        { message: before, events: [] as ReadonlyArray<Event.Event> }
      )
      assert.deepStrictEqual(yield* messageOf(before.id), model.message)
      assert.deepStrictEqual(
        // the first event is the send's own
        all.filter(({ orderKey }) => orderKey === before.id).slice(1).map(withoutId),
        model.events.map(withoutId)
      )
    }

    // no customer's message is lost or recorded twice
    const received = all.filter(({ type }) => type === "message.received").map(({ data }) =>
      data["provider_message_id"]
    )
    assert.deepStrictEqual([...received].sort(), [...written.keys()].sort())
    for (const customer of customers) {
      const times = [...written.values()].filter((one) => one.customer === customer).map(({ at }) => at)
      const contact = yield* contacts.get(workspace.id, number.id, customer)
      assert.strictEqual(
        Option.getOrUndefined(contact)?.lastInboundAt,
        times.length === 0 ? undefined : Math.max(...times)
      )
    }
    yield* Effect.forEach(runners, ({ stop }) => stop)
    return { posts: bodies.length, applied: applied.length, reported: reported.length }
  })

const isSame = (a: Message.Report, b: Message.Report): boolean =>
  a.status === b.status && a.at === b.at && a.providerMessageId === b.providerMessageId

const withoutId = ({ id: _, ...event }: Event.Event) => event

const assertNoStepBack = (before: Message.Message, after: Message.Message): void => {
  assert.isAtLeast(
    Message.rankOf(after.status),
    Message.rankOf(before.status),
    `${before.status} became ${after.status}`
  )
  assert.isAtLeast(after.sequence, before.sequence)
}

describe("the provider's posts", () => {
  const seeds = Array.from({ length: 20 }, (_, i) => i + 1)

  it.effect.each(seeds)(
    "every item is applied exactly once, whatever happens meanwhile: seed %i",
    (seed) =>
      Effect.suspend(() => {
        const history: Array<string> = []
        return TestClock.setTime(start).pipe(
          // the layers' own fibers begin at that time
          Effect.andThen(Effect.provide(run(seed, history), Layer.fresh(layer))),
          Effect.tap(({ applied, posts, reported }) =>
            Effect.sync(() => {
              // a run in which nothing happened would prove nothing
              assert.isAbove(posts, 3)
              assert.isAtLeast(applied, reported)
            })
          ),
          Effect.catchCause((cause) =>
            Effect.die(new Error(`seed ${seed}, after: ${history.join("; ")}\n${Cause.pretty(cause)}`))
          )
        )
      })
  )
})
