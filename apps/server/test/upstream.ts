/**
 * The provider of steered processes, in the test's own process, where calls to it outlive whoever made them.
 */
import type { History } from "@wac/checker"
import type { Provider } from "@wac/core"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import type { Asked } from "./steered.ts"

const askedOf = ({ body }: RecordingReceiver.ReceivedRequest): Asked => JSON.parse(new TextDecoder().decode(body))

/** The name that it gives a message. */
export const nameOf = (messageId: string): string => `wamid.${messageId}`

/** Takes what it is asked, and names it. */
const accept = (request: RecordingReceiver.ReceivedRequest) => {
  const outcome: Provider.ProviderOutcome = {
    _tag: "Accepted",
    providerMessageId: nameOf(askedOf(request).messageId)
  }
  return RecordingReceiver.reply(200, { body: JSON.stringify(outcome) })
}

/** Listens for as long as the scope. */
export const upstream = Effect.gen(function*() {
  const recording = yield* RecordingReceiver.make
  yield* recording.answerWith(accept)
  const calls = Effect.map(recording.requests, (requests) => requests.map(askedOf))
  const swallowed = new Set<number>()
  return {
    url: recording.url,
    /** Every call so far. */
    calls,
    /** The same for a history. */
    recorded: Effect.map(
      recording.requests,
      (requests): ReadonlyArray<History.Entry> =>
        requests.map((request, index) => {
          const { messageId } = askedOf(request)
          const call = {
            kind: "provider_call",
            message_id: messageId,
            begun: request.arrivedAt,
            process: "provider"
          } as const
          return swallowed.has(index)
            ? { ...call, ended: null, outcome: "unknown" }
            : { ...call, ended: request.arrivedAt, outcome: "accepted", provider_message_id: nameOf(messageId) }
        })
    ),
    /** The ids under which it was asked to send to this number, one for each call. */
    askedFor: (to: string) =>
      Effect.map(calls, (all) => all.filter((asked) => asked.to === to).map(({ messageId }) => messageId)),
    /** The next call to come is never answered; suspends until it is there. */
    swallow: Effect.map(
      Effect.tap(recording.requests, recording.script([RecordingReceiver.hang])),
      ({ length }) => {
        swallowed.add(length)
        return Effect.asVoid(recording.waitFor(length + 1))
      }
    )
  }
})
