/**
 * `CampaignStore` in memory: each method is one synchronous step over `State`, decided by `CampaignStep` and
 * `CampaignWorkStep`.
 */
import {
  Campaign,
  CampaignStep,
  CampaignStore,
  CampaignWorkStep,
  type CheckedRow,
  Contact,
  type Idempotency,
  type Message,
  type PhoneNumber,
  Recipient,
  type Suppression,
  type Time,
  Variant
} from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { contactNamed, suppressionsOf } from "../contacts/ContactStore.ts"
import { record } from "../events/Journal.ts"
import { keep as keepSend, senderOf, templateOf } from "../messages/Acceptance.ts"
import { forget, nameOf, remove as removeMessage, sendOf, write as writeSends } from "../messages/Sends.ts"
import { type CampaignRecord, type Memory, State } from "../State.ts"

/** The request under whose key a campaign's message is sent. */
const keyed = (campaign: Campaign.Campaign, customer: Contact.Contact["key"]) =>
  Recipient.requestOf(campaign, customer as Idempotency.IdempotencyKey)

/** Deletes the queued messages of a campaign that has sent none, with their keys. */
const unqueue = (memory: Memory, { queue }: CampaignRecord): void => {
  for (const id of queue.keys()) {
    forget(memory, memory.sendOf.get(id)!)
    removeMessage(memory, memory.messages.get(id)!)
  }
  queue.clear()
}

const change = (memory: Memory, command: CampaignStep.Change) => {
  const { answers: [changed], writes } = CampaignStep.change({
    now: memory.now,
    job: ({ id, workspaceId }) => memory.campaigns.of(workspaceId, id)?.job
  }, [command])
  for (const id of writes.unchecked) {
    const kept = memory.campaigns.get(id)!
    unqueue(memory, kept)
    for (const row of kept.rows.values()) Object.assign(row, { messageId: null, problem: null })
  }
  for (const job of writes.jobs) write(memory, job)
  return changed
}

const write = (memory: Memory, job: CampaignStep.Job): void => {
  memory.campaigns.get(job.campaign.id)!.job = job
  memory.campaignHint.notify()
}

/** Queues the message to a checked row. */
const queue = (
  memory: Memory,
  kept: CampaignRecord,
  message: Message.Message,
  customer: Contact.Contact["key"],
  timeZone: string | null
): void => {
  const request = keyed(kept.job.campaign, customer)
  memory.messages.set(message)
  keepSend(memory, {
    name: nameOf(request),
    binding: {
      fingerprint: request.fingerprint,
      messageId: message.id,
      claim: null,
      answer: null,
      lastFailure: null,
      expiresAt: null
    },
    quotaMonth: null,
    lastTry: { statusAtBefore: null, counted: null }
  })
  kept.queue.set(message.id, {
    messageId: message.id,
    request,
    dueAt: message.createdAt,
    tries: 0,
    sendUntil: null,
    timeZone
  })
}

/** Recipients of the queue, those that are due first first; those that wait for quiet hours in reverse. */
const queuedIn = (
  memory: Memory,
  kept: CampaignRecord,
  { limit, of }: Extract<CampaignWorkStep.Need, { readonly _tag: "Queue" }>,
  now: Time.Instant
): ReadonlyArray<CampaignWorkStep.Queued> =>
  [...kept.queue]
    .filter(([, { dueAt, tries }]) =>
      typeof of === "string" ? of === "all" || dueAt <= now : tries === 0 && dueAt > of.waitingAfter
    )
    .sort(([a, { dueAt }], [b, other]) => (typeof of === "string" ? 1 : -1) * (dueAt - other.dueAt || (a < b ? -1 : 1)))
    .slice(0, limit)
    .map(([id, { request: { key }, timeZone, tries }]) => ({ send: sendOf(memory, id)!, key, tries, timeZone }))

const loaded = (memory: Memory, kept: CampaignRecord, command: CampaignWorkStep.Work): CampaignWorkStep.LoadedWork => {
  const { campaign } = kept.job
  const sender = senderOf(memory, campaign.workspaceId, command.provider, Campaign.senderOf(campaign) ?? undefined)
  return {
    now: memory.now,
    job: kept.job,
    sender,
    templates: Variant.templatesOf(campaign).map((template) =>
      templateOf(memory, sender, { type: "template", template })
    ),
    isSuppressing: [...memory.suppressions.values()].some(([one]) => one?.workspaceId === campaign.workspaceId),
    isDone: kept.queue.size === 0,
    rows: null,
    queue: null
  }
}

/** The places of the next rows to check. */
const placesIn = (campaign: Campaign.Campaign, limit: number): ReadonlyArray<number> => {
  const after = Campaign.lastChecked(campaign)
  return Array.from({ length: Math.min(limit, Campaign.lastPlace(campaign) - after) }, (_, i) => after + i + 1)
}

/** The next rows to check. */
const unchecked = (
  memory: Memory,
  { job: { campaign }, rows }: CampaignRecord,
  sender: PhoneNumber.PhoneNumber | undefined,
  limit: number,
  hashes: Suppression.Hashes
): ReadonlyArray<CampaignWorkStep.Placed> =>
  placesIn(campaign, limit).map((place) => {
    const { row } = rows.get(place)!
    const customer = Recipient.customerOf(row)
    const contact = sender === undefined || customer === null ? undefined : contactNamed(memory, sender.id, customer)
    const hash = customer === null ? undefined : hashes[customer]
    const keys = customer === null ? [] : Contact.keysOf(customer, contact)
    return {
      place,
      row,
      contact,
      suppressions: hash === undefined ? [] : suppressionsOf(memory, campaign.workspaceId, hash),
      isKnown: keys.some((key) => memory.sends.has(nameOf(keyed(campaign, key))))
    }
  })

