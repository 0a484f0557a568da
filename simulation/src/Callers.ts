/**
 * The callers of the API in a simulated world. What they asked and what they were answered is recorded.
 */
import { DateTime, Duration, Effect, Option } from "effect"
import type { Chance } from "./Chance.ts"
import type { Fleet } from "./Fleet.ts"
import type { Outside } from "./Outside.ts"
import type * as Plan from "./Plan.ts"
import type { Request, Response } from "./Process.ts"

/** How long a caller waits for an answer. */
const patience = Duration.seconds(15)

/** How often a caller sends the same request before it gives up. */
const tries = 12

/** What becomes of a request. */
const ways = { answered: 16, lost: 1, answerLost: 2 }

/** Whom the callers belong to. */
export interface Account {
  readonly workspaceId: string
  readonly token: string
}

/** The callers of one workspace. `began` is when the plan's time begins. */
export const make = (outside: Outside, fleet: Fleet, { token, workspaceId }: Account, began: number) => {
  const { now } = outside.timeline
  /** Every message that an answer named. */
  const messages = new Set<string>()
  /** The message of each send, once its caller knows it. */
  const messageOf = new Map<number, string>()

  /** Sends a request to some process, over a network that may lose it or its answer: `null`. */
  const request = Effect.fnUntraced(function*(asked: Request, chance: Chance): Effect.fn.Return<Response | null> {
    yield* Effect.sleep(chance.between(1, 50))
    const way = outside.isFaulty("callers") ? chance.weighted(ways) : "answered"
    const process = fleet.up(chance)
    if (process === undefined || way === "lost") return null
    const answer = yield* Effect.timeoutOption(
      process.request({ ...asked, headers: { authorization: `Bearer ${token}`, ...asked.headers } }),
      patience
    )
    return way === "answerLost" ? null : Option.getOrNull(answer)
  })

  const ask = Effect.fnUntraced(function*(key: string, body: unknown, chance: Chance) {
    const begun = now()
    const answer = yield* request({
      method: "POST",
      path: "/v1/messages",
      headers: { "idempotency-key": key, "content-type": "application/json" },
      body: JSON.stringify(body)
    }, chance)
    outside.record({
      kind: "send",
      process: "caller",
      workspace: workspaceId,
      key,
      body,
      status: answer?.status ?? null,
      answer: answer?.text ?? null,
      replayed: answer?.isReplayed ?? false,
      begun,
      ended: answer === null ? null : now()
    })
    const isTaken = answer?.status === 200 || answer?.status === 202
    const message = isTaken ? String(JSON.parse(answer.text).message_id) : undefined
    if (message !== undefined) messages.add(message)
    return { message, isFinal: answer !== null && answer.status < 500 && answer.status !== 429 }
  })

  const send = Effect.fnUntraced(function*({ at, id, isMisused, later, repetitions, to, type }: Plan.Send) {
    const chance = outside.chance(`send ${id}`)
    const key = `send-${id}`
    const body = {
      to,
      ...(type === "text"
        ? { type, text: { body: `number ${id}` } }
        : { type, template: { name: "hello_world", language: "en_US" } }),
      client_reference: key,
      ...(later === null ? {} : { send_at: DateTime.formatIso(DateTime.makeUnsafe(began + at + later)) })
    }
    for (let left = tries; left > 0; left--) {
      const { isFinal, message } = yield* ask(key, body, chance)
      if (message !== undefined) messageOf.set(id, message)
      if (isFinal) break
      yield* Effect.sleep(chance.between(200, 8000))
    }
    for (let left = repetitions; left > 0; left--) {
      yield* Effect.sleep(chance.between(1, 20_000))
      yield* ask(key, body, chance)
    }
    if (isMisused) yield* ask(key, { ...body, client_reference: "another" }, chance)
  })

  const read = Effect.fnUntraced(function*(message: string, chance: Chance) {
    const begun = now()
    const answer = yield* request({ method: "GET", path: `/v1/messages/${message}` }, chance)
    if (answer?.status !== 200) return
    const { status } = JSON.parse(answer.text)
    outside.record({ kind: "read", process: "caller", message_id: message, status, begun, ended: now() })
  })

  const cancel = Effect.fnUntraced(function*(message: string, chance: Chance) {
    const begun = now()
    const answer = yield* request({ method: "DELETE", path: `/v1/messages/${message}` }, chance)
    const ended = answer === null ? null : now()
    const status = answer?.status ?? null
    outside.record({ kind: "cancel", process: "caller", message_id: message, status, begun, ended })
  })

  /** Reads every message that is known, and every event. Dies unless all are answered. */
  const readAll = Effect.fnUntraced(function*() {
    const chance = outside.chance("the end")
    for (const message of messages) yield* read(message, chance)
    for (let query = ""; query !== "end";) {
      const begun = now()
      const page = yield* request({ method: "GET", path: `/v1/events?limit=100${query}` }, chance)
      if (page?.status !== 200) return yield* Effect.die(`the events could not be listed: ${page?.text}`)
      const { data, has_more: hasMore, next_cursor: next } = JSON.parse(page.text)
      for (const event of data) outside.record({ kind: "event", process: "caller", event, begun, ended: now() })
      query = hasMore ? `&cursor=${next}` : "end"
    }
  })

  /** Reads or cancels the message of a send, if its caller knows it. */
  const askFor = ({ id, kind, of }: Plan.Asked): Effect.Effect<void> =>
    Effect.suspend(() => {
      const message = messageOf.get(of)
      if (message === undefined) return Effect.void
      return (kind === "read" ? read : cancel)(message, outside.chance(`${kind} ${id}`))
    })

  return { send, askFor, readAll }
}
