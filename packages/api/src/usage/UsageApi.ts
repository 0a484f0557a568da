/**
 * `/internal/usage` (contract §12): a workspace's activity, quota and costs over time.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"

/** Sums of money, one for each currency. */
export const costs = Schema.Array(Schema.Struct({
  currency: Schema.String,
  amount: Schema.String.annotate({ description: "A decimal number, such as `12.3456`" })
}))

/** The fields with how often each activity occurred. */
const totals = {
  sendsAccepted: Schema.Int.annotate({ description: "Sends that the provider accepted" }),
  sendsFailed: Schema.Int.annotate({ description: "Sends that the provider refused or did not accept" }),
  sendsUnknown: Schema.Int.annotate({ description: "Sends whose outcome the provider did not confirm" }),
  sendsRefused: Schema.Int.annotate({ description: "Sends that a rule or limit of the service refused" }),
  sendsDelivered: Schema.Int.annotate({
    description: "Messages sent in this time that arrived, as far as the provider has reported"
  }),
  attemptsDelivered: Schema.Int.annotate({ description: "Attempts at webhook deliveries that succeeded" }),
  attemptsFailed: Schema.Int.annotate({ description: "Attempts at webhook deliveries that failed" })
}

const milliseconds = (share: string) =>
  Schema.NullOr(Schema.Int).annotate({
    description: `${share} took at most so many milliseconds; up to a quarter too high, because durations are ` +
      "counted in groups. `null` if none arrived"
  })

export const Arrival = Schema.Struct({
  p50Ms: milliseconds("Half of the messages"),
  p95Ms: milliseconds("19 of 20 messages")
}).annotate({
  identifier: "Arrival",
  description: "How long messages took from when they were sent until they arrived, as far as that is reported."
}).pipe(Example.shown({ p50Ms: 1421, p95Ms: 8445 }))

export const Waiting = Schema.Struct({
  queued: Schema.Int.annotate({ description: "Messages that waited to be sent later" }),
  held: Schema.Int.annotate({ description: "Events that the paused webhook held" })
}).annotate({
  identifier: "Waiting",
  description: "The most that waited at one time. It is looked at every five minutes."
}).pipe(Example.shown({ queued: 120, held: 0 }))

export const UsageStep = Schema.Struct({
  at: Timestamp,
  ...totals,
  arrival: Arrival,
  waiting: Schema.NullOr(Waiting).annotate({ description: "`null` if the service did not look in this time" }),
  costs: costs.annotate({ description: "What the messages that were sent in this step cost, as far as it is known" })
}).annotate({ identifier: "UsageStep", description: "The activity in one step of time." }).pipe(Example.shown({
  at: "2025-12-26T04:00:00.000Z",
  sendsAccepted: 12,
  sendsFailed: 1,
  sendsUnknown: 0,
  sendsRefused: 2,
  sendsDelivered: 11,
  attemptsDelivered: 36,
  attemptsFailed: 0,
  arrival: Example.of(Arrival),
  waiting: Example.of(Waiting),
  costs: [{ currency: "USD", amount: "1.638" }]
}))

export const UsageBefore = Schema.Struct({ since: Timestamp, ...totals }).annotate({
  identifier: "UsageBefore",
  description: "The activity in the same length of time before, by whole hours."
}).pipe(Example.shown({
  since: "2025-12-19T06:00:00.000Z",
  sendsAccepted: 10,
  sendsFailed: 2,
  sendsUnknown: 0,
  sendsRefused: 0,
  sendsDelivered: 10,
  attemptsDelivered: 31,
  attemptsFailed: 1
}))

export const UsageCost = Schema.Struct({
  currency: Schema.String,
  amount: Schema.String.annotate({ description: "A decimal number, such as `12.3456`" }),
  ratesFrom: Schema.String.annotate({ description: "The day from which the rates used are valid" })
}).annotate({ description: "The total cost of messages with the same price." })

