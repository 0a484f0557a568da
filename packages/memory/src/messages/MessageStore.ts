/**
 * `MessageStore` in memory: each method is one synchronous step over `State`, decided by `OutcomeStep`.
 */
import {
  Campaign,
  type Conversation,
  CustomerNames,
  Id,
  Idempotency,
  Message,
  type MessageReferences,
  MessageStore,
  NumberPart,
  OutcomeStep,
  type Page,
  ReceivedMessage,
  type Retention,
  type SendBatch,
  SendBinding,
  type Step,
  type Time
} from "@wac/core"
import { Effect, Equal, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { inboundName, type Memory, State } from "../State.ts"
import { abandon, accept } from "./Acceptance.ts"
import { due, forget, isDue, loaded, nameOf, remove, sendOf, write } from "./Sends.ts"

/** The number of sends in one step of a sweep. */
const sweepBatch = 64

/** Carries out one command of a step. */
const carryOut = <Command, Loaded extends Step.Known, Answer>(
  memory: Memory,
  decide: Step.Decide<Command, Loaded, Answer, SendBatch.Writes>,
  given: Loaded,
  command: Command
): Answer => {
  const { answers: [answer], writes } = decide(given, [command])
  write(memory, writes)
  return answer!
}

const lookUp = (memory: Memory, request: MessageStore.KeyedRequest, now: Time.Instant): SendBinding.Verdict => {
  const kept = memory.sends.get(nameOf(request))
  const send = kept && sendOf(memory, kept.binding.messageId)
  return SendBinding.judge(send?.binding ?? undefined, send?.message, request.fingerprint, now)
}

const named = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  messageId: Id.MessageId
): MessageReferences.NamedMessage | undefined => {
  const message = memory.messages.of(workspaceId, messageId)
  if (message !== undefined) {
    const { content, phoneNumberId, providerMessageId } = message
    const customer = CustomerNames.keyOf(content.to)
    return { messageId, phoneNumberId, providerMessageId, customer, isOpen: !Message.isOver(message) }
  }
  const said = memory.conversations.of(workspaceId, messageId)
  if (said?.received !== undefined) {
    const { customer, phoneNumberId, received: { providerMessageId } } = said
    return { messageId, phoneNumberId, providerMessageId, customer, isOpen: false }
  }
  // a message from the business's own phone, which is in no conversation
  const inbound = memory.inboundById.get(messageId)
  return inbound?.number.workspaceId !== workspaceId ? undefined : {
    messageId,
    phoneNumberId: inbound.number.id,
    providerMessageId: inbound.providerMessageId,
    customer: inbound.customer,
    isOpen: false
  }
}

const idOf = (memory: Memory, providerNumberId: string, providerMessageId: string): Id.MessageId | undefined => {
  const number = memory.phoneNumberByProviderId.get(providerNumberId)
  if (number === undefined) return undefined
  const ours = memory.messageByProviderId.get(providerMessageId)
  return ours !== undefined && memory.messages.get(ours)?.phoneNumberId === number
    ? ours
    : memory.inbound.get(inboundName(number, providerMessageId))?.messageId
}

const readMarkName = ({ key, messageId, workspaceId }: MessageStore.ReadMarkKey): string =>
  `${workspaceId} ${messageId} ${key}`

const readMarkOf = (memory: Memory, key: MessageStore.ReadMarkKey, now: Time.Instant): string | undefined => {
  const mark = memory.readMarks.get(readMarkName(key))
  return mark === undefined || Idempotency.isExpired(mark, now) ? undefined : mark.fingerprint
}

const forgetMessages = (memory: Memory, before: Time.Instant): Retention.Forgotten => {
  let removed = 0
  const hasEnded = (id: Id.CampaignId | null) => {
    const campaign = id === null ? undefined : memory.campaigns.get(id)?.job.campaign
    return campaign === undefined || Campaign.hasEnded(campaign)
  }
  const lowest = Id.lowestAt("msg", before)
  for (const message of memory.messages.values()) {
    const send = memory.sendOf.get(message.id)
    if (message.id >= lowest || !Message.isOver(message) || Message.lastDue(message) >= before) continue
    if (send !== undefined && (message.campaignId === null || !hasEnded(message.campaignId))) continue
    if (send !== undefined) forget(memory, send)
    remove(memory, message)
    removed++
    const { providerMessageId: name } = message
    if (name !== null && memory.messageByProviderId.get(name) === message.id) memory.messageByProviderId.delete(name)
  }
  removed += memory.conversations.forget(({ id, received }) => received !== undefined && id < lowest)
  for (const { id, job, rows } of memory.campaigns.values()) {
    const { completedAt } = job.campaign
    if (id < Id.lowestAt("cmp", before) && completedAt !== null && completedAt < before) rows.clear()
  }
  return { removed, isMore: false }
}

