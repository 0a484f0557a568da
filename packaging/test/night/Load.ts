/**
 * Callers who send steadily, each message with its own key and recipient, repeat it at the next process upon every
 * answer that leaves its outcome open, and keep a record.
 */
import { Effect, Fiber, Scope } from "effect"
import { isUnanswered, post, steadily, target } from "../../../apps/server/test/balancer.ts"

/** What a caller knows of a send. */
export interface Send {
  readonly key: string
  readonly to: string
  /** The step of the night in which it began. */
  readonly step: string
  /** What each try returned: a status and a reason, or the code of a lost connection. */
  readonly tries: Array<string>
  /** Once it was accepted. */
  messageId?: string
  /** A time at which its record went with a restored database. */
  isUndone?: boolean
}

const millis = (time: number) => new Promise((resolve) => setTimeout(resolve, time))

/** How long a caller waits before it repeats, unless it is told. */
const pause = 250

const reasonOf = (text: string): string => {
  try {
    return JSON.parse(text).error.reason
  } catch {
    return text.slice(0, 40)
  }
}

/** Begins to send so many a second. */
export const start = async (urls: ReadonlyArray<string>, apiKey: string, perSecond: number) => {
  const scope = Scope.makeUnsafe()
  const targets = await Effect.runPromise(
    Scope.provide(Effect.forEach(urls, (url) => target({ url })), scope)
  )
  const sends: Array<Send> = []
  const callers = new Set<Promise<void>>()
  let step = "start"
  const end = new AbortController()

  const carry = async (send: Send, number: number): Promise<void> => {
    const body = { to: send.to, type: "template", template: { name: "hello_world", language: "en_US" } }
    for (let tries = 0; !end.signal.aborted; tries++) {
      const outcome = await post(targets[(number + tries) % targets.length]!, apiKey, send.key, body)
      if (isUnanswered(outcome)) {
        send.tries.push(outcome.code)
        await millis(pause)
      } else {
        const { retryAfter, status, text } = outcome
        send.tries.push(status === 200 ? "200" : `${status} ${reasonOf(text)}`)
        if (status === 200) {
          send.messageId = JSON.parse(text).message_id
          return
        }
        await millis(retryAfter === undefined ? pause : retryAfter * 1000)
      }
    }
  }
  const begin = (number: number): void => {
    const send: Send = {
      key: crypto.randomUUID(),
      to: `+1303${String(number).padStart(7, "0")}`,
      step,
      tries: []
    }
    sends.push(send)
    const caller = carry(send, number).finally(() => callers.delete(caller))
    callers.add(caller)
  }
  let beginning: Fiber.Fiber<never> | undefined
  const resume = () => {
    beginning = Effect.runFork(steadily(perSecond, () => begin(sends.length)))
  }
  const halt = async () => {
    if (beginning !== undefined) await Effect.runPromise(Fiber.interrupt(beginning))
    beginning = undefined
  }
  resume()
  return {
    sends,
    /** What begins from now on belongs to this step. */
    enter: (name: string) => void (step = name),
    /** How many are without an outcome. */
    open: () => callers.size,
    /** Begins nothing more, and waits for at most so long until those that were begun have an outcome. */
    rest: async (patience: number): Promise<void> => {
      await halt()
      await Promise.race([Promise.all(callers), millis(patience)])
    },
    resume,
    /** Ends for good. */
    close: async (): Promise<void> => {
      await halt()
      end.abort()
      await Promise.all(callers)
      for (const { agent } of targets) agent.destroy()
    }
  }
}
