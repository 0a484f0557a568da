/**
 * An attempt at a webhook as one would write it by hand, well: both signatures with `node:crypto` and keys made once,
 * undici with connections kept alive, one deadline over everything, and only 200 counts.
 */
import { WebhookScheduler } from "@wac/core"
import { SIGNATURE_HEADER, STANDARD_WEBHOOK_HEADERS } from "@wac/verifier"
import { createHmac, createSecretKey } from "node:crypto"
import { Agent } from "undici"
import * as Time from "./Time.ts"
import type { Job, Webhook } from "./WebhookEvent.ts"

/** Specification §8. */
const deadline = 5000

/** Connections to one origin: as many as attempts at once, as our server has them. */
const connections = WebhookScheduler.maxInFlight.healthy

/** So much of an answer is read. */
const maxAnswer = 16 * 1024

/** How it ended; `status` is null when there was no answer in time. */
export interface Attempted {
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | null
}

/** Never rejects. */
export type Attempt = (job: Job) => Promise<Attempted>

export const to = (webhooks: ReadonlyArray<Webhook>): Attempt => {
  const agent = new Agent({ connections, allowH2: false })
  const receivers = webhooks.map(({ secret, url }) => {
    const { origin, pathname } = new URL(url)
    return {
      origin,
      pathname,
      ours: createSecretKey(Buffer.from(secret)),
      standard: createSecretKey(Buffer.from(secret.slice("whsec_".length), "base64"))
    }
  })
  return async ({ body, eventId, webhook }) => {
    const { origin, ours, pathname, standard } = receivers[webhook]!
    const startedAt = Time.now()
    const timestamp = Math.floor(startedAt / 1000)
    const abort = new AbortController()
    const timer = setTimeout(() => abort.abort(), deadline)
    let status: number | null = null
    try {
      const answer = await agent.request({
        origin,
        path: pathname,
        method: "POST",
        headers: {
          "content-type": "application/json",
          [SIGNATURE_HEADER]: `t=${timestamp},v1=${
            createHmac("sha256", ours).update(`${timestamp}.${body}`).digest("hex")
          }`,
          [STANDARD_WEBHOOK_HEADERS.id]: eventId,
          [STANDARD_WEBHOOK_HEADERS.timestamp]: `${timestamp}`,
          [STANDARD_WEBHOOK_HEADERS.signature]: `v1,${
            createHmac("sha256", standard).update(`${eventId}.${timestamp}.${body}`).digest("base64")
          }`
        },
        body,
        signal: abort.signal
      })
      await answer.body.dump({ limit: maxAnswer, signal: abort.signal })
      status = answer.statusCode
    } catch {
      // no answer in time
    } finally {
      clearTimeout(timer)
    }
    return { startedAt, durationMs: Time.now() - startedAt, status }
  }
}
