/**
 * Bugs that the simulation should find: each is one small change of a port or of an adapter that breaks one promise.
 */
import type { PromiseName } from "@wac/checker"
import {
  type Campaign,
  CampaignStore,
  type ContactStep,
  ContactStore,
  DeliveryStore,
  EventStore,
  Idempotency,
  InboundMessage,
  type Message,
  MessageStore,
  type Ports,
  Provider,
  QueueStore,
  SubscriptionStore,
  WebhookTransport,
  WorkspaceStore
} from "@wac/core"
import { Behaviour } from "@wac/sandbox"
import { Clock, type Context, Effect, Layer, Option, Result } from "effect"
import type * as Simulation from "../src/Simulation.ts"

/** A bug, the promise that it breaks, a seed that finds it, and within how many seeds one does. */
export interface Bug {
  readonly title: string
  /** For one run: it may remember what has happened in it. */
  readonly planted: Simulation.Planted
  readonly breaks: PromiseName
  readonly seed: number
  readonly within: number
}

/** Changes a port, or the transport to receivers. */
const inFront = <I extends Ports.Ports | WebhookTransport.WebhookTransport, Shape extends object>(
  port: Context.Service<I, Shape>,
  change: (right: Shape) => Partial<Shape>
): Simulation.Planted => ({
  inFront: Layer.effect(port, Effect.map(port, (right) => ({ ...right, ...change(right) })))
})

/** Changes how the adapter of the provider sends, in each process. */
const adapter = (
  send: (right: Provider.Provider["Service"]) => Provider.Provider["Service"]["send"]
): Simulation.Planted => ({
  provider: (right) =>
    Layer.effect(
      Provider.Provider,
      Effect.map(Provider.Provider, (found) => ({ ...found, send: send(found) }))
    ).pipe(Layer.provide(right))
})

/** Changes what the adapter of the provider does with a message. */
const provider = (
  send: (right: Provider.Provider["Service"], command: Provider.ProviderSend) => Effect.Effect<Provider.ProviderOutcome>
): Simulation.Planted => adapter((right) => (command) => send(right, command))

/** In milliseconds. */
const days = (count: number): number => count * 24 * 60 * 60 * 1000