export const UsageLine = Schema.Struct({
  market: Schema.String.annotate({ description: "The customer's country, ISO 3166-1 alpha-2; `ZZ` if not known" }),
  category: Schema.String.annotate({ description: "As the provider reported it, such as `marketing`" }),
  type: Schema.String.annotate({
    description: "As the provider reported it, such as `regular` or `free_customer_service`"
  }),
  billable: Schema.NullOr(Schema.Boolean).annotate({
    description: "`null` if the provider says nothing of it; then `cost` is what the messages cost if they are charged"
  }),
  messages: Schema.Int,
  cost: Schema.NullOr(UsageCost).annotate({
    description: "`null` if nothing is charged, or if there is no rate for it"
  })
}).annotate({ identifier: "UsageLine", description: "Messages of one price." }).pipe(Example.shown({
  market: "DE",
  category: "marketing",
  type: "regular",
  billable: true,
  messages: 310,
  cost: { currency: "USD", amount: "42.315", ratesFrom: "2025-10-01" }
}))

export const Usage = Schema.Struct({
  month: Schema.String.annotate({ description: "The current calendar month (UTC), such as `2026-01`" }),
  used: Schema.Int.annotate({ description: "Messages that count against this month's quota" }),
  quota: Schema.NullOr(Schema.Int).annotate({ description: "Messages a month; `null` if there is no limit" }),
  requestsPerSecond: Schema.Finite.annotate({ description: "The workspace's rate limit" }),
  queued: Schema.Int.annotate({ description: "Messages that wait to be sent later" }),
  months: Schema.Array(Schema.Struct({ month: Schema.String, used: Schema.Int })).annotate({
    description: "Newest first, at most 12; months without messages are omitted"
  }),
  lines: Schema.Array(UsageLine).annotate({
    description: "The messages of the period whose price the provider has reported, by market, category and type"
  }),
  costs: costs.annotate({ description: "The sum of `lines` in each currency" }),
  arrival: Arrival,
  since: Timestamp,
  stepSeconds: Schema.Int.annotate({ description: "3600, 10800, 21600 or 86400, by the length of the range" }),
  steps: Schema.Array(UsageStep).annotate({
    description: "Oldest first, without gaps, at most 92; the first step may begin before `since`, and then has only " +
      "what is counted from `since` on; the last step may not be over yet"
  }),
  before: Schema.NullOr(UsageBefore).annotate({
    description: "For a comparison; `null` if not all of that time's activity is kept"
  })
}).annotate({
  identifier: "Usage",
  embedded: "UsageReport",
  description: "A workspace's activity over time, and its use of the quota."
}).pipe(
  Example.shown({
    month: "2026-01",
    used: 1042,
    quota: 10_000,
    requestsPerSecond: 100,
    queued: 3,
    months: [{ month: "2026-01", used: 1042 }, { month: "2025-12", used: 9310 }],
    lines: [Example.of(UsageLine)],
    costs: [{ currency: "USD", amount: "42.315" }],
    arrival: Example.of(Arrival),
    since: Example.of(UsageStep).at,
    stepSeconds: 21_600,
    steps: [Example.of(UsageStep)],
    before: Example.of(UsageBefore)
  })
)

const Period = Schema.Literals(["day", "week", "month", "quarter"]).annotate({
  identifier: "UsagePeriod",
  embedded: true,
  description: "Days up to now: 1, 7, 30 or 90."
})

const query = Schema.Struct({
  period: Schema.optionalKey(Period).annotateKey({
    description: "1, 7, 30 or 90 days up to `until`; a week if omitted. `since` takes its place"
  }),
  since: Schema.optionalKey(TimeGiven).annotateKey({
    description: "Only activity from this time on, rounded down to an hour; activity is kept for 91 days"
  }),
  until: Schema.optionalKey(TimeGiven).annotateKey({
    description: "Only activity in hours that began before this time; now if omitted"
  })
}).annotate({ identifier: "UsageQuery", description: "The range of a usage report." })

export class UsageApi extends HttpApiGroup.make("usage").add(
  HttpApiEndpoint.get("get", "/internal/usage", {
    query,
    success: Usage,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get usage",
    description: "Activity is counted about a second after it ends; a crash of the service can lose that second."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Usage (dashboard)", description: "Sends, attempts and quota over time." })
) {}
