import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Latch, Layer, Option, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { reasonOf } from "../../src/Errors.ts"
import type { ApiKeyId, WorkspaceId } from "../../src/Id.ts"
import { isWellFormed, prefixOf } from "../../src/keys/ApiKey.ts"
import { ApiKeys, type IssuedKey, type IssueKey } from "../../src/keys/ApiKeys.ts"
import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import { Vault } from "../../src/secrets/Vault.ts"
import { StoreError } from "../../src/StoreError.ts"
import { day, hour, minute, second } from "../checks.ts"
import { advance, at, settle } from "../clock.ts"
import { id, start } from "../samples.ts"
import { foundation, issueKey, key, world } from "../world.ts"

type Store = ApiKeyStore["Service"]

interface Options {
  /** What the store reports about revocations; by default what it really does. */
  readonly revocations?: Store["revocations"]
}

/** The service over a store whose calls a test can count and intercept. */
const setUp = ({ revocations }: Options) => {
  const looked: Array<number> = []
  const touched: Array<{ readonly at: number; readonly uses: ReadonlyMap<ApiKeyId, number> }> = []
  const interfere: {
    findByTokenHash?: (real: Store["findByTokenHash"]) => Store["findByTokenHash"]
    touch?: (real: Store["touch"]) => Store["touch"]
  } = {}
  const store = Layer.effect(
    ApiKeyStore,
    Effect.map(ApiKeyStore, (real) =>
      ApiKeyStore.of({
        ...real,
        revocations: revocations ?? real.revocations,
        findByTokenHash: (hash) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            looked.push(now)
            return (interfere.findByTokenHash?.(real.findByTokenHash) ?? real.findByTokenHash)(hash)
          }),
        touch: (uses) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            touched.push({ at: now, uses })
            return (interfere.touch?.(real.touch) ?? real.touch)(uses)
          })
      }))
  )
  const layer = ApiKeys.layer.pipe(Layer.provideMerge(store), Layer.provideMerge(foundation))
  return { looked, touched, interfere, layer }
}

/** A store that never reports revocations. */
const deaf: Store["revocations"] = Effect.succeed(Effect.never)

const keeping = <E>(
  test: (
    given: ReturnType<typeof setUp>
  ) => Effect.Effect<void, E, Layer.Success<ReturnType<typeof setUp>["layer"]> | Scope.Scope>,
  options: Options = {}
) =>
() =>
  Effect.suspend(() => {
    const given = setUp(options)
    return test(given).pipe(Effect.provide(given.layer), at(start))
  })

const command = (workspaceId: WorkspaceId, fields: Partial<IssueKey> = {}): IssueKey => ({
  workspaceId,
  name: "a key",
  expiresAt: null,
  requireSignature: false,
  scopes: undefined,
  caller: "usr_1 ana@example.com",
  idempotencyKey: key("k"),
  ...fields
})

const issue = (workspaceId: WorkspaceId, fields: Partial<IssueKey> = {}) =>
  ApiKeys.use((keys) => keys.issue(command(workspaceId, fields)))

const secretsOf = ({ secrets }: IssuedKey) => ({
  token: Redacted.value(secrets!.token),
  signingSecret: Redacted.value(secrets!.signingSecret)
})

/** `ok`, or why the token is refused. */
const authenticate = (token: string | undefined, client?: string) =>
  ApiKeys.use((keys) => keys.authenticate(token, client)).pipe(
    Effect.match({
      onSuccess: () => "ok",
      onFailure: (error) => error._tag === "StoreError" ? error._tag : `${error.code}/${reasonOf(error)}`
    })
  )

const revoke = (workspaceId: WorkspaceId, keyId: string) => ApiKeys.use((keys) => keys.revoke(workspaceId, keyId))

/** Revokes like another process whose notification is lost. */
const revokeBehindOurBack = (workspaceId: WorkspaceId, keyId: ApiKeyId) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => ApiKeyStore.use((store) => store.revoke(workspaceId, keyId, now)))

