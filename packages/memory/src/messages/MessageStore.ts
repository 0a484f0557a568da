import { Id, Idempotency, Message, MessageStore, StorageTime, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { keepMoved } from "../events/Journal.ts"
import { type Memory, State } from "../State.ts"
import { abandon, accept } from "./Acceptance.ts"
import { bind, expiryFrom, giveQuotaBack, isSettled, judge, messageOf, owned, unclaim } from "./Sends.ts"
import { isDue, nothing, sum, sweep } from "./Sweep.ts"

/** How many sends one step of a sweep looks at. */
const sweepBatch = 64

const settle = (memory: Memory, { end, ids, now, ...claim }: MessageStore.SettleSend): boolean => {
  const send = owned(memory, claim)
  if (send === undefined) return false
  const message = messageOf(memory, send)
  switch (end._tag) {
    case "Accepted": {
      const { providerMessageId } = end
      apply(memory, message, { status: "sent", at: now, providerMessageId, error: null }, ids, now)
      // the name that its owner is told now, even if a report was first with another
      const answer = Idempotency.sent(message, providerMessageId)
      bind(memory, send, { claim: null, answer, expiresAt: expiryFrom(now) })
      return true
    }
    case "Refused":
      apply(memory, message, end.report, ids, now)
      giveQuotaBack(memory, send)
      bind(memory, send, { claim: null, answer: end.answer, expiresAt: expiryFrom(now) })
      return true
    case "NotSent":
      if (message.status === "sending") memory.messages.set({ ...message, statusAt: now })
      unclaim(memory, send, now, { lastFailure: end.answer })
      return true
    case "Unknown":
      if (message.status === "sending") {
        memory.messages.set({ ...message, status: "unknown", statusAt: now })
      }
      unclaim(memory, send, now)
      return true
  }
}

const applyReport = (memory: Memory, command: MessageStore.ApplyReport): boolean => {
  const { ids, now, report } = command
  const before = find(memory, command)
  if (before === undefined) return false
  const after = apply(memory, before, report, ids, now)
  const send = memory.sendOf.get(after.id)
  if (send === undefined || isSettled(before) || !isSettled(after)) return true
  const { claim, expiresAt } = send.binding
  // with a live claim the answer is its owner's to give; a key that has expired does not come back
  if ((claim === null || claim.leaseUntil <= now) && (expiresAt === null || expiresAt > now)) unclaim(memory, send, now)
  return true
}

const find = (
  memory: Memory,
  { providerNumberId, reference, report: { providerMessageId } }: MessageStore.ApplyReport
): Message.Message | undefined => {
  const number = providerNumberId === null ? undefined : memory.phoneNumberByProviderId.get(providerNumberId)
  const ofNumber = (id: Id.MessageId | null | undefined): Message.Message | undefined => {
    const message = id ? memory.messages.get(id) : undefined
    return providerNumberId === null || message?.phoneNumberId === number ? message : undefined
  }
  return ofNumber(reference) ??
    ofNumber(providerMessageId === null ? null : memory.messageByProviderId.get(providerMessageId))
}

const apply = (
  memory: Memory,
  message: Message.Message,
  report: Message.Report,
  ids: MessageStore.EventIds,
  now: Time.Instant
): Message.Message => {
  const { providerMessageId } = report
  if (providerMessageId !== null && !memory.messageByProviderId.has(providerMessageId)) {
    memory.messageByProviderId.set(providerMessageId, message.id)
  }
  return keepMoved(memory, Message.apply(message, report, now), ids, now)
}

export const layer = Layer.effect(
  MessageStore.MessageStore,
  Effect.gen(function*() {
    const memory = yield* State
    const random = yield* SecureRandom.SecureRandom

    const ids: Effect.Effect<MessageStore.EventIds> = Effect.all({
      events: Effect.replicateEffect(Id.generate(random, "evt"), sweepBatch),
      deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), sweepBatch)
    })

    return MessageStore.MessageStore.of({
      accept: (command) => Effect.sync(() => accept(memory, command)),
      settle: (command) => Effect.sync(() => settle(memory, MessageStore.settledAt(command, memory.now(command.now)))),
      abandon: (command) => Effect.sync(() => abandon(memory, StorageTime.judgedAt(command, memory.now(command.now)))),
      lookUp: (request, now) => Effect.sync(() => judge(memory, request, memory.now(now))),
      applyReport: (command) =>
        Effect.sync(() => applyReport(memory, StorageTime.judgedAt(command, memory.now(command.now)))),
      get: (workspaceId, id) => Effect.sync(() => Option.fromUndefinedOr(memory.messages.of(workspaceId, id))),
      list: (workspaceId, { clientReference, since, status, to, until }, page) =>
        Effect.sync(() =>
          memory.messages.page(
            workspaceId,
            page,
            (message) =>
              (status === undefined || message.status === status) &&
              (to === undefined || message.content.to === to) &&
              (clientReference === undefined || message.content.clientReference === clientReference) &&
              (since === undefined || message.createdAt >= since) &&
              (until === undefined || message.createdAt < until)
          )
        ),
      sweep: Effect.fnUntraced(function*(asked: Time.Instant) {
        const now = memory.now(asked)
        let swept = nothing
        while (isDue(memory, now)) {
          const fresh = yield* ids
          swept = sum(swept, yield* Effect.sync(() => sweep(memory, fresh, now)))
        }
        return swept
      })
    })
  })
)
