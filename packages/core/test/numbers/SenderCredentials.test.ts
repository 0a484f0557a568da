import { assert, it } from "@effect/vitest"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import * as SenderBlock from "../../src/numbers/SenderBlock.ts"
import { type Credentials, SenderCredentials } from "../../src/numbers/SenderCredentials.ts"
import { Vault } from "../../src/secrets/Vault.ts"
import { StoreError } from "../../src/StoreError.ts"
import { day } from "../checks.ts"
import { start } from "../samples.ts"
import { crypto, type World, world } from "../world.ts"

const storage = Layer.merge(MemoryStorage.layer, crypto)

/** A process over the storage at hand. `asked` counts its queries. */
const process = Effect.fnUntraced(function*() {
  const store = yield* PhoneNumberStore
  const asked = { count: 0, fails: false }
  const counting = PhoneNumberStore.of({
    ...store,
    credentials: (id) =>
      Effect.suspend(() => {
        asked.count++
        return asked.fails
          ? Effect.fail(new StoreError({ operation: "PhoneNumberStore.credentials" }))
          : store.credentials(id)
      })
  })
  const context = yield* Layer.build(
    Layer.fresh(SenderCredentials.layer).pipe(
      Layer.provide(Layer.fresh(Vault.layer({ current: Redacted.make(new Uint8Array(32).fill(7)) }))),
      Layer.provide(Layer.succeed(PhoneNumberStore, counting))
    )
  )
  return Object.assign(Context.get(context, SenderCredentials), { asked })
})

/** A number as *accept* returns it now. */
const senderOf = ({ workspace }: World) =>
  Effect.map(PhoneNumberStore.use((store) => store.list(workspace.id)), ([number]) => number!)

const given = (token: string, others: Omit<Credentials, "accessToken"> = {}): Credentials => ({
  accessToken: Redacted.make(token),
  ...others
})

const shown = (credentials: Credentials | undefined) =>
  credentials && { ...credentials, accessToken: Redacted.value(credentials.accessToken) }

it.effect("a number without its own credentials has none, and the storage is not asked", () =>
  Effect.gen(function*() {
    const { asked, of } = yield* process()
    assert.isUndefined(yield* of(yield* senderOf(yield* world())))
    assert.strictEqual(asked.count, 0)
  }).pipe(Effect.scoped, Effect.provide(storage)))

it.effect("a change takes effect immediately in every process, which asks once for it", () =>
  Effect.gen(function*() {
    const own = yield* world()
    const [one, two] = [yield* process(), yield* process()]
    const seen = (by: typeof one) => Effect.flatMap(senderOf(own), (sender) => Effect.map(by.of(sender), shown))
    assert.isTrue(yield* one.set(own.number.id, given("token 1")))
    for (let i = 0; i < 3; i++) {
      for (const by of [one, two]) assert.deepStrictEqual(yield* seen(by), { accessToken: "token 1" })
    }
    const others = { baseUrl: "https://graph.example", apiVersion: "v26.0" }
    assert.isTrue(yield* two.set(own.number.id, given("token 2", others)))
    for (let i = 0; i < 3; i++) {
      for (const by of [one, two]) assert.deepStrictEqual(yield* seen(by), { accessToken: "token 2", ...others })
    }
    assert.deepStrictEqual([one.asked.count, two.asked.count], [2, 2])
    yield* one.set(own.number.id, undefined)
    for (const by of [one, two]) assert.isUndefined(yield* seen(by))
    assert.isFalse(yield* one.set(`pn_${"0".repeat(26)}` as typeof own.number.id, given("token")))
  }).pipe(Effect.scoped, Effect.provide(storage)))

it.effect("a sender from before a change gets the present credentials", () =>
  Effect.gen(function*() {
    const own = yield* world()
    const { of, set } = yield* process()
    yield* set(own.number.id, given("token 1"))
    const before = yield* senderOf(own)
    yield* set(own.number.id, given("token 2"))
    assert.deepStrictEqual(shown(yield* of(before)), { accessToken: "token 2" })
    yield* set(own.number.id, undefined)
    const { of: later } = yield* process()
    assert.isUndefined(yield* later(before))
  }).pipe(Effect.scoped, Effect.provide(storage)))

it.effect("unreadable credentials are an error that sent nothing, and are requested again", () =>
  Effect.gen(function*() {
    const own = yield* world()
    const { asked, of, set } = yield* process()
    yield* set(own.number.id, given("token 1"))
    const sender = yield* senderOf(own)
    asked.fails = true
    const away = yield* Effect.flip(of(sender))
    assert.deepStrictEqual([away.code, away.reason], ["server_error", "storage_unavailable"])
    asked.fails = false
    assert.deepStrictEqual(shown(yield* of(sender)), { accessToken: "token 1" })
  }).pipe(Effect.scoped, Effect.provide(storage)))

it.effect("credentials sealed for another number cannot be opened", () =>
  Effect.gen(function*() {
    const [own, other] = [yield* world(), yield* world()]
    const { of, set } = yield* process()
    yield* set(own.number.id, given("the token"))
    const store = yield* PhoneNumberStore
    const moved = Option.getOrThrow(yield* store.credentials(own.number.id))
    yield* store.setCredentials({ now: start, id: other.number.id, credentials: moved })
    const error = yield* Effect.flip(of(yield* senderOf(other)))
    assert.deepStrictEqual([error.code, error.reason], ["server_error", "internal"])
    assert.notInclude(JSON.stringify(error), "the token")
  }).pipe(Effect.scoped, Effect.provide(storage)))

it.effect("setting credentials lifts a block for credentials", () =>
  Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const own = yield* world()
    const { set } = yield* process()
    const block = SenderBlock.of("credentials", start, null)
    yield* PhoneNumberStore.use((store) =>
      store.observe({ name: own.number, now: start, at: start, change: { block } })
    )
    yield* TestClock.adjust(day)
    yield* set(own.number.id, given("token"))
    assert.isNull((yield* senderOf(own)).block)
  }).pipe(Effect.scoped, Effect.provide(storage)))
