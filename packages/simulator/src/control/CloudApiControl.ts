/** The control endpoints of the simulated Cloud API: by HTTP, they offer what a test in the same process can do. */
import { Clock, Effect, Schema } from "effect"
import type { Incoming, Outgoing } from "../CloudApiServer.ts"
import type { Simulation } from "../CloudApiSimulation.ts"
import * as Numbers from "../numbers/CloudApiNumbers.ts"
import * as Changes from "../webhooks/CloudApiChanges.ts"
import * as Inbounds from "../webhooks/CloudApiInbound.ts"
import { Behaviour, numbers as behaving } from "./CloudApiBehaviour.ts"
import { Plan } from "./CloudApiFaults.ts"
import * as Settings from "./CloudApiSettings.ts"

/** What the endpoints control besides the simulation: the connections and the clock. */
export interface Hands {
  readonly verifyToken: string
  /** Refuses connections for so many real milliseconds. */
  readonly refuseFor: (millis: number) => Effect.Effect<void>
  /** Moves the clock forward; undefined if the clock cannot be moved. */
  readonly advance: ((millis: number) => void) | undefined
}

interface Route {
  readonly what: string
  readonly run: (body: string, query: URLSearchParams) => Effect.Effect<unknown, string>
}

const Subscription = Schema.Struct({ url: Schema.String, verifyToken: Schema.optionalKey(Schema.String) })
const Move = Schema.Struct({ from: Schema.String, to: Schema.String })
const Preference = Schema.Struct({ from: Schema.String, value: Schema.Literals(["stop", "resume"]) })
const WordOf = Schema.Struct({
  message: Schema.String,
  status: Schema.String,
  code: Schema.optionalKey(Schema.Int),
  details: Schema.optionalKey(Schema.String),
  at: Schema.optionalKey(Schema.Int)
})
const Announcement = Schema.Struct({ field: Schema.String, value: Schema.JsonObject })
const Complaint = Schema.Struct({ code: Schema.Int, details: Schema.optionalKey(Schema.String) })
const NumberChange = Schema.Struct({ id: Schema.String, change: Numbers.Patch })
const Recipient = Schema.Struct({ to: Schema.String, behaviour: Behaviour })
const Advance = Schema.Struct({ advance: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) })
const Redelivery = Schema.Struct({ posts: Schema.optionalKey(Schema.Array(Schema.Int)) })
const Outage = Schema.Struct({ refuseFor: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 600_000 })) })
const Tokens = Schema.Struct({ tokens: Schema.Array(Schema.String) })

const taking = <S extends Schema.Codec<unknown, unknown>>(
  what: string,
  schema: S,
  run: (value: S["Type"]) => Effect.Effect<unknown, string>
): Route => ({
  what,
  run: (body) =>
    Schema.decodeEffect(Schema.fromJsonString(schema))(body === "" ? "{}" : body, {
      onExcessProperty: "error"
    }).pipe(
      Effect.mapError((error) => error.message),
      Effect.flatMap(run)
    )
})

