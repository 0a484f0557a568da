/**
 * Attempts a webhook like careful hand-written code: both signatures with `node:crypto` and prepared keys, undici with
 * keep-alive connections, one deadline for everything, and only 200 counts as success.
 */
import { WebhookScheduler } from "@wac/core"
import { SIGNATURE_HEADER, STANDARD_WEBHOOK_HEADERS } from "@wac/verifier"
import { createHmac, createSecretKey } from "node:crypto"
import { Agent } from "undici"
import * as Time from "./Time.ts"
import type { Job, Webhook } from "./WebhookEvent.ts"

/** The deadline in milliseconds (specification §8). */
const deadline = 5000

/** Connections per origin: as many as concurrent attempts, like our server. */
const connections = WebhookScheduler.maxInFlight.healthy

/** The maximum number of bytes read of a response. */
const maxAnswer = 16 * 1024

/** The outcome; `status` is null if there was no response in time. */
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
      // no response in time
    } finally {
      clearTimeout(timer)
    }
    return { startedAt, durationMs: Time.now() - startedAt, status }
  }
}
