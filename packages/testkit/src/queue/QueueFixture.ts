/**
 * Queued messages for the suites: callers queue them, and the queue's work hands them out.
 */
import { assert } from "@effect/vitest"
import {
  type Limits,
  type Message,
  MessageStore,
  type QueueEndStep,
  QueueStore,
  type QueueWorkStep,
  type Time
} from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

/** A message that was queued, with its command. */
export interface Queued {
  readonly command: MessageStore.AcceptSend
  readonly message: Message.Message
}

/** Queues a message, by default to be sent a minute after the start. */
export const queued = (world: Fixture.World, options: MessageFixture.SendOptions = {}): Fixture.Step<Queued> =>
  Effect.gen(function*() {
    const { accepted, command } = yield* MessageFixture.accept(world, {
      later: { sendAt: world.start + Fixture.minute },
      ...options
    })
    if (accepted._tag !== "Queued") {
      return assert.fail(`expected a queued message, got ${MessageFixture.describe(accepted)}`)
    }
    return { command, message: yield* MessageFixture.messageOf(command) }
  })

/** One piece of work; `undefined` if no number has anything due. */
export const work = (now: Time.Instant, limits: Limits.Limits = Fixture.roomy, limit = 500) =>
  Effect.map(QueueStore.QueueStore.use((store) => store.work({ now, limit, limits })), Option.getOrUndefined)

/** Works until no number has anything due at this time. Returns what was handed out for the world's number. */
export const workAll = (
  world: Fixture.World,
  now: Time.Instant,
  limits?: Limits.Limits
): Fixture.Step<ReadonlyArray<QueueWorkStep.WorkResult>> =>
  Effect.gen(function*() {
    const all: Array<QueueWorkStep.WorkResult> = []
    for (let pieces = 0;; pieces++) {
      assert.isBelow(pieces, 500, "work never ends")
      const worked = yield* work(now, limits)
      if (worked === undefined) return all
      if (worked.phoneNumberId === world.number.id) all.push(worked)
    }
  })

/** The queued messages of the world's number that are due at this time. */
export const due = (world: Fixture.World, now: Time.Instant): Fixture.Step<ReadonlyArray<QueueWorkStep.Claimed>> =>
  Effect.map(workAll(world, now), (all) => all.flatMap(({ claimed }) => claimed))

/** The command to accept a message that was handed out. */
export const sendOf = (
  world: Fixture.World,
  { message, request }: Pick<QueueWorkStep.Queued, "message" | "request">,
  now: Time.Instant
) =>
  Effect.map(
    MessageFixture.sendCommand(world, { now, apiKeyId: null, queue: { campaignId: null }, message: message.content }),
    (command): MessageStore.AcceptSend => ({ ...command, request })
  )

/** Accepts a message that was handed out. */
export const accept = (
  world: Fixture.World,
  queued: Pick<QueueWorkStep.Queued, "message" | "request">,
  now: Time.Instant
) =>
  Effect.gen(function*() {
    const command = yield* sendOf(world, queued, now)
    const accepted = yield* MessageStore.MessageStore.use((store) => store.accept(command))
    return { command: { ...command, messageId: queued.message.id }, accepted }
  })

/** Accepts a message that was handed out, which must be claimed. */
export const claim = (
  world: Fixture.World,
  queued: Pick<QueueWorkStep.Queued, "message" | "request">,
  now: Time.Instant
): Fixture.Step<MessageFixture.Claim> =>
  Effect.map(accept(world, queued, now), ({ accepted, command }) => {
    if (accepted._tag !== "Claimed") return assert.fail(`expected a claim, got ${MessageFixture.describe(accepted)}`)
    return { accepted, command: { ...command, claimed: accepted.message } }
  })

/** Records the outcome of a message that was handed out. */
export const ended = (
  { message: { id: messageId, phoneNumberId } }: Pick<Queued, "message">,
  now: Time.Instant,
  end: QueueEndStep.QueueEnd
) =>
  Effect.gen(function*() {
    const ids = yield* Fixture.eventIds
    yield* QueueStore.QueueStore.use((store) => store.end({ now, messageId, phoneNumberId, end, ids }))
  })

/** Cancels a message. */
export const cancel = ({ message: { id: messageId, workspaceId } }: Pick<Queued, "message">, now: Time.Instant) =>
  MessageStore.MessageStore.use((store) =>
    store.cancel({ now, workspaceId, messageId, boundTo: null, enqueued: MessageFixture.enqueued })
  )