/** Answers the calls under `/_sim`. */
export const make = (simulation: Simulation, hands: Hands): (call: Incoming) => Effect.Effect<Outgoing> => {
  const clock = Effect.map(Clock.currentTimeMillis, (now) => ({ now, movable: hands.advance !== undefined }))
  const routes: { readonly [name: string]: Route } = {
    "GET /_sim": {
      what: "this list",
      run: () =>
        Effect.succeed({
          endpoints: Object.fromEntries(Object.entries(routes).map(([name, { what }]) => [name, what])),
          recipients: Object.fromEntries(Object.entries(behaving).map(([digits, [words]]) => [`+${digits}`, words])),
          kinds: Object.keys(Inbounds.kinds)
        })
    },
    "GET /_sim/log": {
      what: "received calls and sent webhooks; with ?reference=, those of one message",
      run: (_, query) =>
        Effect.gen(function*() {
          const reference = query.get("reference")
          const calls = yield* simulation.calls
          const attempts = simulation.courier.attempts()
          if (reference === null) return { calls, attempts }
          return {
            processed: yield* simulation.processed(reference),
            calls: calls.filter((call) => call.reference === reference),
            attempts: attempts.filter(({ body }) => body.includes(JSON.stringify(reference)))
          }
        })
    },
    "GET /_sim/processed": {
      what: "how often the message with each reference was accepted",
      run: () => Effect.map(simulation.allProcessed, (all) => Object.fromEntries(all))
    },
    "GET /_sim/bill": { what: "charges by market and category", run: () => simulation.bill },
    "GET /_sim/settings": { what: "the settings: delays, random behaviour and limits", run: () => simulation.settings },
    "POST /_sim/settings": taking("changes settings", Settings.Patch, simulation.configure),
    "POST /_sim/subscribe": taking(
      "{url, verifyToken?}: verifies this URL and posts webhooks to it",
      Subscription,
      ({ url, verifyToken }) => simulation.courier.subscribe(url, verifyToken ?? hands.verifyToken)
    ),
    "POST /_sim/inbound": taking(
      "{from | userId, text | kind | content, …}: a customer writes",
      Inbounds.Inbound,
      (inbound) => Effect.map(simulation.receive(inbound), (id) => ({ id }))
    ),
    "POST /_sim/echo": taking(
      "{to | userId, text | kind | content, …}: the business writes from its phone",
      Inbounds.Echo,
      (echo) => Effect.map(simulation.echo(echo), (id) => ({ id }))
    ),
    "POST /_sim/move": taking(
      "{from, to}: a customer changes their number",
      Move,
      ({ from, to }) => simulation.move(from, to)
    ),
    "POST /_sim/preference": taking(
      "{from, value: stop | resume}: a customer stops or resumes marketing messages",
      Preference,
      ({ from, value }) => simulation.prefer(from, value)
    ),
    "POST /_sim/recipient": taking(
      "{to, behaviour}: sets the behaviour of a recipient",
      Recipient,
      ({ behaviour, to }) => simulation.behave(to, behaviour)
    ),
    "POST /_sim/status": taking(
      "{message, status, code?, at?}: reports a status of a message",
      WordOf,
      (word) => simulation.tell(word)
    ),
    "POST /_sim/number": taking(
      "{id, change}: changes a number's fields",
      NumberChange,
      ({ change, id }) => simulation.changeNumber(id, change)
    ),
    "POST /_sim/template": taking(
      "{name, language?, status?, quality?, category?, …}: changes or adds a template",
      Changes.TemplateChange,
      (change) => simulation.changeTemplate(change)
    ),
    "POST /_sim/alert": taking("{severity?, type?, …}: reports an account alert", Changes.Alert, simulation.alert),
    "POST /_sim/error": taking("{code}: reports an error that concerns no message", Complaint, simulation.complain),
    "POST /_sim/announce": taking(
      "{field, value}: posts any webhook",
      Announcement,
      ({ field, value }) => simulation.announce(field, value)
    ),
    "POST /_sim/redeliver": taking(
      "{posts?}: posts these webhooks again, or all",
      Redelivery,
      ({ posts }) => simulation.courier.redeliver(posts)
    ),
    "POST /_sim/faults": taking("{next?, recipients?, random?, target?}: adds faults", Plan, simulation.fault),
    "DELETE /_sim/faults": { what: "removes all faults", run: () => simulation.clearFaults },
    "POST /_sim/outage": taking(
      "{refuseFor}: refuses connections for this many milliseconds",
      Outage,
      ({ refuseFor }) => hands.refuseFor(refuseFor)
    ),
    "POST /_sim/tokens": taking(
      "{tokens}: accepts only these access tokens",
      Tokens,
      ({ tokens }) => simulation.acceptTokens(tokens)
    ),
    "GET /_sim/clock": { what: "the time of the simulator's clock", run: () => clock },
    "POST /_sim/clock": taking(
      "{advance}: moves the clock forward by this many milliseconds",
      Advance,
      ({ advance }) =>
        Effect.suspend(() => {
          if (hands.advance === undefined) return Effect.fail("the clock of this simulator cannot be moved by HTTP")
          hands.advance(advance)
          return clock
        })
    )
  }

  return (call) => {
    const { pathname, searchParams } = new URL(call.target, "http://simulator")
    const route = routes[`${call.method} ${pathname}`]
    const outcome = route === undefined
      ? Effect.succeed({ http: 404, value: { problem: "see GET /_sim" } as unknown })
      : Effect.match(route.run(call.body.toString(), searchParams), {
        onFailure: (problem) => ({ http: 400, value: { problem } as unknown }),
        onSuccess: (value) => ({ http: 200, value: value ?? { done: true } })
      })
    return Effect.map(
      outcome,
      ({ http, value }) => ({ http, headers: {}, body: `${JSON.stringify(value, null, 2)}\n` })
    )
  }
}
