/**
 * `RequestValuesStore` in PostgreSQL: the statements of its methods.
 */
import { Id, RequestValuesStore, type Time, ValuesSwitch } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, list, row } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { sealed } from "../secrets/StoredSeal.ts"
import { first, statement, value } from "../Statement.ts"

type Stored = Omit<RequestValuesStore.SealedValues, "sealed">

const stored = columns<Stored>({ workspaceId: "text", epoch: "integer", requestId: "text" }).and(sealed)

const workspaceId = value<Id.WorkspaceId>()

const until = statement({ workspaceId, now: Clocks.asked }, ({ now, workspaceId }) => `
  select s.until from wac.request_values_switches s where s.workspace_id = ${workspaceId} and s.until > ${now}`)

const switchOn = statement(
  { workspaceId, lasts: value<number>(), now: Clocks.asked },
  ({ lasts, now, workspaceId }) => `
  insert into wac.request_values_switches as s (workspace_id, until, epoch)
  values (${workspaceId}, ${now} + ${lasts}::bigint, 0)
  on conflict (workspace_id) do update set until = excluded.until
  returning s.until`
)

const switched = row({ until: bigint<Time.Instant>() })

const switchOff = statement({ workspaceId }, ({ workspaceId }) => `
  update wac.request_values_switches s set until = null, epoch = s.epoch + 1 where s.workspace_id = ${workspaceId}`)

const outdate = statement({ workspaceId }, ({ workspaceId }) => `
  update wac.request_values_switches s set epoch = s.epoch + 1 where s.workspace_id = ${workspaceId}`)

/** The maximum number of rows deleted in one statement. */
const forgottenAtOnce = 1000

/**
 * Selects the values that the workspace of the switch `w` kept before its current epoch: a range of the primary key.
 */
const outdated = `select v.ctid from wac.request_values v where v.workspace_id = w.workspace_id and v.epoch < w.epoch
  order by v.epoch, v.request_id limit ${forgottenAtOnce}`

const removeOutdated = statement({ workspaceId }, ({ workspaceId }) => `
  with gone as (
    delete from wac.request_values v where v.ctid = any (array(
      select v.ctid from wac.request_values_switches w cross join lateral (${outdated}) v
      where w.workspace_id = ${workspaceId}
    ))
    returning 1
  )
  select ${Forgotten.columns(forgottenAtOnce)} from gone`)

/**
 * Stores values whose switch is on and whose epoch is current. It holds the switches' locks: a transaction that turns a
 * switch off or begins another epoch then sees every row of the epoch before. The switches are locked in one order, so
 * that processes do not deadlock.
 */
const keep = statement(
  { values: stored, workspaces: list<Id.WorkspaceId>("text"), now: Clocks.asked },
  ({ now, values, workspaces }) =>
    `with held as (
    select s.workspace_id, s.epoch from wac.request_values_switches s
    where s.workspace_id = any (${workspaces}) and s.until > ${now} order by s.workspace_id for share
  )
  insert into wac.request_values (${stored.names()})
  select ${stored.names("g")} from ${values("g")}
  join held s on s.workspace_id = g.workspace_id and s.epoch = g.epoch
  on conflict do nothing`
)

const find = statement({ workspaceId, requestId: value<Id.RequestId>() }, ({ requestId, workspaceId }) => `
  select ${sealed.names("v")} from wac.request_values_switches s
  join wac.request_values v on v.workspace_id = s.workspace_id and v.epoch = s.epoch
  where s.workspace_id = ${workspaceId} and v.request_id = ${requestId}`)

/** Deletes outdated and old values: two ranges of the primary key for each workspace. */
const forget = statement(
  { lowest: value<string>(), from: value<string>(), limit: value<number>() },
  ({ from, limit, lowest }) =>
    Forgotten.walk({
      table: "wac.request_values",
      from,
      limit,
      over: ["wac.request_values_switches", "workspace_id"],
      // a part of a union cannot lock
      old: `select v.ctid from (${outdated} for update skip locked) v
      union all
      select v.ctid from (
        select v.ctid from wac.request_values v
        where v.workspace_id = w.workspace_id and v.epoch = w.epoch and v.request_id < ${lowest}
        order by v.request_id limit ${forgottenAtOnce} for update skip locked
      ) v`
    })
)

export const layer = Layer.effect(
  RequestValuesStore.RequestValuesStore,
  Effect.map(
    Effect.all([Database, callerClock]),
    ([{ planned, query }, callerNow]) =>
      RequestValuesStore.RequestValuesStore.of({
        until: (workspaceId, now) =>
          Effect.map(
            query("RequestValuesStore.until", until({ workspaceId, now: callerNow(now) })),
            ([row]) => row === undefined ? null : switched.read(row).until
          ),
        switchOn: (workspaceId, now) =>
          Effect.map(
            query(
              "RequestValuesStore.switchOn",
              switchOn({ workspaceId, lasts: Duration.toMillis(ValuesSwitch.lasts), now: callerNow(now) })
            ),
            ([row]) => switched.read(row!).until
          ),
        switchOff: (workspaceId) => Effect.asVoid(query("RequestValuesStore.switchOff", switchOff({ workspaceId }))),
        outdate: (workspaceId) => Effect.asVoid(query("RequestValuesStore.outdate", outdate({ workspaceId }))),
        removeOutdated: (workspaceId) =>
          Effect.map(
            planned("RequestValuesStore.removeOutdated", [removeOutdated({ workspaceId })]),
            ([rows]) => Forgotten.read(rows)
          ),
        keep: (values, now) => {
          const rows = values.map(({ sealed, ...row }) => ({ ...row, ...sealed }))
          const workspaces = [...new Set(values.map(({ workspaceId }) => workspaceId))]
          return Effect.asVoid(
            query("RequestValuesStore.keep", keep({ values: rows, workspaces, now: callerNow(now) }))
          )
        },
        find: (workspaceId, requestId) =>
          Effect.map(query("RequestValuesStore.find", find({ workspaceId, requestId })), first(sealed.read)),
        forget: Forgotten.inTurn([
          (before, from) =>
            Effect.map(
              planned("RequestValuesStore.forget", [
                forget({ lowest: Id.lowestAt("req", before), from, limit: forgottenAtOnce })
              ]),
              ([rows]) => Forgotten.readWalked(rows!)
            )
        ])
      })
  )
)
