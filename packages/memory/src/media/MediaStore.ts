/**
 * `MediaStore` in memory: each method is one synchronous step over `State`; `MediaStep` decides.
 */
import { type Id, type Idempotency, type Media, MediaStep, MediaStore, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type MediaRecord, type Memory, State } from "../State.ts"

const bindingName = (workspaceId: Id.WorkspaceId, key: Idempotency.IdempotencyKey): string => `${workspaceId} ${key}`

const decide = (memory: Memory, command: MediaStep.Command): MediaStep.Answer => {
  const { answers, writes } = MediaStep.decide({
    now: memory.now,
    used: (id) => memory.mediaUsed.get(id) ?? 0,
    row: ({ id, workspaceId }) => memory.media.of(workspaceId, id)?.row,
    binding: (workspaceId, key) => memory.mediaBindings.get(bindingName(workspaceId, key))
  }, [command])
  for (const row of writes.rows) set(memory, row)
  for (const [id, used] of writes.used) memory.mediaUsed.set(id, used)
  for (const binding of writes.bindings) {
    memory.mediaBindings.set(bindingName(binding.workspaceId, binding.key), binding, memory.now(command.now))
  }
  return answers[0]!
}

const set = (memory: Memory, row: MediaStep.Row): void => {
  const { id, workspaceId } = row
  const before = memory.media.get(id)
  memory.media.set({
    id,
    workspaceId,
    row,
    fetchAt: row.state === "awaited" ? before?.fetchAt ?? null : null,
    uploaded: before?.uploaded ?? new Map()
  })
}

const rows = (memory: Memory, limit: number, keep: (kept: MediaRecord) => boolean): ReadonlyArray<MediaStep.Named> => {
  const found: Array<MediaStep.Named> = []
  for (const kept of memory.media.values()) {
    if (found.length === limit) break
    if (keep(kept)) found.push({ workspaceId: kept.workspaceId, id: kept.id })
  }
  return found
}

const providerName = ({ phoneNumberId, providerMediaId }: Media.Awaited): string =>
  `${phoneNumberId} ${providerMediaId}`

const expect = (memory: Memory, awaited: Media.Awaited, fetchAt: Time.Instant | null): Id.MediaId => {
  const name = providerName(awaited)
  const known = memory.mediaByProvider.get(name)
  if (known !== undefined) return known
  memory.mediaByProvider.set(name, awaited.id)
  const row = MediaStep.expected(awaited)
  memory.media.set({ ...row, row, fetchAt, uploaded: new Map() })
  memory.mediaHint.notify()
  return awaited.id
}

type Leased = Extract<MediaStep.Row, { readonly leaseUntil: unknown }>

const isLeased = ({ leaseUntil }: Leased, now: Time.Instant): boolean => leaseUntil !== null && leaseUntil > now

const claim = (
  memory: Memory,
  { limit, now: asked, only, until }: Parameters<MediaStore.MediaStore["Service"]["claimAwaited"]>[0]
): ReadonlyArray<MediaStore.Claimed> => {
  const now = memory.now(asked)
  const leaseUntil = now + until - asked
  const claimed: Array<MediaStore.Claimed> = []
  for (const kept of only === undefined ? memory.media.values() : [memory.media.of(only.workspaceId, only.id)]) {
    if (claimed.length === limit) break
    if (kept?.row.state !== "awaited" || isLeased(kept.row, now)) continue
    if (only === undefined && (kept.fetchAt === null || kept.fetchAt > now)) continue
    const { awaited, id, workspaceId } = kept.row
    kept.row = { ...kept.row, leaseUntil }
    if (kept.fetchAt !== null) kept.fetchAt = leaseUntil
    claimed.push({ workspaceId, id, leaseUntil, at: now, awaited })
  }
  return claimed
}

const forget = (memory: Memory, { id, workspaceId }: MediaStep.Named, now: Time.Instant): void => {
  const kept = memory.media.of(workspaceId, id)
  if (kept?.row.state !== "removed" || isLeased(kept.row, now)) return
  memory.media.delete(kept)
  for (const [name, other] of memory.mediaByProvider) if (other === id) memory.mediaByProvider.delete(name)
}

