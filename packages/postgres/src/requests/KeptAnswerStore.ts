/**
 * `KeptAnswerStore` in PostgreSQL: the statements of its methods.
 */
import { Idempotency, KeptAnswer, KeptAnswerStore, type Time } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { columns } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Expired from "../Expired.ts"

/** Claims the place if it is free; an existing row is written as it is, since a skipped one would not be returned. */
const claim = `
  with present as materialized (select coalesce($9::bigint, ${Clocks.now}) as now)
  insert into kept_answers as k (workspace_id, caller, route, key, fingerprint, token, lease_until, expires_at)
  select $1, $2, $3, $4, $5, $6, p.now + $7::bigint, p.now + $8::bigint from present p
  on conflict (workspace_id, caller, route, key) do update set
    fingerprint = case when k.expires_at <= (select p.now from present p) then excluded.fingerprint else k.fingerprint end,
    token = case when k.expires_at <= (select p.now from present p) then excluded.token else k.token end,
    lease_until = case when k.expires_at <= (select p.now from present p) then excluded.lease_until else k.lease_until end,
    status = case when k.expires_at <= (select p.now from present p) then null else k.status end,
    body = case when k.expires_at <= (select p.now from present p) then null else k.body end,
    expires_at = case when k.expires_at <= (select p.now from present p) then excluded.expires_at else k.expires_at end
  returning k.fingerprint, k.token, k.lease_until, k.status, k.body, k.expires_at,
    (select p.now from present p) as now`

const forget = Expired.forgetOne("kept_answers", Clocks.at("$1"))

const binding = columns<
  Omit<KeptAnswer.Binding, "answer"> & {
    readonly status: number | null
    readonly body: string | null
    readonly now: Time.Instant
  }
>({
  fingerprint: "text",
  token: "text",
  leaseUntil: "bigint",
  status: "integer",
  body: "text",
  expiresAt: "bigint",
  now: "bigint"
})

const retention = Duration.toMillis(Idempotency.retention)

export const layer = Layer.effect(
  KeptAnswerStore.KeptAnswerStore,
  Effect.map(Effect.all([Database, callerClock]), ([{ query }, callerNow]) => {
    return KeptAnswerStore.KeptAnswerStore.of({
      claim: Effect.fnUntraced(function*(place, request, now) {
        const [row] = yield* query("KeptAnswerStore.claim", claim, [
          place.workspaceId,
          place.caller,
          place.route,
          place.key,
          request.fingerprint,
          request.token,
          Duration.toMillis(KeptAnswer.lease),
          retention,
          callerNow(now) ?? null
        ])
        const { body, now: at, status, ...found } = binding.read(row!)
        const answer = status === null ? null : { status, body: body! }
        const verdict = KeptAnswer.judge({ ...found, answer }, request, at)
        if (verdict._tag === "Claimed") {
          yield* Effect.ignore(query("KeptAnswerStore.claim", forget, [callerNow(now) ?? null]))
        }
        return verdict
      }),
      settle: (place, token, answer, now) => {
        const key = [place.workspaceId, place.caller, place.route, place.key, token]
        const where = "workspace_id = $1 and caller = $2 and route = $3 and key = $4 and token = $5"
        return Effect.asVoid(
          answer === null
            ? query("KeptAnswerStore.settle", `delete from kept_answers where ${where}`, key)
            : query(
              "KeptAnswerStore.settle",
              `update kept_answers set status = $6, body = $7, expires_at = ${
                Clocks.at("$9")
              } + $8::bigint where ${where}`,
              [...key, answer.status, answer.body, retention, callerNow(now) ?? null]
            )
        )
      }
    })
  })
)
