import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Fiber, Latch, Layer, Option, Redacted } from "effect"
import { Kdf } from "effect/crypto"
import { TestClock } from "effect/testing"
import { ServerError } from "../../src/Errors.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import { Authenticator } from "../../src/people/Authenticator.ts"
import * as LocalAuthenticator from "../../src/people/LocalAuthenticator.ts"
import { MemberStore } from "../../src/people/MemberStore.ts"
import { PasskeyVerifier } from "../../src/people/PasskeyVerifier.ts"
import { Cost, Passwords } from "../../src/people/Password.ts"
import { SessionStore } from "../../src/people/SessionStore.ts"
import { ProviderError, TemplatesUnavailable } from "../../src/provider/Provider.ts"
import { Templates } from "../../src/templates/Templates.ts"
import { AlreadySetUp, type Owner, Setup } from "../../src/workspaces/Setup.ts"
import { WorkspaceStore } from "../../src/workspaces/WorkspaceStore.ts"
import { day, hour, minute, second } from "../checks.ts"
import { start } from "../samples.ts"
import { foundation, providerNumber, stubProvider } from "../world.ts"

const owner: Owner = {
  email: " Ada@Example.com ",
  password: Redacted.make("correct horse"),
  workspaceName: "Acme"
}

const cost = Layer.succeed(Cost, { memory: 32, passes: 1, parallelism: 1 })

const setUp = (kdf: Layer.Layer<Kdf.Kdf> = NodeCrypto.layerKdf) => {
  const provider = stubProvider()
  const verified = { count: 0 }
  const counting =
    <Given extends ReadonlyArray<unknown>, E>(verify: (...given: Given) => Effect.Effect<boolean, E>) =>
    (...given: Given) =>
      Effect.suspend(() => {
        verified.count++
        return verify(...given)
      })
  // counts real password checks
  const counted = Layer.effect(
    Passwords,
    Effect.map(Passwords, (real) =>
      Passwords.of({
        ...real,
        verify: counting(real.verify),
        verifyStranger: counting(real.verifyStranger)
      }))
  ).pipe(
    Layer.provide(Passwords.layer),
    Layer.provide([kdf, cost])
  )
  const verifier = Layer.mock(PasskeyVerifier, {})
  const layer = Layer.merge(LocalAuthenticator.layer, Setup.layer).pipe(
    Layer.provide(verifier),
    Layer.provideMerge(Templates.layer),
    Layer.provideMerge(Layer.merge(counted, provider.layer)),
    Layer.provideMerge(foundation)
  )
  return { provider, verified, layer }
}

const dashboard = <E>(
  test: (
    given: ReturnType<typeof setUp>
  ) => Effect.Effect<void, E, Layer.Success<ReturnType<typeof setUp>["layer"]>>,
  kdf?: Layer.Layer<Kdf.Kdf>
) =>
() =>
  Effect.suspend(() => {
    const given = setUp(kdf)
    return Effect.andThen(TestClock.setTime(start), test(given).pipe(Effect.provide(given.layer)))
  })

const create = Setup.use((setup) => setup.create(owner))

const attempt = (
  fields: {
    readonly email?: string
    readonly password?: string
    readonly address?: string
    readonly device?: Redacted.Redacted
    readonly current?: Redacted.Redacted
  } = {}
) =>
  Authenticator.use((authenticator) =>
    authenticator.signIn({
      email: fields.email ?? "ada@example.com",
      password: Redacted.make(fields.password ?? "correct horse"),
      address: fields.address ?? "203.0.113.7",
      device: fields.device,
      current: fields.current
    })
  )

/** `ok`, or the reason of the refusal. */
const signIn = (...given: Parameters<typeof attempt>) =>
  attempt(...given).pipe(
    Effect.match({ onSuccess: () => "ok", onFailure: (error) => "reason" in error ? error.reason : error._tag })
  )
const wrong = (fields: Parameters<typeof attempt>[0] = {}) => signIn({ password: "wrong password", ...fields })

