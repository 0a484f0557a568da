/**
 * `InboundPostStore` in PostgreSQL: combines the operations of this folder (`ClaimPosts`, `EndPosts`, `KeepPost`,
 * `PostBacklog`, `RetryUnreadable`, `SweepPosts`) and adds the short statements.
 */
import { InboundPostStep, InboundPostStore } from "@wac/core"
import { Effect, Layer, Result } from "effect"
import { Hex } from "effect/encoding"
import { callerClock } from "../CallerClock.ts"
import { integer, row } from "../Columns.ts"
import { Database } from "../Database.ts"
import { Hint } from "../Hint.ts"
import { claimedOf, claimPosts } from "./ClaimPosts.ts"
import * as EndPosts from "./EndPosts.ts"
import { keep } from "./KeepPost.ts"
import { backlog, backlogOf } from "./PostBacklog.ts"
import { retriedOf, retryUnreadable } from "./RetryUnreadable.ts"
import { sweepPosts } from "./SweepPosts.ts"

const inBytes = (digest: string): Uint8Array => Result.getOrThrow(Hex.decode(digest))

const swept = row({ swept: integer() })

export const layer = Layer.effect(
  InboundPostStore.InboundPostStore,
  Effect.gen(function*() {
    const { direct, planned, query } = yield* Database
    const callerNow = yield* callerClock
    const end = yield* direct("InboundPostStore.end", EndPosts.end)
    const hint = new Hint()

    return InboundPostStore.InboundPostStore.of({
      keep: ({ body, digest, now, provider }) =>
        Effect.map(
          query(
            "InboundPostStore.keep",
            keep({ post: { provider, digest: inBytes(digest), body }, now: callerNow(now) })
          ),
          (rows) => {
            if (rows.length === 0) return "known"
            hint.tell()
            return "kept"
          }
        ),
      claim: (command) =>
        Effect.suspend(() => {
          hint.claiming()
          return Effect.map(
            planned("InboundPostStore.claim", claimPosts(command, callerNow(command.now))),
            ([, rows]) => rows!.map(claimedOf(command.provider))
          )
        }),
      complete: (command) => {
        const { digest, now, provider, token } = command
        return end({ provider, digest, token, now: callerNow(now), ended: InboundPostStep.complete(command) })
      },
      release: (command) => {
        const { digest, now, provider, token } = command
        return Effect.tap(
          end({ provider, digest, token, now: callerNow(now), ended: InboundPostStep.release(command) }),
          Effect.sync(hint.tell)
        )
      },
      retryUnreadable: (provider, limit) =>
        Effect.tap(
          Effect.map(planned("InboundPostStore.retryUnreadable", retryUnreadable(provider, limit)), retriedOf),
          Effect.sync(hint.tell)
        ),
      sweep: (now, limit) =>
        Effect.map(
          planned("InboundPostStore.sweep", sweepPosts(callerNow(now), limit)),
          ([, rows]) => swept.read(rows![0]!).swept
        ),
      awaitHint: hint.wait,
      backlog: Effect.map(planned("InboundPostStore.backlog", backlog), ([, rows]) => backlogOf(rows![0]!))
    })
  })
)
