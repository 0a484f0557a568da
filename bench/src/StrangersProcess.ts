/**
 * A child process that opens many connections without an API key. Each sends its next request as soon as it has the
 * response.
 */
import { Agent, request } from "node:http"
import * as Child from "./Child.ts"

/** The requests to send. */
export interface Question {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly connections: number
  readonly seconds: number
  /** Whether each request carries a forwarded client address of its own, like those of a trusted proxy. */
  readonly spread: boolean
}

/** The number of responses by status, and of connections without one. */
export type Told = { readonly [status: string]: number }

Child.serve<{ readonly url: string }, Question>(async ({ url }) => ({
  ready: null,
  answer: async ({ body, connections, headers, method, path, seconds, spread }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    const told: { [status: string]: number } = {}
    const count = (outcome: string) => {
      told[outcome] = (told[outcome] ?? 0) + 1
    }
    const until = performance.now() + seconds * 1000
    let asked = 0
    const once = () =>
      new Promise<void>((resolve) => {
        const failed = ({ code = "failed" }: NodeJS.ErrnoException) => {
          count(code)
          resolve()
        }
        const n = asked++
        const own = spread ? { "x-forwarded-for": `203.${n >> 16 & 255}.${n >> 8 & 255}.${n & 255}` } : {}
        request(url + path, { method, agent, headers: { ...headers, ...own } }, (response) => {
          count(`${response.statusCode}`)
          response.resume().on("end", resolve).on("error", failed)
        }).on("error", failed).end(body)
      })
    const caller = async () => {
      do await once()
      while (performance.now() < until)
    }
    await Promise.all(Array.from({ length: connections }, caller))
    agent.destroy()
    return told
  }
}))
