/**
 * Conformance of `InboundPostStore`: how provider posts are stored once, claimed, retried and deleted.
 */
import { assert } from "@effect/vitest"
import { InboundPost, InboundPostStore, type Time } from "@wac/core"
import { Duration, Effect, Fiber } from "effect"
import { Digest } from "effect/crypto"
import * as Fixture from "../Fixture.ts"

const { day, hour, minute, second } = Fixture

const lease = 15 * second

/** A test's own provider, and a time. */
interface Own {
  readonly start: Time.Instant
  readonly provider: string
}

const own: Fixture.Step<Own> = Effect.gen(function*() {
  return { start: yield* Fixture.Starts.use(({ next }) => next), provider: yield* Fixture.word }
})

const digestOf = (body: Uint8Array) =>
  Digest.Digest.use((digest) => digest.digestHex(Digest.sha256, body)).pipe(Effect.provide(Digest.layerWebCrypto))

const bytes = (text: string) => new TextEncoder().encode(text)

/** Stores a post with that body. Returns its name, and whether it was new. */
const keep = Effect.fnUntraced(function*(
  { provider, start }: Own,
  body: string | Uint8Array,
  now: Time.Instant = start
) {
  const raw = typeof body === "string" ? bytes(body) : body
  const name = { provider, digest: yield* digestOf(raw) }
  const kept = yield* InboundPostStore.InboundPostStore.use((store) => store.keep({ ...name, now, body: raw }))
  return { ...name, kept }
})

const claim = Effect.fnUntraced(function*(
  { provider, start }: Own,
  { bytes = 1_000_000, now = start, posts = 100 }: {
    readonly now?: Time.Instant
    readonly posts?: number
    readonly bytes?: number
  } = {}
) {
  const token = yield* Fixture.word
  const claimed = yield* InboundPostStore.InboundPostStore.use((store) =>
    store.claim({ now, provider, token, leaseUntil: now + lease, limit: { posts, bytes } })
  )
  return { token, claimed, texts: claimed.map(({ body }) => new TextDecoder().decode(body)) }
})

const nameOf = ({ digest, provider }: InboundPost.PostName): InboundPost.PostName => ({ provider, digest })

const complete = (post: InboundPost.PostName, token: string, now: Time.Instant) =>
  InboundPostStore.InboundPostStore.use((store) => store.complete({ ...nameOf(post), token, now }))

type End = { readonly problem: InboundPost.Problem; readonly retryAt: Time.Instant | null } | {
  readonly problem: null
  readonly retryAt: Time.Instant
}

const release = (post: InboundPost.PostName, token: string, now: Time.Instant, end: End) =>
  InboundPostStore.InboundPostStore.use((store) => store.release({ ...nameOf(post), token, now, ...end }))

/** Claims the one post that is due. */
const claimOne = Effect.fnUntraced(function*(given: Own, now: Time.Instant = given.start) {
  const { claimed, token } = yield* claim(given, { now })
  assert.lengthOf(claimed, 1)
  return { token, post: claimed[0]! }
})

const nothingDue = Effect.fnUntraced(function*(given: Own, now: Time.Instant) {
  assert.deepStrictEqual((yield* claim(given, { now })).texts, [])
})

