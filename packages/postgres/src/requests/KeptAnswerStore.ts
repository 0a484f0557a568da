/**
 * `KeptAnswerStore` in PostgreSQL: the statements of its methods.
 */
import { type Id, Idempotency, KeptAnswer, KeptAnswerStore, type Time } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, integer, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Expired from "../Expired.ts"
import * as Forgotten from "../Forgotten.ts"
import { statement, value } from "../Statement.ts"
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

const forgetOne = statement({ now: Clocks.asked }, ({ now }) => Expired.forgetOne("wac.kept_answers", now))

const owned = kept.omit("fingerprint", "leaseUntil", "expiresAt")

const settle = statement({ own: owned.one, answer: answer.one, now: Clocks.asked }, ({ answer, now, own }) => `
  update wac.kept_answers k set status = ${answer.status}, body = ${answer.body}, expires_at = ${now} + ${retention}
  where ${owned.are("k", own)}`)

const giveBack = remove("wac.kept_answers", owned)

/** The number of answers that one step of {@link unname} looks at. */
const unnamedAtOnce = 200

const within = place.omit("workspaceId")

const first = { caller: "", route: "", key: "" as Idempotency.IdempotencyKey }

/** Removes names from a page of a workspace's answers. */
export const unname = statement(
  { workspaceId: value<Id.WorkspaceId>(), names: value<string>(), after: within.one },
  ({ after, names, workspaceId }) =>
    `with page as materialized (
    select ${within.names("k")}, k.token, k.body from wac.kept_answers k
    where k.workspace_id = ${workspaceId} and (${within.names("k")}) > (${within.values(after)})
    order by ${within.names("k")} limit ${unnamedAtOnce}
  ), hit as materialized (
    select p.* from page p where p.body ~ ${names}
  ), unnamed as (
    update wac.kept_answers k set body = regexp_replace(k.body, ${names}, '', 'g') from hit h
    where k.workspace_id = ${workspaceId} and (${within.names("k")}) = (${within.names("h")}) and k.token = h.token
  )
  select (
    select ${within.array.text("p")}::text from page p
    where (select count(*) from page) = ${unnamedAtOnce}
    order by p.caller desc, p.route desc, p.key desc limit 1
  ) as next`
)

const walkedTo = row({ next: text<string | null>() })

/** Deletes bindings that had expired at a time. */
export const forget = Forgotten.endedBefore("wac.kept_answers", "expires_at", "<=")

export const layer = Layer.effect(
  KeptAnswerStore.KeptAnswerStore,
  Effect.map(
    Effect.all([Database, callerClock]),
    ([{ planned, query }, callerNow]) =>
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
          yield* Effect.ignore(query("KeptAnswerStore.settle", forgetOne({ now: callerNow(now) })))
        }),
        unname: ({ after, names, workspaceId }) => {
          const place = after === null ? first : within.array.read(JSON.parse(after) as ReadonlyArray<unknown>)
          return Effect.map(
            planned("KeptAnswerStore.unname", [unname({ workspaceId, names, after: place })]),
            ([rows]) => walkedTo.read(rows![0]!)
          )
        },
        forget: (before) => Effect.map(query("KeptAnswerStore.forget", forget({ before })), Forgotten.read)
      })
  )
)
