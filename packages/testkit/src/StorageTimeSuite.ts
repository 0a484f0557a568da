/**
 * Conformance of every port to `StorageTime`: whatever the caller's clock says, shared state is judged at the storage's
 * time. Only here are storages built as in production.
 */
import { assert } from "@effect/vitest"
import {
  ApiKeyStore,
  AuditStore,
  Event,
  EventStore,
  type Id,
  type Idempotency,
  InboundPostStore,
  InvitationStore,
  type Limits,
  type Media,
  MediaStore,
  MessageStore,
  type Portal,
  PortalStore,
  type RateLimit,
  RateLimitStore,
  ReplayStore,
  RetentionRunner,
  SessionStore,
  Storage,
  SubscriptionStore,
  type Template,
  TemplateStore,
  WebhookStore
} from "@wac/core"
import { Clock, Effect, Option } from "effect"
import * as AuditStoreSuite from "./audit/AuditStoreSuite.ts"
import * as Fixture from "./Fixture.ts"
import * as Forgetting from "./Forgetting.ts"
import * as MessageFixture from "./messages/MessageFixture.ts"
import * as People from "./people/PeopleFixture.ts"
import * as DeliveryFixture from "./webhooks/DeliveryFixture.ts"
import { type Founded, founder } from "./workspaces/WorkspaceStoreSuite.ts"

const { day, hour, minute, putWebhook, second, world } = Fixture
const { accept, customer, describe, inbound, lookUp, messageOf, sent, text } = MessageFixture

/** The time on a clock that is `ahead` milliseconds fast, or slow if negative. */
const clockTime = (ahead: number) => Effect.map(Clock.currentTimeMillis, (now) => now + ahead)

/** Clocks that differ by 10 s, and by more than any lease. */
const clocks = [10 * second, -10 * second, 0, 2 * minute, -2 * minute]

/** A token each hour, so that none is added during a test. */
const hourly = { everySeconds: 3600, burst: 10 }

const acceptAt = (own: Fixture.World, ahead: number, options: Omit<MessageFixture.SendOptions, "now"> = {}) =>
  Effect.flatMap(clockTime(ahead), (now) => accept(own, { ...options, now }))

/** The answer to a caller whose clock is `ahead` milliseconds fast. */
const answerAt = (...given: Parameters<typeof acceptAt>) =>
  Effect.map(acceptAt(...given), ({ accepted }) => describe(accepted))