const work = (memory: Memory, command: CampaignWorkStep.Work): CampaignWorkStep.Worked | undefined => {
  const now = memory.now(command.now)
  const [kept] = [...memory.campaigns.values()]
    .filter(({ job: { workAt } }) => workAt !== null && workAt <= now)
    .sort((a, b) => a.job.workAt! - b.job.workAt!)
  if (kept === undefined) return undefined
  const known = loaded(memory, kept, command)
  const first = CampaignWorkStep.work(known, [command])
  const [need] = "needs" in first ? first.needs : []
  const decided = need === undefined ? first : CampaignWorkStep.work(
    need._tag === "Rows"
      ? {
        ...known,
        rows: unchecked(memory, kept, known.sender, need.limit, command.hashes)
      }
      : { ...known, queue: queuedIn(memory, kept, need, now) },
    [command]
  )
  if ("needs" in decided) throw new Error("all that a campaign's work needs is given at once")
  const { answers: [worked], writes } = decided
  write(memory, writes.job)
  for (const { customer, message, place, problem, timeZone } of writes.checked) {
    const row = kept.rows.get(place)!
    row.problem = problem
    row.messageId = message && message.id
    if (message !== null) queue(memory, kept, message, customer!, timeZone)
  }
  for (const { dueAt, messageId } of writes.leased) kept.queue.get(messageId)!.dueAt = dueAt
  for (const id of writes.untried) kept.queue.get(id)!.tries = 0
  for (const id of writes.dequeued) kept.queue.delete(id)
  if (writes.sends !== null) writeSends(memory, writes.sends)
  record(memory, writes.events.map(({ event }) => event), writes.events.map(({ deliveryId }) => deliveryId))
  return worked
}

const addRows = (memory: Memory, command: CampaignStep.AddRows): boolean => {
  const { answers: [isTaken], writes: { added, dropped, jobs, replaced } } = CampaignStep.addRows({
    now: memory.now,
    job: ({ id, workspaceId }) => memory.campaigns.of(workspaceId, id)?.job
  }, [command])
  for (const { campaignId } of replaced) unqueue(memory, memory.campaigns.get(campaignId)!)
  for (const { after, campaignId, to } of [...dropped, ...replaced]) {
    const { rows } = memory.campaigns.get(campaignId)!
    for (const place of rows.keys()) if (place > after && (to === null || place <= to)) rows.delete(place)
  }
  for (const { campaignId, from, rows } of added) {
    rows.forEach((row, i) =>
      memory.campaigns.get(campaignId)!.rows.set(from + i, { row, messageId: null, problem: null })
    )
  }
  for (const job of jobs) write(memory, job)
  return isTaken!
}

const remove = (memory: Memory, kept: CampaignRecord | undefined): boolean => {
  if (kept === undefined || !Campaign.takesRows(kept.job.campaign)) return false
  unqueue(memory, kept)
  memory.campaigns.delete(kept)
  return true
}

const rowsAt = (
  memory: Memory,
  kept: CampaignRecord | undefined,
  places: ReadonlyArray<number>
): ReadonlyArray<CheckedRow.CheckedRow> =>
  places.flatMap((place) => {
    const found = kept?.rows.get(place)
    if (found === undefined) return []
    const { messageId, problem, row } = found
    return [{
      place,
      problem,
      ...Recipient.originOf(row),
      message: messageId === null ? null : memory.messages.get(messageId) ?? null
    }]
  })

export const layer = Layer.effect(
  CampaignStore.CampaignStore,
  Effect.map(State, (memory) =>
    CampaignStore.CampaignStore.of({
      create: (campaign) =>
        Effect.sync(() =>
          memory.campaigns.set({
            id: campaign.id,
            workspaceId: campaign.workspaceId,
            job: { campaign, workAt: null },
            rows: new Map(),
            queue: new Map(),
            timeline: new Map()
          })
        ),
      get: (workspaceId, id) =>
        Effect.sync(() => Option.fromUndefinedOr(memory.campaigns.of(workspaceId, id)?.job.campaign)),
      timeline: (workspaceId, id) =>
        Effect.sync(() =>
          [...memory.campaigns.of(workspaceId, id)?.timeline.values() ?? []].sort((a, b) => a.at - b.at)
        ),
      list: (workspaceId, filter, page) =>
        Effect.sync(() => {
          const { items, next } = memory.campaigns.page(
            workspaceId,
            page,
            ({ job }) => CampaignStore.isOf(filter, job.campaign)
          )
          return { items: items.map(({ job }) => job.campaign), next }
        }),
      change: (command) => Effect.sync(() => Option.fromUndefinedOr(change(memory, command))),
      addRows: (command) => Effect.sync(() => addRows(memory, command)),
      remove: (workspaceId, id) => Effect.sync(() => remove(memory, memory.campaigns.of(workspaceId, id))),
      work: (command) => Effect.sync(() => Option.fromUndefinedOr(work(memory, command))),
      paused: (workspaceId) =>
        Effect.sync(() =>
          [...memory.campaigns.values()]
            .map(({ job }) => job.campaign)
            .filter((campaign) =>
              campaign.status === "paused" && (workspaceId === null || campaign.workspaceId === workspaceId)
            )
            .sort((a, b) => a.id < b.id ? -1 : 1)
        ),
      rows: (workspaceId, id, { after, limit }) =>
        Effect.sync(() =>
          rowsAt(memory, memory.campaigns.of(workspaceId, id), Array.from({ length: limit }, (_, i) => after + i + 1))
        ),
      rowsAt: (workspaceId, id, places) =>
        Effect.sync(() =>
          rowsAt(memory, memory.campaigns.of(workspaceId, id), [...new Set(places)].sort((a, b) => a - b))
        )
    }))
)
