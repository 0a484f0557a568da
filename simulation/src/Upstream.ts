/**
 * The provider of a simulated world. It records every call that it gets, whatever becomes of the caller, and reports
 * what becomes of the messages that it accepted: in any order, and more than once.
 */
import { Errors, type InboundItem, Provider } from "@wac/core"
import { Behaviour, SandboxProvider } from "@wac/sandbox"
import { Effect, Layer } from "effect"
import type { Chance } from "./Chance.ts"
import { customers } from "./Plan.ts"
import type { Lane } from "./Timeline.ts"
import type { World } from "./World.ts"

type Status = "sent" | "delivered" | "read" | "failed"

/** Applies an item in one of the processes. False if it was not acknowledged. */
export type Report = (item: InboundItem.InboundItem, chance: Chance) => Effect.Effect<boolean>

/** What becomes of a call. */
const fates = {
  /** Accepted, with the answer. */
  accepted: 24,
  /** Accepted, and the answer is lost. */
  acceptedSilently: 4,
  /** Not accepted, and there is no answer. */
  lost: 2,
  /** The adapter fails. */
  broken: 1,
  refused: 2,
  throttled: 3,
  unavailable: 2
}

/** What becomes of an accepted message, in the order of what happens to it. */
const lives = {
  "delivered read": 6,
  "sent delivered read": 3,
  "sent delivered": 2,
  "delivered": 2,
  "sent": 1,
  "failed": 1,
  "failed delivered": 1,
  "": 1
}

const failure = {
  code: "invalid_body" as const,
  reason: "undeliverable" as const,
  message: "the recipient cannot be reached",
  provider: { code: "131026", message: "Message undeliverable" }
}

/** The provider, of which each process has an adapter. */
export const make = (world: World, report: Report) => {
  const { now } = world.timeline
  let calls = 0

  const tell = Effect.fnUntraced(function*(
    { messageId, sender }: Provider.ProviderSend,
    chance: Chance,
    providerMessageId: string,
    status: Status,
    at: number,
    after: number
  ) {
    yield* Effect.sleep(after)
    const begun = now()
    const item: InboundItem.InboundItem = {
      _tag: "Status",
      providerNumberId: sender.providerNumberId,
      reference: messageId,
      report: { status, at, providerMessageId, error: status === "failed" ? failure : null }
    }
    while (!(yield* report(item, chance))) yield* Effect.sleep(chance.between(500, 5000))
    world.record({ kind: "report", process: "provider", message_id: messageId, status, begun, ended: now() })
  })

  const live = (command: Provider.ProviderSend, chance: Chance, providerMessageId: string) => {
    const statuses = chance.weighted(lives).split(" ").filter((status) => status !== "") as ReadonlyArray<Status>
    const told = statuses.flatMap((status, index) => {
      const at = now() + index * 10
      return chance.oneIn(4) ? [{ status, at }, { status, at }] : [{ status, at }]
    })
    const isOrderly = chance.oneIn(2)
    for (const [index, { at, status }] of told.entries()) {
      const after = isOrderly ? 100 + index * 1000 : chance.between(1, 8000)
      world.fork(tell(command, chance, providerMessageId, status, at, after))
    }
  }

  const call = (command: Provider.ProviderSend, isAbandoned: () => boolean) =>
    Effect.gen(function*() {
      const begun = now()
      const { message, sender, template } = command
      const campaign = message.type === "template" ? String(message.template.bodyParams ?? "") : ""
      const chance = world.nextChance(`provider, ${message.clientReference ?? `${campaign} to ${message.to}`}`)
      yield* Effect.sleep(chance.between(5, 400))
      const fate = world.isFaultActive("provider") ? chance.weighted(fates) : "accepted"
      const isAccepted = fate === "accepted" || fate === "acceptedSilently"
      const providerMessageId = `wamid.${++calls}`
      // what is not learned may as well have been sent
      const outcome = isAccepted
        ? "accepted"
        : isAbandoned() || fate === "lost" || fate === "broken"
        ? "unknown"
        : fate === "refused"
        ? "refused"
        : "not_sent"
      world.record({
        kind: "provider_call",
        process: "provider",
        message_id: command.messageId,
        outcome,
        ...(isAccepted ? { provider_message_id: providerMessageId } : {}),
        workspace: sender.workspaceId,
        from: sender.providerNumberId,
        to: message.to,
        type: message.type,
        ...(template === undefined ? {} : { category: template.category }),
        ...(world.campaignIds.has(campaign) ? { campaign: world.campaignIds.get(campaign)! } : {}),
        begun,
        ended: now()
      })
      const names = customers.find((both) => both.includes(message.to))
      const isTold = fate === "accepted" && names !== undefined && chance.oneIn(6)
      // the service need not learn names from an answer, since reports and messages repeat them
      if (isTold) world.record({ kind: "customer", process: "provider", names, begun: now(), ended: null })
      if (isAccepted) live(command, chance, providerMessageId)
      switch (fate) {
        case "accepted":
          return {
            _tag: "Accepted",
            providerMessageId,
            ...(isTold ? { recipient: { phone: names[0], userId: names[1] } } : {})
          } satisfies Provider.ProviderOutcome
        case "acceptedSilently":
        case "lost":
          return { _tag: "Unknown" } satisfies Provider.ProviderOutcome
        case "broken":
          return null
        case "refused":
          return {
            _tag: "Refused",
            error: new Errors.InvalidBody({ ...failure, param: "to" })
          } satisfies Provider.ProviderOutcome
        default:
          return fate === "throttled" ? Behaviour.throttled() : Behaviour.unavailable()
      }
    })

  return {
    /** The adapter of a process. */
    layer: (process: Lane) =>
      Layer.effect(
        Provider.Provider,
        Effect.map(Provider.Provider, (sandbox): Provider.Provider["Service"] => ({
          ...sandbox,
          name: "simulated",
          send: (command) =>
            Effect.flatMap(
              world.runFor(process, (isAbandoned) => call(command, isAbandoned)),
              (outcome) => outcome === null ? Effect.die("the adapter is broken") : Effect.succeed(outcome)
            )
        }))
      ).pipe(Layer.provide(SandboxProvider.layer))
  }
}
