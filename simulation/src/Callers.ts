/**
 * The callers of the API in a simulated world. What they asked and what they were answered is recorded.
 */
import type { History } from "@wac/checker"
import { DateTime, Duration, Effect, Option } from "effect"
import type { Chance } from "./Chance.ts"
import type { Fleet } from "./Fleet.ts"
import type * as Plan from "./Plan.ts"
import type { Request, Response } from "./Process.ts"
import type { World } from "./World.ts"

/** How long a caller waits for an answer. */
const patience = Duration.seconds(15)

/** How often a caller sends the same request before it gives up. */
const tries = 12

const templates = {
  template: { name: "hello_world", language: "en_US" },
  marketing: { name: "promo", language: "en_US", bodyParams: ["10%"] }
}

/** The outcomes of a request, by weight. */
const ways = { answered: 16, lost: 1, answerLost: 2 }

/** Whom the callers belong to. */
export interface Account {
  readonly workspaceId: string
  readonly token: string
}

/** The callers of one workspace. `began` is when the plan's time begins. */
export const make = (world: World, fleet: Fleet, { token, workspaceId }: Account, began: number) => {
  const { now } = world.timeline
  /** Every message that an answer named. */
  const messages = new Set<string>()
  /** The message of each send, once its caller knows it. */
  const messageOf = new Map<number, string>()
  /** The campaign of each operation that made one. */
  const campaignOf = new Map<number, string>()
  /** The end of each campaign that was made with one. */
  const endOf = new Map<string, number>()

  /** Sends a request to some process, over a network that may lose it or its answer: `null`. */
  const request = Effect.fnUntraced(function*(asked: Request, chance: Chance): Effect.fn.Return<Response | null> {
    yield* Effect.sleep(chance.between(1, 50))
    const way = world.isFaultActive("callers") ? chance.weighted(ways) : "answered"
    const process = fleet.up(chance)
    if (process === undefined || way === "lost") return null
    const answer = yield* Effect.timeoutOption(
      process.request({ ...asked, headers: { authorization: `Bearer ${token}`, ...asked.headers } }),
      patience
    )
    return way === "answerLost" ? null : Option.getOrNull(answer)
  })

  /** Whether a repetition would get the same answer. */
  const isFinal = (answer: Response | null): boolean => answer !== null && answer.status < 500 && answer.status !== 429

  const ask = Effect.fnUntraced(function*(key: string, body: unknown, chance: Chance) {
    const begun = now()
    const answer = yield* request({
      method: "POST",
      path: "/v1/messages",
      headers: { "idempotency-key": key, "content-type": "application/json" },
      body: JSON.stringify(body)
    }, chance)
    world.record({
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
    return { message, isFinal: isFinal(answer) }
  })

  /** A time of the plan, as the API has it. */
  const iso = (at: number): string => DateTime.formatIso(DateTime.makeUnsafe(began + at))

  const send = Effect.fnUntraced(function*({ at, id, isMisused, later, repetitions, to, type, until }: Plan.Send) {
    const chance = world.chance(`send ${id}`)
    const key = `send-${id}`
    const body = {
      to,
      ...(type === "text"
        ? { type, text: { body: `number ${id}` } }
        : { type: "template", template: templates[type] }),
      client_reference: key,
      ...(later === null ? {} : { send_at: iso(at + later) }),
      ...(later === null || until === null ? {} : { send_until: iso(at + later + until) })
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
    world.record({ kind: "read", process: "caller", message_id: message, status, begun, ended: now() })
  })

  const cancel = Effect.fnUntraced(function*(message: string, chance: Chance) {
    const begun = now()
    const answer = yield* request({ method: "DELETE", path: `/v1/messages/${message}` }, chance)
    const ended = answer === null ? null : now()
    const status = answer?.status ?? null
    world.record({ kind: "cancel", process: "caller", message_id: message, status, begun, ended })
  })

  /** Opts a customer out or in, until that is answered. */
  const choose = Effect.fnUntraced(function*({ id, name, preference }: Plan.Chosen) {
    const chance = world.chance(`chosen ${id}`)
    for (let left = tries; left > 0; left--) {
      const begun = now()
      const answer = yield* request({
        method: preference === "opt_out" ? "PUT" : "DELETE",
        path: `/v1/contacts/${encodeURIComponent(name)}/opt-out`
      }, chance)
      world.record({
        kind: "preference",
        process: "caller",
        name,
        preference,
        status: answer?.status ?? null,
        begun,
        ended: answer === null ? null : now()
      })
      if (isFinal(answer)) return
      yield* Effect.sleep(chance.between(200, 8000))
    }
  })

  /** Repeats a request until its answer is final. */
  const insist = Effect.fnUntraced(function*(asked: Request, chance: Chance) {
    for (let left = tries; left > 0; left--) {
      const answer = yield* request(asked, chance)
      if (isFinal(answer)) return answer
      yield* Effect.sleep(chance.between(200, 4000))
    }
    return null
  })

  const json = { "content-type": "application/json" }

  const steer = Effect.fnUntraced(
    function*(campaign: string, change: History.CampaignChange["change"], key: string, chance: Chance) {
      // a repeat is answered with what the first request with the key did, whose answer may have been lost
      const begun = now()
      for (let left = tries; left > 0; left--) {
        const answer = yield* request({
          method: "POST",
          path: `/v1/campaigns/${campaign}/${change}`,
          headers: { "idempotency-key": key }
        }, chance)
        world.record({
          kind: "campaign_change",
          process: "caller",
          campaign,
          change,
          status: answer?.status ?? null,
          begun,
          ended: answer === null ? null : now()
        })
        if (isFinal(answer)) return
        yield* Effect.sleep(chance.between(200, 4000))
      }
    }
  )

  /** Reads a campaign. Returns its status, if that is answered. */
  const look = Effect.fnUntraced(function*(campaign: string, chance: Chance) {
    const begun = now()
    const answer = yield* request({ method: "GET", path: `/v1/campaigns/${campaign}` }, chance)
    if (answer?.status !== 200) return undefined
    const { counts, status } = JSON.parse(answer.text)
    const end = endOf.get(campaign)
    world.record({
      kind: "campaign",
      process: "caller",
      campaign,
      status,
      counts,
      ...(end === undefined ? {} : { not_after: end }),
      begun,
      ended: now()
    })
    return String(status)
  })

  /** Makes a campaign, uploads its recipients, has it checked, and starts it. */
  const runCampaign = Effect.fnUntraced(function*({ at, id, to, until }: Plan.Campaign) {
    const chance = world.chance(`campaign ${id}`)
    const word = `campaign ${id}`
    const made = yield* insist({
      method: "POST",
      path: "/v1/campaigns",
      headers: { "idempotency-key": `make-${id}`, ...json },
      body: JSON.stringify({
        name: word,
        share: 0.01,
        template: { ...templates.marketing, bodyParams: [word] },
        ...(until === null ? {} : { not_after: iso(at + until) })
      })
    }, chance)
    if (made?.status !== 201) return
    const campaign = String(JSON.parse(made.text).id)
    world.campaignIds.set(word, campaign)
    campaignOf.set(id, campaign)
    if (until !== null) endOf.set(campaign, began + at + until)
    const begun = now()
    const added = yield* insist({
      method: "PUT",
      path: `/v1/campaigns/${campaign}/recipients`,
      headers: { "content-type": "application/x-ndjson" },
      body: to.map((name) => `${JSON.stringify({ to: name })}\n`).join("")
    }, chance)
    world.record({
      kind: "recipients",
      process: "caller",
      campaign,
      to,
      status: added?.status ?? null,
      begun,
      ended: added === null ? null : now()
    })
    yield* insist({
      method: "POST",
      path: `/v1/campaigns/${campaign}/check`,
      headers: { "idempotency-key": `check-${id}` }
    }, chance)
    for (let left = tries; left > 0; left--) {
      yield* Effect.sleep(chance.between(500, 2000))
      if ((yield* look(campaign, chance)) === "ready") break
    }
    yield* steer(campaign, "start", `start-${id}`, chance)
    for (let left = 3; left > 0; left--) {
      yield* Effect.sleep(chance.between(500, 8000))
      yield* look(campaign, chance)
    }
  })

  const changes = { pause: "pause", resume: "resume", cancel_campaign: "cancel" } as const

  /** Pauses, resumes or cancels a campaign, if its caller knows it. */
  const steerCampaign = ({ id, kind, of }: Plan.Steered): Effect.Effect<void> =>
    Effect.suspend(() => {
      const campaign = campaignOf.get(of)
      if (campaign === undefined) return Effect.void
      return steer(campaign, changes[kind], `${kind}-${id}`, world.chance(`${kind} ${id}`))
    })

  /** Reads every page of a list. Dies unless all are answered. */
  const readPages = Effect.fnUntraced(
    function*<Item>(path: string, chance: Chance, each: (item: Item, begun: number) => void) {
      for (let query = ""; query !== "end";) {
        const begun = now()
        const page = yield* request({ method: "GET", path: `${path}?limit=100${query}` }, chance)
        if (page?.status !== 200) return yield* Effect.die(`${path} could not be listed: ${page?.text}`)
        const { data, has_more: hasMore, next_cursor: next } = JSON.parse(page.text)
        for (const item of data) each(item, begun)
        query = hasMore ? `&cursor=${next}` : "end"
      }
    }
  )

  /**
   * Reads every message that is known, every event, and then all messages, since some callers never learned the id of
   * theirs. Dies unless all are answered.
   */
  const readAll = Effect.fnUntraced(function*() {
    const chance = world.chance("the end")
    for (const message of messages) yield* read(message, chance)
    for (const campaign of campaignOf.values()) yield* look(campaign, chance)
    yield* readPages<History.ListedEvent["event"]>(
      "/v1/events",
      chance,
      (event, begun) => world.record({ kind: "event", process: "caller", event, begun, ended: now() })
    )
    yield* readPages<{ readonly message_id: string; readonly status: string }>(
      "/v1/messages",
      chance,
      ({ message_id: message, status }, begun) =>
        world.record({ kind: "read", process: "caller", message_id: message, status, begun, ended: now() })
    )
  })

  /** Reads or cancels the message of a send, if its caller knows it. */
  const askFor = ({ id, kind, of }: Plan.Asked): Effect.Effect<void> =>
    Effect.suspend(() => {
      const message = messageOf.get(of)
      if (message === undefined) return Effect.void
      return (kind === "read" ? read : cancel)(message, world.chance(`${kind} ${id}`))
    })

  return { send, askFor, choose, runCampaign, steerCampaign, readAll }
}
