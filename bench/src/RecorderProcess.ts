/**
 * A child process that records events where a contestant takes them from: all at once, or on a fixed schedule that does
 * not slow down when the contestant does.
 */
import * as Child from "./Child.ts"
import type { Where } from "./DeliveryEngine.ts"
import * as Engines from "./Engines.ts"
import * as Time from "./Time.ts"
import * as WacRecorder from "./WacRecorder.ts"
import * as WebhookEvent from "./WebhookEvent.ts"

export interface Options {
  readonly where: Where
  readonly contestant: Engines.Name | { readonly masterKey: string }
  /** A workspace with a webhook is created for each URL. */
  readonly urls: ReadonlyArray<string>
}

/** A range of webhooks by index, which receive events in turn. */
interface Range {
  readonly from: number
  readonly to: number
}

export type Question =
  /** Answered with the identifiers of the events. */
  | ({ readonly _tag: "Backlog"; readonly events: number } & Range)
  /** Answered with {@link Recorded}. */
  | ({ readonly _tag: "Steady"; readonly perSecond: number; readonly seconds: number } & Range)

/** The recorded events, and when the storage confirmed each. */
export interface Recorded {
  readonly ids: ReadonlyArray<string>
  readonly times: ReadonlyArray<number>
}

const open = async ({ contestant, urls, where }: Options) => {
  if (typeof contestant !== "string") return WacRecorder.open({ ...where, ...contestant, urls })
  const enqueue = await (await Engines.load(contestant)).enqueue(where)
  const webhooks = WebhookEvent.webhooksAt(urls)
  const record: WebhookEvent.RecordEvents = (events) =>
    enqueue(events.map((event) => WebhookEvent.jobOf(webhooks[event.webhook]!, event)))
  return { webhooks, record }
}

/** The number of events per bulk insert. */
const bulk = 2000

Child.serve<Options, Question>(async (options) => {
  const { record, webhooks } = await open(options)
  const event = ({ from, to }: Range, i: number) => {
    const webhook = from + i % (to - from)
    return WebhookEvent.make(webhooks[webhook]!, webhook)
  }

  const backlog = async (range: Range, count: number): Promise<ReadonlyArray<string>> => {
    const ids: Array<string> = []
    while (ids.length < count) {
      const events = Array.from({ length: Math.min(bulk, count - ids.length) }, (_, i) => event(range, ids.length + i))
      await record(events)
      ids.push(...events.map(({ id }) => id))
    }
    return ids
  }

  const steady = (range: Range, perSecond: number, seconds: number): Promise<Recorded> =>
    new Promise((resolve, reject) => {
      const ids: Array<string> = []
      const times: Array<number> = []
      const count = perSecond * seconds
      const startedAt = Time.monotonic()
      let begun = 0
      const tick = () => {
        const due = Math.min(count, Math.floor((Time.monotonic() - startedAt) / 1000 * perSecond) + 1)
        for (; begun < due; begun++) {
          const one = event(range, begun)
          record([one]).then(() => {
            ids.push(one.id)
            times.push(Time.monotonic())
            if (ids.length === count) resolve({ ids, times })
          }, reject)
        }
        if (begun < count) setTimeout(tick, 1)
      }
      tick()
    })

  return {
    ready: webhooks,
    answer: (question): Promise<unknown> =>
      question._tag === "Backlog"
        ? backlog(question, question.events)
        : steady(question, question.perSecond, question.seconds)
  }
})
