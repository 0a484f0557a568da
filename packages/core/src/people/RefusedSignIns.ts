/**
 * Records sign-ins that were refused: counts them by cause, and writes them to the audit of the account's workspaces. In
 * the background, so that the time of a response does not reveal whether there is an account.
 */
import { Clock, Context, Effect, FiberSet, Layer, Option } from "effect"
import { Audit } from "../audit/Audit.ts"
import type { Forbidden, RateLimited, Unauthorized } from "../Errors.ts"
import type { RequestId } from "../Id.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import * as Metrics from "../Metrics.ts"
import type { StoreError } from "../StoreError.ts"
import * as EmailAddress from "./EmailAddress.ts"
import type { Member } from "./Member.ts"
import { MemberStore } from "./MemberStore.ts"

/** An account in one of its workspaces. */
type Acting = Pick<Member, "userId" | "email" | "workspaceId">

/** A sign-in that was refused. */
export interface Refused {
  readonly error: Unauthorized | Forbidden | RateLimited
  /**
   * The account that the attempt concerns: the address that it names, as it was given, or the account in each of its
   * workspaces; `undefined` if it concerns none.
   */
  readonly account: string | ReadonlyArray<Acting> | undefined
  /** The client's address. */
  readonly address: string
  readonly requestId: RequestId
}

/**
 * The limit on entries in the audit per account and cause: 20, then one in ten minutes. So an endlessly repeated
 * attempt does not fill the audit, and a flood of one cause hides no other cause.
 */
const policy: RateLimit.Policy = { name: "login", interval: 600_000, capacity: 20 }

export class RefusedSignIns extends Context.Service<RefusedSignIns, {
  /** Records a refused sign-in. Never fails: if the storage fails, the sign-in is only counted. */
  readonly record: (refused: Refused) => Effect.Effect<void>
}>()("@wac/core/people/RefusedSignIns") {
  static readonly layer = Layer.effect(
    RefusedSignIns,
    Effect.gen(function*() {
      const members = yield* MemberStore
      const limits = yield* RateLimitStore
      const audit = yield* Audit
      const recording = yield* FiberSet.make()

      const named = (email: string): Effect.Effect<ReadonlyArray<Acting>, StoreError> =>
        Effect.map(
          members.findByEmail(EmailAddress.normalize(email)),
          Option.match({
            onNone: () => [],
            onSome: ({ memberships, person: { email, userId } }) =>
              memberships.map(({ workspace }) => ({ userId, email, workspaceId: workspace.id }))
          })
        )

      const audited = Effect.fnUntraced(
        function*({ account = [], address, error: { reason: cause }, requestId }: Refused) {
          const actors = typeof account === "string" ? yield* named(account) : account
          const target = actors[0]?.userId
          if (target === undefined) return
          const bucket = { key: `login:audit:${target}:${cause}`, policy }
          const readings = yield* limits.spend([bucket], yield* Clock.currentTimeMillis)
          if (RateLimit.refusal(readings) !== undefined) return
          yield* audit.record(actors, { action: "session.refuse", target, detail: { cause }, address, requestId })
        }
      )

      return RefusedSignIns.of({
        record: Effect.fnUntraced(function*(refused) {
          yield* Metrics.signInRefused(refused.error.reason)
          if (refused.account !== undefined) yield* FiberSet.run(recording, Effect.ignore(audited(refused)))
        })
      })
    })
  ).pipe(Layer.provide(Audit.layer))
}
