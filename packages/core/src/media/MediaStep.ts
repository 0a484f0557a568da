/**
 * The decisions of `MediaStore` (contract §10): whether an upload fits into the workspace's quota, whether it repeats
 * an earlier one, how long a use keeps a file, and what a removal leaves behind. Pure.
 */
import type { Duration } from "effect"
import { type Forbidden, IdempotencyConflict } from "../Errors.ts"
import type { MediaId, WorkspaceId } from "../Id.ts"
import { type IdempotencyKey, isExpired } from "../Idempotency.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Media from "./Media.ts"

/** The file that a command is about. */
export interface Named {
  readonly workspaceId: WorkspaceId
  readonly id: MediaId
}

/**
 * The claim of a download of a customer's file. `leaseUntil` is also its name: each later claim of the file has a later
 * end.
 */
export interface Claim extends Named {
  /** Until when nobody else may claim the file. */
  readonly leaseUntil: Instant
}

/**
 * A file's row. Its bytes exist, or are being written, unless it is `awaited` or `gone`:
 *
 * - `uploading`: nobody may read it. `reserved` is how many bytes of the quota it holds until it ends. `dueAt` is when
 *   the upload counts as broken off.
 * - `stored`: `dueAt` is when it expires.
 * - `awaited`: a customer's file that the provider holds. `dueAt` is when it expires. `leaseUntil` is when the claim of
 *   its download ends.
 * - `gone`: the provider no longer has it. `dueAt` is when the row is deleted.
 * - `removed`: its bytes must be deleted, and then its row. While the claim of its download lasts (`leaseUntil`), bytes
 *   may still be written.
 */
export type Row =
  & Named
  & { readonly dueAt: Instant }
  & (
    | { readonly state: "removed"; readonly leaseUntil: Instant | null }
    | { readonly state: "uploading"; readonly reserved: number }
    | { readonly state: "stored"; readonly media: Media.Media }
    | { readonly state: "awaited"; readonly awaited: Media.Awaited; readonly leaseUntil: Instant | null }
    | { readonly state: "gone"; readonly awaited: Media.Awaited }
  )

/** An idempotency key under which a file was uploaded, with the file as the response described it. */
export interface Binding {
  readonly fingerprint: string
  readonly media: Media.Media
  readonly expiresAt: Instant
}

/** Begins an upload, or reserves more of the quota for one that has begun. */
export interface Begin extends Named {
  readonly now: Instant
  /** When the upload counts as broken off. */
  readonly until: Instant
  /** The idempotency key of the upload. */
  readonly key: IdempotencyKey
  /** How many bytes of the quota to reserve for the upload. */
  readonly size: number
  /** The workspace's quota in bytes; `null` for no limit. */
  readonly quota: number | null
}

/** Keeps a file whose bytes are written completely. */
export interface Keep {
  readonly now: Instant
  readonly media: Media.Media
  /** How long the file is kept after its last use; defaults to `Media.retention`. */
  readonly keptFor?: Duration.Duration
  readonly quota: number | null
  /** The claim under which a customer's file was downloaded. The file is kept only while this claim lasts. */
  readonly leaseUntil?: Instant
  /** The idempotency key of the upload; `null` for a customer's file. */
  readonly idempotency: {
    readonly key: IdempotencyKey
    readonly fingerprint: string
    readonly expiresAt: Instant
  } | null
}

/** Removes a file if it is in a state that `only` names. */
export interface Remove extends Named {
  readonly now: Instant
  /** `file`: a file that can be found; `upload`: a failed upload; `due`: any row that is due. */
  readonly only: "file" | "upload" | "due"
}

/** Records a use of a file, so that it is kept for longer. */
export interface Use extends Named {
  readonly now: Instant
  /** When the use ends; defaults to `now`. */
  readonly until?: Instant | undefined
  /** How long the file is kept after this use; defaults to `Media.retention`. */
  readonly keptFor?: Duration.Duration | undefined
}

/** A command of the step. All kinds of commands share one step, so that one lock makes the usage exact. */
export type Command =
  | ({ readonly _tag: "Begin" } & Begin)
  | ({ readonly _tag: "Keep" } & Keep)
  | ({ readonly _tag: "Remove" } & Remove)
  | ({ readonly _tag: "Use" } & Use)