const session = (token: Redacted.Redacted | undefined) =>
  Authenticator.use((authenticator) => authenticator.session({ token, headers: {} }))
const isLive = (token: Redacted.Redacted) => Effect.map(session(token), Option.isSome)

describe("signing in", () => {
  it.effect(
    "signing in opens a session, whatever the case of the address and the space around it",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const [workspace] = yield* WorkspaceStore.use((store) => store.list)
        for (const email of ["ada@example.com", "ADA@EXAMPLE.COM", "  Ada@Example.com\n"]) {
          const signedIn = yield* attempt({ email })
          assert.deepStrictEqual(signedIn.session, {
            id: signedIn.session.id,
            userId: signedIn.session.userId,
            email: "ada@example.com",
            role: "owner",
            workspaceId: workspace!.id,
            workspaceName: "Acme",
            roles: null
          })
          assert.deepStrictEqual(yield* session(signedIn.token), Option.some(signedIn.session))
        }
      })
    )
  )

  it.effect(
    "every sign-in gets a new token, of which only the hash is stored",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const [one, other] = [yield* attempt(), yield* attempt()]
        assert.match(Redacted.value(one.token), /^[0-9A-Za-z]{43}$/)
        assert.notStrictEqual(Redacted.value(one.token), Redacted.value(other.token))
        const found = yield* SessionStore.use((store) => store.use(Redacted.value(one.token), start, start + hour))
        assert.isTrue(Option.isNone(found))
        assert.notInclude(JSON.stringify(one), Redacted.value(one.token))
      })
    )
  )

  it.effect(
    "a sign-in ends the request's previous session only, and a failed one ends none",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const [other, first] = [yield* attempt(), yield* attempt()]
        yield* wrong({ current: first.token })
        assert.isTrue(yield* isLive(first.token))
        const second = yield* attempt({ current: first.token })
        assert.isFalse(yield* isLive(first.token))
        assert.isTrue(yield* isLive(second.token))
        assert.isTrue(yield* isLive(other.token))
      })
    )
  )

  it.effect(
    "a wrong password and an unknown person are refused alike",
    dashboard(({ verified }) =>
      Effect.gen(function*() {
        yield* create
        const [password, nobody] = [
          yield* Effect.flip(attempt({ password: "wrong password" })),
          yield* Effect.flip(attempt({ email: "eve@example.com" }))
        ]
        assert.deepStrictEqual(nobody, password)
        assert.strictEqual("reason" in nobody && nobody.reason, "invalid_credentials")
        // and cost the same
        assert.strictEqual(verified.count, 2)
      })
    )
  )
})

