/**
 * The decisions for deliveries (contract §6): recording attempts, starting tests and new rounds, and skipping. Pure.
 */
import type { Event } from "../events/Event.ts"
import type { DeliveryId, MessageId, WebhookId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import { judgedAt } from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import * as Delivery from "./Delivery.ts"
import type * as Webhook from "./Webhook.ts"
import * as WebhookHealth from "./WebhookHealth.ts"

/** The delivery that a claim is for, and the webhook under which the storage finds it. */
export type ClaimedName = Pick<Delivery.Delivery, "id" | "webhookId">

/** Records the attempt of a claim. */
export interface Complete {
  readonly now: Instant
  /** The delivery as it was claimed. */
  readonly delivery: Delivery.Delivery
  /** The claim's token. */
  readonly token: string
  /** Dated by the storage's time, which the claim returned. */
  readonly attempt: Delivery.Attempt
  /** A random number in [0, 1), for the delay before the retry. */
  readonly jitter: number
}

/** The part of a webhook that attempts read and change. */
export type State = Pick<Webhook.Webhook, "id" | "health" | "pausedAt" | "resumedAt">

/** Starts a test of a webhook. */
export interface BeginTest {
  readonly now: Instant
  /** Its `createdAt` is `now`. */
  readonly event: Event
  readonly deliveryId: DeliveryId
  readonly trigger: "test" | "probe"
  readonly token: string
  readonly leaseUntil: Instant
}

/** Retries a delivery for a person. */
export interface Retry {
  readonly now: Instant
  readonly workspaceId: WorkspaceId
  readonly id: DeliveryId
}

/** The records that the steps load, under locks on the webhooks in the commands. */
export interface Loaded extends Known {
  /**
   * The open deliveries of an order to a webhook, in the order of `sequence`: all of them, or one more than the
   * commands of the batch can end.
   */
  readonly order: (webhookId: WebhookId, orderKey: MessageId) => ReadonlyArray<Delivery.Delivery>
}

/** The records that recording attempts loads in addition. */
export interface LoadedClaims extends Loaded {
  /** The webhook's state; `undefined` if it was removed. `pausedAt` may be a moment old. */
  readonly webhook: (id: WebhookId) => State | undefined
  /** The delivery, if the token holds its claim; as `skipped` if a resume or a removal has skipped it. */
  readonly claimed: (name: ClaimedName, token: string) => Delivery.Delivery | undefined
}

/** The records that starting a test loads, under a lock that prevents the webhook's removal. */
export interface LoadedPresent extends Known {
  /** The workspace's present webhook. Its state may be a moment old. */
  readonly present: (workspaceId: WorkspaceId) => Webhook.Webhook | undefined
}

/** The records that a retry loads in addition. */
export interface LoadedRetry extends Loaded, LoadedPresent {
  /** Deliveries that a resume or a removal skipped are loaded as `skipped`. */
  readonly delivery: (workspaceId: WorkspaceId, id: DeliveryId) => Delivery.Delivery | undefined
}

/** The changes that recording attempts writes. The attempts' claims end. */
export interface CompleteWrites {
  /** The attempted deliveries and those that waited for one of them, as they are after the step, each once. */
  readonly deliveries: ReadonlyArray<Delivery.Delivery>
  readonly attempts: ReadonlyArray<{ readonly deliveryId: DeliveryId; readonly attempt: Delivery.Attempt }>
  /** The webhooks as they are after the step, each once. A webhook that is already paused keeps its `pausedAt`. */
  readonly webhooks: ReadonlyArray<State>
}

/** A started test: its event and its claimed delivery are to be written. */
export interface BegunTest {
  readonly event: Event
  readonly delivery: Delivery.Delivery
  readonly webhook: Webhook.Webhook
  readonly token: string
  readonly leaseUntil: Instant
  /** When it was claimed. */
  readonly at: Instant
}

/** The changes that starting tests writes. */
export interface TestWrites {
  readonly tests: ReadonlyArray<BegunTest>
}

/** The changes that starting rounds writes. Each delivery is in one of the two lists, once, as it is after the step. */
export interface RoundWrites {
  /**
   * Deliveries with a new round, in the order in which the rounds start. They queue behind everything recorded before.
   * Their claims stay.
   */
  readonly begun: ReadonlyArray<Delivery.Delivery>
  /** Deliveries that waited for one that has left their order. */
  readonly freed: ReadonlyArray<Delivery.Delivery>
}

/** A retried delivery and its webhook. */
export interface Retried {
  readonly delivery: Delivery.Delivery
  readonly webhook: Webhook.Webhook
}

/** The state assumed for a webhook whose state is not loaded or that was removed. */
const unknown = { health: WebhookHealth.initial, pausedAt: null, resumedAt: null }

/** The deliveries as the commands decided so far have left them. */
class Changed {
  private readonly loaded: Loaded
  readonly deliveries = new Map<DeliveryId, Delivery.Delivery>()

  constructor(loaded: Loaded) {
    this.loaded = loaded
  }

  /** A loaded delivery as it is now. */
  now<Found extends Delivery.Delivery | undefined>(found: Found): Found {
    return found && (this.deliveries.get(found.id) as Found | undefined ?? found)
  }

  keep(delivery: Delivery.Delivery): void {
    this.deliveries.set(delivery.id, delivery)
  }

  /**
   * Makes the first open delivery of an order due, after another has ended or left the order. Returns the freed
   * delivery, if any.
   */
  follow(webhookId: WebhookId, orderKey: MessageId | null, now: Instant): Delivery.Delivery | undefined {
    if (orderKey === null) return undefined
    const first = this.loaded.order(webhookId, orderKey)
      .map((delivery) => this.now(delivery))
      .find((delivery) => Delivery.isOpen(delivery) && delivery.orderKey === orderKey)
    if (first === undefined || first.nextAttemptAt !== null) return undefined
    const freed = Delivery.follow(first, now)
    this.keep(freed)
    return freed
  }
}

/**
 * Decides `DeliveryStore.complete`: if the token still holds the claim, applies `Delivery.afterAttempt` to the delivery
 * and, unless it was removed, to its webhook. The next delivery of an order becomes due if its predecessor has ended.
 * The answer is whether the claim was still held.
 */
export const complete: Decide<Complete, LoadedClaims, boolean, CompleteWrites> = (loaded, commands) => {
  const changed = new Changed(loaded)
  const webhooks = new Map<WebhookId, State>()
  const ended = new Set<string>()
  const attempts: Array<CompleteWrites["attempts"][number]> = []
  const answers = commands.map(({ attempt, delivery: name, jitter, now, token }): boolean => {
    const claim = `${name.id} ${token}`
    const before = ended.has(claim) ? undefined : changed.now(loaded.claimed(name, token))
    const webhook = webhooks.get(name.webhookId) ?? loaded.webhook(name.webhookId)
    if (before === undefined) return false
    ended.add(claim)
    const after = Delivery.afterAttempt(before, webhook ?? { ...unknown, id: name.webhookId }, attempt, jitter)
    changed.keep(after.delivery)
    if (webhook !== undefined) webhooks.set(webhook.id, after.webhook)
    attempts.push({ deliveryId: before.id, attempt })
    if (!Delivery.isOpen(after.delivery)) changed.follow(name.webhookId, after.delivery.orderKey, loaded.now(now))
    return true
  })
  return {
    answers,
    writes: { deliveries: [...changed.deliveries.values()], attempts, webhooks: [...webhooks.values()] }
  }
}

/**
 * Decides `DeliveryStore.beginTest` for present webhooks, paused or not and whatever types they subscribe to. The
 * answer is what was claimed.
 */
export const beginTest: Decide<BeginTest, LoadedPresent, BegunTest | undefined, TestWrites> = (loaded, commands) => {
  const answers = commands.map((command): BegunTest | undefined => {
    const webhook = loaded.present(command.event.workspaceId)
    if (webhook === undefined) return undefined
    const { deliveryId, leaseUntil, now: at, token, trigger } = judgedAt(command, loaded.now(command.now), "leaseUntil")
    const event = { ...command.event, createdAt: command.event.createdAt - command.now + at }
    const delivery = Delivery.recorded(event, webhook, deliveryId, { trigger, waits: false })
    return { event, delivery, webhook, token, leaseUntil, at }
  })
  return { answers, writes: { tests: answers.filter((test) => test !== undefined) } }
}

/** The result of a success that needs no loading. */
export interface DirectCompletion {
  readonly delivery: Delivery.Delivery
  /** When the attempt ended. */
  readonly endedAt: Instant
}

/**
 * The result of {@link complete} for a success, decided from its claim alone; `undefined` if it depends on more. It
 * holds whatever people have done to the delivery meanwhile, as long as the webhook is healthy
 * (`WebhookHealth.standing`) and the token holds the claim. The webhook then stays healthy: `lastSuccessAt` is the
 * latest recorded, `lastAttemptAt` the last one recorded, and the rest of its health is unchanged.
 */
export const completeDirectly = (
  { attempt, delivery }: Pick<Complete, "attempt" | "delivery">
): DirectCompletion | undefined => {
  // a round's later attempts depend on whether the webhook has been resumed since
  if (attempt.outcome !== "delivered" || !Delivery.isUntried(delivery)) return undefined
  const after = Delivery.afterAttempt(delivery, unknown, attempt, 0)
  const { lastSuccessAt, slowAt } = after.webhook.health
  return slowAt === null ? { delivery: after.delivery, endedAt: lastSuccessAt! } : undefined
}

/** Ends deliveries that a resume or a removal skips. Deliveries that wait for one of them are due from `at`. */
export const skip = (
  loaded: Loaded,
  skipped: ReadonlyArray<Delivery.Delivery>,
  at: Instant
): { readonly deliveries: ReadonlyArray<Delivery.Delivery> } => {
  const changed = new Changed(loaded)
  for (const delivery of skipped) changed.keep(Delivery.end(delivery, "skipped", at))
  for (const { orderKey, webhookId } of skipped) changed.follow(webhookId, orderKey, at)
  return { deliveries: [...changed.deliveries.values()] }
}

/** Starts rounds of deliveries, one after another. */
export class Rounds {
  private readonly changed: Changed
  private readonly begun = new Map<DeliveryId, Delivery.Delivery>()
  private readonly freed = new Map<DeliveryId, Delivery.Delivery>()

  constructor(loaded: Loaded) {
    this.changed = new Changed(loaded)
  }

  /** Applies `Delivery.newRound`. If the delivery leaves its order, the next one there becomes due. */
  begin(loaded: Delivery.Delivery, trigger: "manual" | "replay", now: Instant): Delivery.Delivery {
    const before = this.changed.now(loaded)
    const delivery = Delivery.newRound(before, trigger, now)
    this.changed.keep(delivery)
    // re-inserted, so that it queues by its latest round
    this.begun.delete(delivery.id)
    this.begun.set(delivery.id, delivery)
    this.freed.delete(delivery.id)
    if (delivery.orderKey !== before.orderKey) {
      const freed = this.changed.follow(delivery.webhookId, before.orderKey, now)
      if (freed !== undefined) this.freed.set(freed.id, freed)
    }
    return delivery
  }

  writes(): RoundWrites {
    return { begun: [...this.begun.values()], freed: [...this.freed.values()] }
  }
}

/**
 * Decides `DeliveryStore.retry`: starts new rounds (`Delivery.newRound`) of deliveries to the workspace's present
 * webhook, except tests. The answer is the delivery with its webhook.
 */
export const retry: Decide<Retry, LoadedRetry, Retried | undefined, RoundWrites> = (loaded, commands) => {
  const rounds = new Rounds(loaded)
  const answers = commands.map(({ id, now, workspaceId }): Retried | undefined => {
    const delivery = loaded.delivery(workspaceId, id)
    const webhook = loaded.present(workspaceId)
    if (delivery === undefined || delivery.webhookId !== webhook?.id || Delivery.isTest(delivery)) return undefined
    return { delivery: rounds.begin(delivery, "manual", loaded.now(now)), webhook }
  })
  return { answers, writes: rounds.writes() }
}
