import { type Id, StorageTime, type Time, Webhook, WebhookStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"
import { Outbox } from "./Outbox.ts"

const put = (memory: Memory, candidate: Webhook.Webhook): { webhook: Webhook.Webhook; created: boolean } => {
  const present = memory.outboxes.get(candidate.workspaceId)
  memory.hint.notify()
  if (present === undefined) {
    memory.outboxes.set(candidate.workspaceId, new Outbox(candidate))
    return { webhook: candidate, created: true }
  }
  const { envelope, eventTypes, updatedAt, url } = candidate
  present.webhook = { ...present.webhook, url, envelope, eventTypes, updatedAt }
  return { webhook: present.webhook, created: false }
}

const stateOf = ({ open, webhook }: Outbox): WebhookStore.WebhookState => {
  const isPaused = webhook.pausedAt !== null
  const { health: { lastSuccessAt }, resumedAt } = webhook
  let oldestHeldAt: Time.Instant | null = null
  let oldestTriedAt: Time.Instant | null = null
  for (const { delivery: { firstAttemptAt }, event } of open) {
    if (isPaused) oldestHeldAt = Math.min(event.createdAt, oldestHeldAt ?? event.createdAt)
    if (
      firstAttemptAt !== null && (lastSuccessAt === null || lastSuccessAt < firstAttemptAt) &&
      (resumedAt === null || resumedAt <= firstAttemptAt)
    ) {
      oldestTriedAt = Math.min(firstAttemptAt, oldestTriedAt ?? firstAttemptAt)
    }
  }
  return { webhook, heldCount: isPaused ? open.size : 0, oldestHeldAt, oldestTriedAt }
}

const rotateSecret = (
  memory: Memory,
  { webhookId, workspaceId, ...rotation }: Parameters<WebhookStore.WebhookStore["Service"]["rotateSecret"]>[0]
): Option.Option<Webhook.Webhook> => {
  const outbox = memory.outboxes.get(workspaceId)
  if (outbox?.webhook.id !== webhookId) return Option.none()
  const secrets = Webhook.rotateSecrets(outbox.webhook.secrets, rotation)
  outbox.webhook = { ...outbox.webhook, secrets }
  return Option.some(outbox.webhook)
}

const pause = (memory: Memory, workspaceId: Id.WorkspaceId, now: Time.Instant): Webhook.Webhook | undefined => {
  const outbox = memory.outboxes.get(workspaceId)
  outbox?.pause(now)
  return outbox?.webhook
}

/** Events recorded before this are skipped. */
const replayedFrom = (replay: WebhookStore.Replay): Time.Instant =>
  replay === "all" ? -Infinity : replay === "none" ? Infinity : replay.since

const resume = (
  memory: Memory,
  { now, replay, workspaceId }: Parameters<WebhookStore.WebhookStore["Service"]["resume"]>[0]
): Webhook.Webhook | undefined => {
  const outbox = memory.outboxes.get(workspaceId)
  outbox?.resume(now, replayedFrom(replay))
  memory.hint.notify()
  return outbox?.webhook
}

const remove = (memory: Memory, workspaceId: Id.WorkspaceId, now: Time.Instant): boolean => {
  memory.outboxes.get(workspaceId)?.skipAll(now)
  return memory.outboxes.delete(workspaceId)
}

export const layer = Layer.effect(
  WebhookStore.WebhookStore,
  Effect.map(State, (memory) =>
    WebhookStore.WebhookStore.of({
      put: (candidate) => Effect.sync(() => put(memory, candidate)),
      find: (workspaceId) => Effect.sync(() => Option.fromUndefinedOr(memory.outboxes.get(workspaceId)?.webhook)),
      get: (workspaceId) =>
        Effect.sync(() => Option.map(Option.fromUndefinedOr(memory.outboxes.get(workspaceId)), stateOf)),
      rotateSecret: (command) =>
        Effect.sync(() =>
          rotateSecret(memory, StorageTime.judgedAt(command, memory.now(command.now), "previousExpiresAt"))
        ),
      pause: (workspaceId, now) =>
        Effect.sync(() => Option.fromUndefinedOr(pause(memory, workspaceId, memory.now(now)))),
      resume: (command) =>
        Effect.sync(() =>
          Option.fromUndefinedOr(resume(memory, StorageTime.judgedAt(command, memory.now(command.now))))
        ),
      remove: (workspaceId, now) => Effect.sync(() => remove(memory, workspaceId, memory.now(now)))
    }))
)
