/**
 * A program that sends, for `Campaign` and `Queue`: by a timetable or by concurrent callers, at each server in turn. In a process
 * of its own, so that no other work delays what it measures.
 */
import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { request } from "undici"
import * as Child from "./Child.ts"
import { headersOf, path, type Target } from "./Workload.ts"

export interface Options {
  readonly targets: ReadonlyArray<Target>
  /** The body of each send has this with a number instead of `{n}`, which grows by one. */
  readonly body: string
  /** The first number. */
  readonly first: number
}

/** How it sends, for how long. The timetable waits for nobody; a caller waits for its response before its next send. */
export type Question =
  & ({ readonly perSecond: number } | { readonly callers: number })
  & { readonly seconds: number }

export interface Sent {
  /** How long each send took, in milliseconds. */
  readonly took: ReadonlyArray<number>
  /** How many times a send was repeated because the service or the number was overloaded. */
  readonly repeated: number
  /** How many of these times it was the number (429). */
  readonly limited: number
}

Child.serve<Options, Question>(({ body, first, targets }) => {
  let next = first
  let repeated = 0
  let limited = 0

  const send = async (): Promise<number> => {
    const n = next++
    const target = targets[n % targets.length]!
    const options = {
      method: "POST",
      headers: headersOf(target, randomUUID()),
      body: body.replace("{n}", String(n))
    } as const
    const from = performance.now()
    for (;; repeated++) {
      const response = await request(target.url + path, options)
      const text = await response.body.text()
      if (response.statusCode === 200) return performance.now() - from
      // 429: a fast machine lets the callers exceed what the number may send in a second
      if (response.statusCode !== 503 && response.statusCode !== 429) {
        throw new Error(`answered with ${response.statusCode} ${text}`)
      }
      if (response.statusCode === 429) limited++
      await setTimeout(1000 * Number(response.headers["retry-after"]))
    }
  }

  const byTimetable = async (perSecond: number, seconds: number) => {
    const begun = performance.now()
    const going: Array<Promise<number>> = []
    for (let n = 0; n < perSecond * seconds; n++) {
      const early = begun + n * 1000 / perSecond - performance.now()
      if (early > 0) await setTimeout(early)
      going.push(send())
    }
    return Promise.all(going)
  }

  const byCallers = async (callers: number, seconds: number) => {
    const end = performance.now() + seconds * 1000
    const caller = async () => {
      const took: Array<number> = []
      while (performance.now() < end) took.push(await send())
      return took
    }
    return (await Promise.all(Array.from({ length: callers }, caller))).flat()
  }

  return Promise.resolve({
    ready: null,
    answer: async (question): Promise<Sent> => {
      const before = { repeated, limited }
      const took = await ("callers" in question
        ? byCallers(question.callers, question.seconds)
        : byTimetable(question.perSecond, question.seconds))
      return { took, repeated: repeated - before.repeated, limited: limited - before.limited }
    }
  })
})
