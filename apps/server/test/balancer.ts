/**
 * Callers behind a load balancer: they send at a steady rate over connections that they keep, each to one of the
 * processes, and to the next where there is no answer.
 */
import { Effect, type Scope } from "effect"
import { Agent, request } from "node:http"
import type { Listening } from "./processes.ts"

/** Connections that a caller keeps to each process. */
const kept = 32

/** An answer, whole or broken off. */
export interface Answered {
  /** 0 if the answer was broken off. */
  readonly status: number
  readonly replayed: boolean
  /** In seconds. */
  readonly retryAfter: number | undefined
  readonly text: string
}

/** A connection that was refused, or closed without an answer. */
export interface Unanswered {
  readonly code: string
}

export const isUnanswered = (outcome: Answered | Unanswered): outcome is Unanswered => "code" in outcome

/** What callers must know of a process. */
interface Addressed {
  readonly url: string
}

/** A process as a caller knows it: its address, and the connections to it. */
export interface Target<Process extends Addressed = Listening> {
  readonly process: Process
  readonly agent: Agent
}

/** A target for as long as the scope is open. */
export const target = <Process extends Addressed>(
  process: Process
): Effect.Effect<Target<Process>, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => ({ process, agent: new Agent({ keepAlive: true, maxSockets: kept }) })),
    ({ agent }) => Effect.sync(() => agent.destroy())
  )

/** Asks one process to send. */
export const post = (
  { agent, process }: Target<Addressed>,
  apiKey: string,
  key: string,
  body: unknown
): Promise<Answered | Unanswered> =>
  new Promise((resolve) => {
    const lost = ({ code = "none" }: NodeJS.ErrnoException) => resolve({ code })
    request(`${process.url}/v1/messages`, {
      method: "POST",
      agent,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", "idempotency-key": key }
    }, (response) => {
      let text = ""
      const { "idempotent-replayed": replayed, "retry-after": after } = response.headers
      const answered = (status: number, text: string) =>
        resolve({
          status,
          replayed: replayed === "true",
          retryAfter: after === undefined ? undefined : Number(after),
          text
        })
      // an answer that has begun has to come whole
      response.on("error", () => answered(0, `broken off: ${text}`))
      response.setEncoding("utf8").on("data", (piece: string) => text += piece).on("end", () =>
        answered(response.statusCode!, text))
    }).on("error", lost).end(JSON.stringify(body))
  })

/** Begins one thing after the other at a steady rate, until it is interrupted; `begin` is given the number of each. */
export const steadily = (perSecond: number, begin: (i: number) => void): Effect.Effect<never> =>
  Effect.suspend(() => {
    const from = performance.now()
    let begun = 0
    return Effect.forever(Effect.suspend(() => {
      const due = (performance.now() - from) / 1000 * perSecond
      while (begun < due) begin(begun++)
      return Effect.sleep("5 millis")
    }))
  })
