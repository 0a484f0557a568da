/**
 * Callers who send steadily as the contract tells them to: each message has its own key and recipient, and is sent
 * again through the next process until its outcome is known. Every third asks for an answer before it is sent.
 */
import type { Recorder } from "./Recorder.ts"
import type { Server } from "./Server.ts"
import { now, pass } from "./Time.ts"

/** What a caller knows of a send. */
export interface Send {
  readonly key: string
  readonly to: string
  readonly begun: number
  /** The process that the first try went through. */
  readonly first: string
  tries: number
  /** What the last try returned. */
  last: string
  /** How often an answer was marked as replayed. */
  replayed: number
  /** Once it was accepted. */
  messageId?: string
  /** Once it was refused for good. */
  isRefused?: boolean
}

/** How long a caller waits for an answer, in milliseconds. */
const patience = 20_000

/** How long a caller waits before it sends again, unless it is told, in milliseconds. */
const pause = 500

const field = (text: string, of: (body: ReturnType<typeof JSON.parse>) => unknown): string | undefined => {
  try {
    const found = of(JSON.parse(text))
    return typeof found === "string" ? found : undefined
  } catch {
    return undefined
  }
}

/** Begins to send so many a second; further ones can be sent beside them. */
export const start = (servers: ReadonlyArray<Server>, apiKey: string, perSecond: number, { add }: Recorder) => {
  const sends: Array<Send> = []
  const callers = new Set<Promise<void>>()
  const end = new AbortController()

  const attempt = async (send: Send, server: Server, isQueued: boolean): Promise<number> => {
    const body = { to: send.to, type: "template", template: { name: "hello_world", language: "en_US" } }
    const entry = {
      kind: "send",
      workspace: "first",
      key: send.key,
      body,
      ...(isQueued ? { respond_async: true } : {}),
      process: server.name,
      begun: now()
    } as const
    send.tries++
    try {
      const response = await fetch(`${server.url}/v1/messages`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${apiKey}`,
          "content-type": "application/json",
          "idempotency-key": send.key,
          ...(isQueued ? { prefer: "respond-async" } : {})
        },
        body: JSON.stringify(body),
        signal: AbortSignal.any([end.signal, AbortSignal.timeout(patience)])
      })
      const answer = await response.text()
      const { status } = response
      const replayed = response.headers.get("idempotent-replayed") === "true"
      add({ ...entry, ended: now(), status, answer, replayed })
      const reason = field(answer, ({ error }) => error.reason)
      send.last = reason === undefined ? `${status}` : `${status} ${reason}`
      if (replayed) send.replayed++
      if (status === 200 || status === 202) {
        const messageId = field(answer, (body) => body.message_id)
        if (messageId !== undefined) send.messageId = messageId
      } else if ((status < 500 && status !== 429) || reason === "delivery_unknown") send.isRefused = true
      const after = Number(response.headers.get("retry-after"))
      return after > 0 ? after * 1000 : pause
    } catch (error) {
      add({ ...entry, ended: null, status: null, answer: null, replayed: false })
      send.last = error instanceof Error ? error.name : "no answer"
      return pause
    }
  }
  const carry = async (send: Send, number: number): Promise<void> => {
    while (!end.signal.aborted && send.messageId === undefined && send.isRefused !== true) {
      const wait = await attempt(send, servers[(number + send.tries) % servers.length]!, number % 3 === 0)
      if (send.messageId === undefined) await pass(wait)
    }
  }
  const begin = (): void => {
    const number = sends.length
    const send: Send = {
      key: crypto.randomUUID(),
      to: `+1303${String(number).padStart(7, "0")}`,
      begun: now(),
      first: servers[number % servers.length]!.name,
      tries: 0,
      last: "",
      replayed: 0
    }
    sends.push(send)
    const caller = carry(send, number).finally(() => callers.delete(caller))
    callers.add(caller)
  }
  let rate = perSecond
  let timer: NodeJS.Timeout | undefined
  const from = { at: performance.now(), begun: 0 }
  timer = setInterval(() => {
    const now = performance.now()
    const due = (now - from.at) / 1000 * rate
    for (; from.begun < due; from.begun++) begin()
  }, 20)

  const halt = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    sends,
    /** Sends so many a second from now on. */
    pace: (perSecond: number): void => {
      rate = perSecond
      from.at = performance.now()
      from.begun = 0
    },
    /** Its usual rate. */
    usual: perSecond,
    /** Begins nothing more. */
    halt,
    /** Ends for good. */
    close: async (): Promise<void> => {
      halt()
      end.abort()
      await Promise.all(callers)
    }
  }
}