/** The result of *keep*. */
export type KeepResult =
  | { readonly _tag: "Kept"; readonly media: Media.Media }
  /** The same file was uploaded under this key before. Its bytes remain the only ones. */
  | { readonly _tag: "Replayed"; readonly media: Media.Media }
  | { readonly _tag: "Refused"; readonly error: Forbidden | IdempotencyConflict }
  /** The upload was removed meanwhile, because it took too long or the file was deleted; or the claim has ended. */
  | { readonly _tag: "Lost" }

/**
 * The answer to a command: for *begin*, the refusal, or `undefined` if the upload may begin; for *remove*, whether
 * there was a file to remove.
 */
export type Answer =
  | { readonly _tag: "Begun"; readonly refusal: Forbidden | undefined }
  | { readonly _tag: "Keeping"; readonly kept: KeepResult }
  | { readonly _tag: "Removing"; readonly removed: boolean }
  | { readonly _tag: "Using" }

/** The records that the step loads, under a lock on the workspace's usage. */
export interface Loaded extends Known {
  /** The bytes of the workspace's stored files, and those that its uploads have reserved. */
  readonly used: (workspaceId: WorkspaceId) => number
  readonly row: (named: Named) => Row | undefined
  readonly binding: (workspaceId: WorkspaceId, key: IdempotencyKey) => Binding | undefined
}

/** The changes that the step writes. */
export interface Writes {
  /** Each row at most once, as it is after the step. */
  readonly rows: ReadonlyArray<Row>
  readonly used: ReadonlyMap<WorkspaceId, number>
  readonly bindings: ReadonlyArray<Binding & { readonly workspaceId: WorkspaceId; readonly key: IdempotencyKey }>
}

const conflict = () =>
  new IdempotencyConflict({
    reason: "payload_mismatch",
    message: "the Idempotency-Key was already used with a different file or name"
  })

/** How many bytes of the quota a row takes up. */
const sizeOf = (row: Row | undefined): number => {
  switch (row?.state) {
    case "stored":
      return row.media.size
    case "uploading":
      return row.reserved
    default:
      return 0
  }
}

/** When the claim of a row's download ends; `undefined` if there is none, or none that lasts. */
const leaseOf = (row: Row, now: Instant): Instant | undefined =>
  row.state === "awaited" && row.leaseUntil !== null && row.leaseUntil > now ? row.leaseUntil : undefined

type Stored = Extract<Row, { readonly state: "stored" }>

/** A file's row after a use that ends at `end`. If a use that ends later was recorded before, that one counts. */
const used = (row: Stored, end: Instant, keptFor?: Duration.Duration): Stored => {
  const media = { ...row.media, lastUsedAt: Math.max(row.media.lastUsedAt, end) }
  return { ...row, media, dueAt: Media.expiresAt(media, keptFor) }
}

