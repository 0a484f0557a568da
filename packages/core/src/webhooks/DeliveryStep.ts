/**
 * What the transitions of deliveries decide (contract §6): recording attempts, and beginning new rounds.
 */
import type { Event } from "../events/Event.ts"
import type { DeliveryId, MessageId, WebhookId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import { judgedAt } from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import * as Delivery from "./Delivery.ts"
import * as Webhook from "./Webhook.ts"

/** Which delivery a claim is of, and where the storage finds it: beside others of its webhook. */
export type ClaimedName = Pick<Delivery.Delivery, "id" | "webhookId">

/** An attempt under a claim has ended. */
export interface Complete {
  readonly now: Instant
  /** As it was claimed. */
  readonly delivery: Delivery.Delivery
  /** Of the claim. */
  readonly token: string
  /** Dated by the storage's time, as the claim reported it. */
  readonly attempt: Delivery.Attempt
  /** Random in [0, 1). */
  readonly jitter: number
}

/** What attempts change of a webhook, and what they depend on. */
export type State = Pick<Webhook.Webhook, "id" | "health" | "pausedAt" | "resumedAt">

/** A test of a webhook begins. */
export interface BeginTest {
  readonly now: Instant
  /** Dated `now`. */
  readonly event: Event
  readonly deliveryId: DeliveryId
  readonly trigger: "test" | "probe"
  readonly token: string
  readonly leaseUntil: Instant
}

/** A person asks for a delivery again. */
export interface Retry {
  readonly now: Instant
  readonly workspaceId: WorkspaceId
  readonly id: DeliveryId
}

/** What the steps load, under the locks of the webhooks that commands name. */
export interface Loaded extends Known {
  /**
   * What is open of an order to a webhook, in the order of `sequence`: all of it, or as many as commands of the batch can
   * end, and one more.
   */
  readonly order: (webhookId: WebhookId, orderKey: MessageId) => ReadonlyArray<Delivery.Delivery>
}

/** What recording attempts loads besides. */
export interface LoadedClaims extends Loaded {
  /** The webhook's state; `undefined` when it was removed. Whether it is paused may be a moment old. */
  readonly webhook: (id: WebhookId) => State | undefined
  /** The delivery, if the token holds its claim. */
  readonly claimed: (name: ClaimedName, token: string) => Delivery.Delivery | undefined
}

/** What beginning a test loads, under a lock that keeps the webhook from being removed. */
export interface LoadedPresent extends Known {
  /** The present webhook of a workspace. Its state may be a moment old. */
  readonly present: (workspaceId: WorkspaceId) => Webhook.Webhook | undefined
}

/** What a retry loads besides. */
export interface LoadedRetry extends Loaded, LoadedPresent {
  /** What a resume or a removal has skipped is loaded as `skipped`. */
  readonly delivery: (workspaceId: WorkspaceId, id: DeliveryId) => Delivery.Delivery | undefined
}

/** What recording attempts writes. The claims of the attempts end. */
export interface CompleteWrites {
  /** As they are after the step, each once: attempted ones, and those that had waited for one of these. */
  readonly deliveries: ReadonlyArray<Delivery.Delivery>
  readonly attempts: ReadonlyArray<{ readonly deliveryId: DeliveryId; readonly attempt: Delivery.Attempt }>
  /** As they are after the step, each once. One that is paused already stays paused since then. */
  readonly webhooks: ReadonlyArray<State>
}

/** A test that was begun: its event and its delivery are recorded, and the delivery is claimed. */
export interface BegunTest {
  readonly event: Event
  readonly delivery: Delivery.Delivery
  readonly webhook: Webhook.Webhook
  readonly token: string
  readonly leaseUntil: Instant
  /** When it was claimed. */
  readonly at: Instant
}

/** What beginning tests writes. */
export interface TestWrites {
  readonly tests: ReadonlyArray<BegunTest>
}

/** What beginning rounds writes: deliveries as they are after the step, each in one of the two lists, once. */
export interface RoundWrites {
  /** In the order in which they have begun a new round. They stand behind all that was recorded before. Their claims stay. */
  readonly begun: ReadonlyArray<Delivery.Delivery>
  /** They had waited for one that has left their order. */
  readonly freed: ReadonlyArray<Delivery.Delivery>
}

/** A delivery that was asked for again, and the webhook that it goes to. */
export interface Retried {
  readonly delivery: Delivery.Delivery
  readonly webhook: Webhook.Webhook
}

/** The deliveries as the commands so far have left them. */
class Changed {
  private readonly loaded: Loaded
  readonly deliveries = new Map<DeliveryId, Delivery.Delivery>()

  constructor(loaded: Loaded) {
    this.loaded = loaded
  }

  /** A loaded one, as it is by now. */
  now<Found extends Delivery.Delivery | undefined>(found: Found): Found {
    return found && (this.deliveries.get(found.id) as Found | undefined ?? found)
  }

  keep(delivery: Delivery.Delivery): void {
    this.deliveries.set(delivery.id, delivery)
  }

  /** One has ended in an order, or left it: whoever is first now waits for nobody. Answers with who was freed. */
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
 * Records attempts: `Delivery.afterAttempt` for delivery and webhook, only under the claim's token. What waits for a
 * delivery that has ended is due from now on. Answers whether the claim was still held.
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
    if (before === undefined || webhook === undefined) return false
    ended.add(claim)
    const after = Delivery.afterAttempt(before, webhook, attempt, jitter)
    changed.keep(after.delivery)
    webhooks.set(webhook.id, after.webhook)
    attempts.push({ deliveryId: before.id, attempt })
    if (!Delivery.isOpen(after.delivery)) changed.follow(webhook.id, after.delivery.orderKey, loaded.now(now))
    return true
  })
  return {
    answers,
    writes: { deliveries: [...changed.deliveries.values()], attempts, webhooks: [...webhooks.values()] }
  }
}

