/**
 * The steps of files (core's `MediaStep`) in PostgreSQL. The lock on a workspace's row of `media_usage` serializes its
 * uploads, uses and removals.
 */
import { type Id, type Idempotency, type Media, MediaStep, type Time } from "@wac/core"
import { bigint, columns, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Row, type Statement, statement, value } from "../Statement.ts"
import { insert } from "../TableStatements.ts"

/** The workspaces of commands, sorted so that all steps lock the rows in the same order. */
const workspacesOf = (commands: ReadonlyArray<MediaStep.Command>): ReadonlyArray<Id.WorkspaceId> =>
  [...new Set(commands.map((command) => command._tag === "Keep" ? command.media.workspaceId : command.workspaceId))]
    .sort()

const keysOf = (command: MediaStep.Command): ReadonlyArray<Pick<MediaStep.Begin, "workspaceId" | "key">> => {
  switch (command._tag) {
    case "Begin":
      return [{ workspaceId: command.workspaceId, key: command.key }]
    case "Keep":
      return command.idempotency === null
        ? []
        : [{ workspaceId: command.media.workspaceId, key: command.idempotency.key }]
    default:
      return []
  }
}

const workspaces = list<Id.WorkspaceId>("text")

const start = statement({ workspaces }, ({ workspaces }) =>
  `insert into wac.media_usage (workspace_id, used)
  select w.id, 0 from unnest(${workspaces}) w (id) order by 1 on conflict do nothing`)

const lock = statement(
  { workspaces },
  ({ workspaces }) =>
    `select 1 from wac.media_usage u where u.workspace_id = any (${workspaces}) order by u.workspace_id for update`
)

const usage = row({ workspaceId: text<Id.WorkspaceId>(), used: bigint() })

const loadUsage = statement(
  { workspaces },
  ({ workspaces }) =>
    `select ${usage.names("u")} from unnest(${workspaces}) w (id) cross join lateral (
    select * from wac.media_usage u where u.workspace_id = w.id offset 0
  ) u`
)

/** What the column `media` has of an upload in progress. Uploads that the version before began have none. */
type Uploading = Pick<Extract<MediaStep.Row, { readonly state: "uploading" }>, "reserved">

/**
 * The columns of a file. `media` is the file once it is stored, and what an upload has reserved until then; `awaited` is
 * set until a customer's file is stored.
 */
export const stored = columns<
  Pick<MediaStep.Row, "workspaceId" | "id" | "dueAt" | "state"> & {
    readonly media: Media.Media | Uploading | null
    readonly awaited: Media.Awaited | null
    /** The claim of a download; `null` if the file is neither awaited nor was removed while it was. */
    readonly leaseUntil: Time.Instant | null
  }
>({
  id: "text",
  workspaceId: "text",
  state: "text",
  dueAt: "bigint",
  media: "json",
  awaited: "json",
  leaseUntil: "bigint"
})

/** Locked, because claims of downloads do not lock the workspace's usage. */
const loadRows = statement({ ids: list<Id.MediaId>("text") }, ({ ids }) =>
  `select ${stored.names("m")}
  from unnest(${ids}) i (id) cross join lateral (select * from wac.media m where m.id = i.id offset 0 for update) m`)

const binding = row({ workspaceId: text<Id.WorkspaceId>(), key: text() }).and(
  columns<MediaStep.Binding>({ fingerprint: "text", media: "json", expiresAt: "bigint" })
)

const loadBindings = statement({ keys: binding.pick("workspaceId", "key") }, ({ keys }) =>
  `select ${binding.names("k")}
  from ${keys("i")} cross join lateral (
    select * from wac.media_keys k where k.workspace_id = i.workspace_id and k.key = i.key offset 0
  ) k`)

/** Reads a file from a row. */
export const rowOf = (row: Row): MediaStep.Row => {
  const { awaited, leaseUntil, media, ...others } = stored.read(row)
  if (others.state === "removed") return { ...others, leaseUntil } as MediaStep.Row
  if (others.state === "awaited") return { ...others, awaited, leaseUntil } as MediaStep.Row
  if (others.state === "uploading") return { reserved: 0, ...media, ...others } as MediaStep.Row
  return { ...others, ...media && { media }, ...awaited && { awaited } } as MediaStep.Row
}

const bindingName = (workspaceId: Id.WorkspaceId, key: string): string => `${workspaceId} ${key}`

const keepRows = insert(
  stored,
  "wac.media as m",
  `
  on conflict (id) do update set ${stored.set("excluded", "id", "workspaceId")}, fetch_at = null`
)

const keepUsage = unlessEmpty(
  usage,
  (rows) => `update wac.media_usage u set used = s.used from ${rows("s")} where u.workspace_id = s.workspace_id`
)

/** Deletes as many expired keys as there are new ones, so that they need no sweep. */
const forgetKeys = statement(
  { at: value<Time.Instant>(), limit: value<number>() },
  ({ at, limit }) =>
    `delete from wac.media_keys k where k.ctid = any (array(
    select o.ctid from wac.media_keys o where o.expires_at <= ${at} order by o.expires_at limit ${limit} for update skip locked
  ))`
)

const keepKeys = insert(
  binding,
  "wac.media_keys",
  `
  on conflict (workspace_id, key) do update set ${binding.set("excluded", "workspaceId", "key")}`
)

const write = (
  { bindings, rows, used }: MediaStep.Writes,
  { at }: { readonly at: Time.Instant }
): ReadonlyArray<Statement> => [
  ...keepRows(rows.map((row) => ({
    ...row,
    media: row.state === "uploading" ? { reserved: row.reserved } : "media" in row ? row.media : null,
    awaited: "awaited" in row ? row.awaited : null,
    leaseUntil: "leaseUntil" in row ? row.leaseUntil : null
  }))),
  ...keepUsage(Array.from(used, ([workspaceId, used]) => ({ workspaceId, used }))),
  ...bindings.length === 0 ? [] : [forgetKeys({ at, limit: bindings.length })],
  ...keepKeys(bindings)
]

/** The loaded rows, and the time for the deletion of expired keys. */
interface Loaded extends MediaStep.Loaded {
  readonly at: Time.Instant
}

/** `MediaStore.begin`, `keep`, `remove` and `use`. */
export const options: StepOptions<MediaStep.Command, Loaded, MediaStep.Answer, MediaStep.Writes> = {
  load: (commands) => {
    const workspaces = workspacesOf(commands)
    const ids = commands.map((command) => command._tag === "Keep" ? command.media.id : command.id)
    const keys = commands.flatMap(keysOf)
    return [
      start({ workspaces }),
      lock({ workspaces }),
      loadUsage({ workspaces }),
      loadRows({ ids: [...new Set(ids)] }),
      loadBindings({ keys })
    ]
  },
  read: ([, , used, rows, bindings], now, commands) => {
    const usedBy = new Map(used!.map(usage.read).map(({ used, workspaceId }) => [workspaceId, used]))
    const byId = new Map(rows!.map(rowOf).map((row) => [row.id, row]))
    const byKey = new Map(bindings!.map(binding.read).map((one) => [bindingName(one.workspaceId, one.key), one]))
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