describe("failures to sign in", () => {
  it.effect(
    "ten failures per account are allowed, then one a minute, even with the right password",
    dashboard(({ verified }) =>
      Effect.gen(function*() {
        yield* create
        for (let i = 0; i < 10; i++) {
          assert.strictEqual(yield* wrong({ address: `203.0.113.${i}` }), "invalid_credentials")
        }
        const limited = yield* Effect.flip(attempt({ address: "203.0.113.99" }))
        assert.strictEqual("reason" in limited && limited.reason, "login")
        assert.strictEqual("retryAfter" in limited && Duration.toMillis(limited.retryAfter!), minute)
        // the limited attempt's password was not checked
        assert.strictEqual(verified.count, 10)
        yield* TestClock.adjust(minute - 1)
        assert.strictEqual(yield* signIn(), "login")
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* wrong(), "invalid_credentials")
        assert.strictEqual(yield* signIn(), "login")
        yield* TestClock.adjust(minute)
        assert.strictEqual(yield* signIn(), "ok")
      })
    )
  )

  it.effect(
    "failures are counted for accounts that do not exist too, each separately",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        for (let i = 0; i < 10; i++) yield* wrong({ email: i % 2 === 0 ? "eve@example.com" : " EVE@example.com" })
        assert.strictEqual(yield* wrong({ email: "eve@example.com" }), "login")
        assert.strictEqual(yield* wrong({ email: "mallory@example.com" }), "invalid_credentials")
        assert.strictEqual(yield* signIn(), "ok")
      })
    )
  )

  it.effect(
    "strangers' failures do not lock out a device that signed in before, whatever the address",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const { device } = yield* attempt()
        for (let i = 0; i < 60; i++) yield* wrong({ address: `203.0.113.${i % 2}` })
        for (let i = 0; i < 60; i++) yield* wrong({ email: `guess${i}@example.com` })
        assert.strictEqual(yield* signIn({ address: "198.51.100.1" }), "login")
        assert.strictEqual(yield* signIn({ device }), "ok")
        // nor do the person's own successes use it up
        for (let i = 0; i < 15; i++) assert.strictEqual(yield* signIn({ device }), "ok")
      })
    )
  )

  it.effect(
    "failures on a known device are limited separately from the account and the address",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const { device } = yield* attempt()
        for (let i = 0; i < 10; i++) assert.strictEqual(yield* wrong({ device }), "invalid_credentials")
        assert.strictEqual(yield* wrong({ device }), "login")
        assert.strictEqual(yield* signIn({ device }), "login")
        assert.strictEqual(yield* signIn(), "ok")
        yield* TestClock.adjust(minute)
        // a sign-in keeps the device's bucket, so cookies cannot be collected to guess faster
        const again = yield* attempt({ device })
        for (let i = 0; i < 2; i++) yield* wrong({ device: again.device })
        assert.strictEqual(yield* wrong({ device }), "login")
      })
    )
  )

  it.effect(
    "a device cookie that is forged or of another account is ignored, and one from before a password change is not",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const { device, session: { userId } } = yield* attempt()
        const [nonce, mac] = Redacted.value(device).split(".")
        const flipped = mac!.startsWith("0") ? `1${mac!.slice(1)}` : `0${mac!.slice(1)}`
        for (let i = 0; i < 10; i++) yield* wrong({ address: `203.0.113.${i}` })
        for (let i = 0; i < 10; i++) yield* wrong({ email: "eve@example.com", device, address: `203.0.113.${i}` })
        assert.strictEqual(yield* wrong({ email: "eve@example.com", device }), "login")
        for (const forged of ["", "x", `${nonce}.${flipped}`, `0000000000000000.${mac}`, `${nonce}.${mac}0`, nonce!]) {
          assert.strictEqual(yield* signIn({ device: Redacted.make(forged) }), "login", forged)
        }
        assert.strictEqual(yield* signIn({ device }), "ok")
        const hash = yield* Passwords.use((passwords) =>
          passwords.choose(Redacted.make("another password"), { email: "", param: "" })
        )
        yield* MemberStore.use((store) => store.setPassword(userId, hash))
        // the failures at the password before do not count for the new one, on whatever device
        assert.strictEqual(yield* signIn({ password: "another password" }), "ok")
        for (let i = 0; i < 11; i++) yield* wrong({ address: `203.0.113.${100 + i}` })
        assert.strictEqual(yield* signIn({ password: "another password" }), "login")
        assert.strictEqual(yield* signIn({ device, password: "another password" }), "ok")
      })
    )
  )

  it.effect(
    "fifty failures per address are allowed over all accounts, then one every six seconds",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        for (let i = 0; i < 50; i++) {
          assert.strictEqual(yield* wrong({ email: `guess${i}@example.com` }), "invalid_credentials")
        }
        assert.strictEqual(yield* wrong({ email: "guess50@example.com" }), "login")
        assert.strictEqual(yield* signIn(), "login")
        assert.strictEqual(yield* signIn({ address: "203.0.113.8" }), "ok")
        yield* TestClock.adjust(6 * second)
        assert.strictEqual(yield* signIn(), "ok")
      })
    )
  )

  it.effect(
    "a refused attempt of a limited account does not spend from the address",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        for (let i = 0; i < 10; i++) yield* wrong({ email: "eve@example.com" })
        for (let i = 0; i < 100; i++) assert.strictEqual(yield* wrong({ email: "eve@example.com" }), "login")
        assert.strictEqual(yield* signIn(), "ok")
      })
    )
  )

  it.effect(
    "attempts with the right password are not counted",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        for (let i = 0; i < 60; i++) assert.strictEqual(yield* signIn(), "ok")
        for (let i = 0; i < 10; i++) assert.strictEqual(yield* wrong(), "invalid_credentials")
        assert.strictEqual(yield* wrong(), "login")
      })
    )
  )

  it.effect(
    "concurrent guesses cannot exceed the limit",
    dashboard(({ verified }) =>
      Effect.gen(function*() {
        yield* create
        const guesses = yield* Effect.all(Array.from({ length: 40 }, () => wrong()), { concurrency: "unbounded" })
        assert.strictEqual(guesses.filter((reason) => reason === "invalid_credentials").length, 10)
        assert.strictEqual(guesses.filter((reason) => reason === "login").length, 30)
        assert.strictEqual(verified.count, 10)
      })
    )
  )
})

