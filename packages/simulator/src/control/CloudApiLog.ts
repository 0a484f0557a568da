/** The calls that the simulated Cloud API received, and their results: the evidence that nothing was sent twice. */

/** A received call and its result. */
export interface Call {
  readonly at: number
  readonly method: string
  readonly path: string
  readonly body: string
  /** A send's recipient and reference. */
  readonly to: string | undefined
  readonly reference: string | undefined
  /** The fault of the call. */
  readonly fault: string | undefined
  /** Whether the message was accepted. The customer receives it, whatever response the caller got. */
  readonly processed: boolean
  readonly wamid: string | undefined
  /** The status and error code of the response, even if a fault replaced it. Null: none. */
  readonly http: number | null
  readonly code: number | null
}

/** The number of calls for a recipient. */
export interface Tally {
  readonly calls: number
  readonly accepted: number
  /** Calls that followed an accepted one, or one that got no complete refusal. */
  readonly repeated: number
}

/** The arrival time of a send, in milliseconds, and its recipient. */
export type Arrival = Pick<Call, "at" | "to">

export interface Log {
  /** Counts a call with this reference. Returns its number among the calls with the reference, from 1. */
  readonly arrives: (reference: string) => number
  /** Logs a call that has ended. */
  readonly call: (call: Call) => void
  /** The latest calls, oldest first. */
  readonly calls: () => ReadonlyArray<Call>
  /** How many times the message of each reference was accepted. */
  readonly processed: () => ReadonlyMap<string, number>
  /** The tallies by recipient, under the name in the calls. */
  readonly recipients: () => ReadonlyMap<string, Tally>
  /** Every send, in the order in which they ended. */
  readonly arrivals: () => ReadonlyArray<Arrival>
}

/** Whether the caller got a complete response that the message is not accepted. */
const isRefusal = ({ code, fault, processed }: Call): boolean =>
  !processed && code !== null && (fault === undefined || fault === "error")

/** How many calls are kept. The counts by reference and recipient are never forgotten. */
const kept = 20_000

export const make = (): Log => {
  const calls: Array<Call> = []
  const came = new Map<string, number>()
  const processed = new Map<string, number>()
  const recipients = new Map<string, Tally>()
  /** Recipients whose message was or may have been accepted. */
  const reached = new Set<string>()
  const arrivals: Array<Arrival> = []
  const count = (map: Map<string, number>, name: string) => {
    const counted = (map.get(name) ?? 0) + 1
    map.set(name, counted)
    return counted
  }
  return {
    arrives: (reference) => count(came, reference),
    call: (call) => {
      if (calls.length >= 2 * kept) calls.splice(0, kept)
      calls.push(call)
      if (call.to !== undefined) {
        const before = recipients.get(call.to) ?? { calls: 0, accepted: 0, repeated: 0 }
        recipients.set(call.to, {
          calls: before.calls + 1,
          accepted: before.accepted + (call.processed ? 1 : 0),
          repeated: before.repeated + (reached.has(call.to) ? 1 : 0)
        })
        if (!isRefusal(call)) reached.add(call.to)
        arrivals.push({ at: call.at, to: call.to })
      }
      if (call.reference !== undefined && call.processed) count(processed, call.reference)
    },
    calls: () => calls.slice(-kept),
    processed: () => processed,
    recipients: () => recipients,
    arrivals: () => arrivals
  }
}
