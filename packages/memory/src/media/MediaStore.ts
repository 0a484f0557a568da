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
  const isAwaited = row.state === "awaited"
  memory.media.set({
    id,
    workspaceId,
    row,
    fetchAt: isAwaited ? before?.fetchAt ?? null : null,
    leaseUntil: isAwaited ? before?.leaseUntil ?? null : null,
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
  memory.media.set({ ...row, row, fetchAt, leaseUntil: null, uploaded: new Map() })
  memory.mediaHint.notify()
  return awaited.id
}

const claim = (
  memory: Memory,
  { limit, now: asked, only, until }: Parameters<MediaStore.MediaStore["Service"]["claimAwaited"]>[0]
): ReadonlyArray<Media.Awaited> => {
  const now = memory.now(asked)
  const leaseUntil = now + until - asked
  const claimed: Array<Media.Awaited> = []
  for (const kept of only === undefined ? memory.media.values() : [memory.media.of(only.workspaceId, only.id)]) {
    if (claimed.length === limit) break
    if (kept?.row.state !== "awaited" || (kept.leaseUntil !== null && kept.leaseUntil > now)) continue
    if (only === undefined && (kept.fetchAt === null || kept.fetchAt > now)) continue
    kept.leaseUntil = leaseUntil
    if (kept.fetchAt !== null) kept.fetchAt = leaseUntil
    claimed.push(kept.row.awaited)
  }
  return claimed
}

const forget = (memory: Memory, { id, workspaceId }: MediaStep.Named): void => {
  const kept = memory.media.of(workspaceId, id)
  if (kept?.row.state !== "removed") return
  memory.media.delete(kept)
  for (const [name, other] of memory.mediaByProvider) if (other === id) memory.mediaByProvider.delete(name)
}

const postpone = (memory: Memory, { id, workspaceId }: MediaStep.Named, fetchAt: Time.Instant): void => {
  const kept = memory.media.of(workspaceId, id)
  if (kept?.row.state !== "awaited") return
  if (kept.fetchAt !== null) kept.fetchAt = fetchAt
  kept.leaseUntil = null
}

const lose = (memory: Memory, { id, workspaceId }: MediaStep.Named): void => {
  const row = memory.media.of(workspaceId, id)?.row
  if (row?.state === "awaited") set(memory, { ...row, state: "gone" })
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
      removed: (after, limit) =>
        Effect.sync(() =>
          rows(memory, Infinity, ({ id, row }) => row.state === "removed" && id > after)
            .toSorted((a, b) => a.id < b.id ? -1 : 1).slice(0, limit)
        ),
      forget: (named) => Effect.sync(() => forget(memory, named)),
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
      postpone: (named, fetchAt) => Effect.sync(() => postpone(memory, named, fetchAt)),
      lose: (named) => Effect.sync(() => lose(memory, named))
    }))
)