describe("while passwords of strangers are checked slowly", () => {
  /** Derives from this password only once it is released. */
  const held = "a slow password"
  const released = Latch.makeUnsafe()
  const slow = Layer.effect(
    Kdf.Kdf,
    Effect.map(Kdf.Kdf, (real) =>
      Kdf.Kdf.of({
        ...real,
        derive: (algorithm, secret, options) =>
          Effect.andThen(
            new TextDecoder().decode(secret as Uint8Array) === held ? released.await : Effect.void,
            real.derive(algorithm, secret, options)
          )
      }))
  ).pipe(Layer.provide(NodeCrypto.layerKdf))

  it.effect(
    "at most a hundred wait, more are refused without counting as failures, and a known device does not wait",
    dashboard(
      ({ verified }) =>
        Effect.gen(function*() {
          yield* create
          const { device } = yield* attempt()
          const before = verified.count
          const results: Array<string> = []
          const strangers = yield* Effect.forkChild(Effect.forEach(
            Array.from({ length: 105 }, (_, n) => n),
            (n) =>
              Effect.tap(
                signIn({ email: `guess${n}@example.com`, address: `203.0.113.${n}`, password: held }),
                (result) => Effect.sync(() => results.push(result))
              ),
            { concurrency: "unbounded", discard: true }
          ))
          while (verified.count < before + 105) yield* Effect.yieldNow
          for (let n = 0; n < 100; n++) yield* Effect.yieldNow
          assert.deepStrictEqual(results, Array(4).fill("overloaded"))
          const refused = yield* Effect.flip(attempt())
          assert.deepInclude(refused, { reason: "overloaded", retryAfter: Duration.seconds(5) })
          for (let n = 0; n < 20; n++) assert.strictEqual(yield* signIn(), "overloaded")
          assert.strictEqual(yield* signIn({ device }), "ok")
          yield* released.open
          yield* Fiber.join(strangers)
          assert.lengthOf(results.filter((result) => result === "invalid_credentials"), 101)
          // what was not checked counts neither for the account nor for the address
          for (let n = 0; n < 10; n++) assert.strictEqual(yield* wrong(), "invalid_credentials")
          assert.strictEqual(yield* wrong(), "login")
        }),
      slow
    )
  )
})