const lastUse = (workspaceId: WorkspaceId, keyId: ApiKeyId) =>
  Effect.map(ApiKeyStore.use((store) => store.get(workspaceId, keyId)), (key) => Option.getOrThrow(key).lastUsedAt)

describe("issuing", () => {
  it.effect(
    "issuing returns the two secrets once, and stores neither",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issue(workspace.id, { name: "deploy", expiresAt: start + hour, requireSignature: true })
        const { signingSecret, token } = secretsOf(issued)
        assert.isTrue(isWellFormed(token))
        assert.match(signingSecret, /^whsec_[0-9A-Za-z]{40}$/)
        const kept = Option.getOrThrow(yield* ApiKeyStore.use((store) => store.get(workspace.id, issued.key.id)))
        assert.deepStrictEqual(kept, issued.key)
        const { id: keyId, signingSecret: sealed, tokenHash, ...rest } = kept
        assert.match(keyId, /^key_/)
        assert.deepStrictEqual(rest, {
          workspaceId: workspace.id,
          name: "deploy",
          prefix: prefixOf(token),
          scopes: ["messages:send", "messages:read", "media:write"],
          phoneNumberIds: null,
          allowedCidrs: null,
          requireSignature: true,
          createdAt: start,
          expiresAt: start + hour,
          revokedAt: null,
          lastUsedAt: null
        })
        assert.match(tokenHash, /^[0-9a-f]{64}$/)
        const everything = JSON.stringify([kept, Buffer.from(sealed.ciphertext).toString("latin1")])
        assert.notInclude(everything, token.slice(prefixOf(token).length))
        assert.notInclude(everything, signingSecret.slice(6))
        assert.notInclude(JSON.stringify(issued.secrets), signingSecret.slice(6))
        assert.strictEqual(yield* ApiKeys.use((keys) => keys.signingSecret(kept)), signingSecret)
      })
    )
  )

  it.effect(
    "a key is bound to numbers of its workspace and to networks, each once, in a fixed order",
    keeping(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        const { key: bound } = yield* issue(workspace.id, {
          phoneNumberIds: [number.id, number.id],
          allowedCidrs: ["203.0.113.7", "10.0.0.0/8", "203.0.113.7/32"]
        })
        assert.deepStrictEqual([bound.phoneNumberIds, bound.allowedCidrs], [[number.id], [
          "10.0.0.0/8",
          "203.0.113.7/32"
        ]])
        const again = yield* issue(workspace.id, {
          phoneNumberIds: [number.id],
          allowedCidrs: ["10.0.0.0/8", "203.0.113.7"]
        })
        assert.isTrue(again.replayed)
        const other = yield* Effect.flip(issue(workspace.id, { phoneNumberIds: [number.id] }))
        assert.strictEqual(other._tag, "IdempotencyConflict")
      })
    )
  )

  it.effect(
    "the same idempotency key of another caller makes another key",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const first = yield* issue(workspace.id)
        const other = yield* issue(workspace.id, { caller: "usr_2 ben@example.com" })
        assert.notStrictEqual(other.key.id, first.key.id)
        assert.isFalse(other.replayed)
        const again = yield* issue(workspace.id)
        assert.deepStrictEqual([again.key.id, again.replayed], [first.key.id, true])
      })
    )
  )

  it.effect(
    "a repeated request gets its key, even if the key has expired and its number was removed since",
    keeping(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        const asked = { expiresAt: start + minute, phoneNumberIds: [number.id] }
        const first = yield* issue(workspace.id, asked)
        yield* advance(2 * minute)
        yield* PhoneNumberStore.use((store) => store.remove(number.id))
        const again = yield* issue(workspace.id, asked)
        assert.deepStrictEqual([again.key.id, again.replayed, again.secrets], [first.key.id, true, null])
        const other = yield* Effect.flip(issue(workspace.id, { ...asked, name: "another" }))
        assert.strictEqual(other._tag, "IdempotencyConflict")
        const late = yield* Effect.flip(issue(workspace.id, { ...asked, idempotencyKey: key("other") }))
        assert.deepInclude(late, { reason: "invalid_field", param: "expiresAt" })
        const gone = yield* Effect.flip(
          issue(workspace.id, { ...asked, expiresAt: null, idempotencyKey: key("other") })
        )
        assert.deepInclude(gone, { reason: "invalid_field", param: "phoneNumberIds[0]" })
      })
    )
  )

  it.effect(
    "a number that the workspace does not have is refused by its place",
    keeping(() =>
      Effect.gen(function*() {
        const { number, workspace } = yield* world()
        const error = yield* Effect.flip(
          issue(workspace.id, { phoneNumberIds: [number.id, id("pn", 99), id("pn", 98)] })
        )
        assert.deepInclude(error, { reason: "invalid_field", param: "phoneNumberIds[1]" })
      })
    )
  )

  it.effect(
    "a key that is bound to networks is used from these alone, and elsewhere it does not exist, revoked or not",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issue(workspace.id, { allowedCidrs: ["203.0.113.0/24"] })
        const { token } = secretsOf(issued)
        assert.strictEqual(yield* authenticate(token, "203.0.113.9"), "ok")
        assert.strictEqual(yield* authenticate(token, "::ffff:203.0.113.9"), "ok")
        for (const elsewhere of ["203.0.114.9", "2001:db8::1", undefined]) {
          assert.strictEqual(yield* authenticate(token, elsewhere), "unauthorized/invalid_key")
        }
        yield* revoke(workspace.id, issued.key.id)
        assert.strictEqual(yield* authenticate(token, "203.0.113.9"), "unauthorized/revoked_key")
        assert.strictEqual(yield* authenticate(token, "203.0.114.9"), "unauthorized/invalid_key")
      })
    )
  )

  it.effect(
    "a request from elsewhere is no use of the key",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issue(workspace.id, { allowedCidrs: ["203.0.113.0/24"] })
        yield* authenticate(secretsOf(issued).token, "203.0.114.9")
        yield* advance(minute)
        assert.isNull(yield* lastUse(workspace.id, issued.key.id))
      })
    )
  )

  it.effect(
    "a repeated request returns the same key without its secrets",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const first = yield* issue(workspace.id)
        assert.isFalse(first.replayed)
        yield* advance(day - 1)
        const again = yield* issue(workspace.id)
        assert.deepStrictEqual(again, { key: first.key, replayed: true, secrets: null })
        assert.strictEqual(yield* authenticate(secretsOf(first).token), "ok")
        yield* advance(1)
        assert.notStrictEqual((yield* issue(workspace.id)).key.id, first.key.id)
      })
    )
  )

  it.effect.each<[string, Partial<IssueKey>]>([
    ["name", { name: "another" }],
    ["end", { expiresAt: start + hour }],
    ["demand for signatures", { requireSignature: true }]
  ])("repeated with another %s is a conflict", ([, changed]) =>
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        yield* issue(workspace.id)
        const error = yield* Effect.flip(issue(workspace.id, changed))
        assert.strictEqual(error._tag, "IdempotencyConflict")
        const { items } = yield* ApiKeys.use((keys) => keys.list(workspace.id, { limit: 10, after: null }))
        assert.strictEqual(items.length, 1)
      })
    )())

  it.effect(
    "fifty concurrent requests create one key, and one of them gets its secrets",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* Effect.all(Array.from({ length: 50 }, () => issue(workspace.id)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(issued.map((one) => one.key.id)).size, 1)
        assert.strictEqual(issued.filter(({ secrets }) => secrets !== null).length, 1)
        assert.strictEqual(issued.filter(({ replayed }) => !replayed).length, 1)
      })
    )
  )

  it.effect(
    "the same idempotency key in another workspace creates another key",
    keeping(() =>
      Effect.gen(function*() {
        const [one, other] = [yield* world(), yield* world()]
        const [first, second] = [yield* issue(one.workspace.id), yield* issue(other.workspace.id)]
        assert.deepStrictEqual([first.replayed, second.replayed], [false, false])
        assert.notStrictEqual(first.key.id, second.key.id)
      })
    )
  )

  it.effect(
    "the expiry must be in the future",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        for (const expiresAt of [start, start - 1, 0]) {
          const error = yield* Effect.flip(issue(workspace.id, { expiresAt }))
          assert.strictEqual(error._tag === "InvalidBody" && error.param, "expiresAt")
        }
        yield* issue(workspace.id, { expiresAt: start + 1 })
      })
    )
  )
})