const mayErase = (memory: Memory, { id, leaseUntil, workspaceId }: MediaStep.Claim, now: Time.Instant): boolean => {
  const row = memory.media.of(workspaceId, id)?.row
  if (row?.state === "awaited") return row.leaseUntil === leaseUntil && leaseUntil > now
  return row?.state !== "stored" && row?.state !== "uploading"
}

const postpone = (
  memory: Memory,
  { id, leaseUntil, workspaceId }: MediaStep.Claim,
  fetchAt: Time.Instant
): void => {
  const kept = memory.media.of(workspaceId, id)
  if (kept?.row.state !== "awaited" && kept?.row.state !== "removed") return
  if (kept.row.leaseUntil !== leaseUntil) return
  if (kept.fetchAt !== null) kept.fetchAt = fetchAt
  kept.row = { ...kept.row, leaseUntil: null }
}

const lose = (memory: Memory, { id, leaseUntil, workspaceId }: MediaStep.Claim): void => {
  const row = memory.media.of(workspaceId, id)?.row
  if (row?.state !== "awaited" || row.leaseUntil !== leaseUntil) return
  set(memory, { workspaceId, id, state: "gone", awaited: row.awaited, dueAt: row.dueAt })
}

export const layer = Layer.effect(
  MediaStore.MediaStore,
  Effect.map(State, (memory) =>
    MediaStore.MediaStore.of({
      begin: (command) => Effect.sync(() => MediaStep.begunOf(decide(memory, { _tag: "Begin", ...command }))),
      keep: (command) => Effect.sync(() => MediaStep.keptOf(decide(memory, { _tag: "Keep", ...command }))),
      remove: (command) => Effect.sync(() => MediaStep.removedOf(decide(memory, { _tag: "Remove", ...command }))),
      find: ({ id, workspaceId }) =>
        Effect.sync(() => Option.fromUndefinedOr(MediaStep.foundOf(memory.media.of(workspaceId, id)?.row))),
      use: ({ id, workspaceId }, now, keptFor, until) =>
        Effect.sync(() => void decide(memory, { _tag: "Use", workspaceId, id, now, keptFor, until })),
      due: (asked, limit) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          return rows(memory, limit, ({ row }) => row.state !== "removed" && row.dueAt <= now)
        }),
      removed: (asked, after, limit) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          return rows(memory, Infinity, ({ id, row }) => row.state === "removed" && id > after && !isLeased(row, now))
            .toSorted((a, b) => a.id < b.id ? -1 : 1).slice(0, limit)
        }),
      forget: (named, now) => Effect.sync(() => forget(memory, named, memory.now(now))),
      uploaded: (id, phoneNumberId, now, margin) =>
        Effect.sync(() => {
          const found = memory.media.get(id)?.uploaded.get(phoneNumberId)
          const isKept = found !== undefined && found.expiresAt > memory.now(now) + margin
          return Option.fromUndefinedOr(isKept ? found : undefined)
        }),
      keepUploaded: (id, phoneNumberId, uploaded) =>
        Effect.sync(() => memory.media.get(id)?.uploaded.set(phoneNumberId, uploaded)),
      forgetUploaded: (id, phoneNumberId, providerMediaId) =>
        Effect.sync(() => {
          const uploaded = memory.media.get(id)?.uploaded
          if (uploaded?.get(phoneNumberId)?.providerMediaId === providerMediaId) uploaded.delete(phoneNumberId)
        }),
      expect: (awaited, fetchAt) => Effect.sync(() => expect(memory, awaited, fetchAt)),
      claimAwaited: (command) => Effect.sync(() => claim(memory, command)),
      mayErase: (claim, now) => Effect.sync(() => mayErase(memory, claim, memory.now(now))),
      postpone: (claim, now, after) => Effect.sync(() => postpone(memory, claim, memory.now(now) + after)),
      lose: (claim) => Effect.sync(() => lose(memory, claim))
    }))
)