export const bugs: ReadonlyArray<Bug> = [
  {
    title: "an adapter that asks the provider again after no answer",
    planted: provider((right, command) =>
      Effect.flatMap(
        right.send(command),
        (outcome) => outcome._tag === "Unknown" ? right.send(command) : Effect.succeed(outcome)
      )
    ),
    breaks: "one-provider-call",
    seed: 1,
    within: 3
  },
  {
    title: "an adapter that takes a throttled message for an accepted one",
    planted: provider((right, command) =>
      Effect.map(
        right.send(command),
        (outcome) =>
          outcome._tag === "NotSent" ? { _tag: "Accepted" as const, providerMessageId: "wamid.none" } : outcome
      )
    ),
    breaks: "sent-was-accepted",
    seed: 1,
    within: 3
  },
  {
    title: "a report that is acknowledged before it is stored",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      applyReport: (command) =>
        Effect.as(Effect.forkDetach(Effect.delay(store.applyReport(command), "1 second")), undefined)
    })),
    breaks: "every-event",
    seed: 14,
    within: 20
  },
  {
    title: "an idempotency key that is forgotten after a second",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) => {
        const key = Idempotency.IdempotencyKey.make(`${command.request.key}-${Math.floor(command.now / 1000)}`)
        return store.accept(command.queue === null ? { ...command, request: { ...command.request, key } } : command)
      }
    })),
    breaks: "one-message-per-key",
    seed: 1,
    within: 3
  },
  {
    title: "a fingerprint that leaves the body out",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) => store.accept({ ...command, request: { ...command.request, fingerprint: "" } })
    })),
    breaks: "other-body-conflicts",
    seed: 1,
    within: 3
  },
  {
    title: "a body that is changed after it was signed",
    planted: inFront(WebhookTransport.WebhookTransport, (transport) => ({
      post: (request) => transport.post({ ...request, body: `${request.body} ` })
    })),
    breaks: "genuine-signature",
    seed: 1,
    within: 3
  },
  {
    title: "an event that is delivered under another id when it is tried again",
    planted: inFront(DeliveryStore.DeliveryStore, (store) => ({
      claimDue: (command) =>
        Effect.map(store.claimDue(command), (claimed) => ({
          ...claimed,
          deliveries: claimed.deliveries.map((one) =>
            one.delivery.attemptCount === 0
              ? one
              : { ...one, event: { ...one.event, id: `${one.event.id.slice(0, -1)}Z` as typeof one.event.id } }
          )
        }))
    })),
    breaks: "event-fixed",
    seed: 1,
    within: 3
  },
  {
    title: "a transport that takes any response for a success",
    planted: inFront(WebhookTransport.WebhookTransport, (transport) => ({
      post: (request) =>
        Effect.map(
          transport.post(request),
          (answer) =>
            answer.outcome === "status" ? { ...answer, outcome: "delivered" as const, statusCode: 200 } : answer
        )
    })),
    breaks: "delivered-at-least-once",
    seed: 1,
    within: 3
  },
  {
    title: "a window that begins when the message arrives",
    planted: inFront(ContactStore.ContactStore, (store) => ({
      recordInbound: (command) => store.recordInbound({ ...command, message: { ...command.message, at: command.now } })
    })),
    breaks: "service-window",
    seed: 20,
    within: 50
  },
  {
    title: "a quota that one more message fits into",
    planted: inFront(WorkspaceStore.WorkspaceStore, (store) => ({
      configure: (id, settings) => {
        const { monthlyQuota } = settings
        return store.configure(id, typeof monthlyQuota === "number" ? { monthlyQuota: monthlyQuota + 1 } : settings)
      }
    })),
    breaks: "quota",
    seed: 19,
    within: 50
  },
  {
    title: "an adapter that names a campaign's message anew when it asks again",
    planted: provider((right, command) =>
      Effect.flatMap(
        right.send(command),
        (outcome) =>
          outcome._tag === "Unknown"
            ? right.send({ ...command, messageId: `${command.messageId.slice(0, -1)}Z` as typeof command.messageId })
            : Effect.succeed(outcome)
      )
    ),
    breaks: "campaign-once",
    seed: 13,
    within: 50
  },
  {
    title: "a campaign's cancellation that is answered and not stored",
    planted: inFront(CampaignStore.CampaignStore, (store) => ({
      change: (command) =>
        command.change._tag === "Cancel"
          ? Effect.map(store.get(command.workspaceId, command.id), Option.map((found) => Result.succeed(found)))
          : store.change(command)
    })),
    breaks: "campaign-stopped",
    seed: 107,
    within: 120
  },
  {
    title: "names that are told together and kept apart",
    planted: inFront(ContactStore.ContactStore, (store) => ({
      recordInbound: (command) => {
        const { customer } = command.message
        if (customer.phone === null) return store.recordInbound(command)
        return store.recordInbound({
          ...command,
          message: { ...command.message, customer: { ...customer, userId: null } }
        })
      }
    })),
    breaks: "opt-out",
    seed: 1,
    within: 3
  },
  {
    title: "a storage that believes the clocks of the processes",
    planted: { judgedBy: "asker" },
    breaks: "not-before-send-at",
    seed: 3,
    within: 20
  },
  {
    title: "a cancellation that is answered and not stored",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      cancel: (command) =>
        Effect.flatMap(
          store.get(command.workspaceId, command.messageId),
          (found) =>
            Option.isSome(found) && found.value.status === "queued"
              ? Effect.succeed(Option.some(Result.succeed({ ...found.value, status: "cancelled" as const })))
              : store.cancel(command)
        )
    })),
    breaks: "cancelled-is-never-sent",
    seed: 6,
    within: 20
  },
  {
    title: "a handler's failure that is taken for its end",
    planted: inFront(SubscriptionStore.SubscriptionStore, (store) => ({
      work: (command) => store.work({ ...command, ended: command.ended.map((end) => ({ ...end, failure: null })) })
    })),
    breaks: "handled-at-least-once",
    seed: 1,
    within: 3
  },
  {
    title: "an event that counts as handled when its handler begins",
    planted: inFront(SubscriptionStore.SubscriptionStore, (store) => ({
      work: (command) =>
        Effect.tap(store.work(command), (worked) =>
          worked._tag === "working" && worked.begun.length > 0
            ? store.work({
              ...command,
              ended: worked.begun.map(({ event }) => ({ eventId: event.id, failure: null })),
              room: 0
            })
            : Effect.void)
    })),
    breaks: "handled-in-order",
    seed: 1,
    within: 3
  },
  {
    title: "an adapter that reports a missing response as not sent",
    planted: provider((right, command) =>
      Effect.map(right.send(command), (outcome) => outcome._tag === "Unknown" ? Behaviour.unavailable() : outcome)
    ),
    breaks: "one-provider-call",
    seed: 3,
    within: 3
  },
  {
    title: "an adapter that returns the provider's id of the previous message",
    planted: adapter((right) => {
      let before: string | undefined
      return (command) =>
        Effect.map(right.send(command), (outcome) => {
          if (outcome._tag !== "Accepted") return outcome
          const providerMessageId = before ?? outcome.providerMessageId
          before = outcome.providerMessageId
          return { ...outcome, providerMessageId }
        })
    }),
    breaks: "sent-was-accepted",
    seed: 1,
    within: 3
  },
  {
    title: "a storage failure that counts as success when a message is queued",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) =>
        command.later === null || command.queue !== null
          ? store.accept(command)
          : Effect.catch(store.accept(command), () =>
            Effect.succeed({
              _tag: "Queued" as const,
              readings: [],
              answer: {
                _tag: "Queued" as const,
                messageId: command.messageId,
                workspaceId: command.request.workspaceId,
                apiKeyId: command.apiKeyId,
                sendAt: command.now
              }
            }))
    })),
    breaks: "every-event",
    seed: 18,
    within: 26
  },
  {
    title: "a refusal of the provider that is returned and not stored",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      settle: (command) => {
        const { end } = command
        return store.settle(
          end._tag === "Refused" ? { ...command, end: { _tag: "NotSent", answer: end.answer } } : command
        )
      }
    })),
    breaks: "one-provider-call",
    seed: 1,
    within: 3
  },
  {
    title: "an unknown outcome that is undone as if nothing had been sent",
    planted: inFront(MessageStore.MessageStore, (store) => {
      const accepted = new Map<string, MessageStore.AcceptSend>()
      return {
        accept: (command) => {
          accepted.set(command.claimToken, command)
          return store.accept(command)
        },
        settle: (command) => {
          const accept = accepted.get(command.claimToken)
          return command.end._tag === "Unknown" && accept !== undefined
            ? Effect.as(store.abandon(accept), true)
            : store.settle(command)
        }
      }
    }),
    breaks: "every-event",
    seed: 2,
    within: 3
  },
  {
    title: "a sweep that ignores silent messages",
    planted: inFront(MessageStore.MessageStore, () => ({
      sweep: () => Effect.succeed({ unknown: 0, failed: 0, forgotten: 0 })
    })),
    breaks: "every-event",
    seed: 3,
    within: 3
  },
  {
    title: "a sweep that stops at the first silent message",
    get planted() {
      // in every process: the message stays where it is
      let isOver = false
      return inFront(MessageStore.MessageStore, (store) => ({
        sweep: (now) =>
          isOver
            ? Effect.succeed({ unknown: 0, failed: 0, forgotten: 0 })
            : Effect.tap(store.sweep(now), ({ unknown }) =>
              Effect.sync(() => {
                isOver = unknown > 0
              }))
      }))
    },
    breaks: "every-send-ends",
    seed: 33,
    within: 40
  },
  {
    title: "a report that is matched by the provider's id alone",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      applyReport: (command) => store.applyReport({ ...command, reference: null })
    })),
    breaks: "every-event",
    seed: 1,
    within: 3
  },
  {
    title: "a failure after which no report counts",
    get planted() {
      const failed = new Set<string>()
      return inFront(MessageStore.MessageStore, (store) => ({
        applyReport: (command) => {
          const id = String(command.reference)
          if (failed.has(id)) return Effect.succeed(undefined)
          if (command.report.status === "failed") failed.add(id)
          return store.applyReport(command)
        }
      }))
    },
    breaks: "every-event",
    seed: 7,
    within: 20
  },
  {
    title: "a report of reading that counts as a report of delivery",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      applyReport: (command) =>
        store.applyReport(
          command.report.status === "read"
            ? { ...command, report: { ...command.report, status: "delivered" } }
            : command
        )
    })),
    breaks: "best-report",
    seed: 1,
    within: 3
  },
  {
    title: "a message that shows its latest report instead of its best one",
    get planted() {
      const last = new Map<string, Message.Message["status"]>()
      return inFront(MessageStore.MessageStore, (store) => ({
        applyReport: (command) => {
          last.set(String(command.reference), command.report.status)
          return store.applyReport(command)
        },
        get: (workspaceId, id) =>
          Effect.map(
            store.get(workspaceId, id),
            Option.map((found) => ({ ...found, status: last.get(id) ?? found.status }))
          )
      }))
    },
    breaks: "best-report",
    seed: 1,
    within: 3
  },
  {
    title: "a message that is read from a copy ten seconds behind",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      get: (workspaceId, id) =>
        Effect.gen(function*() {
          const found = yield* store.get(workspaceId, id)
          const now = yield* Clock.currentTimeMillis
          return Option.map(
            found,
            (message) => message.statusAt > now - 10_000 ? { ...message, status: "sending" as const } : message
          )
        })
    })),
    breaks: "status-never-falls",
    seed: 1,
    within: 3
  },
  {
    title: "a correction that is listed without what it corrects",
    planted: inFront(EventStore.EventStore, (store) => ({
      list: (workspaceId, filter, page) =>
        Effect.map(store.list(workspaceId, filter, page), (found) => ({
          ...found,
          items: found.items.map((event) => ({ ...event, data: { ...event.data, corrects: undefined } as never }))
        }))
    })),
    breaks: "corrections",
    seed: 7,
    within: 20
  },
  {
    title: "a list of events that ends one too early",
    planted: inFront(EventStore.EventStore, (store) => ({
      list: (workspaceId, filter, page) =>
        Effect.map(store.list(workspaceId, filter, page), (found) => ({ ...found, items: found.items.slice(0, -1) }))
    })),
    breaks: "event-fixed",
    seed: 1,
    within: 3
  },
  {
    title: "a sequence that counts the events of all messages",
    planted: inFront(EventStore.EventStore, (store) => ({
      list: (workspaceId, filter, page) =>
        Effect.map(store.list(workspaceId, filter, page), (found) => ({
          ...found,
          items: found.items.map((event, index) => ({
            ...event,
            sequence: index + 1,
            data: { ...event.data, sequence: index + 1 } as never
          }))
        }))
    })),
    breaks: "event-order",
    seed: 1,
    within: 3
  },
  {
    title: "an idempotency key that other processes do not know",
    planted: {
      inFront: Layer.effect(
        MessageStore.MessageStore,
        Effect.gen(function*() {
          const store = yield* MessageStore.MessageStore
          const begun = yield* Clock.currentTimeMillis
          return {
            ...store,
            accept: (command) => {
              const key = Idempotency.IdempotencyKey.make(`${command.request.key}-${begun}`)
              return store.accept(
                command.queue === null ? { ...command, request: { ...command.request, key } } : command
              )
            }
          }
        })
      )
    },
    breaks: "one-message-per-key",
    seed: 1,
    within: 3
  },
  {
    title: "an idempotency key that is cut after six characters",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) => {
        const key = Idempotency.IdempotencyKey.make(command.request.key.slice(0, 6))
        return store.accept(command.queue === null ? { ...command, request: { ...command.request, key } } : command)
      }
    })),
    breaks: "conflict-has-another-body",
    seed: 1,
    within: 3
  },
  {
    title: "a fingerprint that includes the time",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) =>
        store.accept({
          ...command,
          request: { ...command.request, fingerprint: `${command.request.fingerprint} ${command.now}` }
        })
    })),
    breaks: "conflict-has-another-body",
    seed: 1,
    within: 3
  },
  {
    title: "a repetition that returns the provider's id of another message",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) =>
        Effect.map(store.accept(command), (accepted) =>
          accepted._tag === "Answered" && accepted.answer._tag === "Sent"
            ? { ...accepted, answer: { ...accepted.answer, providerMessageId: "wamid.1" } }
            : accepted)
    })),
    breaks: "same-answer",
    seed: 2,
    within: 3
  },
  {
    title: "a send_at that is read an hour too early",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) =>
        store.accept(
          command.later === null
            ? command
            : { ...command, later: { ...command.later, sendAt: command.later.sendAt! - 3_600_000 } }
        )
    })),
    breaks: "not-before-send-at",
    seed: 1,
    within: 3
  },
  {
    title: "a send_until that is read a day too late",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) =>
        store.accept(
          command.later?.sendUntil === undefined
            ? command
            : { ...command, later: { ...command.later, sendUntil: command.later.sendUntil + days(1) } }
        )
    })),
    breaks: "not-after-send-until",
    seed: 92,
    within: 100
  },
  {
    title: "a campaign whose end is read a day too late",
    planted: inFront(CampaignStore.CampaignStore, (store) => ({
      create: (campaign) =>
        store.create(campaign.notAfter === null ? campaign : { ...campaign, notAfter: campaign.notAfter + days(1) })
    })),
    breaks: "not-after-send-until",
    seed: 35,
    within: 40
  },
  {
    title: "a cancellation that does not check whether the message was sent",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      cancel: (command) =>
        Effect.flatMap(
          store.cancel(command),
          (cancelled) =>
            Option.isSome(cancelled) && Result.isFailure(cancelled.value)
              ? Effect.map(
                store.get(command.workspaceId, command.messageId),
                Option.map((found) => Result.succeed({ ...found, status: "cancelled" as const }))
              )
              : Effect.succeed(cancelled)
        )
    })),
    breaks: "cancelled-is-never-sent",
    seed: 4,
    within: 20
  },
  {
    title: "a refused message that leaves the queue without its event",
    planted: inFront(QueueStore.QueueStore, (store) => ({
      end: (command) => store.end(command.end._tag === "Failed" ? { ...command, end: { _tag: "Done" } } : command)
    })),
    breaks: "every-event",
    seed: 1,
    within: 3
  },
  {
    title: "a campaign's message that is not tried a second time",
    planted: inFront(QueueStore.QueueStore, (store) => ({
      end: (command) =>
        store.end(
          command.end._tag === "Again" && command.phoneNumberId === null
            ? { ...command, end: { _tag: "Done" } }
            : command
        )
    })),
    breaks: "campaign-completed",
    seed: 22,
    within: 22
  },
  {
    title: "a campaign's counts that stay as they were when it ended",
    get planted() {
      const ended = new Map<string, Campaign.Campaign["counts"]>()
      return inFront(CampaignStore.CampaignStore, (store) => ({
        get: (workspaceId, id) =>
          Effect.map(
            store.get(workspaceId, id),
            Option.map((campaign) => {
              const counts = ended.get(id) ?? campaign.counts
              if (campaign.completedAt !== null) ended.set(id, counts)
              return { ...campaign, counts }
            })
          )
      }))
    },
    breaks: "campaign-counts",
    seed: 7,
    within: 9
  },
  {
    title: "an upload of recipients that loses its last row",
    planted: inFront(CampaignStore.CampaignStore, (store) => ({
      addRows: (command) => store.addRows({ ...command, rows: command.rows.slice(0, -1) })
    })),
    breaks: "campaign-counts",
    seed: 4,
    within: 6
  },
  {
    title: "a delivery whose claim lasts for days",
    planted: inFront(DeliveryStore.DeliveryStore, (store) => ({
      claimDue: (command) => store.claimDue({ ...command, leaseUntil: command.leaseUntil + days(2) })
    })),
    breaks: "delivered-at-least-once",
    seed: 2,
    within: 6
  },
  {
    title: "a delivery that is not tried a third time",
    planted: inFront(DeliveryStore.DeliveryStore, (store) => ({
      claimDue: (command) =>
        Effect.map(store.claimDue(command), (claimed) => ({
          ...claimed,
          deliveries: claimed.deliveries.filter(({ delivery }) => delivery.attemptCount < 2)
        }))
    })),
    breaks: "delivered-at-least-once",
    seed: 1,
    within: 3
  },
  {
    title: "a first attempt that is dated a day too early",
    planted: inFront(DeliveryStore.DeliveryStore, (store) => ({
      complete: (command) =>
        store.complete(
          command.attempt.outcome === "delivered" || command.attempt.number > 1
            ? command
            : { ...command, attempt: { ...command.attempt, startedAt: command.attempt.startedAt - days(1) } }
        )
    })),
    breaks: "retried-for-a-day",
    seed: 1,
    within: 3
  },
  {
    title: "a transport that does not wait for the receiver's response",
    planted: inFront(WebhookTransport.WebhookTransport, (transport) => ({
      post: (request) =>
        Effect.as(Effect.forkDetach(transport.post(request)), {
          outcome: "delivered" as const,
          statusCode: 200,
          message: "",
          address: null,
          timings: null,
          response: null,
          retryAfter: null
        })
    })),
    breaks: "delivered-in-order",
    seed: 3,
    within: 3
  },
  {
    title: "a body that contains the time of its attempt",
    planted: inFront(DeliveryStore.DeliveryStore, (store) => ({
      claimDue: (command) =>
        Effect.map(store.claimDue(command), (claimed) => ({
          ...claimed,
          deliveries: claimed.deliveries.map((one) => ({ ...one, event: { ...one.event, createdAt: one.at } }))
        }))
    })),
    breaks: "event-fixed",
    seed: 1,
    within: 3
  },
  {
    title: "a transport that sends the headers of the previous request",
    planted: inFront(WebhookTransport.WebhookTransport, (transport) => {
      let before: WebhookTransport.WebhookRequest["headers"] | undefined
      return {
        post: (request) => {
          const headers = before ?? request.headers
          before = request.headers
          return transport.post({ ...request, headers })
        }
      }
    }),
    breaks: "genuine-signature",
    seed: 1,
    within: 3
  },
  {
    title: "a subscription that starts again with each process",
    planted: inFront(SubscriptionStore.SubscriptionStore, (store) => ({
      open: (command) => Effect.andThen(store.remove(command), store.open(command))
    })),
    breaks: "handled-at-least-once",
    seed: 1,
    within: 3
  },
  {
    title: "a subscription that skips failures of messages",
    planted: inFront(SubscriptionStore.SubscriptionStore, (store) => ({
      open: (command) => store.open({ ...command, types: command.types.filter((type) => type !== "message.failed") })
    })),
    breaks: "handled-at-least-once",
    seed: 1,
    within: 3
  },
  {
    title: "a handler that is told that every attempt is the first",
    planted: inFront(SubscriptionStore.SubscriptionStore, (store) => ({
      work: (command) =>
        Effect.map(store.work(command), (worked) =>
          worked._tag === "working"
            ? { ...worked, begun: worked.begun.map((begun) => ({ ...begun, attempt: 1 })) }
            : worked)
    })),
    breaks: "repetition-is-told",
    seed: 1,
    within: 3
  },
  {
    title: "a STOP that is recorded as any other text",
    planted: inFront(ContactStore.ContactStore, (store) => ({
      recordInbound: (command) =>
        store.recordInbound({
          ...command,
          message: InboundMessage.ofText({ ...command.message, body: "anything" })
        })
    })),
    breaks: "opt-out",
    seed: 2,
    within: 3
  },
  {
    title: "an opt-out that is returned and not stored",
    planted: inFront(ContactStore.ContactStore, (store) => ({
      choose: (command) =>
        command.preference === "opt_out"
          ? Effect.succeed({
            _tag: "Chosen" as const,
            optOut: { at: command.now, source: command.source },
            isNew: true
          })
          : store.choose(command)
    })),
    breaks: "opt-out",
    seed: 1,
    within: 3
  },
  {
    title: "an opt-out that is forgotten when names join",
    planted: inFront(ContactStore.ContactStore, (store) => ({
      recordInbound: (command) => {
        const { customer, at, providerNumberId } = command.message
        const { hashes, now } = command
        return customer.phone === null || customer.userId === null
          ? store.recordInbound(command)
          : Effect.tap(
            store.recordInbound(command),
            () =>
              store.setPreference({
                now,
                hashes,
                providerNumberId,
                customer,
                preference: "opt_in",
                at: Math.max(at, now)
              })
          )
      }
    })),
    breaks: "opt-out",
    seed: 2,
    within: 3
  },
  {
    title: "a customer's message that is recorded for the previous customer",
    planted: inFront(ContactStore.ContactStore, (store) => {
      let before: ContactStep.RecordInbound["message"]["customer"] | undefined
      return {
        recordInbound: (command) => {
          const customer = before ?? command.message.customer
          before = command.message.customer
          return store.recordInbound({ ...command, message: { ...command.message, customer } })
        }
      }
    }),
    breaks: "opt-out",
    seed: 14,
    within: 20
  },
  {
    title: "a customer's message that is acknowledged and not stored",
    planted: inFront(ContactStore.ContactStore, (store) => ({
      recordInbound: (command) => Effect.catch(store.recordInbound(command), () => Effect.succeed("recorded" as const))
    })),
    breaks: "received-once",
    seed: 2,
    within: 3
  },
  {
    title: "a customer's message that gets another event when it is posted again",
    planted: {
      inFront: Layer.merge(
        Layer.effect(
          ContactStore.ContactStore,
          Effect.map(ContactStore.ContactStore, (store) => ({
            ...store,
            recordInbound: (command) => {
              const providerMessageId = `${command.message.providerMessageId} ${command.messageId}`
              return store.recordInbound({ ...command, message: { ...command.message, providerMessageId } })
            }
          }))
        ),
        Layer.effect(
          EventStore.EventStore,
          Effect.map(EventStore.EventStore, (store) => ({
            ...store,
            list: (workspaceId, filter, page) =>
              Effect.map(store.list(workspaceId, filter, page), (found) => ({
                ...found,
                items: found.items.map((event) => {
                  const [id] = String((event.data as Readonly<Record<string, unknown>>)["provider_message_id"]).split(
                    " "
                  )
                  return { ...event, data: { ...event.data, provider_message_id: id } as never }
                })
              }))
          }))
        )
      )
    },
    breaks: "received-once",
    seed: 2,
    within: 6
  },
  {
    title: "a scheduler that skips events without an order",
    planted: inFront(DeliveryStore.DeliveryStore, (store) => ({
      claimDue: (command) =>
        Effect.map(store.claimDue(command), (claimed) => ({
          ...claimed,
          deliveries: claimed.deliveries.filter(({ event }) => event.orderKey !== null)
        }))
    })),
    breaks: "delivered-at-least-once",
    seed: 1,
    within: 3
  },
  {
    title: "an adapter that sends to the recipient of the previous message",
    planted: adapter((right) => {
      let before: string | undefined
      return (command) => {
        const to = before ?? command.message.to
        before = command.message.to
        return right.send({ ...command, message: { ...command.message, to } })
      }
    }),
    breaks: "opt-out",
    seed: 9,
    within: 9
  },
  {
    title: "a repetition of a queued send that returns another send_at",
    planted: inFront(MessageStore.MessageStore, (store) => ({
      accept: (command) =>
        Effect.map(
          store.accept(command),
          (accepted) =>
            accepted._tag === "Answered" && accepted.answer._tag === "Queued"
              ? { ...accepted, answer: { ...accepted.answer, sendAt: command.now } }
              : accepted
        )
    })),
    breaks: "same-answer",
    seed: 1,
    within: 3
  },
  {
    title: "a fingerprint that a process remembers from the first request",
    planted: inFront(MessageStore.MessageStore, (store) => {
      const first = new Map<string, string>()
      return {
        accept: (command) => {
          const { fingerprint: own, key } = command.request
          const fingerprint = first.get(key) ?? own
          first.set(key, fingerprint)
          return store.accept({ ...command, request: { ...command.request, fingerprint } })
        }
      }
    }),
    breaks: "other-body-conflicts",
    seed: 3,
    within: 3
  }
]