const forgetBodies = (memory: Memory, before: Time.Instant): Retention.Forgotten => {
  let removed = 0
  const lowest = Id.lowestAt("msg", before)
  for (const message of memory.messages.values()) {
    if (message.id >= lowest || !Message.isOver(message) || Message.lastDue(message) >= before) continue
    const content = Message.withoutBody(message.content)
    if (Equal.equals(content, message.content)) continue
    memory.messages.set({ ...message, content })
    removed++
  }
  for (const entry of memory.conversations.values()) {
    if (entry.received === undefined || entry.id >= lowest) continue
    const received = ReceivedMessage.withoutBody(entry.received)
    if (Equal.equals(received, entry.received)) continue
    memory.conversations.set({ ...entry, received })
    removed++
  }
  return { removed, isMore: false }
}

/** Whether a message belongs to a campaign that nobody has started. */
const isUnstarted = (memory: Memory, { campaignId }: Message.Message): boolean => {
  const campaign = campaignId === null ? undefined : memory.campaigns.get(campaignId)?.job.campaign
  return campaign !== undefined && Campaign.isUnstarted(campaign)
}

const conversation = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  { direction, names }: Conversation.Filter,
  request: Page.PageRequest
): Page.Page<Conversation.Entry> => {
  const { items, next } = memory.conversations.page(
    workspaceId,
    request,
    ({ customer, received }) =>
      (names === undefined || names.includes(customer)) &&
      (direction === undefined || (direction === "inbound") === (received !== undefined))
  )
  return {
    items: items.map(({ id, received }) =>
      received === undefined
        ? { direction: "outbound", message: memory.messages.get(id)! }
        : { direction: "inbound", message: received }
    ),
    next
  }
}

const numbersWith = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  part: NumberPart.NumberPart,
  limit: number
): ReadonlyArray<string> => {
  const names = new Set(memory.conversations.all(workspaceId).map(({ customer }) => customer))
  return [...names].filter((name) => NumberPart.isIn(part, name)).sort().slice(0, limit)
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
      settle: (command) => Effect.sync(() => carryOut(memory, OutcomeStep.settle, loaded(memory), command)),
      abandon: (command) => Effect.sync(() => abandon(memory, command)),
      cancel: (command) =>
        Effect.sync(() => Option.fromUndefinedOr(carryOut(memory, OutcomeStep.cancel, loaded(memory), command))),
      lookUp: (request, now) => Effect.sync(() => lookUp(memory, request, memory.now(now))),
      applyReport: (command) => Effect.sync(() => carryOut(memory, OutcomeStep.applyReport, loaded(memory), command)),
      named: (workspaceId, id) => Effect.sync(() => Option.fromUndefinedOr(named(memory, workspaceId, id))),
      idOf: (providerNumberId, providerMessageId) =>
        Effect.sync(() => Option.fromUndefinedOr(idOf(memory, providerNumberId, providerMessageId))),
      recallReadMark: (key, now) => Effect.sync(() => Option.fromUndefinedOr(readMarkOf(memory, key, memory.now(now)))),
      keepReadMark: ({ expiresAt, fingerprint, now: asked, ...key }) =>
        Effect.sync(() => {
          const now = memory.now(asked)
          const known = readMarkOf(memory, key, now)
          if (known !== undefined) return known
          memory.readMarks.set(readMarkName(key), { fingerprint, expiresAt: now + (expiresAt - asked) }, now)
          return fingerprint
        }),
      get: (workspaceId, id) => Effect.sync(() => Option.fromUndefinedOr(memory.messages.of(workspaceId, id))),
      list: (workspaceId, filter, page) =>
        Effect.sync(() => {
          const { providerMessageId } = filter
          const id = providerMessageId === undefined ? undefined : memory.messageByProviderId.get(providerMessageId)
          return memory.messages.page(
            workspaceId,
            page,
            (message) =>
              (providerMessageId === undefined || message.id === id) && MessageStore.isOf(filter, message) &&
              !isUnstarted(memory, message)
          )
        }),
      received: (workspaceId, id) =>
        Effect.sync(() => Option.fromUndefinedOr(memory.conversations.of(workspaceId, id)?.received)),
      conversation: (workspaceId, filter, page) => Effect.sync(() => conversation(memory, workspaceId, filter, page)),
      numbersWith: (workspaceId, part, limit) => Effect.sync(() => numbersWith(memory, workspaceId, part, limit)),
      sweep: Effect.fnUntraced(function*(asked: Time.Instant) {
        let swept: MessageStore.SweepResult = { unknown: 0, failed: 0, forgotten: 0 }
        while (isDue(memory, memory.now(asked))) {
          const fresh = yield* ids
          swept = MessageStore.sum(
            swept,
            yield* Effect.sync(() => {
              const now = memory.now(asked)
              const candidates = due(memory, sweepBatch, now)
              return carryOut(memory, OutcomeStep.sweep, { now: () => now, candidates }, { now, ids: fresh })
            })
          )
        }
        return swept
      }),
      forget: (before) => Effect.sync(() => forgetMessages(memory, before)),
      forgetBodies: (before) => Effect.sync(() => forgetBodies(memory, before))
    })
  })
)
