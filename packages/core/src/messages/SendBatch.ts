/**
 * The state of sends while a batch of commands is decided: each send after the commands decided so far, and what has to
 * be written. In memory only.
 */
import * as CampaignCounts from "../campaigns/CampaignCounts.ts"
import * as CampaignTally from "../campaigns/CampaignTally.ts"
import * as CampaignTimeline from "../campaigns/CampaignTimeline.ts"
import type * as Event from "../events/Event.ts"
import type { CampaignId, MessageId, WorkspaceId } from "../Id.ts"
import type { Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as PriceTally from "../usage/PriceTally.ts"
import * as KeyedMessage from "./KeyedMessage.ts"
import { isOfQueue, type Message } from "./Message.ts"
import type { EventIds } from "./MessageStore.ts"

/** A message with the time of its next deadline. */
export interface Deadline {
  readonly workspaceId: WorkspaceId
  readonly dueAt: Instant
  readonly messageId: MessageId
}

/** What the transitions have to write. */
export interface Writes {
  /** Sends after their transitions, each at most once. */
  readonly sends: ReadonlyArray<KeyedMessage.KeyedMessage>
  /** The provider's identifiers of messages. The first message with an identifier keeps it. */
  readonly names: ReadonlyArray<{ readonly providerMessageId: string; readonly messageId: MessageId }>
  /** How quotas change, each at most once. */
  readonly quotas: ReadonlyArray<KeyedMessage.QuotaChange>
  /** Deadlines of sends that had a later one before, or none. */
  readonly deadlines: ReadonlyArray<Deadline>
  /** Messages to delete completely. */
  readonly removed: ReadonlyArray<MessageId>
  /** Messages that leave the queue because they have an outcome. */
  readonly dequeued: ReadonlyArray<MessageId>
  /** How the counts of campaigns change, each campaign at most once. */
  readonly tallies: ReadonlyArray<{
    readonly campaignId: CampaignId
    readonly changes: ReadonlyArray<CampaignTally.Tally>
  }>
  /** How the counts of campaigns by time change, each count at most once. */
  readonly timelines: ReadonlyArray<CampaignTimeline.Change>
  /** How the counts of messages by price change, each count at most once. */
  readonly priced: ReadonlyArray<PriceTally.Count>
  readonly events: ReadonlyArray<Event.Recorded>
}

/** What the transitions load: sends, locked. */
export interface Loaded extends Known {
  readonly send: (id: MessageId) => KeyedMessage.KeyedMessage | undefined
}

/** Sends after the commands that were already decided. */
export class SendBatch {
  private readonly loaded: Pick<Loaded, "send">
  private readonly after = new Map<MessageId, KeyedMessage.KeyedMessage>()
  private readonly names = new Map<string, MessageId>()
  private readonly quotas = new Map<string, KeyedMessage.QuotaChange>()
  private readonly removed = new Map<MessageId, Message>()
  private readonly events: Array<Event.Recorded> = []

  constructor(loaded: Pick<Loaded, "send">) {
    this.loaded = loaded
  }

  of(id: MessageId): KeyedMessage.KeyedMessage | undefined {
    return this.after.get(id) ?? (this.removed.has(id) ? undefined : this.loaded.send(id))
  }

  /** The message that took this provider's identifier in this batch. */
  named(providerMessageId: string): MessageId | undefined {
    return this.names.get(providerMessageId)
  }

  /** Keeps a send after a transition, with its events. */
  keep({ events, name, quota, send }: KeyedMessage.Update, ids: EventIds): void {
    const { id } = send.message
    this.after.set(id, send)
    if (name !== null && !this.names.has(name)) this.names.set(name, id)
    this.count(quota)
    events.forEach((event, i) => this.events.push({ event, deliveryId: ids.deliveries[i]! }))
  }

  /** Deletes a send. */
  remove({ quota, send }: Pick<KeyedMessage.Update, "send" | "quota">): void {
    this.after.delete(send.message.id)
    this.removed.set(send.message.id, send.message)
    this.count(quota)
  }

  writes(): Writes {
    const sends = [...this.after.values()]
    const changes = sends.map(({ message }) => ({ before: this.loaded.send(message.id)!.message, after: message }))
    return {
      sends,
      names: [...this.names].map(([providerMessageId, messageId]) => ({ providerMessageId, messageId })),
      quotas: [...this.quotas.values()].filter(({ messages }) => messages !== 0),
      deadlines: sends.flatMap((send) => {
        const { id, workspaceId } = send.message
        const before = KeyedMessage.deadlineOf(this.loaded.send(id)!)
        const dueAt = KeyedMessage.deadlineOf(send)
        return dueAt !== null && (before === null || dueAt < before) ? [{ workspaceId, dueAt, messageId: id }] : []
      }),
      removed: [...this.removed.keys()],
      dequeued: [
        ...[...this.removed.values()].filter(isOfQueue),
        ...sends.map(({ message }) => message).filter((message) =>
          isOfQueue(message) && CampaignCounts.waits(this.loaded.send(message.id)!.message) &&
          !CampaignCounts.waits(message)
        )
      ].map(({ id }) => id),
      tallies: this.tallies(sends),
      timelines: CampaignTimeline.changes(changes),
      priced: PriceTally.changes(changes),
      events: this.events
    }
  }

  private tallies(sends: ReadonlyArray<KeyedMessage.KeyedMessage>): Writes["tallies"] {
    const tallies = new Map<CampaignId, ReadonlyArray<CampaignTally.Tally>>()
    for (const { message } of sends) {
      const { campaignId, id } = message
      if (campaignId === null) continue
      const change = CampaignTally.change(this.loaded.send(id)!.message, message)
      if (change.length > 0) tallies.set(campaignId, CampaignTally.add(tallies.get(campaignId) ?? [], change))
    }
    return [...tallies].map(([campaignId, changes]) => ({ campaignId, changes }))
  }

  private count(quota: KeyedMessage.Update["quota"]): void {
    if (quota === null) return
    const name = `${quota.workspaceId} ${quota.month}`
    this.quotas.set(name, { ...quota, messages: (this.quotas.get(name)?.messages ?? 0) + quota.messages })
  }
}
