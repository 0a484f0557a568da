/**
 * `AlertStore` in PostgreSQL: the statements of its methods, decided by `AlertStep`.
 */
import { Alert, AlertStep, AlertStore, type Id, Page, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { bigint, columns, list, row, text, unlessEmpty } from "../Columns.ts"
import { Database, type StepOptions } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { pages } from "../Pages.ts"
import { type Row, statement, value } from "../Statement.ts"
import { insert, insertOne, select } from "../TableStatements.ts"

const alert = columns<Alert.Alert>({
  workspaceId: "text",
  id: "text",
  kind: "text",
  subject: "text",
  message: "text",
  openedAt: "bigint",
  closedAt: "bigint"
})

const settings = columns<Alert.Settings>({ emails: "text[]", url: "text" })

const workspaces = list<Id.WorkspaceId>("text")

/** Serializes observations of a workspace. */
const lock = statement(
  { workspaces },
  ({ workspaces }) =>
    `select pg_advisory_xact_lock(hashtext('wac:alerts'), hashtext(w.id))
  from (select w.id from unnest(${workspaces}) w (id) order by 1) w`
)

const loadOpen = statement(
  { workspaces },
  ({ workspaces }) =>
    `select ${alert.names("a")} from unnest(${workspaces}) w (id) cross join lateral (
    select * from wac.alerts a where a.workspace_id = w.id and a.closed_at is null offset 0
  ) a`
)

const change = row({
  workspaceId: text<Id.WorkspaceId>(),
  alertId: text<Id.AlertId>(),
  change: text<ReturnType<typeof AlertStep.changeOf>>()
})

const changeOf = (one: Alert.Alert) => ({
  workspaceId: one.workspaceId,
  alertId: one.id,
  change: AlertStep.changeOf(one)
})

const notification = change.and(row({ dueAt: bigint() }))

const loadUnfinished = statement(
  { workspaces },
  ({ workspaces }) =>
    `select ${alert.names("a")}, n.change, n.due_at from unnest(${workspaces}) w (id) cross join lateral (
    select * from wac.alert_notifications n where n.workspace_id = w.id offset 0
  ) n join wac.alerts a on a.workspace_id = n.workspace_id and a.id = n.alert_id`
)

const unfinished = notification.pick("change", "dueAt")

const notificationOf = (stored: Row): AlertStep.Notification => {
  const { change, dueAt } = unfinished.read(stored)
  const one = alert.read(stored)
  return { alert: change === "opened" ? { ...one, closedAt: null } : one, dueAt }
}

const notify = unlessEmpty(
  notification,
  (rows) =>
    `insert into wac.alert_notifications as o (${notification.names()})
  select ${notification.names("n")} from ${rows("n")}
  on conflict (workspace_id, alert_id, change) do update set due_at = excluded.due_at`
)

const finish = statement(
  { done: change.one },
  ({ done }) =>
    `delete from wac.alert_notifications n
  where n.workspace_id = ${done.workspaceId} and n.alert_id = ${done.alertId} and n.change = ${done.change}`
)

const open = insert(alert.omit("closedAt"), "wac.alerts")

const close = unlessEmpty(
  alert.pick("workspaceId", "id", "closedAt"),
  (rows) =>
    `update wac.alerts a set closed_at = s.closed_at from ${rows("s")}
  where a.workspace_id = s.workspace_id and a.id = s.id`
)

/** `AlertStore.observe`, one workspace at a time. */
const observe: StepOptions<AlertStep.Observe, AlertStep.Loaded, AlertStep.Observed, AlertStep.Writes> = {
  size: 1,
  load: (commands) => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    return [lock({ workspaces }), loadOpen({ workspaces }), loadUnfinished({ workspaces })]
  },
  read: ([, rows, notifications], now) => {
    const open = rows!.map(alert.read)
    const unfinished = notifications!.map(notificationOf)
    return {
      now,
      open: (workspaceId) => open.filter((alert) => alert.workspaceId === workspaceId),
      unfinished: (workspaceId) => unfinished.filter(({ alert }) => alert.workspaceId === workspaceId)
    }
  },
  decide: AlertStep.observe,
  write: ({ closed, notifications, opened }) => [
    ...open(opened),
    ...close(closed),
    ...notify(notifications.map(({ alert, dueAt }) => ({ ...changeOf(alert), dueAt })))
  ]
}

const workspaceId = value<Id.WorkspaceId>()

/**
 * Without the kinds that only later versions know. Of `is not null` the planner expects nearly every row; of a plain
 * list of kinds it would expect few, and sort a whole workspace.
 */
const isKnown = `nullif(a.kind in (${Alert.kinds.map((kind) => `'${kind}'`).join(", ")}), false) is not null`

const listOf = (condition: string) =>
  pages({ workspaceId }, ({ workspaceId }, { isAfter, limit }) =>
    `select ${alert.names("a")} from wac.alerts a
  where a.workspace_id = ${workspaceId}${condition} and ${isKnown} and ${isAfter("a.id")}
  order by a.id desc limit ${limit}`)

const listAll = listOf("")

const listOpen = listOf(" and a.closed_at is null")

const during = statement(
  {
    workspaceId,
    subject: value<string>(),
    since: value<Time.Instant>(),
    until: value<Time.Instant>(),
    // a parameter: with a constant, the planner would expect few rows and sort them
    limit: value<number>()
  },
  ({ limit, since, subject, until, workspaceId }) =>
    `select ${alert.names("a")} from (
    select a.* from wac.alerts a where a.workspace_id = ${workspaceId} order by a.id desc limit ${limit}
  ) a
  where a.subject = ${subject} and a.opened_at < ${until}::bigint and coalesce(a.closed_at > ${since}::bigint, true)
  order by a.id`
)

const ofWorkspace = row({ workspaceId: text<Id.WorkspaceId>() })

const loadSettings = select(settings, "wac.alert_settings", ofWorkspace)

const configure = insertOne(
  ofWorkspace.and(settings),
  "wac.alert_settings",
  ` on conflict (workspace_id) do update set ${settings.set("excluded")}`
)

const forget = Forgotten.endedBefore("wac.alerts", "closed_at", "<")

export const layer = Layer.effect(
  AlertStore.AlertStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const observing = yield* stepped("AlertStore.observe", observe)
    return AlertStore.AlertStore.of({
      observe: observing,
      finish: (alert) => Effect.asVoid(query("AlertStore.finish", finish({ done: changeOf(alert) }))),
      list: (workspaceId, { open }, page) =>
        Effect.map(
          query("AlertStore.list", (open === true ? listOpen : listAll)({ workspaceId }, page)),
          (rows) => Page.fromOverread(rows.map(alert.read), page, ({ id }) => id)
        ),
      during: (workspaceId, subject, { since, until }) =>
        Effect.map(
          query("AlertStore.during", during({ workspaceId, subject, since, until, limit: AlertStore.maxScanned })),
          (rows) => rows.map(alert.read)
        ),
      settings: (workspaceId) =>
        Effect.map(
          query("AlertStore.settings", loadSettings({ workspaceId })),
          ([row]) => row === undefined ? Alert.noSettings : settings.read(row)
        ),
      configure: (workspaceId, settings) =>
        Effect.asVoid(query("AlertStore.configure", configure({ workspaceId, ...settings }))),
      forget: (before) => Effect.map(query("AlertStore.forget", forget({ before })), Forgotten.read)
    })
  })
)