describe("a session", () => {
  it.effect(
    "a session ends after twelve hours without use",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const { token } = yield* attempt()
        yield* TestClock.adjust(12 * hour - 1)
        assert.isTrue(yield* isLive(token))
        yield* TestClock.adjust(12 * hour - 1)
        assert.isTrue(yield* isLive(token))
        yield* TestClock.adjust(12 * hour)
        assert.isFalse(yield* isLive(token))
        assert.isFalse(yield* isLive(token))
      })
    )
  )

  it.effect(
    "a session ends after seven days, however much it is used",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const { token } = yield* attempt()
        while ((yield* Clock.currentTimeMillis) + 6 * hour < start + 7 * day) {
          yield* TestClock.adjust(6 * hour)
          assert.isTrue(yield* isLive(token))
        }
        yield* TestClock.setTime(start + 7 * day - 1)
        assert.isTrue(yield* isLive(token))
        yield* TestClock.adjust(1)
        assert.isFalse(yield* isLive(token))
      })
    )
  )

  it.effect(
    "signing out ends that session only",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const [one, other] = [yield* attempt(), yield* attempt()]
        yield* Authenticator.use((authenticator) => authenticator.signOut(one.token))
        assert.deepStrictEqual([yield* isLive(one.token), yield* isLive(other.token)], [false, true])
        // unknown ones are ignored
        yield* Authenticator.use((authenticator) => authenticator.signOut(one.token))
        yield* Authenticator.use((authenticator) => authenticator.signOut(Redacted.make("nonsense")))
      })
    )
  )

  it.effect(
    "without its token there is no session",
    dashboard(() =>
      Effect.gen(function*() {
        yield* create
        const { token } = yield* attempt()
        assert.isTrue(Option.isNone(yield* session(undefined)))
        for (const guess of ["", "x", Redacted.value(token).toUpperCase(), `${Redacted.value(token)} `]) {
          assert.isFalse(yield* isLive(Redacted.make(guess)))
        }
      })
    )
  )
})

