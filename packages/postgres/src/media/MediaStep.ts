/**
 * How PostgreSQL carries out `MediaStep`: the lock of a workspace's usage serializes its uploads, uses and removals.
 */
import { type Id, type Idempotency, type Media, MediaStep, type Time } from "@wac/core"
import { instant, plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { instants, jsons, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"

/** Sorted, so that steps lock the rows in one order. */
const workspacesOf = (commands: ReadonlyArray<MediaStep.Command>): ReadonlyArray<Id.WorkspaceId> =>
  [...new Set(commands.map((command) => command._tag === "Keep" ? command.media.workspaceId : command.workspaceId))]
    .sort()

const startText = `insert into media_usage (workspace_id, used)
  select w.id, 0 from unnest($1::text[]) w (id) order by 1 on conflict do nothing`

const lockText =
  `select 1 from media_usage u where u.workspace_id = any ($1::text[]) order by u.workspace_id for update`

const usedText = `select u.workspace_id, u.used from unnest($1::text[]) w (id) cross join lateral (
    select * from media_usage u where u.workspace_id = w.id offset 0
  ) u`

const rowsText = `select m.id, m.workspace_id, m.state, m.due_at, m.media, m.awaited
  from unnest($1::text[]) i (id) cross join lateral (select * from media m where m.id = i.id offset 0) m`

const bindingsText = `select k.workspace_id, k.key, k.fingerprint, k.media, k.expires_at
  from unnest($1::text[], $2::text[]) i (workspace_id, key) cross join lateral (
    select * from media_keys k where k.workspace_id = i.workspace_id and k.key = i.key offset 0
  ) k`

/** A row as the core describes it. */
export const rowOf = (row: Row): MediaStep.Row =>
  ({
    workspaceId: plain(row, "workspace_id"),
    id: plain(row, "id"),
    dueAt: instant(row, "due_at"),
    state: plain<string>(row, "state"),
    ...(row["media"] === null ? {} : { media: plain<Media.Media>(row, "media") }),
    ...(row["awaited"] === null ? {} : { awaited: plain<Media.Awaited>(row, "awaited") })
  }) as MediaStep.Row

const bindingOf = (row: Row): MediaStep.Binding => ({
  fingerprint: plain(row, "fingerprint"),
  media: plain(row, "media"),
  expiresAt: instant(row, "expires_at")
})

const bindingName = (workspaceId: Id.WorkspaceId, key: string): string => `${workspaceId} ${key}`

const keepRowsText = `insert into media as m (id, workspace_id, state, due_at, media, awaited)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::json[], $6::json[])
  on conflict (id) do update set state = excluded.state, due_at = excluded.due_at, media = excluded.media,
    awaited = excluded.awaited, fetch_at = null, lease_until = null`

const keepUsedText = `update media_usage u set used = s.used
  from unnest($1::text[], $2::bigint[]) s (workspace_id, used) where u.workspace_id = s.workspace_id`

/** Deletes as many expired keys as there are new ones, so that they need no sweep. */
const forgetKeysText = `delete from media_keys k where k.ctid = any (array(
    select o.ctid from media_keys o where o.expires_at <= $1 order by o.expires_at limit $2 for update skip locked
  ))`

const keepKeysText = `insert into media_keys (workspace_id, key, fingerprint, media, expires_at)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::json[], $5::bigint[])
  on conflict (workspace_id, key) do update set fingerprint = excluded.fingerprint, media = excluded.media,
    expires_at = excluded.expires_at`

const write = (
  { bindings, rows, used }: MediaStep.Writes,
  { at }: { readonly at: Time.Instant }
): ReadonlyArray<Statement> => [
  ...rows.length === 0 ? [] : [{
    text: keepRowsText,
    params: [
      texts(rows.map(({ id }) => id)),
      texts(rows.map(({ workspaceId }) => workspaceId)),
      texts(rows.map(({ state }) => state)),
      instants(rows.map(({ dueAt }) => dueAt)),
      jsons(rows.map((row) => "media" in row ? row.media : null)),
      jsons(rows.map((row) => "awaited" in row ? row.awaited : null))
    ]
  }],
  ...used.size === 0 ? [] : [{ text: keepUsedText, params: [texts([...used.keys()]), instants([...used.values()])] }],
  ...bindings.length === 0 ? [] : [
    { text: forgetKeysText, params: [at, bindings.length] },
    {
      text: keepKeysText,
      params: [
        texts(bindings.map(({ workspaceId }) => workspaceId)),
        texts(bindings.map(({ key }) => key)),
        texts(bindings.map(({ fingerprint }) => fingerprint)),
        jsons(bindings.map(({ media }) => media)),
        instants(bindings.map(({ expiresAt }) => expiresAt))
      ]
    }
  ]
]

/** What is loaded, and the time for the deletion of expired keys. */
interface Loaded extends MediaStep.Loaded {
  readonly at: Time.Instant
}

/** `MediaStore.begin`, `keep`, `remove` and `use`. */
export const options: StepOptions<MediaStep.Command, Loaded, MediaStep.Answer, MediaStep.Writes> = {
  load: (commands) => {
    const workspaces = [texts(workspacesOf(commands))]
    const ids = commands.map((command) => command._tag === "Keep" ? command.media.id : command.id)
    const keyed = commands.flatMap((command) =>
      command._tag === "Keep" && command.idempotency !== null
        ? [[command.media.workspaceId, command.idempotency.key] as const]
        : []
    )
    return [
      { text: startText, params: workspaces },
      { text: lockText, params: workspaces },
      { text: usedText, params: workspaces },
      { text: rowsText, params: [texts([...new Set(ids)])] },
      { text: bindingsText, params: [texts(keyed.map(([id]) => id)), texts(keyed.map(([, key]) => key))] }
    ]
  },
  read: ([, , used, rows, bindings], now, commands) => {
    const usedBy = new Map(used!.map((row) => [plain<string>(row, "workspace_id"), Number(row["used"])]))
    const byId = new Map(rows!.map((row) => [plain<string>(row, "id"), rowOf(row)]))
    const byKey = new Map(
      bindings!.map((row) => [bindingName(plain(row, "workspace_id"), plain(row, "key")), bindingOf(row)])
    )
    return {
      now,
      at: now(commands[0]!.now),
      used: (id) => usedBy.get(id) ?? 0,
      row: ({ id }) => byId.get(id),
      binding: (id, key: Idempotency.IdempotencyKey) => byKey.get(bindingName(id, key))
    }
  },
  decide: MediaStep.decide,
  write
}
