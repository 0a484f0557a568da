import { InboundPost, InboundPostStore, type Time } from "@wac/core"
import { Duration, Effect, Layer, Result } from "effect"
import { Hex } from "effect/encoding"
import { plain } from "./Column.ts"
import { Database } from "./Database.ts"
import { Hint } from "./Hint.ts"

/** A command for `wac_end_posts`. */
interface End extends InboundPost.PostName {
  readonly token: string
  readonly dueAt: Time.Instant | null
  readonly problem: InboundPost.Problem | null
  readonly expiresAt: Time.Instant | null
}

const inBytes = (digest: string): Uint8Array => Result.getOrThrow(Hex.decode(digest))

export const layer = Layer.effect(
  InboundPostStore.InboundPostStore,
  Effect.gen(function*() {
    const { batched, query } = yield* Database
    const end = yield* batched<End, boolean>("InboundPostStore.end", "wac_end_posts")
    const hint = new Hint()

    return InboundPostStore.InboundPostStore.of({
      keep: ({ body, digest, now, provider }) =>
        Effect.map(
          query("InboundPostStore.keep", "select wac_keep_post($1, $2, $3, $4) as kept", [
            provider,
            inBytes(digest),
            body,
            now
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
            query("InboundPostStore.claim", "select * from wac_claim_posts($1, $2, $3, $4, $5, $6)", [
              provider,
              token,
              now,
              leaseUntil,
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
        end({
          provider,
          digest,
          token,
          dueAt: null,
          problem: null,
          expiresAt: now + Duration.toMillis(InboundPost.keptFor)
        }),
      release: ({ digest, now, problem, provider, retryAt, token }) =>
        Effect.tap(
          end({
            provider,
            digest,
            token,
            dueAt: retryAt,
            problem,
            expiresAt: problem === null ? null : now + Duration.toMillis(InboundPost.keptWithProblemFor)
          }),
          Effect.sync(hint.tell)
        ),
      sweep: (now, limit) =>
        Effect.map(
          query("InboundPostStore.sweep", "select wac_sweep_posts($1, $2) as swept", [now, limit]),
          ([row]) => plain<number>(row!, "swept")
        ),
      awaitHint: hint.wait,
      backlog: Effect.map(
        query("InboundPostStore.backlog", "select wac_post_backlog() as report", []),
        ([row]) => plain<InboundPostStore.PostBacklog>(row!, "report")
      )
    })
  })
)
