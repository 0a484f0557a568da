import { InboundPostStep, InboundPostStore, type Time } from "@wac/core"
import { Effect, Layer, Result } from "effect"
import { Hex } from "effect/encoding"
import { asked } from "../Asked.ts"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"
import { Hint } from "../Hint.ts"
import * as EndPosts from "./EndPosts.ts"

const claimText = `select c.* from (select coalesce($3::bigint, wac_now()) as now) t
  cross join lateral wac_claim_posts($1, $2, t.now, t.now + $4::bigint, $5, $6) c`

const inBytes = (digest: string): Uint8Array => Result.getOrThrow(Hex.decode(digest))

export const layer = Layer.effect(
  InboundPostStore.InboundPostStore,
  Effect.gen(function*() {
    const { direct, query } = yield* Database
    const askedAt = yield* asked
    const end = yield* direct("InboundPostStore.end", EndPosts.end)
    const hint = new Hint()

    return InboundPostStore.InboundPostStore.of({
      keep: ({ body, digest, now, provider }) =>
        Effect.map(
          query("InboundPostStore.keep", "select wac_keep_post($1, $2, $3, coalesce($4, wac_now())) as kept", [
            provider,
            inBytes(digest),
            body,
            askedAt(now) ?? null
          ]),
          ([row]) => {
            if (!plain<boolean>(row!, "kept")) return "known"
            hint.tell()
            return "kept"
          }
        ),
      claim: ({ leaseUntil, limit, now, provider, token }) =>
        Effect.suspend(() => {
          hint.claiming()
          return Effect.map(
            query("InboundPostStore.claim", claimText, [
              provider,
              token,
              askedAt(now) ?? null,
              leaseUntil - now,
              limit.posts,
              limit.bytes
            ]),
            (rows) =>
              rows.map((row) => ({
                provider,
                digest: plain<string>(row, "its_digest"),
                body: plain<Uint8Array>(row, "its_body"),
                receivedAt: plain<Time.Instant>(row, "came_at"),
                tries: plain<number>(row, "was_tried")
              }))
          )
        }),
      complete: ({ digest, now, provider, token }) =>
        end({ provider, digest, token, now: askedAt(now), ended: InboundPostStep.complete }),
      release: (command) => {
        const { digest, now, provider, token } = command
        return Effect.tap(
          end({ provider, digest, token, now: askedAt(now), ended: InboundPostStep.release(command) }),
          Effect.sync(hint.tell)
        )
      },
      sweep: (now, limit) =>
        Effect.map(
          query("InboundPostStore.sweep", "select wac_sweep_posts(coalesce($1, wac_now()), $2) as swept", [
            askedAt(now) ?? null,
            limit
          ]),
          ([row]) => plain<number>(row!, "swept")
        ),
      awaitHint: hint.wait,
      backlog: Effect.map(
        query("InboundPostStore.backlog", "select wac_post_backlog($1) as report", [InboundPostStore.countedExactly]),
        ([row]) => plain<InboundPostStore.PostBacklog>(row!, "report")
      )
    })
  })
)
