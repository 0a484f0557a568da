/**
 * `WebhookStore` in memory: each method is one synchronous step over `State`, decided by `DeliveryStep` and
 * `WebhookStep`.
 */
import { Delivery, DeliveryStep, type Time, type Webhook, WebhookStep, WebhookStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"
import { keepAll, loaded as deliveriesLoaded } from "./DeliveryStore.ts"
import { type Consignment, Outbox } from "./Outbox.ts"

/** The records that the steps load. */
const loaded = (memory: Memory): WebhookStep.Loaded => ({
  now: memory.now,
  present: (workspaceId) => memory.outboxes.get(workspaceId)?.webhook
})

const write = (memory: Memory, { webhooks }: WebhookStep.Writes): void => {
  for (const webhook of webhooks) {
    const outbox = memory.outboxes.get(webhook.workspaceId)
    if (outbox === undefined) memory.outboxes.set(webhook.workspaceId, new Outbox(webhook))
    else outbox.keepWebhook(webhook)
  }
  memory.hint.notify()
}

const put = (memory: Memory, candidate: Webhook.Webhook): WebhookStep.Put => {
  const { answers: [answer], writes } = WebhookStep.put(loaded(memory), [candidate])
  write(memory, writes)
  return answer!
}

const stateOf = ({ open, webhook }: Outbox): WebhookStore.WebhookState => {
  const isPaused = webhook.pausedAt !== null
  let oldestHeldAt: Time.Instant | null = null
  let oldestTriedAt: Time.Instant | null = null
  for (const { delivery, event } of open) {
    if (isPaused) oldestHeldAt = Math.min(event.createdAt, oldestHeldAt ?? event.createdAt)
    if (Delivery.mayPause(delivery, webhook)) {
      oldestTriedAt = Math.min(delivery.firstAttemptAt!, oldestTriedAt ?? Infinity)
    }
  }
  return { webhook, heldCount: isPaused ? open.size : 0, oldestHeldAt, oldestTriedAt }
}

const rotateSecret = (memory: Memory, command: WebhookStep.RotateSecret): Webhook.Webhook | undefined => {
  const { answers: [webhook], writes } = WebhookStep.rotateSecret(loaded(memory), [command])
  write(memory, writes)
  return webhook
}

const pause = (memory: Memory, command: WebhookStep.Named): Webhook.Webhook | undefined => {
  const { answers: [webhook], writes } = WebhookStep.pause(loaded(memory), [command])
  write(memory, writes)
  return webhook
}

/** Ends deliveries as skipped. Claims stay, for the attempts in flight. */
const skip = (memory: Memory, outbox: Outbox, consignments: ReadonlyArray<Consignment>, at: Time.Instant): void => {
  const skipped = DeliveryStep.skip(deliveriesLoaded(memory, outbox), consignments.map(({ delivery }) => delivery), at)
  keepAll(memory, skipped.deliveries)
}

const resume = (memory: Memory, command: WebhookStep.Resume): Webhook.Webhook | undefined => {
  const { answers: [answer], writes } = WebhookStep.resume(loaded(memory), [command])
  for (const { at, skip: skipped, webhook } of writes.resumed) {
    write(memory, { webhooks: [webhook] })
    const outbox = memory.outboxes.get(webhook.workspaceId)!
    if (skipped !== undefined) skip(memory, outbox, outbox.heldBefore(skipped.from ?? Infinity), at)
  }
  return answer
}

const remove = (memory: Memory, command: WebhookStep.Named): boolean => {
  const { answers: [answer], writes } = WebhookStep.remove(loaded(memory), [command])
  for (const { at, webhook } of writes.removed) {
    const outbox = memory.outboxes.get(webhook.workspaceId)!
    outbox.keepWebhook(webhook)
    skip(memory, outbox, outbox.unended(), at)
    memory.outboxes.delete(webhook.workspaceId)
  }
  return answer!
}

export const layer = Layer.effect(
  WebhookStore.WebhookStore,
  Effect.map(State, (memory) =>
    WebhookStore.WebhookStore.of({
      put: (candidate) => Effect.sync(() => put(memory, candidate)),
      find: (workspaceId) => Effect.sync(() => Option.fromUndefinedOr(memory.outboxes.get(workspaceId)?.webhook)),
      get: (workspaceId) =>
        Effect.sync(() => Option.map(Option.fromUndefinedOr(memory.outboxes.get(workspaceId)), stateOf)),
      rotateSecret: (command) => Effect.sync(() => Option.fromUndefinedOr(rotateSecret(memory, command))),
      pause: (workspaceId, now) => Effect.sync(() => Option.fromUndefinedOr(pause(memory, { workspaceId, now }))),
      resume: (command) => Effect.sync(() => Option.fromUndefinedOr(resume(memory, command))),
      remove: (workspaceId, now) => Effect.sync(() => remove(memory, { workspaceId, now }))
    }))
)
