/**
 * `AlertStore` in PostgreSQL: the statements of its methods, decided by `AlertStep`.
 */
import { Alert, AlertStep, AlertStore, type Id, Page } from "@wac/core"
import { Effect, Layer } from "effect"
import { columns, insert, list, unlessEmpty } from "../Columns.ts"
import { Database, type StepOptions } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { texts } from "../Parameter.ts"
import { statement } from "../Statement.ts"

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
    `select pg_advisory_xact_lock(hashtext('alerts'), hashtext(w.id))
  from (select w.id from unnest(${workspaces}) w (id) order by 1) w`
)

const loadOpen = statement(
  { workspaces },
  ({ workspaces }) =>
    `select ${alert.names("a")} from unnest(${workspaces}) w (id) cross join lateral (
    select * from alerts a where a.workspace_id = w.id and a.closed_at is null offset 0
  ) a`
)

const open = insert(alert.omit("closedAt"), "alerts")

const close = unlessEmpty(
  alert.pick("workspaceId", "id", "closedAt"),
  (rows) =>
    `update alerts a set closed_at = s.closed_at from ${rows("s")}
  where a.workspace_id = s.workspace_id and a.id = s.id`
)

/** `AlertStore.observe`, one workspace at a time. */
const observe: StepOptions<AlertStep.Observe, AlertStep.Loaded, AlertStep.Observed, AlertStep.Writes> = {
  size: 1,
  load: (commands) => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    return [lock({ workspaces }), loadOpen({ workspaces })]
  },
  read: ([, rows], now) => {
    const open = rows!.map(alert.read)
    return { now, open: (workspaceId: Id.WorkspaceId) => open.filter((alert) => alert.workspaceId === workspaceId) }
  },
  decide: AlertStep.observe,
  write: ({ closed, opened }) => [...open(opened), ...close(closed)]
}

const forgottenAtOnce = 1000

const forgetText = `with gone as (
    delete from alerts a where a.ctid = any (array(
      select a.ctid from alerts a where a.closed_at < $1 order by a.closed_at limit $2
    ))
    returning a.id
  )
  select ${Forgotten.columns("$2")} from gone`

export const layer = Layer.effect(
  AlertStore.AlertStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const observing = yield* stepped("AlertStore.observe", observe)
    return AlertStore.AlertStore.of({
      observe: observing,
      list: (workspaceId, { open }, page) =>
        Effect.map(
          query("AlertStore.list", {
            text: `select ${alert.names("a")} from alerts a
            where a.workspace_id = $1${open === true ? " and a.closed_at is null" : ""}
              ${page.after === null ? "and $3::text is null" : "and a.id < $3"}
            order by a.id desc limit $2`,
            params: [workspaceId, page.limit + 1, page.after]
          }),
          (rows) => Page.fromOverread(rows.map(alert.read), page, ({ id }) => id)
        ),
      settings: (workspaceId) =>
        Effect.map(
          query("AlertStore.settings", {
            text: "select s.emails, s.url from alert_settings s where s.workspace_id = $1",
            params: [workspaceId]
          }),
          ([row]) => row === undefined ? Alert.noSettings : settings.read(row)
        ),
      configure: (workspaceId, { emails, url }) =>
        Effect.asVoid(query("AlertStore.configure", {
          text: `insert into alert_settings (workspace_id, emails, url) values ($1, $2, $3)
            on conflict (workspace_id) do update set emails = excluded.emails, url = excluded.url`,
          params: [workspaceId, texts(emails), url]
        })),
      forget: (before) =>
        Effect.map(
          query("AlertStore.forget", { text: forgetText, params: [before, forgottenAtOnce] }),
          Forgotten.read
        )
    })
  })
)