const backlog = InboundPostStore.InboundPostStore.use((store) => store.backlog)

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a post is stored byte for byte, and is due immediately", () =>
    Effect.gen(function*() {
      const given = yield* own
      const body = Uint8Array.from({ length: 1024 }, (_, i) => (i * 7) % 256)
      const { digest, kept } = yield* keep(given, body)
      assert.strictEqual(kept, "kept")
      const { post } = yield* claimOne(given)
      assert.deepStrictEqual({ ...post, body: [...post.body] }, {
        provider: given.provider,
        digest,
        body: [...body],
        receivedAt: given.start,
        tries: 0
      })
    }))

  it.effect("an empty body and one of 4 MiB are stored like others", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, new Uint8Array())
      const large = new Uint8Array(4 * 1024 * 1024).fill(65)
      large[4_000_000] = 66
      yield* keep(given, large, given.start + 1)
      const { claimed } = yield* claim(given, { now: given.start + 1, bytes: 8 * 1024 * 1024 })
      assert.deepStrictEqual(claimed.map(({ body }) => body.length), [0, large.length])
      assert.strictEqual(yield* digestOf(claimed[1]!.body), yield* digestOf(large))
    }))

  it.effect("the same bytes again are known, whatever the post's state, and another provider's are a different post", () =>
    Effect.gen(function*() {
      const given = yield* own
      const again = (now: Time.Instant) =>
        Effect.map(keep(given, "one", now), ({ kept }) => assert.strictEqual(kept, "known"))
      yield* keep(given, "one")
      yield* again(given.start + 1)
      const { post, token } = yield* claimOne(given, given.start + second)
      yield* again(given.start + second)
      assert.isTrue(
        yield* release(post, token, given.start + 2 * second, { problem: "storage", retryAt: given.start + minute })
      )
      yield* again(given.start + 3 * second)
      const next = yield* claimOne(given, given.start + minute)
      assert.isTrue(yield* complete(post, next.token, given.start + minute))
      yield* again(given.start + hour)
      yield* nothingDue(given, given.start + day)
      const other = { ...given, provider: yield* Fixture.word }
      assert.strictEqual((yield* keep(other, "one")).kept, "kept")
      yield* claimOne(other)
    }))

  it.effect("unreadable posts are due again when they are retried, at their arrival, and no other post is", () =>
    Effect.gen(function*() {
      const given = yield* own
      const store = yield* InboundPostStore.InboundPostStore
      const other = { ...given, provider: yield* Fixture.word }
      for (const [i, body] of ["processed", "failing", "one", "two", "three"].entries()) {
        yield* keep(given, body, given.start + i)
      }
      yield* keep(other, "another's")
      const now = given.start + hour
      const { claimed: [processed, failing, ...unreadable], token } = yield* claim(given, { now })
      yield* complete(processed!, token, now)
      yield* release(failing!, token, now, { problem: "defect", retryAt: now + day })
      const another = yield* claimOne(other)
      // the last one first
      for (const post of unreadable.reverse()) {
        yield* release(post, token, now, { problem: "unreadable", retryAt: null })
      }
      yield* release(another.post, another.token, now, { problem: "unreadable", retryAt: null })
      yield* keep(given, "new", now)

      const retry = store.retryUnreadable(given.provider, 2)
      assert.deepStrictEqual([yield* retry, yield* retry, yield* retry], [2, 1, 0])
      const again = yield* claim(given, { now })
      assert.deepStrictEqual(again.texts, ["one", "two", "three", "new"])
      assert.deepStrictEqual(again.claimed.map(({ tries }) => tries), [1, 1, 1, 0])
      yield* nothingDue(other, now + day - 1)
      // one that stays unreadable is set aside as before, and kept for no longer
      const [one, two] = again.claimed
      assert.isTrue(yield* complete(one!, again.token, now))
      assert.isTrue(yield* release(two!, again.token, now + day, { problem: "unreadable", retryAt: null }))
      yield* nothingDue(given, now + lease - 1)
      const end = now + Duration.toMillis(InboundPost.keptWithProblemFor)
      assert.strictEqual((yield* keep(given, "two", end - 1)).kept, "known")
      while ((yield* store.sweep(end, 100)) > 0);
      assert.strictEqual((yield* keep(given, "two", end)).kept, "kept")
    }))

  it.effect("an unreadable post is never due by itself, and is known", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "nonsense")
      const { post, token } = yield* claimOne(given)
      assert.isTrue(yield* release(post, token, given.start, { problem: "unreadable", retryAt: null }))
      yield* nothingDue(given, given.start + 20 * day)
      assert.strictEqual((yield* keep(given, "nonsense", given.start + 20 * day)).kept, "known")
    }))

  it.effect("the post due longest comes first, and at the same instant the first to arrive", () =>
    Effect.gen(function*() {
      const given = yield* own
      for (const [text, after] of [["c", 20], ["a", 0], ["d", 20], ["b", 10], ["e", 20], ["f", 21]] as const) {
        yield* keep(given, text, given.start + after)
      }
      const now = given.start + 20
      assert.deepStrictEqual((yield* claim(given, { now, posts: 2 })).texts, ["a", "b"])
      assert.deepStrictEqual((yield* claim(given, { now, posts: 2 })).texts, ["c", "d"])
      assert.deepStrictEqual((yield* claim(given, { now, posts: 2 })).texts, ["e"])
      assert.deepStrictEqual((yield* claim(given, { now: now + 1 })).texts, ["f"])
    }))

  it.effect("a retried post comes after those that were due before", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "failing")
      const { post, token } = yield* claimOne(given)
      yield* keep(given, "early", given.start + 1)
      yield* release(post, token, given.start + 2, { problem: "defect", retryAt: given.start + 5 })
      yield* keep(given, "late", given.start + 9)
      const { claimed, texts } = yield* claim(given, { now: given.start + 9 })
      assert.deepStrictEqual(texts, ["early", "failing", "late"])
      assert.deepStrictEqual(claimed.map(({ tries }) => tries), [0, 1, 0])
      assert.deepStrictEqual(claimed.map(({ receivedAt }) => receivedAt - given.start), [1, 0, 9])
    }))

  it.effect("a claim takes no more than its bytes, but at least one post, however large", () =>
    Effect.gen(function*() {
      const given = yield* own
      for (const [i, size] of [30, 30, 30, 200, 1].entries()) {
        yield* keep(given, `${i}`.repeat(size), given.start + i)
      }
      const now = given.start + minute
      const sizes = Effect.map(claim(given, { now, bytes: 50 }), ({ texts }) => texts.map(({ length }) => length))
      assert.deepStrictEqual([yield* sizes, yield* sizes, yield* sizes, yield* sizes], [[30, 30], [30, 200], [1], []])
    }))

  it.effect("a claim lasts until its lease ends, and then any claimer may take the post", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "one")
      const first = yield* claimOne(given)
      yield* nothingDue(given, given.start + lease - 1)
      const second = yield* claimOne(given, given.start + lease)
      assert.strictEqual(second.post.tries, 0)
      const now = given.start + lease + 1
      assert.isFalse(yield* complete(first.post, first.token, now))
      assert.isFalse(yield* release(first.post, first.token, now, { problem: "storage", retryAt: now }))
      assert.isFalse(yield* release(first.post, first.token, now, { problem: null, retryAt: now }))
      yield* nothingDue(given, now)
      assert.isTrue(yield* complete(second.post, second.token, now))
      assert.isFalse(yield* complete(second.post, second.token, now))
      yield* nothingDue(given, now + day)
    }))

  it.effect("a claim whose lease has ended holds until another claimer takes the post", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "one")
      const { post, token } = yield* claimOne(given)
      assert.isTrue(yield* complete(post, token, given.start + hour))
      yield* nothingDue(given, given.start + hour)
    }))

  it.effect("a claim cannot be ended with another token, nor for a post that does not exist", () =>
    Effect.gen(function*() {
      const given = yield* own
      const { digest } = yield* keep(given, "one")
      const name = { provider: given.provider, digest }
      const wrong = yield* Fixture.word
      assert.isFalse(yield* complete(name, wrong, given.start))
      const { token } = yield* claimOne(given)
      assert.isFalse(yield* complete(name, wrong, given.start))
      assert.isFalse(yield* release(name, wrong, given.start, { problem: "unreadable", retryAt: null }))
      assert.isFalse(yield* complete({ ...name, digest: "00".repeat(32) }, token, given.start))
      assert.isFalse(yield* complete({ ...name, provider: wrong }, token, given.start))
      assert.isTrue(yield* complete(name, token, given.start))
    }))

  it.effect("a released post is due as if it had not been claimed", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "one")
      const { post, token } = yield* claimOne(given)
      const now = given.start + second
      assert.isTrue(yield* release(post, token, now, { problem: null, retryAt: now }))
      assert.strictEqual((yield* claimOne(given, now)).post.tries, 0)
    }))

  it.effect("tries are counted, and retries are due at their time", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "one")
      let now = given.start
      for (const problem of ["storage", "defect", "storage"] as const) {
        const { post, token } = yield* claimOne(given, now)
        yield* release(post, token, now, { problem, retryAt: now + minute })
        yield* nothingDue(given, now + minute - 1)
        now += minute
      }
      assert.strictEqual((yield* claimOne(given, now)).post.tries, 3)
    }))

  it.effect("of equal posts that arrive concurrently, one is stored", () =>
    Effect.gen(function*() {
      const given = yield* own
      const all = yield* Effect.all(
        Array.from({ length: 16 }, (_, i) => keep(given, `post ${i % 2}`)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(all.filter(({ kept }) => kept === "kept"), 2)
      assert.deepStrictEqual([...(yield* claim(given)).texts].sort(), ["post 0", "post 1"])
    }))

  it.effect("concurrent claimers share what is due, and never get the same post", () =>
    Effect.gen(function*() {
      const given = yield* own
      const bodies = Array.from({ length: 60 }, (_, i) => `post ${String(i).padStart(2, "0")}`)
      yield* Effect.forEach(bodies, (body) => keep(given, body), { concurrency: 8, discard: true })
      const seen: Array<string> = []
      const work = Effect.gen(function*() {
        while (true) {
          const { claimed, texts, token } = yield* claim(given, { posts: 4 })
          if (claimed.length === 0) return
          seen.push(...texts)
          const ends = claimed.map((post, i) =>
            i % 2 === 0
              ? complete(post, token, given.start)
              : release(post, token, given.start, { problem: "storage", retryAt: given.start + hour })
          )
          assert.notInclude(yield* Effect.all(ends, { concurrency: "unbounded" }), false)
        }
      })
      yield* Effect.all(Array.from({ length: 6 }, () => work), { concurrency: "unbounded" })
      // the last claimer may have found everything locked by others, and left
      yield* work
      assert.deepStrictEqual([...seen].sort(), bodies)
    }))

  it.effect("of concurrent ends under one token, the first counts", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "one")
      const { post, token } = yield* claimOne(given)
      const ends = yield* Effect.all([
        complete(post, token, given.start),
        complete(post, token, given.start),
        complete(post, token, given.start)
      ], { concurrency: "unbounded" })
      assert.lengthOf(ends.filter((done) => done), 1)
    }))

  it.effect("of a claim and the late end of the previous claim, only one counts", () =>
    Effect.gen(function*() {
      for (let round = 0; round < 10; round++) {
        const given = yield* own
        yield* keep(given, "one")
        const late = yield* claimOne(given)
        const now = given.start + lease
        const [done, next] = yield* Effect.all([complete(late.post, late.token, now), claim(given, { now })], {
          concurrency: "unbounded"
        })
        // a claimer that finds the row locked takes nothing
        assert.isFalse(done && next.claimed.length === 1)
        if (next.claimed.length === 1) assert.isTrue(yield* complete(late.post, next.token, now))
        yield* nothingDue(given, now + hour)
      }
    }))

  it.effect("a processed post is deleted a week later, and not before", () =>
    Effect.gen(function*() {
      const given = yield* own
      yield* keep(given, "one")
      const { post, token } = yield* claimOne(given)
      const done = given.start + hour
      yield* complete(post, token, done)
      const store = yield* InboundPostStore.InboundPostStore
      const end = done + Duration.toMillis(InboundPost.keptFor)
      assert.strictEqual(Duration.toMillis(InboundPost.keptFor), 7 * day)
      assert.strictEqual(yield* store.sweep(end - 1, 10), 0)
      assert.strictEqual((yield* keep(given, "one", end - 1)).kept, "known")
      assert.strictEqual(yield* store.sweep(end, 10), 1)
      assert.strictEqual((yield* keep(given, "one", end)).kept, "kept")
      yield* claimOne(given, end)
    }))

  it.effect("a post that could not be processed is deleted a month after its first problem", () =>
    Effect.gen(function*() {
      const given = yield* own
      const store = yield* InboundPostStore.InboundPostStore
      yield* keep(given, "failing")
      yield* keep(given, "unreadable", given.start + 1)
      const { claimed: [failing, unreadable], token } = yield* claim(given, { now: given.start + hour })
      const now = given.start + hour
      yield* release(failing!, token, now, { problem: "defect", retryAt: now + day })
      yield* release(unreadable!, token, now + minute, { problem: "unreadable", retryAt: null })
      const again = yield* claimOne(given, now + day)
      yield* release(again.post, again.token, now + day, { problem: "storage", retryAt: now + 2 * day })
      const end = now + Duration.toMillis(InboundPost.keptWithProblemFor)
      assert.strictEqual(end, now + 30 * day)
      assert.strictEqual(yield* store.sweep(end - 1, 10), 0)
      assert.strictEqual(yield* store.sweep(end, 10), 1)
      yield* nothingDue(given, end)
      assert.strictEqual((yield* keep(given, "unreadable", end)).kept, "known")
      assert.strictEqual(yield* store.sweep(end + minute, 10), 1)
    }))

  it.effect("a post that was processed after a problem is deleted like others", () =>
    Effect.gen(function*() {
      const given = yield* own
      const store = yield* InboundPostStore.InboundPostStore
      yield* keep(given, "one")
      const first = yield* claimOne(given)
      yield* release(first.post, first.token, given.start, { problem: "storage", retryAt: given.start })
      const second = yield* claimOne(given)
      yield* complete(second.post, second.token, given.start + hour)
      assert.strictEqual(yield* store.sweep(given.start + hour + 7 * day - 1, 10), 0)
      assert.strictEqual(yield* store.sweep(given.start + hour + 7 * day, 10), 1)
    }))

  it.effect("a post that was never tried is never deleted", () =>
    Effect.gen(function*() {
      const given = yield* own
      const store = yield* InboundPostStore.InboundPostStore
      yield* keep(given, "one")
      const { post, token } = yield* claimOne(given)
      yield* release(post, token, given.start, { problem: null, retryAt: given.start })
      assert.strictEqual(yield* store.sweep(given.start + 31 * day, 10), 0)
      const later = yield* claimOne(given, given.start + 26 * day)
      yield* complete(later.post, later.token, given.start)
    }))

  it.effect("a sweep deletes at most its limit", () =>
    Effect.gen(function*() {
      const given = yield* own
      const store = yield* InboundPostStore.InboundPostStore
      yield* Effect.forEach(["a", "b", "c", "d", "e"], (body) => keep(given, body))
      const { claimed, token } = yield* claim(given)
      yield* Effect.forEach(claimed, (post) => complete(post, token, given.start))
      const end = given.start + 7 * day
      const counts = [yield* store.sweep(end, 2), yield* store.sweep(end, 2), yield* store.sweep(end, 2)]
      assert.deepStrictEqual([...counts, yield* store.sweep(end, 2)], [2, 2, 1, 0])
    }))

  it.effect("the backlog reports what waits, since when, what fails and what is unreadable", () =>
    Effect.gen(function*() {
      const given = yield* own
      const before = yield* backlog
      const since = Effect.map(backlog, ({ failing, oldestReceivedAt, unreadable, waiting }) => ({
        waiting: waiting - before.waiting,
        failing: failing - before.failing,
        unreadable: unreadable - before.unreadable,
        oldest: oldestReceivedAt === null ? null : oldestReceivedAt - given.start
      }))
      for (const [i, body] of ["a", "b", "c"].entries()) yield* keep(given, body, given.start + i)
      assert.deepStrictEqual(yield* since, { waiting: 3, failing: 0, unreadable: 0, oldest: 0 })
      const { claimed: [a, b, c], token } = yield* claim(given, { now: given.start + second })
      // claimed does not mean processed
      assert.deepStrictEqual(yield* since, { waiting: 3, failing: 0, unreadable: 0, oldest: 0 })
      const now = given.start + second
      yield* complete(a!, token, now)
      yield* release(b!, token, now, { problem: "storage", retryAt: now + day })
      yield* release(c!, token, now, { problem: "unreadable", retryAt: null })
      assert.deepStrictEqual(yield* since, { waiting: 1, failing: 1, unreadable: 1, oldest: 1 })
      const again = yield* claimOne(given, now + day)
      yield* complete(again.post, again.token, now + day)
      assert.strictEqual((yield* since).waiting, 0)
      assert.strictEqual((yield* since).failing, 0)
    }))

  it.effect("a waiting claimer gets hints about new and released posts", () =>
    Effect.gen(function*() {
      const given = yield* own
      const { awaitHint } = yield* InboundPostStore.InboundPostStore
      const told = (step: Fixture.Step<unknown>) =>
        Effect.gen(function*() {
          const waiting = yield* Effect.forkChild(awaitHint, { startImmediately: true })
          yield* step
          yield* Fiber.join(waiting)
        })
      yield* claim(given)
      yield* told(keep(given, "one"))
      const { post, token } = yield* claimOne(given)
      yield* told(release(post, token, given.start, { problem: null, retryAt: given.start }))
    }))
}
