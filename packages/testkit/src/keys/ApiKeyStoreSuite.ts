/**
 * Conformance of `ApiKeyStore`: how API keys are issued once per idempotency key, found, listed and revoked.
 */
import { assert } from "@effect/vitest"
import { type ApiKey, ApiKeyStore, ApiScope, type Idempotency, KeyBinding, type Page, type Time } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { apiKey, day, hour, world } = Fixture

const freshKey = Effect.map(Fixture.word, (word) => word as Idempotency.IdempotencyKey)

const idsOf = (items: ReadonlyArray<{ readonly id: string }>) => items.map(({ id }) => id)

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("issue stores the key as given", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const key = yield* apiKey(workspace.id, start, {
        name: "Ünïcode “key”",
        scopes: ["messages:send", "contacts:write", "campaigns:write"],
        requireSignature: true,
        expiresAt: start + day
      })
      const issued = yield* store.issue(key, { key: yield* freshKey, fingerprint: "one" })
      assert.deepStrictEqual(issued, { _tag: "Created", key })
      assert.deepStrictEqual(yield* store.get(workspace.id, key.id), Option.some(key))
      assert.deepStrictEqual(yield* Fixture.foundByTokenHash(key), Option.some({ key, workspace }))
    }))

  it.effect("a key keeps exactly its scopes, in their order", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const choices = [[], ["messages:send"], ["messages:read"], ApiScope.defaults, ApiScope.all] as const
      for (const scopes of choices) {
        const key = yield* Fixture.issuedKey(workspace.id, start, { scopes })
        assert.deepStrictEqual(yield* store.get(workspace.id, key.id), Option.some(key))
        assert.deepStrictEqual(yield* Fixture.foundByTokenHash(key), Option.some({ key, workspace }))
      }
    }))

  it.effect("a key keeps exactly what it is bound to, and is found by its token and listed like any other", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { number, start, workspace } = yield* world()
      const bindings: ReadonlyArray<KeyBinding.KeyBinding> = [
        KeyBinding.unbound,
        { phoneNumberIds: [number.id], allowedCidrs: null },
        { phoneNumberIds: null, allowedCidrs: ["0.0.0.0/0", "2001:db8::/32"] },
        { phoneNumberIds: [number.id, yield* Fixture.id("pn")], allowedCidrs: ["203.0.113.7/32"] }
      ]
      for (const binding of bindings) {
        const key = yield* Fixture.apiKey(workspace.id, start, binding)
        const idempotency = { key: yield* freshKey, fingerprint: "one" }
        assert.deepStrictEqual(yield* store.issue(key, idempotency), { _tag: "Created", key })
        assert.deepStrictEqual(yield* store.issue({ ...key, id: yield* Fixture.id("key") }, idempotency), {
          _tag: "Replayed",
          key
        })
        assert.deepStrictEqual(yield* store.get(workspace.id, key.id), Option.some(key))
        assert.deepStrictEqual(yield* Fixture.foundByTokenHash(key), Option.some({ key, workspace }))
        assert.deepInclude((yield* store.list(workspace.id, { limit: 1, after: null }, start)).items, key)
        const revoked = { ...key, revokedAt: start }
        assert.deepStrictEqual(yield* store.revoke(workspace.id, key.id, start), Option.some(revoked))
        assert.deepStrictEqual(yield* Fixture.foundByTokenHash(key), Option.some({ key: revoked, workspace }))
      }
    }))

  it.effect("keys about to expire are those in use, live, of the workspace, and within the time asked for", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const other = yield* world()
      const until = start + 30 * day
      const since = start - 30 * day
      const used = (expiresAt: number | null, lastUsedAt: number | null, workspaceId = workspace.id) =>
        Effect.gen(function*() {
          const key = yield* Fixture.issuedKey(workspaceId, since - 1, { expiresAt })
          if (lastUsedAt !== null) yield* store.touch(new Map([[key.id, lastUsedAt]]))
          return { ...key, lastUsedAt }
        })
      const last = yield* used(until, since + 1)
      const next = yield* used(start + 1, start)
      yield* used(until + 1, start)
      yield* used(start, start)
      yield* used(until, since)
      yield* used(until, null)
      yield* used(null, start)
      yield* used(until, start, other.workspace.id)
      const revoked = yield* used(until, start)
      yield* store.revoke(workspace.id, revoked.id, start)
      const bound = yield* Fixture.issuedKey(workspace.id, start, { expiresAt: start + 2, allowedCidrs: ["::/0"] })
      yield* store.touch(new Map([[bound.id, start]]))
      const asked = { now: start, until, usedSince: since }
      assert.deepStrictEqual(yield* store.expiring(workspace.id, { ...asked, limit: 10 }), [
        next,
        { ...bound, lastUsedAt: start },
        last
      ])
      assert.deepStrictEqual(yield* store.expiring(workspace.id, { ...asked, limit: 1 }), [next])
    }))

  it.effect("issue creates one key per idempotency key, and a repeated call returns its current state", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const idempotency = { key: yield* freshKey, fingerprint: "one" }
      const key = yield* apiKey(workspace.id, start)
      yield* store.issue(key, idempotency)
      const again = yield* apiKey(workspace.id, start + hour)
      assert.deepStrictEqual(yield* store.issue(again, idempotency), { _tag: "Replayed", key })
      assert.deepStrictEqual(yield* store.get(workspace.id, again.id), Option.none())
      assert.deepStrictEqual(yield* store.findByTokenHash(again.tokenHash), Option.none())

      yield* store.revoke(workspace.id, key.id, start + hour)
      yield* store.touch(new Map([[key.id, start + 2]]))
      assert.deepStrictEqual(yield* store.issue(again, idempotency), {
        _tag: "Replayed",
        key: { ...key, revokedAt: start + hour, lastUsedAt: start + 2 }
      })
    }))

  it.effect("issue reports a different body under the same idempotency key, and stores nothing of it", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const idempotencyKey = yield* freshKey
      yield* store.issue(yield* apiKey(workspace.id, start), { key: idempotencyKey, fingerprint: "one" })
      const other = yield* apiKey(workspace.id, start)
      assert.deepStrictEqual(yield* store.issue(other, { key: idempotencyKey, fingerprint: "two" }), {
        _tag: "Conflict"
      })
      assert.deepStrictEqual(yield* store.get(workspace.id, other.id), Option.none())
    }))

  it.effect("findIssued returns what issue would, but creates nothing if the idempotency key is not bound", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const other = yield* world({ start })
      for (const caller of [{}, { caller: "usr_1 ana@example.com" }]) {
        const idempotency = { key: yield* freshKey, fingerprint: "one", ...caller }
        const find = (fingerprint = "one", at = start, workspaceId = workspace.id) =>
          store.findIssued(workspaceId, { ...idempotency, fingerprint }, at)
        const key = yield* apiKey(workspace.id, start)
        assert.deepStrictEqual(yield* find(), Option.none())
        yield* store.issue(key, idempotency)
        yield* store.revoke(workspace.id, key.id, start + hour)
        const replayed = Option.some<ApiKeyStore.IssuedBefore>({
          _tag: "Replayed",
          key: { ...key, revokedAt: start + hour }
        })
        assert.deepStrictEqual(yield* find("one", start + day - 1), replayed)
        assert.deepStrictEqual(yield* find("two"), Option.some({ _tag: "Conflict" }))
        assert.deepStrictEqual(yield* find("one", start + day), Option.none())
        assert.deepStrictEqual(yield* find("one", start, other.workspace.id), Option.none())
      }
    }))

  it.effect("issue remembers an idempotency key for 24 hours", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const idempotency = { key: yield* freshKey, fingerprint: "one" }
      const first = yield* apiKey(workspace.id, start)
      yield* store.issue(first, idempotency)
      const early = yield* apiKey(workspace.id, start + day - 1)
      assert.deepStrictEqual(yield* store.issue(early, idempotency), { _tag: "Replayed", key: first })
      const late = yield* apiKey(workspace.id, start + day)
      assert.deepStrictEqual(yield* store.issue(late, idempotency), { _tag: "Created", key: late })
      // the key is bound again, for another 24 hours
      const later = yield* apiKey(workspace.id, start + 2 * day - 1)
      assert.deepStrictEqual(yield* store.issue(later, idempotency), { _tag: "Replayed", key: late })
      assert.deepStrictEqual(yield* store.get(workspace.id, first.id), Option.some(first))
    }))

  it.effect("idempotency keys of other workspaces, and of sends, are different keys", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const here = yield* world()
      const there = yield* world({ start: here.start })
      const idempotencyKey = yield* freshKey
      yield* MessageFixture.claimed(here, { key: idempotencyKey, fingerprint: "a send" })
      const own = yield* apiKey(here.workspace.id, here.start)
      const idempotency = { key: idempotencyKey, fingerprint: "one" }
      assert.deepStrictEqual(yield* store.issue(own, idempotency), { _tag: "Created", key: own })
      const foreign = yield* apiKey(there.workspace.id, here.start)
      assert.deepStrictEqual(yield* store.issue(foreign, idempotency), { _tag: "Created", key: foreign })
    }))

  it.effect("idempotency keys of other callers are different keys", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world()
      const idempotencyKey = yield* freshKey
      const made = new Map<string | undefined, ApiKey.ApiKey>()
      const callers = [undefined, "usr_1 ana@example.com", "usr_1", "usr_2 ben@example.com"]
      const issue = (caller: string | undefined, key: ApiKey.ApiKey, fingerprint = `of ${caller}`) =>
        store.issue(key, { key: idempotencyKey, fingerprint, ...(caller === undefined ? {} : { caller }) })
      // the service itself is the last: what the version before bound was bound for all
      for (const caller of callers.toReversed()) {
        const key = yield* apiKey(workspace.id, start)
        made.set(caller, key)
        assert.deepStrictEqual(yield* issue(caller, key), { _tag: "Created", key })
        const again = yield* apiKey(workspace.id, start)
        assert.deepStrictEqual(yield* issue(caller, again), { _tag: "Replayed", key })
        assert.deepStrictEqual(yield* issue(caller, again, "another"), { _tag: "Conflict" })
      }
      assert.strictEqual(new Set([...made.values()].map(({ id }) => id)).size, callers.length)
    }))

  it.effect("of 50 racing requests with one idempotency key, exactly one creates its key", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { key: present, start, workspace } = yield* world()
      const idempotency = { key: yield* freshKey, fingerprint: "one" }
      const keys = yield* Effect.replicateEffect(apiKey(workspace.id, start), 50)
      const issued = yield* Effect.forEach(keys, (key) => store.issue(key, idempotency), { concurrency: "unbounded" })
      const winners = issued.flatMap((one) => one._tag === "Created" ? [one.key] : [])
      assert.strictEqual(winners.length, 1)
      assert.strictEqual(issued.filter(({ _tag }) => _tag === "Replayed").length, 49)
      for (const one of issued) assert.deepStrictEqual(one._tag === "Conflict" ? undefined : one.key, winners[0])
      const listed = yield* store.list(workspace.id, { limit: 100, after: null }, start)
      assert.deepStrictEqual(idsOf(listed.items), [winners[0]!.id, present.id])
    }))

  it.effect("findByTokenHash finds inactive keys too, and nothing for an unknown hash", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* world({ workspace: { suspended: true, tier: "scale", monthlyQuota: 7 } })
      const key = yield* Fixture.issuedKey(workspace.id, start, { expiresAt: start + 1 })
      yield* store.revoke(workspace.id, key.id, start + 2)
      assert.deepStrictEqual(
        yield* Fixture.foundByTokenHash(key),
        Option.some({ key: { ...key, revokedAt: start + 2 }, workspace })
      )
      assert.deepStrictEqual(yield* store.findByTokenHash("0".repeat(64)), Option.none())
    }))

  it.effect("list returns active keys, newest first, to the millisecond of their expiry", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { key: first, start, workspace } = yield* world()
      const expiring = yield* Fixture.issuedKey(workspace.id, start, { expiresAt: start + hour })
      const revoked = yield* Fixture.issuedKey(workspace.id, start)
      const last = yield* Fixture.issuedKey(workspace.id, start)
      yield* store.revoke(workspace.id, revoked.id, start + 1)
      const at = (now: Time.Instant) => store.list(workspace.id, { limit: 25, after: null }, now)
      const before = yield* at(start + hour - 1)
      assert.deepStrictEqual(before, { items: [last, expiring, first], next: null })
      const after = yield* at(start + hour)
      assert.deepStrictEqual(idsOf(after.items), [last.id, first.id])
    }))

  it.effect("list returns pages without gap or repetition", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { key, start, workspace } = yield* world()
      const others = yield* Effect.replicateEffect(Fixture.issuedKey(workspace.id, start), 6)
      const expected = [key, ...others].reverse()
      const pages: Array<Page.Page<{ readonly id: string }>> = []
      let after: string | null = null
      do {
        const page: Page.Page<{ readonly id: string }> = yield* store.list(workspace.id, { limit: 3, after }, start)
        pages.push(page)
        after = page.next
      } while (after !== null && pages.length < 10)
      assert.deepStrictEqual(pages.map(({ items }) => items.length), [3, 3, 1])
      assert.deepStrictEqual(pages.flatMap(({ items }) => items), expected)
      // a list that fills its last page ends there
      const whole = yield* store.list(workspace.id, { limit: 7, after: null }, start)
      assert.strictEqual(whole.next, null)
    }))

  it.effect("revoke keeps the first time, and accept refuses the key immediately", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const own = yield* world()
      const { key, start, workspace } = own
      const revoked = { ...key, revokedAt: start + 5 }
      assert.deepStrictEqual(yield* store.revoke(workspace.id, key.id, start + 5), Option.some(revoked))
      assert.deepStrictEqual(yield* store.revoke(workspace.id, key.id, start + 9), Option.some(revoked))
      assert.deepStrictEqual(yield* store.get(workspace.id, key.id), Option.some(revoked))
      const { accepted } = yield* MessageFixture.accept(own, { now: start + 5 })
      assert.strictEqual(MessageFixture.describe(accepted), "unauthorized/revoked_key")
      assert.deepStrictEqual(yield* store.revoke(workspace.id, yield* Fixture.id("key"), start), Option.none())
    }))

  it.effect("touch never moves a time back and ignores unknown keys", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { key, start, workspace } = yield* world()
      const other = yield* Fixture.issuedKey(workspace.id, start)
      const lastUses = Effect.gen(function*() {
        const { items } = yield* store.list(workspace.id, { limit: 25, after: null }, start)
        return items.map(({ lastUsedAt }) => lastUsedAt)
      })
      yield* store.touch(new Map())
      assert.deepStrictEqual(yield* lastUses, [null, null])
      yield* store.touch(new Map([[key.id, start + 10], [yield* Fixture.id("key"), start + 99]]))
      assert.deepStrictEqual(yield* lastUses, [null, start + 10])
      yield* store.touch(new Map([[key.id, start + 9], [other.id, start + 1]]))
      assert.deepStrictEqual(yield* lastUses, [start + 1, start + 10])
      yield* store.touch(new Map([[key.id, start + 11]]))
      yield* store.touch(new Map([[key.id, start + 11]]))
      assert.deepStrictEqual(yield* lastUses, [start + 1, start + 11])
    }))

  it.effect("every listener receives revocations", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { key, start, workspace } = yield* world()
      const other = yield* Fixture.issuedKey(workspace.id, start)
      const listeners = yield* Effect.replicateEffect(store.revocations, 2)
      /** Waits for a key, past other tests' keys and missed ones. */
      const heard = (id: ApiKey.ApiKey["id"]) =>
        Effect.forEach(listeners, (next) => Effect.repeat(next, { until: (revoked) => revoked === id }), {
          concurrency: "unbounded"
        })
      // an adapter may not be listening yet, so the revocation is repeated
      yield* Effect.raceFirst(
        heard(key.id),
        store.revoke(workspace.id, key.id, start).pipe(Effect.delay("50 millis"), Effect.forever)
      )
      yield* store.revoke(workspace.id, other.id, start)
      yield* heard(other.id)
    }))

  it.effect("a workspace sees and revokes only its own keys", () =>
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const { key, start, workspace } = yield* world()
      const other = yield* world({ start })
      assert.deepStrictEqual(yield* store.get(other.workspace.id, key.id), Option.none())
      assert.deepStrictEqual(yield* store.revoke(other.workspace.id, key.id, start), Option.none())
      assert.deepStrictEqual(yield* store.get(workspace.id, key.id), Option.some(key))
      const listed = yield* store.list(other.workspace.id, { limit: 25, after: null }, start)
      assert.deepStrictEqual(listed.items, [other.key])
      // a cursor of another workspace's list gives no access
      const beyond = yield* store.list(other.workspace.id, { limit: 25, after: key.id }, start)
      assert.deepStrictEqual(idsOf(beyond.items).filter((id) => id === key.id), [])
    }))
}