describe("setting up", () => {
  const redeem = (token: string, given = owner) =>
    Setup.use((setup) => setup.redeem(Redacted.make(token), given, "203.0.113.7")).pipe(
      Effect.match({
        onSuccess: () => "ok",
        onFailure: (error) => error._tag === "Unauthorized" ? error.reason : error._tag
      })
    )
  const token = Effect.map(
    Setup.use((setup) => setup.token),
    (token) => token === undefined ? undefined : Redacted.value(token)
  )

  it.effect(
    "the set-up link of one process is valid in every other",
    dashboard(() =>
      Effect.gen(function*() {
        const other = Context.get(yield* Layer.build(Layer.fresh(Setup.layer)), Setup)
        const own = (yield* token)!
        assert.strictEqual(Redacted.value((yield* other.token)!), own)
        const made = yield* other.redeem(Redacted.make(own), owner, "203.0.113.7")
        assert.match(made, /^usr_/)
        assert.isUndefined(yield* token)
      }).pipe(Effect.scoped)
    )
  )

  it.effect(
    "the set-up link creates the first workspace with its owner, number and templates, once",
    dashboard(() =>
      Effect.gen(function*() {
        const own = (yield* token)!
        assert.match(own, /^[0-9A-Za-z]{32}$/)
        assert.strictEqual(yield* token, own)
        for (const other of ["", "x", own.toLowerCase() + own, own.slice(1), `${own}0`]) {
          assert.strictEqual(yield* redeem(other), "invalid_credentials")
        }
        assert.strictEqual(yield* redeem(own), "ok")
        const [workspace, ...others] = yield* WorkspaceStore.use((store) => store.list)
        assert.deepStrictEqual([workspace, others], [{
          id: workspace!.id,
          name: "Acme",
          createdAt: start,
          tier: null,
          monthlyQuota: null,
          suspended: false
        }, []])
        const [made] = yield* PhoneNumberStore.use((store) => store.list(workspace!.id))
        assert.deepStrictEqual(made, {
          ...providerNumber,
          id: made!.id,
          workspaceId: workspace!.id,
          provider: "stub",
          tier: null,
          messagingLimit: null,
          portfolioId: null,
          available: true,
          block: null,
          credentialsVersion: null,
          isDefault: true
        })
        const { items } = yield* Templates.use((_) => _.list(workspace!.id, {}, { limit: 10, after: null }))
        assert.deepStrictEqual(items.map(({ name }) => name).sort(), ["order", "plain", "promo"])
        assert.strictEqual(yield* signIn(), "ok")
        // the token is invalid now, and no longer shown
        assert.isUndefined(yield* token)
        assert.strictEqual(yield* redeem(own, { ...owner, email: "eve@example.com" }), "invalid_credentials")
        assert.strictEqual(yield* signIn({ email: "eve@example.com" }), "invalid_credentials")
      })
    )
  )

  it.effect(
    "of two concurrent uses of the link, one succeeds",
    dashboard(() =>
      Effect.gen(function*() {
        const own = (yield* token)!
        const ends = yield* Effect.all(
          Array.from({ length: 5 }, (_, i) => redeem(own, { ...owner, email: `owner${i}@example.com` })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual([...ends].sort(), [
          "invalid_credentials",
          "invalid_credentials",
          "invalid_credentials",
          "invalid_credentials",
          "ok"
        ])
        assert.strictEqual((yield* WorkspaceStore.use((store) => store.list)).length, 1)
        assert.strictEqual(yield* signIn({ email: `owner${ends.indexOf("ok")}@example.com` }), "ok")
      })
    )
  )

  it.effect(
    "set-up from the environment happens once, and disables the link",
    dashboard(() =>
      Effect.gen(function*() {
        const own = (yield* token)!
        yield* create
        assert.instanceOf(yield* Effect.flip(create), AlreadySetUp)
        assert.isUndefined(yield* token)
        assert.strictEqual(yield* redeem(own), "invalid_credentials")
        assert.strictEqual((yield* WorkspaceStore.use((store) => store.list)).length, 1)
      })
    )
  )

  it.effect(
    "wrong set-up tokens are limited per address, and the right one never is",
    dashboard(() =>
      Effect.gen(function*() {
        const own = (yield* token)!
        for (let i = 0; i < 50; i++) assert.strictEqual(yield* redeem(`wrong${i}`), "invalid_credentials")
        assert.strictEqual(yield* redeem("wrong"), "RateLimited")
        // wrong passwords from there spend from the same bucket
        assert.strictEqual(yield* wrong(), "login")
        assert.strictEqual(yield* redeem(own), "ok")
        assert.strictEqual(yield* redeem("wrong"), "RateLimited")
        assert.strictEqual(yield* redeem(own), "invalid_credentials")
      })
    )
  )

  it.effect(
    "set-up requires the provider's first number, and creates nothing before",
    dashboard(({ provider }) =>
      Effect.gen(function*() {
        const own = (yield* token)!
        const error = new ProviderError({ reason: "provider_unavailable", message: "upstream is down" })
        provider.firstNumber = Effect.fail(error)
        assert.deepStrictEqual(
          yield* Effect.flip(Setup.use((setup) => setup.redeem(Redacted.make(own), owner, "203.0.113.7"))),
          new ServerError({ reason: "provider_unavailable", message: "upstream is down" })
        )
        assert.strictEqual(yield* Effect.flip(create), error)
        assert.deepStrictEqual(yield* WorkspaceStore.use((store) => store.list), [])
        assert.strictEqual(yield* signIn(), "invalid_credentials")
        // the link is still valid
        provider.firstNumber = Effect.succeed(providerNumber)
        assert.strictEqual(yield* redeem(own), "ok")
        assert.strictEqual(yield* signIn(), "ok")
      })
    )
  )

  it.effect(
    "set-up does not depend on the provider's templates",
    dashboard(({ provider }) =>
      Effect.gen(function*() {
        provider.templates = Effect.fail(new TemplatesUnavailable({ message: "upstream is down" }))
        yield* create
        assert.strictEqual(yield* signIn(), "ok")
        // they come with the next sync
        provider.templates = Effect.succeed([])
        const [first] = yield* WorkspaceStore.use((store) => store.list)
        assert.deepInclude(yield* Templates.use((_) => _.sync(first!.id)), { count: 0 })
      })
    )
  )
})
