/**
 * Records successes that need no loading (core's `DeliveryStep.completeDirectly`) directly, in one round trip.
 * `Complete` records everything else.
 */
import { type DeliveryStep, type Id, type Time, WebhookScheduler } from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { bigint, boolean, integer, row, text } from "../Columns.ts"
import type { DirectOptions } from "../Database.ts"
import { statement, value } from "../Statement.ts"
import { type Recorded, size } from "./Complete.ts"
import { follow } from "./DeliveryOrder.ts"
import { lockHealthOf } from "./Health.ts"
import { outcome, storedOutcome } from "./StoredDelivery.ts"

/** The columns of attempts that are written directly: what identifies them, and their outcomes. */
const recorded = row({
  place: integer(),
  deliveryId: text<Id.DeliveryId>(),
  webhookId: text<Id.WebhookId>(),
  token: text(),
  now: bigint<number | null>(),
  number: integer(),
  firstAttemptAt: bigint<number | null>(),
  endedAt: bigint(),
  attemptId: text<Id.AttemptId>()
}).and(outcome)

const written = row({ place: integer(), isSooner: boolean<boolean | null>() })

/**
 * Writes successful attempts of webhooks that are healthy at this moment, and no others; the caller must hold the
 * webhooks' health. Fields that `DeliveryStep.completeDirectly` leaves unchanged are not written.
 */
const writeDirectly = statement({ pollEvery: value<number>(), recorded }, ({ pollEvery, recorded }) =>
  `with ended as (
    delete from wac.delivery_claims k
    using ${recorded("g")}, wac.webhook_health h
    where k.webhook_id = g.webhook_id and k.delivery_id = g.delivery_id and k.token = g.token
      and h.webhook_id = g.webhook_id and not h.doubtful
    returning g.*, k.workspace_id
  ), written as (
    update wac.deliveries d set status = 'delivered', attempt_count = e.number, round_attempts = 1,
      first_attempt_at = e.first_attempt_at, last_attempt_at = e.ended_at, next_attempt_at = null,
      completed_at = e.ended_at
    from ended e where d.workspace_id = e.workspace_id and d.id = e.delivery_id
    returning e.*
  ), kept as (
    insert into wac.attempts (id, delivery_id, workspace_id, number, ${outcome.names()})
    select w.attempt_id, w.delivery_id, w.workspace_id, w.number, ${outcome.names("w")}
    from written w
  ), healths as (
    update wac.webhook_health h set
      last_success_at = greatest(h.last_success_at, a.last_success_at),
      last_attempt_at = a.last_attempt_at,
      slots_taken = false,
      ready_at = least(h.ready_at, case when h.slots_taken then a.now end),
      changes = h.changes + 1
    from (
      select w.webhook_id, max(w.ended_at) as last_success_at,
        (array_agg(w.ended_at order by w.place desc))[1] as last_attempt_at, coalesce(min(w.now), ${Clocks.now}) as now
      from written w group by w.webhook_id
    ) a
    where h.webhook_id = a.webhook_id
    returning h.webhook_id, h.ready_at >= a.now and h.ready_at < a.now + ${pollEvery}::bigint as is_sooner
  )
  select w.place, h.is_sooner from written w join healths h on h.webhook_id = w.webhook_id`)

/** A command whose record is to be written directly. */
export interface DirectCommand {
  readonly command: DeliveryStep.Complete
  readonly after: DeliveryStep.DirectCompletion
  /** The time in tests that control it; `undefined` for the database's time. */
  readonly now: Time.Instant | undefined
}

/** Drops repeated commands, since a claim ends with the first record. */
const firsts = (commands: ReadonlyArray<DirectCommand>) => {
  const claims = new Set<string>()
  return commands.map((one, place) => ({ ...one, place })).filter(({ command: { delivery, token } }) => {
    const claim = `${delivery.id} ${token}`
    return !claims.has(claim) && claims.add(claim)
  })
}

/** Records successes directly. */
export const completeDirectly: DirectOptions<DirectCommand, Recorded> = {
  size,
  write: (commands) => {
    const given = firsts(commands)
    const claims = given.map(({ command }) => command)
    const leaders = given.filter(({ command }) => command.delivery.orderKey !== null)
    return [
      lockHealthOf(claims.map(({ delivery }) => delivery.webhookId)),
      writeDirectly({
        pollEvery: Duration.toMillis(WebhookScheduler.pollEvery),
        recorded: given.map(({ after, command: { attempt, delivery, token }, now, place }) => ({
          ...storedOutcome(attempt),
          place,
          deliveryId: delivery.id,
          webhookId: delivery.webhookId,
          token,
          now: now ?? null,
          number: after.delivery.attemptCount,
          firstAttemptAt: after.delivery.firstAttemptAt,
          endedAt: after.endedAt,
          attemptId: attempt.id
        }))
      }),
      ...follow(leaders.map(({ command: { delivery: { orderKey, webhookId } }, now }) => ({
        webhookId,
        orderKey,
        at: now ?? null
      })))
    ]
  },
  read: ([, rows, freed]) => {
    const found = rows!.map(written.read)
    const isSooner = (freed ?? []).length > 0 || found.some(({ isSooner }) => isSooner)
    const places = new Set(found.map(({ place }) => place))
    return (_, place) => places.has(place) ? isSooner ? "hint" : "recorded" : "no"
  }
}
