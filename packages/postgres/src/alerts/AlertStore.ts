/**
 * `AlertStore` in PostgreSQL: the statements of its methods, decided by `AlertStep`.
 */
import { Alert, AlertStep, AlertStore, type Id, Page } from "@wac/core"
import { Effect, Layer } from "effect"
import { instant, instantOrNull, plain } from "../Column.ts"
import { Database, type StepOptions } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { instants, texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"

const columns = "a.workspace_id, a.id, a.kind, a.subject, a.message, a.opened_at, a.closed_at"

const alertOf = (row: Row): Alert.Alert => ({
  workspaceId: plain(row, "workspace_id"),
  id: plain(row, "id"),
  kind: plain(row, "kind"),
  subject: plain(row, "subject"),
  message: plain(row, "message"),
  openedAt: instant(row, "opened_at"),
  closedAt: instantOrNull(row, "closed_at")
})

/** Serializes observations of a workspace. */
const lockText = `select pg_advisory_xact_lock(hashtext('alerts'), hashtext(w.id))
  from (select w.id from unnest($1::text[]) w (id) order by 1) w`

const openText = `select ${columns} from unnest($1::text[]) w (id) cross join lateral (
    select * from alerts a where a.workspace_id = w.id and a.closed_at is null offset 0
  ) a`

const keepText = `insert into alerts (workspace_id, id, kind, subject, message, opened_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])`

const closeText = `update alerts a set closed_at = s.closed_at
  from unnest($1::text[], $2::text[], $3::bigint[]) s (workspace_id, id, closed_at)
  where a.workspace_id = s.workspace_id and a.id = s.id`

/** `AlertStore.observe`, one workspace at a time. */
const observe: StepOptions<AlertStep.Observe, AlertStep.Loaded, AlertStep.Observed, AlertStep.Writes> = {
  size: 1,
  load: (commands) => {
    const params = [texts(commands.map(({ workspaceId }) => workspaceId))]
    return [{ text: lockText, params }, { text: openText, params }]
  },
  read: ([, rows], now) => {
    const open = rows!.map(alertOf)
    return { now, open: (workspaceId: Id.WorkspaceId) => open.filter((alert) => alert.workspaceId === workspaceId) }
  },
  decide: AlertStep.observe,
  write: ({ closed, opened }) => [
    ...opened.length === 0 ? [] : [{
      text: keepText,
      params: [
        texts(opened.map(({ workspaceId }) => workspaceId)),
        texts(opened.map(({ id }) => id)),
        texts(opened.map(({ kind }) => kind)),
        texts(opened.map(({ subject }) => subject)),
        texts(opened.map(({ message }) => message)),
        instants(opened.map(({ openedAt }) => openedAt))
      ]
    }],
    ...closed.length === 0 ? [] : [{
      text: closeText,
      params: [
        texts(closed.map(({ workspaceId }) => workspaceId)),
        texts(closed.map(({ id }) => id)),
        instants(closed.map(({ closedAt }) => closedAt))
      ]
    }]
  ]
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
          query(
            "AlertStore.list",
            `select ${columns} from alerts a
            where a.workspace_id = $1${open === true ? " and a.closed_at is null" : ""}
              ${page.after === null ? "and $3::text is null" : "and a.id < $3"}
            order by a.id desc limit $2`,
            [workspaceId, page.limit + 1, page.after]
          ),
          (rows) => Page.fromOverread(rows.map(alertOf), page, ({ id }) => id)
        ),
      settings: (workspaceId) =>
        Effect.map(
          query("AlertStore.settings", "select s.emails, s.url from alert_settings s where s.workspace_id = $1", [
            workspaceId
          ]),
          ([row]) => row === undefined ? Alert.noSettings : { emails: plain(row, "emails"), url: plain(row, "url") }
        ),
      configure: (workspaceId, { emails, url }) =>
        Effect.asVoid(
          query(
            "AlertStore.configure",
            `insert into alert_settings (workspace_id, emails, url) values ($1, $2, $3)
            on conflict (workspace_id) do update set emails = excluded.emails, url = excluded.url`,
            [workspaceId, texts(emails), url]
          )
        ),
      forget: (before) =>
        Effect.map(
          query("AlertStore.forget", forgetText, [before, forgottenAtOnce]),
          Forgotten.read
        )
    })
  })
)
