/**
 * Bugs that the simulation should find: each is one small change of a port or of an adapter that breaks one promise.
 */
import type { PromiseName } from "@wac/checker"
import {
  CampaignStore,
  ContactStore,
  DeliveryStore,
  Idempotency,
  MessageStore,
  type Ports,
  Provider,
  SubscriptionStore,
  WebhookTransport,
  WorkspaceStore
} from "@wac/core"
import { type Context, Effect, Layer, Option, Result } from "effect"
import type * as Simulation from "../src/Simulation.ts"

/** A bug, the promise that it breaks, a seed that finds it, and within how many seeds one does. */
export interface Bug {
  readonly title: string
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

/** Changes what the adapter of the provider does with a message. */
const provider = (
  send: (right: Provider.Provider["Service"], command: Provider.ProviderSend) => Effect.Effect<Provider.ProviderOutcome>
): Simulation.Planted => ({
  provider: (right) =>
    Layer.effect(
      Provider.Provider,
      Effect.map(Provider.Provider, (found) => ({
        ...found,
        send: (command: Provider.ProviderSend) => send(found, command)
      }))
    ).pipe(Layer.provide(right))
})

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
    seed: 14,
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
    seed: 3,
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
    seed: 69,
    within: 100
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
    seed: 3,
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
  }
]