/** Begins tests of present webhooks, paused or not and whichever types they want. Answers with what was claimed. */
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

/** What a success leaves that needs no loading. */
export interface Outright {
  readonly delivery: Delivery.Delivery
  /** When the attempt ended. */
  readonly endedAt: Instant
}

/**
 * What {@link complete} makes of a success, decided from its claim alone; `undefined` when it depends on more. It holds
 * whatever a person has asked of the delivery meanwhile, as long as the webhook is healthy (`Webhook.standing`) and the
 * token holds the claim. The webhook then stays healthy: its last success is the latest that was recorded, its last attempt
 * the one that was recorded last, and the rest of its health is as it was.
 */
export const outright = ({ attempt, delivery }: Pick<Complete, "attempt" | "delivery">): Outright | undefined => {
  // later attempts of a round depend on whether the webhook was resumed since
  if (attempt.outcome !== "delivered" || !Delivery.isUntried(delivery)) return undefined
  const unknown = { health: Webhook.unknownHealth, pausedAt: null, resumedAt: null }
  const after = Delivery.afterAttempt(delivery, unknown, attempt, 0)
  const { lastSuccessAt, slowAt } = after.webhook.health
  return slowAt === null ? { delivery: after.delivery, endedAt: lastSuccessAt! } : undefined
}

/** Ends deliveries that a resume or a removal skips. What waits for one of them is due from `at` on. */
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

/** Rounds of deliveries that begin one after the other. */
export class Rounds {
  private readonly changed: Changed
  private readonly begun = new Map<DeliveryId, Delivery.Delivery>()
  private readonly freed = new Map<DeliveryId, Delivery.Delivery>()

  constructor(loaded: Loaded) {
    this.changed = new Changed(loaded)
  }

  /** `Delivery.newRound`. What waits for one that leaves its order so is due now. */
  begin(loaded: Delivery.Delivery, trigger: "manual" | "replay", now: Instant): Delivery.Delivery {
    const before = this.changed.now(loaded)
    const delivery = Delivery.newRound(before, trigger, now)
    this.changed.keep(delivery)
    // its place is that of its last round
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
 * Begins new rounds that people ask for (`Delivery.newRound`), of deliveries to the workspace's present webhook that are
 * no tests. Answers with them as they are then.
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
