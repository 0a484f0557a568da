import { assert, describe, it } from "@effect/vitest"
import { StubProviderWebhook } from "@wac/testkit"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as InboundPost from "../../src/inbound/InboundPost.ts"
import { InboundPosts } from "../../src/inbound/InboundPosts.ts"
import { InboundPostStore } from "../../src/inbound/InboundPostStore.ts"
import { StoreError } from "../../src/StoreError.ts"
import { logged } from "../logged.ts"
import { backlog, message, post, postBody, posting } from "../posting.ts"
import { start } from "../samples.ts"

const claimAll = InboundPostStore.use((store) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    store.claim({
      now,
      provider: StubProviderWebhook.name,
      token: "t",
      leaseUntil: now + 1,
      limit: { posts: 10, bytes: 1e9 }
    }))
)

describe("a post", () => {
  it.effect("a post is stored byte for byte under its digest, and known when repeated", () =>
    posting(Effect.gen(function*() {
      yield* postBody(" {\"items\": [\"\\u00e4\"]}\n")
      yield* TestClock.adjust("1 second")
      yield* postBody(" {\"items\": [\"\\u00e4\"]}\n")
      const claimed = yield* claimAll
      assert.deepStrictEqual(claimed.map(({ body, ...post }) => [new TextDecoder().decode(body), post]), [
        [" {\"items\": [\"\\u00e4\"]}\n", {
          provider: "stub",
          digest: "eb062633c81b30e99e6f6ab7e94cdf5b462da2c5d476315e029926bfb859b21a",
          receivedAt: start,
          tries: 0
        }]
      ])
    })))

  it.effect("a post with a wrong or missing signature is refused, and changes nothing", () =>
    posting(Effect.gen(function*() {
      for (const signature of ["", "x", StubProviderWebhook.sign("another")]) {
        const refused = yield* Effect.flip(postBody("{}", signature))
        assert.deepStrictEqual([refused._tag, "reason" in refused && refused.reason], [
          "Unauthorized",
          "invalid_signature"
        ])
      }
      assert.strictEqual((yield* backlog).waiting, 0)
    })))

  it.effect("refused posts are logged once a minute, without their content", () =>
    posting(logged((lines) =>
      Effect.gen(function*() {
        const refused = Effect.flip(postBody("{\"SECRET\":1}", "SECRET"))
        yield* Effect.replicateEffect(refused, 5)
        assert.lengthOf(lines, 1)
        yield* TestClock.adjust("59 seconds")
        yield* refused
        assert.lengthOf(lines, 1)
        // even if the clock is set back
        yield* TestClock.setTime(start - 1_000_000)
        yield* TestClock.adjust("1 second")
        yield* refused
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Warn", "Warn"])
        assert.notMatch(JSON.stringify(lines), /SECRET/)
      })
    )))

  it.effect("a post that cannot be stored fails", () =>
    posting(Effect.gen(function*() {
      const store = yield* InboundPostStore
      const away = InboundPostStore.of({
        ...store,
        keep: () => Effect.fail(new StoreError({ operation: "InboundPostStore.keep" }))
      })
      const failed = yield* post([message(1)]).pipe(
        Effect.provide(InboundPosts.layer, { local: true }),
        Effect.provideService(InboundPostStore, away),
        Effect.flip
      )
      assert.strictEqual(failed._tag, "StoreError")
      assert.strictEqual((yield* backlog).waiting, 0)
    })))
})

describe("retries of a post", () => {
  it("retries come a second after the first failure, then each after twice the delay, up to ten minutes", () => {
    const seconds = [1, 2, 3, 4, 9, 10, 11, 40, 4000].map((tries) => Duration.toSeconds(InboundPost.retryAfter(tries)))
    assert.deepStrictEqual(seconds, [1, 2, 4, 8, 256, 512, 600, 600, 600])
  })
})
