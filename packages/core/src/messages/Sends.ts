/**
 * The sends of a batch: as its commands so far have left them, and what is to be written of that.
 */
import type * as Event from "../events/Event.ts"
import type { MessageId, WorkspaceId } from "../Id.ts"
import type { Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { EventIds } from "./MessageStore.ts"
import * as Send from "./Send.ts"

/** Messages whose silence means something at a time. */
export interface Deadline {
  readonly workspaceId: WorkspaceId
  readonly dueAt: Instant
  readonly messageId: MessageId
}

/** What comes of the steps. */
export interface Writes {
  /** Sends as they are after the step, each at most once. */
  readonly sends: ReadonlyArray<Send.Send>
  /** The provider's names of messages. Whichever message is the first to bear a name keeps it. */
  readonly names: ReadonlyArray<{ readonly providerMessageId: string; readonly messageId: MessageId }>
  /** How many messages give their quota back. */
  readonly quotas: ReadonlyArray<{
    readonly workspaceId: WorkspaceId
    readonly month: string
    readonly messages: number
  }>
  /** Of sends that have a deadline now, and had a later one before or none. */
  readonly deadlines: ReadonlyArray<Deadline>
  /** Messages of which nothing is left. */
  readonly removed: ReadonlyArray<MessageId>
  readonly events: ReadonlyArray<Event.Recorded>
}

/** What the steps load: sends, under locks. */
export interface Loaded extends Known {
  readonly send: (id: MessageId) => Send.Send | undefined
}

/** Sends as the commands so far have left them. */
export class Sends {
  private readonly loaded: Loaded
  private readonly after = new Map<MessageId, Send.Send>()
  private readonly names = new Map<string, MessageId>()
  private readonly quotas = new Map<string, { workspaceId: WorkspaceId; month: string; messages: number }>()
  private readonly removed = new Set<MessageId>()
  private readonly events: Array<Event.Recorded> = []

  constructor(loaded: Loaded) {
    this.loaded = loaded
  }

  of(id: MessageId): Send.Send | undefined {
    return this.after.get(id) ?? (this.removed.has(id) ? undefined : this.loaded.send(id))
  }

  /** The message that has come to a name in this batch. */
  named(providerMessageId: string): MessageId | undefined {
    return this.names.get(providerMessageId)
  }

  /** Keeps a send as it is after a step, with the events of that. */
  keep({ events, name, quota, send }: Send.Moved, ids: EventIds): void {
    const { id } = send.message
    this.after.set(id, send)
    if (name !== null && !this.names.has(name)) this.names.set(name, id)
    this.giveBack(quota)
    events.forEach((event, i) => this.events.push({ event, deliveryId: ids.deliveries[i]! }))
  }

  /** Has nothing left of a send but what it gives back. */
  remove({ quota, send }: Pick<Send.Moved, "send" | "quota">): void {
    this.after.delete(send.message.id)
    this.removed.add(send.message.id)
    this.giveBack(quota)
  }

  writes(): Writes {
    const sends = [...this.after.values()]
    return {
      sends,
      names: [...this.names].map(([providerMessageId, messageId]) => ({ providerMessageId, messageId })),
      quotas: [...this.quotas.values()],
      deadlines: sends.flatMap((send) => {
        const { id, workspaceId } = send.message
        const before = Send.deadlineOf(this.loaded.send(id)!)
        const dueAt = Send.deadlineOf(send)
        return dueAt !== null && (before === null || dueAt < before) ? [{ workspaceId, dueAt, messageId: id }] : []
      }),
      removed: [...this.removed],
      events: this.events
    }
  }

  private giveBack(quota: Send.Moved["quota"]): void {
    if (quota === null) return
    const name = `${quota.workspaceId} ${quota.month}`
    this.quotas.set(name, { ...quota, messages: (this.quotas.get(name)?.messages ?? 0) + 1 })
  }
}