describe("authenticating", () => {
  it.effect(
    "authenticating returns the key and its workspace",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        assert.deepStrictEqual(yield* ApiKeys.use((keys) => keys.authenticate(issued.token)), {
          key: issued.key,
          workspace,
          valuesSwitch: null
        })
      })
    )
  )

  it.effect(
    "each refusal has its own reason, and garbage costs no lookup",
    keeping(({ looked }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const { token } = yield* issueKey(workspace.id)
        assert.strictEqual(yield* authenticate(undefined), "unauthorized/missing_key")
        for (const garbage of ["", "x", "wac_live_", `${token}0`, token.slice(0, -1), `${token.slice(0, -1)}!`]) {
          assert.strictEqual(yield* authenticate(garbage), "unauthorized/invalid_key")
        }
        assert.deepStrictEqual(looked, [])
        // well formed, but unknown: the checksum matches these 30 characters
        assert.strictEqual(
          yield* authenticate("wac_live_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17"),
          "unauthorized/invalid_key"
        )
        assert.strictEqual(looked.length, 1)
      })
    )
  )

  it.effect(
    "a key is refused from the millisecond of its expiry, even if it is cached",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const { token } = yield* issueKey(workspace.id, { expiresAt: start + second })
        assert.strictEqual(yield* authenticate(token), "ok")
        yield* advance(second - 1)
        assert.strictEqual(yield* authenticate(token), "ok")
        yield* advance(1)
        assert.strictEqual(yield* authenticate(token), "unauthorized/expired_key")
        yield* advance(hour)
        assert.strictEqual(yield* authenticate(token), "unauthorized/expired_key")
      })
    )
  )

  it.effect(
    "the storage is asked every one and a half seconds, whatever the traffic",
    keeping(({ looked }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const { token } = yield* issueKey(workspace.id)
        for (let i = 0; i < 100; i++) {
          yield* Effect.all(Array.from({ length: 10 }, () => authenticate(token)), { concurrency: "unbounded" })
          yield* advance(100)
        }
        assert.deepStrictEqual(looked, [0, 1.5, 3, 4.5, 6, 7.5, 9].map((seconds) => start + seconds * second))
      })
    )
  )

  it.effect(
    "unknown tokens and storage failures are not cached",
    keeping(({ interfere, looked }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const { token } = yield* issueKey(workspace.id)
        interfere.findByTokenHash = () => () => Effect.succeedNone
        assert.strictEqual(yield* authenticate(token), "unauthorized/invalid_key")
        interfere.findByTokenHash = () => () =>
          Effect.fail(new StoreError({ operation: "ApiKeyStore.findByTokenHash" }))
        assert.strictEqual(yield* authenticate(token), "StoreError")
        delete interfere.findByTokenHash
        assert.strictEqual(yield* authenticate(token), "ok")
        assert.strictEqual(looked.length, 3)
      })
    )
  )

  it.effect(
    "concurrent callers share one lookup, and an interrupted caller does not spoil it for the others",
    keeping(({ interfere, looked }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const { token } = yield* issueKey(workspace.id)
        interfere.findByTokenHash = (real) => (hash) => Effect.andThen(Effect.sleep("500 millis"), real(hash))
        const first = yield* Effect.forkChild(authenticate(token), { startImmediately: true })
        const others = yield* Effect.replicateEffect(
          Effect.forkChild(authenticate(token), { startImmediately: true }),
          5
        )
        yield* advance(100)
        yield* Fiber.interrupt(first)
        yield* advance("1 second")
        assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), ["ok", "ok", "ok", "ok", "ok"])
        assert.strictEqual(looked.length, 1)
      })
    )
  )
})

