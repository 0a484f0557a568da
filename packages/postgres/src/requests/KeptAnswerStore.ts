/**
 * `KeptAnswerStore` in PostgreSQL: the statements of its methods.
 */
import { Idempotency, KeptAnswer, KeptAnswerStore, type Time } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, integer, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Expired from "../Expired.ts"
import { statement } from "../Statement.ts"
import { remove } from "../TableStatements.ts"

const place = columns<KeptAnswer.Place>({ workspaceId: "text", caller: "text", route: "text", key: "text" })

const answer = columns<KeptAnswer.Answer>({ status: "integer", body: "text" })

const claimed = columns<Omit<KeptAnswer.Binding, "answer">>({
  fingerprint: "text",
  token: "text",
  leaseUntil: "bigint",
  expiresAt: "bigint"
})

const found = row({ status: integer<number | null>(), body: text<string | null>(), now: bigint<Time.Instant>() })

const retention = Duration.toMillis(Idempotency.retention)

const kept = place.and(claimed)

const wanted = columns<Pick<KeptAnswer.ClaimRequest, "isRepeatable"> & { readonly lease: number }>({
  isRepeatable: "boolean",
  lease: "integer"
})

/**
 * The assignments for an existing row: an expired row, or one whose claim is taken over, gets the new values. Any other
 * row is written unchanged, since a skipped row would not be returned.
 */
const renewed = (isRepeatable: string) =>
  [...claimed.names().split(", "), ...answer.names().split(", ")].map((column) =>
    `${column} = case when k.expires_at <= (select p.now from present p)
      or ${isRepeatable} and k.status is null and k.lease_until <= (select p.now from present p) and k.fingerprint = excluded.fingerprint
      then excluded.${column} else k.${column} end`
  ).join(", ")

/** Claims the key if it is free, and returns the row as it is then. */
const claim = statement(
  { claimed: kept.omit("leaseUntil", "expiresAt").one, wanted: wanted.one, now: Clocks.asked },
  ({ claimed: given, now, wanted: { isRepeatable, lease } }) => {
    const leaseUntil = `p.now + ${lease}`
    return `with present as materialized (select ${now} as now)
  insert into wac.kept_answers as k (${kept.names()})
  select ${kept.values({ ...given, leaseUntil, expiresAt: `p.now + ${retention}` })} from present p
  on conflict (${place.names()}) do update set ${renewed(isRepeatable)}
  returning ${claimed.names("k")}, ${answer.names("k")}, (select p.now from present p) as now`
  }
)

const forget = statement({ now: Clocks.asked }, ({ now }) => Expired.forgetOne("wac.kept_answers", now))

const owned = kept.omit("fingerprint", "leaseUntil", "expiresAt")

const settle = statement({ own: owned.one, answer: answer.one, now: Clocks.asked }, ({ answer, now, own }) => `
  update wac.kept_answers k set status = ${answer.status}, body = ${answer.body}, expires_at = ${now} + ${retention}
  where ${owned.are("k", own)}`)

const giveBack = remove("wac.kept_answers", owned)

export const layer = Layer.effect(
  KeptAnswerStore.KeptAnswerStore,
  Effect.map(Effect.all([Database, callerClock]), ([{ query }, callerNow]) =>
    KeptAnswerStore.KeptAnswerStore.of({
      claim: Effect.fnUntraced(function*(place, asked, now) {
        const { fingerprint, isRepeatable, token } = asked
        const [row] = yield* query(
          "KeptAnswerStore.claim",
          claim({
            claimed: { ...place, fingerprint, token },
            wanted: { isRepeatable, lease: KeptAnswer.leaseOf(asked) },
            now: callerNow(now)
          })
        )
        const { body, now: at, status } = found.read(row!)
        const answer = status === null ? null : { status, body: body! }
        return KeptAnswer.judge({ ...claimed.read(row!), answer }, asked, at)
      }),
      settle: Effect.fnUntraced(function*(place, token, answer, now) {
        const own = { ...place, token }
        yield* query(
          "KeptAnswerStore.settle",
          answer === null ? giveBack(own) : settle({ own, answer, now: callerNow(now) })
        )
        // not with the claim, whose verdict must follow its commit immediately
        yield* Effect.ignore(query("KeptAnswerStore.settle", forget({ now: callerNow(now) })))
      })
    }))
)
