import { assert, describe, it } from "@effect/vitest"
import {
  Chores,
  Errors,
  type Id,
  Inbound,
  type InboundItem,
  type PhoneNumber,
  PhoneNumberStore,
  SenderBlock,
  SenderCredentials,
  StoreError,
  type Workspace,
  WorkspaceStore
} from "@wac/core"
import { Arrivals } from "@wac/testkit"
import { Deferred, Effect, Latch, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as NumberHealth from "../src/NumberHealth.ts"
import { sender } from "./samples.ts"
import * as Upstream from "./upstream.ts"

const token = "EAAGm0PX4ZCpsBAKZCz9ZBmGXh0ZAqC3HZB7yTq"

const workspace: Workspace.Workspace = {
  id: sender.workspaceId,
  name: "Acme",
  createdAt: 0,
  tier: null,
  monthlyQuota: null,
  suspended: false
}

/** Looks at these numbers of the workspaces for as long as the scope; gives what was told. */
const looking = Effect.fnUntraced(function*(
  baseUrl: string,
  numbers: (of: Id.WorkspaceId) => Effect.Effect<ReadonlyArray<PhoneNumber.PhoneNumber>, StoreError.StoreError>,
  workspaces: ReadonlyArray<Workspace.Workspace> = [workspace]
) {
  const told = yield* Arrivals.make<InboundItem.InboundItem>()
  yield* Layer.build(
    NumberHealth.layer({
      baseUrl,
      apiVersion: "v25.0",
      accessToken: Redacted.make(token),
      phoneNumberId: sender.providerNumberId,
      businessAccountId: sender.providerAccountId
    }).pipe(Layer.provide([
      Layer.mock(Inbound.Inbound, { receive: (items) => Effect.as(Effect.forEach(items, told.add), []) }),
      Layer.mock(SenderCredentials.SenderCredentials, {
        of: ({ id }) =>
          id === withOwn.id
            ? Effect.succeed({ accessToken: Redacted.make("own") })
            : id === sealed.id
            ? Effect.fail(new Errors.ServerError({ reason: "internal", message: "the credentials cannot be opened" }))
            : Effect.undefined
      }),
      Layer.mock(WorkspaceStore.WorkspaceStore, { list: Effect.succeed(workspaces) }),
      Layer.mock(PhoneNumberStore.PhoneNumberStore, { list: (id) => Effect.suspend(() => numbers(id)) })
    ]))
  )
  return told
})

const answer = (fields: { readonly [field: string]: unknown }) =>
  Upstream.response(200, JSON.stringify({ display_phone_number: "+1 631-555-1000", ...fields }))

const second: PhoneNumber.PhoneNumber = { ...sender, phoneNumber: "+16315552000", providerNumberId: "2" }
const withOwn: PhoneNumber.PhoneNumber = { ...sender, id: "pn_01ARZ3NDEKTSV4RRFFQ69G5FAW" as Id.PhoneNumberId }
/** A number whose credentials cannot be opened. */
const sealed: PhoneNumber.PhoneNumber = { ...sender, id: "pn_01ARZ3NDEKTSV4RRFFQ69G5FAY" as Id.PhoneNumberId }
const second_ = { providerNumberId: "2" }
const first_ = { providerNumberId: sender.providerNumberId }

describe("looking at the numbers", () => {
  it.effect("the health of each number is reported at the start and every hour", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.serve((socket, { target }) => {
        socket.write(
          target.startsWith("/v25.0/2?")
            ? answer({ quality_rating: "RED", status: "BANNED", throughput: { level: "NOT_APPLICABLE" } })
            : answer({
              quality_rating: "GREEN",
              status: "CONNECTED",
              throughput: { level: "STANDARD" },
              whatsapp_business_manager_messaging_limit: "TIER_UNLIMITED"
            })
        )
      })
      const told = yield* looking(upstream.baseUrl, () => Effect.succeed([sender, second]))
      assert.deepStrictEqual(yield* told.waitFor(2), [
        {
          _tag: "Number",
          number: first_,
          at: 0,
          change: { tier: "standard", messagingLimit: null, quality: "green" }
        },
        {
          _tag: "Number",
          number: second_,
          at: 0,
          change: {
            quality: "red",
            block: SenderBlock.of("restricted", 0, { code: "BANNED", message: "the number's status is banned" })
          }
        }
      ])
      yield* TestClock.adjust("59 minutes")
      assert.lengthOf(yield* told.all, 2)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(yield* told.waitFor(4), 4)
    }))

  it.effect("where everything runs in shifts, the numbers are asked for in shifts only, and once an hour", () =>
    Effect.gen(function*() {
      let asked = 0
      const upstream = yield* Upstream.serve((socket) => {
        asked++
        socket.write(answer({ quality_rating: "GREEN" }))
      })
      const chores: Array<Effect.Effect<void>> = []
      const told = yield* Effect.provideService(
        looking(upstream.baseUrl, () => Effect.succeed([sender])),
        Chores.Chores,
        chores
      )
      const shift = <A>(during: Effect.Effect<A>) =>
        Effect.scoped(Effect.andThen(Effect.forEach(chores, (chore) => Effect.forkScoped(chore)), during))
      yield* TestClock.adjust("3 hours")
      assert.deepStrictEqual([chores.length, asked], [1, 0])
      yield* shift(told.waitFor(1))
      for (let i = 0; i < 59; i++) {
        yield* TestClock.adjust("40 seconds")
        yield* shift(TestClock.adjust("20 seconds"))
      }
      assert.strictEqual(asked, 1)
      yield* TestClock.adjust("40 seconds")
      yield* shift(Effect.andThen(TestClock.adjust("20 seconds"), told.waitFor(2)))
      assert.strictEqual(asked, 2)
    }))

  it.effect("a look that the end of a shift breaks off goes on in the next, and asks for no number twice", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const hanging = Latch.makeUnsafe(false)
      const upstream = yield* Upstream.serve((socket, { target }) => {
        const number = target.replace("/v25.0/", "").replace(/\?.*/, "")
        asked.push(number)
        if (number === "2") Latch.openUnsafe(hanging)
        else socket.write(answer({ quality_rating: "GREEN" }))
      })
      const third: PhoneNumber.PhoneNumber = { ...withOwn, providerNumberId: "3" }
      const other: PhoneNumber.PhoneNumber = { ...second, id: "pn_01ARZ3NDEKTSV4RRFFQ69G5FAX" as Id.PhoneNumberId }
      const chores: Array<Effect.Effect<void>> = []
      const told = yield* Effect.provideService(
        looking(upstream.baseUrl, () => Effect.succeed([sender, other, third])),
        Chores.Chores,
        chores
      )
      const shift = <A>(during: Effect.Effect<A>) =>
        Effect.scoped(Effect.andThen(Effect.forEach(chores, (chore) => Effect.forkScoped(chore)), during))
      yield* shift(Latch.await(hanging))
      assert.deepStrictEqual(asked, [sender.providerNumberId, "2"])
      yield* shift(told.waitFor(2))
      assert.deepStrictEqual(asked, [sender.providerNumberId, "2", "3"])
    }))

  it.effect("a look reports whether the token is valid, and nothing that it has no permission to read", () =>
    Effect.gen(function*() {
      const error = (code: number, subcode?: number) =>
        Upstream.response(400, JSON.stringify({ error: { code, error_subcode: subcode, message: `Bad ${token}` } }))
      const answers: { readonly [id: string]: string } = {
        a: answer({}),
        b: error(190),
        c: error(10),
        d: error(100, 33),
        e: Upstream.response(502, "<html>"),
        f: answer({ display_phone_number: undefined }),
        g: answer({})
      }
      const upstream = yield* Upstream.serve((socket, { target }) => {
        socket.write(answers[target.slice("/v25.0/".length, target.indexOf("?"))]!)
      })
      const told = yield* looking(upstream.baseUrl, () =>
        Effect.succeed(
          Object.keys(answers).map((providerNumberId) => ({
            ...sender,
            providerNumberId,
            block: SenderBlock.of(providerNumberId === "g" ? "quality" : "credentials", 0, null)
          }))
        ))
      assert.deepStrictEqual(yield* told.waitFor(3), [
        { _tag: "Number", number: { providerNumberId: "a" }, at: 0, change: { lifts: "credentials" } },
        {
          _tag: "Number",
          number: { providerNumberId: "b" },
          at: 0,
          change: { block: SenderBlock.of("credentials", 0, { code: "190", message: "Bad …" }, "send") }
        },
        { _tag: "Number", number: { providerNumberId: "g" }, at: 0, change: {} }
      ])
    }))

  it.effect("a look lifts a block for the token, and none for a permission to send, which it does not prove", () =>
    Effect.gen(function*() {
      const codes = [0, 102, 190, 987_654, 3, 10, 131_005, 200, 299].map(String)
      const upstream = yield* Upstream.serve((socket) => {
        socket.write(answer({}))
      })
      const told = yield* looking(upstream.baseUrl, () =>
        Effect.succeed(codes.map((code) => ({
          ...sender,
          providerNumberId: code,
          block: SenderBlock.of("credentials", 0, { code, message: "No" })
        }))))
      const changes = (yield* told.waitFor(codes.length)).map((item) => item._tag === "Number" ? item.change : item)
      const isLifted = [true, true, true, true, false, false, false, false, false]
      assert.deepStrictEqual(changes, isLifted.map((lifted) => lifted ? { lifts: "credentials" } : {}))
    }))

  it.effect("a number that is connected again has no block for its former status, and keeps every other", () =>
    Effect.gen(function*() {
      const banned = SenderBlock.of("restricted", 0, { code: "BANNED", message: "the number's status is banned" })
      const met = SenderBlock.of("restricted", 3_600_000, { code: "131031", message: "Locked" }, "send")
      const blocks: { readonly [id: string]: SenderBlock.SenderBlock } = {
        a: banned,
        b: SenderBlock.of("registration", 0, { code: "DISCONNECTED", message: "the number's status is disconnected" }),
        c: SenderBlock.of("restricted", 0, { code: "DISABLED_UPDATE", message: "DISABLE" }),
        d: SenderBlock.of("restricted", 0, { code: "131031", message: "Locked" }, "send"),
        e: banned,
        f: SenderBlock.renewed(banned, met),
        g: SenderBlock.renewed(met, banned)
      }
      const upstream = yield* Upstream.serve((socket, { target }) => {
        socket.write(answer({ status: target.startsWith("/v25.0/e?") ? "PENDING" : "CONNECTED" }))
      })
      const told = yield* looking(upstream.baseUrl, () =>
        Effect.succeed(
          Object.entries(blocks).map(([providerNumberId, block]) => ({ ...sender, providerNumberId, block }))
        ))
      const changes = (yield* told.waitFor(7)).map((item) => item._tag === "Number" ? item.change : item)
      const lifts = { lifts: "restricted" } as const
      assert.deepStrictEqual(changes, [lifts, { lifts: "registration" }, {}, {}, {}, lifts, lifts])
    }))

  it.effect("a look uses the number's own credentials, if it has some", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, JSON.stringify({ display_phone_number: "16315551000" }))
      const told = yield* looking(upstream.baseUrl, () => Effect.succeed([sender, withOwn]))
      yield* told.waitFor(2)
      assert.deepStrictEqual(upstream.received.map(({ headers }) => headers.get("authorization")), [
        `Bearer ${token}`,
        "Bearer own"
      ])
    }))

  it.effect("a number whose credentials cannot be opened stops the look at no other number, in any workspace", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, JSON.stringify({ display_phone_number: "16315551000" }))
      const later = { ...workspace, id: "ws_01ARZ3NDEKTSV4RRFFQ69G5FAX" as Id.WorkspaceId }
      const inLater = { ...second, id: withOwn.id, workspaceId: later.id }
      const told = yield* looking(
        upstream.baseUrl,
        (id) => Effect.succeed(id === later.id ? [inLater] : [sealed, sender]),
        [workspace, later]
      )
      yield* told.waitFor(2)
      assert.deepStrictEqual(upstream.received.map(({ target }) => target.replace(/\?.*/, "")), [
        `/v25.0/${sender.providerNumberId}`,
        `/v25.0/${second.providerNumberId}`
      ])
    }))

  it.effect("looks continue after the storage was unavailable", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, JSON.stringify({ display_phone_number: "16315551000" }))
      let isAway = true
      const asked = yield* Deferred.make<void>()
      const told = yield* looking(upstream.baseUrl, () =>
        Effect.andThen(
          Deferred.succeed(asked, undefined),
          isAway ? Effect.fail(new StoreError.StoreError({ operation: "list" })) : Effect.succeed([sender])
        ))
      yield* Deferred.await(asked)
      isAway = false
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(yield* told.waitFor(1), 1)
    }))
})
