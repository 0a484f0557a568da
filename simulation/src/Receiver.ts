/**
 * The receiver of webhooks in a simulated world. It records every request that it gets, whatever becomes of the caller.
 */
import { WebhookTransport } from "@wac/core"
import { SIGNATURE_HEADER, verify } from "@wac/verifier"
import { Effect, Layer } from "effect"
import type { Lane } from "./Timeline.ts"
import type { World } from "./World.ts"

/** The outcomes of a request, by weight. */
const fates = {
  /** Answered with 200. */
  taken: 14,
  /** Answered with 200, and the answer is lost. */
  takenSilently: 2,
  /** Answered with 500. */
  failed: 3,
  /** Never answered. */
  hanging: 1,
  /** It never arrives. */
  unreachable: 1
}

const refused: WebhookTransport.WebhookAnswer = {
  outcome: "connect",
  statusCode: null,
  message: "the connection was refused",
  address: null,
  timings: null,
  response: null,
  retryAfter: null
}

const answered = (statusCode: number): WebhookTransport.WebhookAnswer => ({
  ...refused,
  outcome: statusCode === 200 ? "delivered" : "status",
  statusCode,
  message: `answered ${statusCode}`,
  response: { headers: {}, body: "" }
})

const timedOut: WebhookTransport.WebhookAnswer = { ...refused, outcome: "timeout", message: "did not answer in time" }

const lost: WebhookTransport.WebhookAnswer = { ...refused, message: "the connection was lost before an answer" }

/** The receiver of a webhook, which every process reaches by a transport. */
export const make = (world: World) => {
  const { now } = world.timeline
  const webhook = { id: "", secret: "" }

  const take = ({ body, headers }: WebhookTransport.WebhookRequest) =>
    Effect.gen(function*() {
      const { data, type } = JSON.parse(body)
      const chance = world.nextChance(`receiver, ${type} of ${data.client_reference ?? data.campaign_id ?? data.to}`)
      const fate = world.isFaultActive("receiver") ? chance.weighted(fates) : "taken"
      if (fate === "unreachable") return refused
      const begun = now()
      const verified = yield* Effect.promise(() =>
        verify(body, headers[SIGNATURE_HEADER], webhook.secret, { now: Math.floor(now() / 1000) })
      )
      yield* Effect.sleep(chance.between(5, 300))
      const status = fate === "failed" ? 500 : fate === "hanging" ? null : 200
      world.record({
        kind: "attempt",
        process: "receiver",
        webhook: webhook.id,
        event_id: headers["webhook-id"] ?? "",
        body,
        status,
        genuine: verified.ok,
        begun,
        ended: status === null ? null : now()
      })
      if (fate === "hanging") yield* Effect.sleep("10 seconds")
      if (fate === "takenSilently") return lost
      return status === null ? timedOut : answered(status)
    })

  return {
    /** Sets the id and the secret of the webhook whose requests the receiver gets. */
    setWebhook: (id: string, secret: string): void => {
      webhook.id = id
      webhook.secret = secret
    },
    /** The transport of a process. */
    layer: (process: Lane): Layer.Layer<WebhookTransport.WebhookTransport> =>
      Layer.succeed(WebhookTransport.WebhookTransport, {
        post: (request) =>
          Effect.timeoutOrElse(world.runFor(process, () => take(request)), {
            duration: request.timeout,
            orElse: () => Effect.succeed(timedOut)
          })
      })
  }
}