describe("revoking", () => {
  it.effect(
    "a revocation elsewhere is in force as soon as the store reports it",
    keeping(({ looked }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const [one, other] = [yield* issueKey(workspace.id), yield* issueKey(workspace.id)]
        yield* authenticate(one.token)
        yield* authenticate(other.token)
        yield* revokeBehindOurBack(workspace.id, one.key.id)
        yield* settle
        assert.strictEqual(yield* authenticate(one.token), "unauthorized/revoked_key")
        assert.strictEqual(yield* authenticate(other.token), "ok")
        // the storage was not asked
        assert.lengthOf(looked, 2)
        yield* advance("2 minutes")
        assert.strictEqual(yield* authenticate(one.token), "unauthorized/revoked_key")
      })
    )
  )

  it.effect(
    "a revocation elsewhere is in force once the store reports that some may have been missed",
    () => {
      const missed = Latch.makeUnsafe()
      const revocations = Effect.succeed(Effect.as(Effect.tap(missed.await, missed.close), null))
      return keeping(() =>
        Effect.gen(function*() {
          const { workspace } = yield* world()
          const issued = yield* issueKey(workspace.id)
          yield* authenticate(issued.token)
          yield* revokeBehindOurBack(workspace.id, issued.key.id)
          yield* settle
          assert.strictEqual(yield* authenticate(issued.token), "ok")
          yield* missed.open
          yield* settle
          assert.strictEqual(yield* authenticate(issued.token), "unauthorized/revoked_key")
        }), { revocations })()
    }
  )

  it.effect(
    "a revocation elsewhere is noticed within a second and a half without a report",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        assert.strictEqual(yield* authenticate(issued.token), "ok")
        yield* advance(500)
        yield* revokeBehindOurBack(workspace.id, issued.key.id)
        yield* advance(999)
        assert.strictEqual(yield* authenticate(issued.token), "ok")
        yield* advance(1)
        assert.strictEqual(yield* authenticate(issued.token), "unauthorized/revoked_key")
      }), { revocations: deaf })
  )

  it.effect(
    "a revocation elsewhere is noticed in time even if the clock was set back",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        yield* authenticate(issued.token)
        yield* TestClock.setTime(start - hour)
        yield* revokeBehindOurBack(workspace.id, issued.key.id)
        yield* advance(1499)
        assert.strictEqual(yield* authenticate(issued.token), "ok")
        yield* advance(1)
        assert.strictEqual(yield* authenticate(issued.token), "unauthorized/revoked_key")
      }), { revocations: deaf })
  )

  it.effect(
    "a revocation elsewhere is noticed in time even if every use hits the cache",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        yield* authenticate(issued.token)
        yield* revokeBehindOurBack(workspace.id, issued.key.id)
        const seen: Array<string> = []
        for (let i = 0; i < 3; i++) {
          yield* advance(500)
          seen.push(yield* authenticate(issued.token))
        }
        assert.deepStrictEqual(seen, ["ok", "ok", "unauthorized/revoked_key"])
      }), { revocations: deaf })
  )

  it.effect(
    "a revocation elsewhere is noticed in time even if the lookup took long",
    keeping(({ interfere, looked }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        interfere.findByTokenHash = (real) => (hash) =>
          Effect.flatMap(real(hash), (found) => Effect.as(Effect.sleep("1400 millis"), found))
        const first = yield* Effect.forkChild(authenticate(issued.token), { startImmediately: true })
        yield* settle
        yield* revokeBehindOurBack(workspace.id, issued.key.id)
        yield* advance("1400 millis")
        // it was looked up before the revocation
        assert.strictEqual(yield* Fiber.join(first), "ok")
        delete interfere.findByTokenHash
        yield* advance("100 millis")
        assert.strictEqual(yield* authenticate(issued.token), "unauthorized/revoked_key")
        assert.lengthOf(looked, 2)
      }), { revocations: deaf })
  )

  it.effect(
    "a caller that joins a lookup started too long ago notices a revocation elsewhere",
    keeping(({ interfere }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        interfere.findByTokenHash = (real) => (hash) =>
          Effect.flatMap(real(hash), (found) => Effect.as(Effect.sleep("4 seconds"), found))
        const first = yield* Effect.forkChild(authenticate(issued.token), { startImmediately: true })
        yield* settle
        yield* revokeBehindOurBack(workspace.id, issued.key.id)
        yield* advance("2 seconds")
        const late = yield* Effect.forkChild(authenticate(issued.token), { startImmediately: true })
        yield* advance("2 seconds")
        assert.strictEqual(yield* Fiber.join(first), "ok")
        yield* advance("4 seconds")
        assert.strictEqual(yield* Fiber.join(late), "unauthorized/revoked_key")
      }), { revocations: deaf })
  )

  it.effect(
    "a revocation here is in force immediately",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const [one, other] = [yield* issueKey(workspace.id), yield* issueKey(workspace.id)]
        yield* authenticate(one.token)
        yield* authenticate(other.token)
        yield* revoke(workspace.id, one.key.id)
        for (let i = 0; i < 10; i++) {
          assert.strictEqual(yield* authenticate(one.token), "unauthorized/revoked_key")
          assert.strictEqual(yield* authenticate(other.token), "ok")
          yield* advance(700)
        }
      })
    )
  )

  it.effect(
    "a revocation here overrides a lookup that read the key before it",
    keeping(({ interfere }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        interfere.findByTokenHash = (real) => (hash) =>
          Effect.flatMap(real(hash), (found) => Effect.as(Effect.sleep("500 millis"), found))
        const fiber = yield* Effect.forkChild(authenticate(issued.token), { startImmediately: true })
        yield* advance(250)
        yield* revoke(workspace.id, issued.key.id)
        yield* advance(250)
        assert.strictEqual(yield* Fiber.join(fiber), "unauthorized/revoked_key")
        // and what it read is not trusted afterwards
        delete interfere.findByTokenHash
        yield* advance(100)
        assert.strictEqual(yield* authenticate(issued.token), "unauthorized/revoked_key")
      })
    )
  )

  it.effect(
    "revoking keeps the first time, and is not an error when repeated",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        yield* revoke(workspace.id, issued.key.id)
        yield* advance(minute)
        yield* revoke(workspace.id, issued.key.id)
        const key = yield* ApiKeys.use((keys) => keys.get(workspace.id, issued.key.id))
        assert.strictEqual(key.revokedAt, start)
      })
    )
  )

  it.effect(
    "revoking requires a key of the workspace",
    keeping(() =>
      Effect.gen(function*() {
        const [one, other] = [yield* world(), yield* world()]
        const issued = yield* issueKey(one.workspace.id)
        for (
          const [workspaceId, keyId] of [
            [other.workspace.id, issued.key.id],
            [one.workspace.id, id("key")],
            [one.workspace.id, ""],
            [one.workspace.id, "nonsense"]
          ] as const
        ) {
          assert.strictEqual((yield* Effect.flip(revoke(workspaceId, keyId)))._tag, "NotFound")
          assert.strictEqual(
            (yield* Effect.flip(ApiKeys.use((keys) => keys.get(workspaceId, keyId))))._tag,
            "NotFound"
          )
        }
        assert.strictEqual(yield* authenticate(issued.token), "ok")
      })
    )
  )
})