/** Registers the tests. */
export const tests = (it: Fixture.FoundedIt<Founded>): void => {
  it.effect("a bucket allows what it holds, whether the caller's clock is fast or slow", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const limits: Limits.Limits = { ...Fixture.roomy, pair: hourly }
      const answers = yield* Effect.forEach(
        Array.from({ length: 15 }, (_, i) => clocks[i % clocks.length]!),
        (ahead) => answerAt(own, ahead, { limits })
      )
      assert.deepStrictEqual(answers, [
        ...Array.from({ length: 10 }, () => "Claimed"),
        ...Array.from({ length: 5 }, () => "rate_limited/pair")
      ])
      const store = yield* RateLimitStore.RateLimitStore
      const policy: RateLimit.Policy = { name: "login", interval: hour, capacity: 10 }
      const buckets = [{ key: `test:${yield* Fixture.word}`, policy }]
      const readings = yield* Effect.forEach(
        Array.from({ length: 15 }, (_, i) => clocks[i % clocks.length]!),
        (ahead) => Effect.flatMap(clockTime(ahead), (now) => store.spend(buckets, now))
      )
      assert.deepStrictEqual(readings.map(([reading]) => reading!.remaining), [
        ...Array.from({ length: 10 }, (_, i) => 9 - i),
        ...Array.from({ length: 5 }, () => 0)
      ])
      assert.isAtMost(readings.at(-1)![0]!.resetAfter, hour)
    }))

  it.effect("a send's lease lasts its full length, whoever claims and whoever sweeps", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const store = yield* MessageStore.MessageStore
      for (const ahead of [-hour, -10 * second, 10 * second, hour]) {
        const { accepted, command } = yield* acceptAt(own, ahead)
        assert.strictEqual(describe(accepted), "Claimed")
        for (const other of [-ahead, 40 * second, 2 * hour]) {
          const now = yield* clockTime(other)
          yield* store.sweep(now)
          assert.strictEqual((yield* lookUp(command, now))._tag, "Running")
        }
        assert.strictEqual((yield* messageOf(command)).status, "sending")
      }
    }))

  it.effect("a message carries the storage's time of acceptance, whatever the caller's clock", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const before = yield* clockTime(-second)
      const { command } = yield* sent(own, { now: yield* clockTime(hour) })
      const after = yield* clockTime(second)
      const { createdAt, sentAt, statusAt } = yield* messageOf(command)
      for (const at of [createdAt, sentAt!, statusAt]) {
        assert.isAtLeast(at, before)
        assert.isAtMost(at, after)
      }
    }))

  it.effect("an answer is kept for its 24 hours, whoever asks for it or sweeps", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { command } = yield* sent(own, { now: yield* clockTime(-day) })
      const ahead = yield* clockTime(day + hour)
      yield* MessageStore.MessageStore.use((store) => store.sweep(ahead))
      assert.strictEqual((yield* lookUp(command, ahead))._tag, "Answered")
      assert.strictEqual(yield* answerAt(own, day + hour, { key: command.request.key }), "Answered")
    }))

  it.effect("quota and messaging limit use the present month and day, whatever the caller's clock", () =>
    Effect.gen(function*() {
      const limited = yield* world({ workspace: { monthlyQuota: 1 } })
      assert.strictEqual(yield* answerAt(limited, -40 * day), "Claimed")
      assert.strictEqual(yield* answerAt(limited, 40 * day), "forbidden/quota_exhausted")
      const narrow = yield* world({ number: { messagingLimit: 1 } })
      assert.strictEqual(yield* answerAt(narrow, -25 * hour), "Claimed")
      const message = MessageFixture.template({ to: customer(2) })
      assert.strictEqual(
        yield* answerAt(narrow, 25 * hour, { message }),
        "forbidden/messaging_limit_reached"
      )
    }))

  it.effect("a service window is open or closed for all callers alike", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const at = yield* clockTime(0)
      yield* inbound(own, { at, now: at - 10 * second })
      for (const ahead of [-10 * second, 10 * second, 25 * hour]) {
        assert.strictEqual(yield* answerAt(own, ahead, { message: text() }), "Claimed")
      }
      const late = at - 24 * hour - second
      yield* inbound(own, { at: late, now: late, customer: customer(2) })
      assert.strictEqual(
        yield* answerAt(own, -hour, { message: text(customer(2)) }),
        "forbidden/outside_service_window"
      )
    }))

  it.effect("a key expires at its time, whatever the caller's clock", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const own = yield* world()
      const now = yield* clockTime(0)
      const live = yield* Fixture.issuedKey(own.workspace.id, now, { expiresAt: now + hour })
      const over = yield* Fixture.issuedKey(own.workspace.id, now, { expiresAt: now - second })
      assert.strictEqual(yield* answerAt(own, 2 * hour, { apiKeyId: live.id }), "Claimed")
      assert.strictEqual(yield* answerAt(own, -hour, { apiKeyId: over.id }), "unauthorized/expired_key")
      for (const ahead of [-hour, 2 * hour]) {
        const { items } = yield* store.list(own.workspace.id, { limit: 100, after: null }, yield* clockTime(ahead))
        assert.sameMembers(items.map(({ id }) => id), [own.key.id, live.id])
      }
      const { at } = Option.getOrThrow(yield* store.findByTokenHash(live.tokenHash))
      assert.isAtLeast(at, now - second)
      assert.isAtMost(at, yield* clockTime(second))
    }))

  it.effect("a key is created once per idempotency key, even for a caller whose clock is a day fast", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const own = yield* world()
      const idempotency = { key: (yield* Fixture.word) as Idempotency.IdempotencyKey, fingerprint: "one" }
      const issue = Effect.fnUntraced(function*(ahead: number) {
        return yield* store.issue(yield* Fixture.apiKey(own.workspace.id, yield* clockTime(ahead)), idempotency)
      })
      assert.strictEqual((yield* issue(-day))._tag, "Created")
      assert.strictEqual((yield* issue(25 * hour))._tag, "Replayed")
    }))

  it.effect("a session lasts its full length, whoever created it and whoever uses it", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const { owner, workspace } = yield* founder
      for (const ahead of [-day, 10 * second, day]) {
        const createdAt = yield* clockTime(ahead)
        const tokenHash = (yield* Fixture.word).replaceAll("-", "").repeat(2)
        yield* store.create({
          id: yield* Fixture.id("ses"),
          workspaceId: workspace.id,
          roles: null,
          address: null,
          agent: null,
          tokenHash,
          userId: owner.userId,
          createdAt,
          idleUntil: createdAt + 12 * hour,
          absoluteUntil: createdAt + 7 * day
        })
        for (const other of [-8 * day, 0, 8 * day]) {
          const now = yield* clockTime(other)
          const used = Option.getOrThrow(yield* store.use(tokenHash, now, now + 12 * hour))
          assert.isAtMost(used.idleUntil, yield* clockTime(12 * hour))
          assert.isAtLeast(used.idleUntil, yield* clockTime(11 * hour))
          const live = yield* store.list(owner.userId, now)
          assert.include(live.map((session) => session.tokenHash), tokenHash)
        }
      }
    }))

  it.effect("an invitation lasts its full length, whoever made it and whoever lists it", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const own = yield* world()
      const made: Array<Id.InvitationId> = []
      for (const ahead of [-8 * day, 0, 8 * day]) {
        const createdAt = yield* clockTime(ahead)
        const invitation = yield* People.invitation(own, { createdAt, expiresAt: createdAt + 7 * day })
        const created = yield* store.create(invitation)
        // its maker gets the expiry that the storage has set, not the one that their clock gave
        const found = Option.getOrThrow(yield* store.find(invitation.tokenHash))
        assert.deepStrictEqual(created, { _tag: "Created", invitation: found })
        made.unshift(invitation.id)
      }
      for (const ahead of [-8 * day, 0, 8 * day]) {
        const listed = yield* store.list(own.workspace.id, yield* clockTime(ahead))
        assert.sameMembers(listed.map(({ id }) => id), made)
        for (const { expiresAt } of listed) {
          assert.isAtMost(expiresAt, yield* clockTime(7 * day))
          assert.isAtLeast(expiresAt, yield* clockTime(7 * day - hour))
        }
      }
    }))

  it.effect("a link resets a password until it expires, whoever made it and whoever uses it", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const { userId } = yield* People.joined(yield* world())
      for (const ahead of [-day, 0, day]) {
        const [live, over] = [yield* People.tokenHash, yield* People.tokenHash]
        const createdAt = yield* clockTime(ahead)
        const created = yield* store.createReset({ tokenHash: live, userId, createdAt, expiresAt: createdAt + hour })
        assert.closeTo(created.expiresAt, yield* clockTime(hour), minute)
        yield* store.createReset({ tokenHash: over, userId, createdAt, expiresAt: createdAt - second })
        assert.deepStrictEqual(yield* store.redeemReset(over, "$new", yield* clockTime(-ahead)), Option.none())
        assert.deepStrictEqual(yield* store.redeemReset(live, "$new", yield* clockTime(-ahead)), Option.some(userId))
      }
    }))

  it.effect("a portal's link lasts its full length, whoever made it and whoever opens it", () =>
    Effect.gen(function*() {
      const store = yield* PortalStore.PortalStore
      const own = yield* world()
      for (const ahead of [-day, 0, day]) {
        const createdAt = yield* clockTime(ahead)
        const [live, over] = [
          yield* People.portalLink(own, { createdAt, expiresAt: createdAt + hour }),
          yield* People.portalLink(own, { createdAt, expiresAt: createdAt - second })
        ]
        const created = yield* store.create(live)
        assert.closeTo(created.createdAt, yield* clockTime(0), minute)
        assert.deepStrictEqual(created, {
          ...live,
          createdAt: created.createdAt,
          expiresAt: created.createdAt + hour
        })
        yield* store.create(over)
        const open = Effect.fnUntraced(function*({ tokenHash }: Portal.Portal) {
          const now = yield* clockTime(-ahead)
          return yield* store.open({ now, tokenHash, sessionHash: yield* People.tokenHash, expiresAt: now + hour })
        })
        assert.isTrue(Option.isNone(yield* open(over)))
        assert.closeTo(Option.getOrThrow(yield* open(live)).expiresAt, yield* clockTime(hour), minute)
      }
    }))

  it.effect("a secret's overlap lasts its full length, whoever rotated it", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { id: webhookId } = yield* putWebhook(own)
      const store = yield* WebhookStore.WebhookStore
      const rotate = Effect.fnUntraced(function*(ahead: number, mark: number) {
        const now = yield* clockTime(ahead)
        return Option.getOrThrow(
          yield* store.rotateSecret({
            workspaceId: own.workspace.id,
            webhookId,
            secret: Fixture.sealed(mark),
            previousExpiresAt: now + minute,
            now
          })
        ).secrets
      })
      const first = yield* rotate(-hour, 3)
      assert.deepStrictEqual(first.map(({ sealed }) => sealed), [Fixture.sealed(3), Fixture.sealed(2)])
      assert.isAtLeast(first[1]!.expiresAt!, yield* clockTime(50 * second))
      // an overlap that is not over stays, even for a caller whose clock says that it is
      const later = yield* rotate(hour, 4)
      assert.lengthOf(later, 3)
      assert.isAtMost(later[1]!.expiresAt!, yield* clockTime(minute))
    }))

  it.effect("a delivery is due, claimed and due again by one clock", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* inbound(own, { at: yield* clockTime(-second), now: yield* clockTime(10 * second) })
      const claimed = yield* DeliveryFixture.claimOne(own, { now: yield* clockTime(-10 * second) })
      const claim = (ahead: number) => Effect.flatMap(clockTime(ahead), (now) => DeliveryFixture.claim(own, { now }))
      assert.deepStrictEqual((yield* claim(minute)).deliveries, [])
      const { recorded } = yield* DeliveryFixture.complete(claimed, {
        startedAt: claimed.at,
        durationMs: 0,
        now: yield* clockTime(-hour)
      })
      assert.isTrue(recorded)
      const [view] = yield* DeliveryFixture.views(own)
      const dueAt = claimed.at + second
      assert.strictEqual(view!.delivery.nextAttemptAt, dueAt)
      const { at, deliveries, nextDueAt } = yield* claim(-hour)
      // if the machine took a second to get here, it is due
      if (deliveries.length > 0) assert.isAtLeast(at, dueAt)
      else assert.isAtMost(nextDueAt ?? at, dueAt)
    }))

  it.effect("a provider post is due, claimed and due again by one clock", () =>
    Effect.gen(function*() {
      const store = yield* InboundPostStore.InboundPostStore
      const name = { provider: yield* Fixture.word, digest: "ab".repeat(32) }
      assert.strictEqual(
        yield* store.keep({ ...name, now: yield* clockTime(10 * second), body: new Uint8Array(1) }),
        "kept"
      )
      const claim = Effect.fnUntraced(function*(ahead: number, token: string) {
        const now = yield* clockTime(ahead)
        const limit = { posts: 10, bytes: 1000 }
        return (yield* store.claim({ now, provider: name.provider, token, leaseUntil: now + 15 * second, limit }))
          .length
      })
      assert.strictEqual(yield* claim(-10 * second, "mine"), 1)
      assert.strictEqual(yield* claim(minute, "another"), 0)
      const now = yield* clockTime(-hour)
      const retryAt = now + 10 * minute
      assert.isTrue(yield* store.release({ ...name, token: "mine", now, problem: "storage", retryAt }))
      assert.strictEqual(yield* claim(hour, "another"), 0)
      yield* store.sweep(yield* clockTime(60 * day), 100)
      assert.strictEqual(yield* store.keep({ ...name, now, body: new Uint8Array(1) }), "known")
    }))

  it.effect("a customer's file is claimed, put off and due by one clock, even if processes' clocks differ by 40 days", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const awaited: Media.Awaited = {
        id: yield* Fixture.id("med"),
        workspaceId: own.workspace.id,
        phoneNumberId: own.number.id,
        providerMediaId: `provider ${yield* Fixture.word}`,
        filename: null,
        sha256: null,
        createdAt: yield* clockTime(0)
      }
      yield* store.expect(awaited, awaited.createdAt)
      const claim = Effect.fnUntraced(function*(ahead: number) {
        const now = yield* clockTime(ahead)
        const all = yield* store.claimAwaited({ now, until: now + 5 * minute, limit: 10_000 })
        return all.find(({ id }) => id === awaited.id)
      })
      for (const ahead of [-40 * day, 40 * day]) {
        const held = (yield* claim(ahead))!
        assert.closeTo(held.at, yield* clockTime(0), minute)
        assert.closeTo(held.leaseUntil, yield* clockTime(5 * minute), minute)
        assert.isUndefined(yield* claim(-ahead))
        for (const other of [-ahead, ahead]) assert.isTrue(yield* store.mayErase(held, yield* clockTime(other)))
        yield* store.postpone(held, yield* clockTime(ahead), 0)
      }
      for (const ahead of [-40 * day, 40 * day]) {
        const held = yield* store.claimAwaited({
          now: yield* clockTime(ahead),
          until: (yield* clockTime(ahead)) + minute,
          limit: 1,
          only: awaited
        })
        yield* store.postpone(held[0]!, yield* clockTime(ahead), hour)
        for (const other of [-ahead, ahead]) assert.isUndefined(yield* claim(other))
      }
    }))

  it.effect("a replay covers what exists by now, and continues, even for a caller whose clock is slow", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* inbound(own, { at: yield* clockTime(-second) })
      const claimed = yield* DeliveryFixture.claimOne(own, { now: yield* clockTime(0) })
      yield* DeliveryFixture.complete(claimed, { startedAt: claimed.at, outcome: "delivered", durationMs: 0 })
      // a delivery of the same millisecond would not be before now
      yield* Effect.repeat(clockTime(0), { until: (now) => now > claimed.at })
      const store = yield* ReplayStore.ReplayStore
      const now = yield* clockTime(-10 * second)
      const id: Id.ReplayId = yield* Fixture.id("job")
      const created = yield* store.create({
        id,
        workspaceId: own.workspace.id,
        since: now - minute,
        until: now,
        status: null,
        now
      })
      assert.strictEqual(Option.getOrThrow(created).total, 1)
      assert.isTrue(yield* store.step(now, 100))
      assert.strictEqual(Option.getOrThrow(yield* store.get(own.workspace.id, id)).replayed, 1)
    }))

  it.effect("a listing of templates by a process with a fast clock keeps no later listing or report from changing them", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { number: { providerAccountId }, workspace: { id: workspaceId } } = own
      const store = yield* TemplateStore.TemplateStore
      const [first] = Fixture.templates
      const list = Effect.fnUntraced(function*(ahead: number, listed: ReadonlyArray<Template.ProviderTemplate>) {
        const now = yield* clockTime(ahead)
        const ids = yield* Effect.replicateEffect(Fixture.id("tpl"), listed.length)
        yield* store.replaceAll({ now, listedAt: now, workspaceId, providerAccountId, listed, ids })
        return (yield* store.list(workspaceId, {}, { limit: 100, after: null })).items
      })
      assert.lengthOf(yield* list(30 * day, [first!]), 1)
      const items = yield* list(0, [{ ...first!, providerTemplateId: "another" }])
      assert.deepStrictEqual(items.map(({ providerTemplateId }) => providerTemplateId), ["another"])
      yield* list(30 * day, [first!])
      const now = yield* clockTime(0)
      const { language, name } = first!
      yield* store.update({ now, providerAccountId, name, language, at: now, change: { status: "paused" } })
      const [paused] = (yield* store.list(workspaceId, {}, { limit: 1, after: null })).items
      assert.strictEqual(paused!.status, "paused")
    }))

  it.effect("the storage returns its own time, whatever the caller's clock", () =>
    Effect.gen(function*() {
      const { now } = yield* Storage.Storage
      for (const ahead of [-200 * day, 0, 200 * day]) {
        assert.closeTo(yield* now(yield* clockTime(ahead)), yield* clockTime(0), minute)
      }
    }))

  it.effect("old records are deleted by the storage's time, even by a process whose clock is wrong by 200 days", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const { workspace: { id: workspaceId } } = own
      const page = { limit: 100, after: null }
      const [audit, events, portals] = [
        yield* AuditStore.AuditStore,
        yield* EventStore.EventStore,
        yield* PortalStore.PortalStore
      ]
      const real = yield* Clock.Clock
      const forget = (ahead: number) =>
        Effect.provideService(
          RetentionRunner.round,
          Clock.Clock,
          Fixture.clockAt(real, () => real.currentTimeMillisUnsafe() + ahead)
        )
      const subscriptions = yield* SubscriptionStore.SubscriptionStore
      const now = yield* clockTime(0)
      yield* subscriptions.open({ workspaceId, name: "orders", types: Event.EventType.literals, now })
      yield* inbound(own, { at: now, now })
      const old = now - 400 * day
      const [kept, due] = [
        yield* AuditStoreSuite.entry(own, { at: now }),
        yield* AuditStoreSuite.entry(own, { at: old, id: Fixture.idAt("aud", old) })
      ]
      yield* audit.record([due, kept])
      const [live, over] = [
        yield* People.portalLink(own, { createdAt: now, expiresAt: now + hour }),
        yield* People.portalLink(own, { createdAt: now, expiresAt: now - second })
      ]
      yield* portals.create(live)
      yield* portals.create(over)
      for (const ahead of [-200 * day, 200 * day]) {
        yield* forget(ahead)
        // what is due is gone
        assert.strictEqual(yield* Forgetting.all(portals.forget(yield* clockTime(0))), 0)
        assert.deepStrictEqual((yield* audit.list(workspaceId, {}, page)).items, [kept])
        // and the rest stays
        assert.lengthOf((yield* events.list(workspaceId, {}, page)).items, 1)
      }
      const opened = yield* portals.open({
        now,
        tokenHash: live.tokenHash,
        sessionHash: yield* People.tokenHash,
        expiresAt: now + hour
      })
      assert.isTrue(Option.isSome(opened))
    }))
}
