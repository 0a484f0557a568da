/**
 * `DeliveryStore` in PostgreSQL: combines the operations of this folder (`Backlog`, `BeginTest`, `ClaimDue`,
 * `Complete`, `CompleteDirect`, `EndTests`, `ListDeliveries`, `Release`, `Rounds`, `TidySkipped`) and adds the short
 * statements.
 */
import { type Delivery, DeliveryStep, DeliveryStore, Id, type Time } from "@wac/core"
import { Effect, Layer, Option, Queue, Semaphore } from "effect"
import { callerClock } from "../CallerClock.ts"
import { result } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { Hint } from "../Hint.ts"
import { first, statement, value } from "../Statement.ts"
import { backlog, backlogOf } from "./Backlog.ts"
import * as BeginTest from "./BeginTest.ts"
import { claimDue, foundOf, type Looked } from "./ClaimDue.ts"
import * as Complete from "./Complete.ts"
import * as CompleteDirect from "./CompleteDirect.ts"
import { endTests } from "./EndTests.ts"
import * as ListDeliveries from "./ListDeliveries.ts"
import { release } from "./Release.ts"
import * as Rounds from "./Rounds.ts"
import { attemptOf, delivery } from "./StoredDelivery.ts"
import * as TidySkipped from "./TidySkipped.ts"

type Store = DeliveryStore.DeliveryStore["Service"]

const attempts =
  "(select coalesce(json_agg(to_json(a) order by a.number), '[]') from wac.attempts a where a.delivery_id = p.id)"

const attempted = result<{ readonly attempts: ReadonlyArray<Delivery.Attempt> }>({ attempts: [{ read: attemptOf }] })

const found = delivery.pick("id")

const get = statement(
  { workspaceId: value<Id.WorkspaceId>(), id: value<Id.DeliveryId>() },
  ({ id, workspaceId }) => ListDeliveries.oneText(workspaceId, id, `${attempts} as attempts`)
)

/** The maximum number of attempts deleted in one statement. */
const forgottenAtOnce = 2000

/** Deletes old attempts: a range of the primary key, since deliveries' identifiers begin with the time of recording. */
export const forgetAttempts = statement(
  { below: value<string>(), before: value<Time.Instant>(), limit: value<number>() },
  ({ before, below, limit }) =>
    `with gone as (
    delete from wac.attempts a where a.ctid = any (array(
      select o.ctid from wac.attempts o where o.delivery_id < ${below} and o.started_at < ${before}
      order by o.delivery_id, o.number limit ${limit} for update skip locked
    ))
    returning 1
  )
  select ${Forgotten.columns(limit)} from gone`
)

export const layer = Layer.effect(
  DeliveryStore.DeliveryStore,
  Effect.gen(function*() {
    const { direct, listen, planned, query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const completeDirectly = yield* direct("DeliveryStore.complete", CompleteDirect.completeDirectly)
    const record = yield* stepped("DeliveryStore.complete", Complete.complete)
    const beginTest = yield* stepped("DeliveryStore.beginTest", BeginTest.beginTest)
    const retry = yield* stepped("DeliveryStore.retry", Rounds.retry)
    const tidy = yield* stepped("DeliveryStore.tidySkipped", TidySkipped.tidySkipped)
    const claiming = yield* Semaphore.make(1)
    const hint = new Hint()

    /** Whether an attempt was recorded. Notifies claimers if something may have become due. */
    const isRecorded = (recorded: Complete.Recorded): boolean => {
      if (recorded === "hint") hint.tell()
      return recorded !== "no"
    }
    const complete = (command: DeliveryStep.Complete) => Effect.map(record(command), isRecorded)

    let looked: Looked = { seen: null, again: [] }

    const notifications = yield* listen("wac:wac_deliveries")
    yield* Effect.forkScoped(Effect.forever(Effect.map(Queue.take(notifications), (payload) => {
      // after a reconnection this may be a different server, to which the last look does not apply
      if (payload === "") looked = { ...looked, seen: null }
      hint.tell()
    })))

    const claim = Effect.fnUntraced(function*(command: Parameters<Store["claimDue"]>[0]) {
      hint.claiming()
      const before = looked
      const { claimed, hasTests, ...found } = foundOf(
        yield* planned("DeliveryStore.claimDue", claimDue(command, callerNow(command.now), before))
      )
      // if it was reset meanwhile, it stays reset
      looked = looked === before ? found : { ...looked, again: found.again }
      if (hasTests) yield* planned("DeliveryStore.claimDue", endTests(claimed.at))
      return claimed
    })

    const tidySkipped = Effect.fnUntraced(function*(now: Time.Instant, limit: number) {
      let after: TidySkipped.Tidied["next"]
      for (;;) {
        const { next, written }: TidySkipped.Tidied = yield* tidy({ after, limit, asked: callerNow(now) })
        if (next === undefined) return written
        after = next
      }
    })

    const ofMessage = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, messageId: Id.MessageId) {
      const events = yield* query("DeliveryStore.list", ListDeliveries.eventsOf({ workspaceId, messageId }))
      const rows = yield* query("DeliveryStore.list", ListDeliveries.deliveriesOf(workspaceId, events))
      return rows.map((row) => found.read(row).id)
    })

    return DeliveryStore.DeliveryStore.of({
      // claims wait for each other in the database anyway; waiting here, they need no connection each
      claimDue: (command) => claiming.withPermit(claim(command)),
      beginTest: (command) =>
        Effect.map(
          beginTest(command),
          (begun) => Option.map(Option.fromUndefinedOr(begun), (begun) => DeliveryStore.claimedOf(begun, begun.at))
        ),
      complete: (command) => {
        const after = DeliveryStep.completeDirectly(command)
        if (after === undefined) return complete(command)
        return Effect.flatMap(
          completeDirectly({ command, after, now: callerNow(command.now) }),
          (recorded) => recorded === "no" ? complete(command) : Effect.succeed(isRecorded(recorded))
        )
      },
      release: (token, deliveries) =>
        deliveries.length === 0 ? Effect.void : Effect.map(
          planned("DeliveryStore.release", release(token, deliveries)),
          hint.tell
        ),
      retry: (workspaceId, id, now) =>
        Effect.map(retry({ workspaceId, id, now }), (retried) =>
          Option.map(
            Option.fromUndefinedOr(retried),
            ({ delivery, webhook }) => DeliveryStore.viewOf(delivery, webhook)
          )),
      awaitHint: hint.wait,
      tidySkipped,
      backlog: (now) =>
        Effect.map(planned("DeliveryStore.backlog", backlog(callerNow(now))), ([rows]) => backlogOf(rows![0]!)),
      list: Effect.fnUntraced(function*(workspaceId, filter, page) {
        const ids = filter.messageId === undefined ? undefined : yield* ofMessage(workspaceId, filter.messageId)
        const rows = yield* query("DeliveryStore.list", ListDeliveries.listDeliveries(workspaceId, filter, page, ids))
        return ListDeliveries.pageOf(rows, page)
      }),
      get: (workspaceId, id) =>
        Effect.map(
          query("DeliveryStore.get", get({ workspaceId, id })),
          first((row) => ({ ...ListDeliveries.listedOf(row), ...attempted.read(row) }))
        ),
      forgetAttempts: (before) =>
        Effect.map(
          planned("DeliveryStore.forgetAttempts", [
            forgetAttempts({ below: Id.lowestAt("dlv", before), before, limit: forgottenAtOnce })
          ]),
          ([rows]) => Forgotten.read(rows)
        )
    })
  })
)