describe("the list", () => {
  it.effect(
    "the list has the workspace's active keys, newest first",
    keeping(() =>
      Effect.gen(function*() {
        const [{ workspace }, other] = [yield* world(), yield* world()]
        yield* issueKey(other.workspace.id)
        const names: Array<string> = []
        for (const name of ["oldest", "expiring", "revoked", "newest"]) {
          const expiring = name === "expiring" ? { expiresAt: start + minute } : {}
          const { key } = yield* issueKey(workspace.id, { name, ...expiring })
          if (name === "revoked") yield* revoke(workspace.id, key.id)
          yield* advance(second)
        }
        const list = Effect.map(
          ApiKeys.use((keys) => keys.list(workspace.id, { limit: 10, after: null })),
          ({ items }) => items.map(({ name }) => name)
        )
        names.push(...(yield* list))
        assert.deepStrictEqual(names, ["newest", "expiring", "oldest"])
        yield* advance(minute)
        assert.deepStrictEqual(yield* list, ["newest", "oldest"])
      })
    )
  )
})

describe("the time of last use", () => {
  it.effect(
    "times of last use are written together, at most 60 s late, and only after use",
    keeping(({ touched }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const [one, other] = [yield* issueKey(workspace.id), yield* issueKey(workspace.id)]
        yield* advance("5 minutes")
        assert.deepStrictEqual(touched, [])
        assert.isNull(yield* lastUse(workspace.id, one.key.id))
        const usedAt = start + 5 * minute
        for (let i = 0; i < 50; i++) yield* authenticate(one.token)
        yield* authenticate(other.token)
        yield* advance("60 seconds")
        assert.strictEqual(yield* lastUse(workspace.id, one.key.id), usedAt)
        assert.strictEqual(yield* lastUse(workspace.id, other.key.id), usedAt)
        assert.strictEqual(touched.length, 1)
        yield* advance("5 minutes")
        assert.strictEqual(touched.length, 1)
      })
    )
  )

  it.effect(
    "a refused use does not change the time of last use",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        yield* revoke(workspace.id, issued.key.id)
        yield* authenticate(issued.token)
        yield* advance("2 minutes")
        assert.isNull(yield* lastUse(workspace.id, issued.key.id))
      })
    )
  )

  it.effect(
    "the time of last use is written at the end of the process too",
    keeping(() =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Layer.fresh(ApiKeys.layer), scope)
        yield* Context.get(context, ApiKeys).authenticate(issued.token)
        yield* advance(second)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* lastUse(workspace.id, issued.key.id), start)
      })
    )
  )

  it.effect(
    "the time of last use is at most 60 s late even if the storage was unavailable for a moment",
    keeping(({ interfere }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        yield* authenticate(issued.token)
        const failures = [
          Effect.fail(new StoreError({ operation: "ApiKeyStore.touch" })),
          Effect.die(new Error("a mistake"))
        ]
        interfere.touch = (real) => (uses) => failures.pop() ?? real(uses)
        yield* advance("60 seconds")
        assert.strictEqual(yield* lastUse(workspace.id, issued.key.id), start)
      })
    )
  )

  it.effect(
    "the time of last use is written at the end of the process even during another write",
    keeping(({ interfere }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Layer.fresh(ApiKeys.layer), scope)
        yield* Context.get(context, ApiKeys).authenticate(issued.token)
        interfere.touch = () => () => Effect.never
        yield* advance("30 seconds")
        delete interfere.touch
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* lastUse(workspace.id, issued.key.id), start)
      })
    )
  )

  it.effect(
    "a failed write never replaces a later use",
    keeping(({ interfere }) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const issued = yield* issueKey(workspace.id)
        yield* authenticate(issued.token)
        let failures = 0
        interfere.touch = (real) => (uses) =>
          failures++ === 0
            ? Effect.andThen(Effect.sleep("5 seconds"), Effect.fail(new StoreError({ operation: "ApiKeyStore.touch" })))
            : real(uses)
        // used again during the first write
        yield* advance("22 seconds")
        yield* authenticate(issued.token)
        yield* advance("60 seconds")
        assert.strictEqual(yield* lastUse(workspace.id, issued.key.id), start + 22 * second)
      })
    )
  )
})

it.effect(
  "the HMAC of the whole token is stored",
  keeping(() =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      const issued = yield* issueKey(workspace.id)
      yield* settle
      assert.strictEqual(issued.key.tokenHash, yield* Vault.use((vault) => vault.fingerprint(issued.token)))
    })
  )
)