/** Decides `MediaStore.begin`, `keep`, `remove` and `use`. */
export const decide: Decide<Command, Loaded, Answer, Writes> = (loaded, commands) => {
  const rows = new Map<MediaId, Row>()
  const usage = new Map<WorkspaceId, number>()
  const bindings = new Map<string, Writes["bindings"][number]>()
  const usedBy = (id: WorkspaceId) => usage.get(id) ?? loaded.used(id)
  const rowOf = (named: Named): Row | undefined => {
    const row = rows.get(named.id) ?? loaded.row(named)
    return row?.workspaceId === named.workspaceId ? row : undefined
  }
  const bindingOf = (workspaceId: WorkspaceId, key: IdempotencyKey) =>
    bindings.get(`${workspaceId} ${key}`) ?? loaded.binding(workspaceId, key)
  const write = (row: Row): void => {
    const change = sizeOf(row) - sizeOf(rowOf(row))
    if (change !== 0) usage.set(row.workspaceId, usedBy(row.workspaceId) + change)
    rows.set(row.id, row)
  }

  const begin = ({ id, key, now: asked, quota, size, until, workspaceId }: Begin): Forbidden | undefined => {
    const now = loaded.now(asked)
    const row = rowOf({ workspaceId, id })
    // the bytes of an upload that has ended are deleted or kept: it must not go on
    if (row !== undefined && row.state !== "uploading") return undefined
    const binding = bindingOf(workspaceId, key)
    // nothing of an upload under a bound key is kept: a repetition gets its file even if this filled the quota
    const repeated = binding !== undefined && !isExpired(binding, now) ? binding.media.size : 0
    const refusal = Media.quotaRefusal(quota, usedBy(workspaceId) - sizeOf(row) - repeated, size)
    if (refusal === undefined) {
      write({ workspaceId, id, state: "uploading", reserved: size, dueAt: now + (until - asked) })
    }
    return refusal
  }

  const keep = ({ idempotency, keptFor, leaseUntil, media: given, now: asked, quota }: Keep): KeepResult => {
    const now = loaded.now(asked)
    const row = rowOf(given)
    const binding = idempotency === null ? undefined : bindingOf(given.workspaceId, idempotency.key)
    if (idempotency !== null && binding !== undefined && !isExpired(binding, now)) {
      return binding.fingerprint === idempotency.fingerprint
        ? { _tag: "Replayed", media: binding.media }
        : { _tag: "Refused", error: conflict() }
    }
    if (row?.state === "stored") return { _tag: "Kept", media: row.media }
    if (row?.state !== "uploading" && row?.state !== "awaited") return { _tag: "Lost" }
    // after the claim's end, the bytes may be those that another process is writing
    if (row.state === "awaited" && (leaseUntil === undefined || leaseOf(row, now) !== leaseUntil)) {
      return { _tag: "Lost" }
    }
    const error = Media.quotaRefusal(quota, usedBy(given.workspaceId) - sizeOf(row), given.size)
    if (error !== undefined) return { _tag: "Refused", error }
    const media = { ...given, createdAt: now, lastUsedAt: now }
    const dueAt = Media.expiresAt(media, keptFor)
    write({ workspaceId: media.workspaceId, id: media.id, state: "stored", media, dueAt })
    if (idempotency !== null) {
      const { expiresAt, fingerprint, key } = idempotency
      bindings.set(`${media.workspaceId} ${key}`, {
        workspaceId: media.workspaceId,
        key,
        fingerprint,
        media,
        expiresAt: expiresAt - asked + now
      })
    }
    return { _tag: "Kept", media }
  }

  const remove = ({ now: asked, only, ...named }: Remove): boolean => {
    const now = loaded.now(asked)
    const row = rowOf(named)
    if (row === undefined || row.state === "removed") return false
    if (only === "due" ? row.dueAt > now : (only === "upload") !== (row.state === "uploading")) return false
    const leaseUntil = leaseOf(row, now) ?? null
    write({ workspaceId: row.workspaceId, id: row.id, state: "removed", dueAt: now, leaseUntil })
    return true
  }

  const use = ({ keptFor, now: asked, until = asked, ...named }: Use): void => {
    const row = rowOf(named)
    if (row?.state === "stored") write(used(row, loaded.now(asked) + Math.max(0, until - asked), keptFor))
  }

  const answers = commands.map((command): Answer => {
    switch (command._tag) {
      case "Begin":
        return { _tag: "Begun", refusal: begin(command) }
      case "Keep":
        return { _tag: "Keeping", kept: keep(command) }
      case "Remove":
        return { _tag: "Removing", removed: remove(command) }
      case "Use":
        use(command)
        return { _tag: "Using" }
    }
  })
  return { answers, writes: { rows: [...rows.values()], used: usage, bindings: [...bindings.values()] } }
}

/** Builds the row of a customer's file that the provider holds. Pure. */
export const expected = (awaited: Media.Awaited): Extract<Row, { readonly state: "awaited" }> => ({
  workspaceId: awaited.workspaceId,
  id: awaited.id,
  state: "awaited",
  awaited,
  leaseUntil: null,
  dueAt: Media.expiresAt({ lastUsedAt: awaited.createdAt })
})

/** The file of a row as its workspace sees it; `undefined` if the workspace may not read it. Pure. */
export const foundOf = (row: Row | undefined): Media.FileState | undefined => {
  switch (row?.state) {
    case "stored":
      return { _tag: "Stored", media: row.media }
    case "awaited":
      return { _tag: "Awaited", awaited: row.awaited }
    case "gone":
      return { _tag: "Gone" }
    case "uploading":
    case "removed":
    case undefined:
      return undefined
  }
}

/** The answer to a *begin*. */
export const begunOf = (answer: Answer): Forbidden | undefined => answer._tag === "Begun" ? answer.refusal : undefined

/** The answer to a *keep*. */
export const keptOf = (answer: Answer): KeepResult => answer._tag === "Keeping" ? answer.kept : { _tag: "Lost" }

/** The answer to a *remove*. */
export const removedOf = (answer: Answer): boolean => answer._tag === "Removing" && answer.removed
