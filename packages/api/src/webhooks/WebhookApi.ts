/**
 * `/internal/webhook` (specification §2 *Webhook configuration*, contract §6): the one receiver of a workspace's
 * events.
 */
import { Event, Url as Urls } from "@wac/core"
import { Duration, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, NeedsFreshSession, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { NeedsWebhook, ShownOnce } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import { exampleOf } from "../events/RecordedEvent.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { noQuery } from "../Lists.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"
import { Attempt } from "./DeliveriesApi.ts"

const label = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
const name = `(?:${label}\\.)+[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
const address = `${octet}(?:\\.${octet}){3}|\\[[0-9A-Fa-f:.]+\\]`
const port = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"

/**
 * Only the form: `Webhook.parseUrl` and the address guard decide, by the operator's settings, which URLs are accepted.
 */
export const Url = Schema.String.check(
  Schema.makeFilter((_: string) => true, {
    toJsonSchema: () => ({
      format: "uri",
      maxLength: Urls.maxLength,
      pattern: `^[Hh][Tt][Tt][Pp][Ss]://(?:${name}|${address})(?::${port})?(?:[/?#][!-~]*)?$`
    })
  })
).annotate({
  description: "An https URL whose host is a name or a public address, without a user name. An operator can allow " +
    "http and private addresses"
})

/** The fields of examples that every response about a webhook has. */
const configured = {
  ...ExampleValues.webhook,
  status: "active",
  envelope: "combined",
  eventTypes: ["message.sent", "message.delivered", "message.read", "message.failed", "message.received"],
  createdAt: ExampleValues.times.start,
  updatedAt: ExampleValues.times.start
} as const

export const PutWebhook = Schema.Struct({
  url: Url,
  envelope: Schema.optionalKey(Event.Envelope),
  eventTypes: Schema.optionalKey(
    Schema.Array(Event.EventType).check(Schema.isUnique()).annotate({ description: "All types if omitted" })
  )
}).annotate({
  identifier: "PutWebhook",
  embedded: "NewWebhook",
  description: "The complete configuration of the webhook."
}).pipe(
  Example.shown({ url: configured.url, eventTypes: configured.eventTypes })
)

const configuration = {
  id: Schema.String,
  url: Schema.String,
  status: Schema.Literals(["active", "paused"]),
  envelope: Event.Envelope,
  eventTypes: Schema.Array(Event.EventType),
  createdAt: Timestamp,
  updatedAt: Timestamp
}

export const SetWebhook = Schema.Struct({
  ...configuration,
  signingSecret: Schema.optionalKey(Schema.String).annotateKey({ description: "The secret that signs deliveries" })
})
  .annotate({
    identifier: "SetWebhook",
    embedded: true,
    description: "A webhook after it was set. Only the response that creates it contains `signingSecret`."
  }).pipe(Example.shown({ ...configured, signingSecret: ExampleValues.secret }))

export const WebhookStatus = Schema.Struct({
  ...configuration,
  failingSince: Schema.NullOr(Timestamp).annotateKey({ description: "`null` while it is not failing" }),
  pausedAt: Schema.NullOr(Timestamp),
  lastFailure: Schema.NullOr(Schema.Struct({ at: Timestamp, message: Schema.String }))
}).annotate({
  identifier: "WebhookStatus",
  embedded: true,
  description: "A webhook and its health, without the counts of its backlog."
}).pipe(Example.shown({ ...configured, failingSince: null, pausedAt: null, lastFailure: null }))

export const Webhook = Schema.Struct({
  ...WebhookStatus.fields,
  pausesAt: Schema.NullOr(Timestamp).annotateKey({
    description: "When it will be paused unless an attempt succeeds; `null` if it is not failing"
  }),
  heldCount: Schema.Int.annotateKey({ description: "Deliveries that wait for a resume" }),
  oldestHeldAt: Schema.NullOr(Timestamp)
}).annotate({
  identifier: "Webhook",
  embedded: "WebhookState",
  description: "A webhook, its health and the counts of its backlog, without its secrets."
}).pipe(Example.shown({
  ...Example.of(WebhookStatus),
  pausesAt: null,
  heldCount: 0,
  oldestHeldAt: null
}))

/** The longest time for which an old secret can sign besides the new one. */
const maxOverlap = Duration.days(30)

export const RotateSecret = Schema.Struct({
  overlapSeconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Duration.toSeconds(maxOverlap) })).annotate({
      description: "How long the old secret still signs besides the new one; defaults to a day; 0 ends it immediately"
    })
  )
}).annotate({ identifier: "RotateSecret", embedded: true, description: "When the old secret ends." }).pipe(
  Example.shown({ overlapSeconds: 86_400 })
)

export const RotatedSecret = Schema.Struct({
  signingSecret: Schema.optionalKey(
    Schema.String.annotate({ description: "Missing from a repeated response: rotate again for another secret" })
  ),
  previousExpiresAt: Timestamp
}).annotate({
  identifier: "RotatedSecret",
  embedded: true,
  description: "The new secret. Only this response contains it."
}).pipe(
  Example.shown({ signingSecret: ExampleValues.secret, previousExpiresAt: "2026-01-03T03:04:05.678Z" })
)

export const ResumeWebhook = Schema.Struct({
  replay: Schema.optionalKey(
    Schema.Union([Schema.Literals(["all", "none"]), Schema.Struct({ since: TimeGiven })]).annotate({
      description: "The held events to deliver; defaults to all. The others are skipped"
    })
  ),
  force: Schema.optionalKey(Schema.Boolean.annotate({ description: "Resumes without a probe" }))
}).annotate({
  identifier: "ResumeWebhook",
  embedded: true,
  description: "The action of a resume on the events that are held."
}).pipe(
  Example.shown({ replay: { since: "2026-01-01T00:00:00.000Z" } })
)

/** An example of an attempt with a test event. */
const tested = {
  ...Example.of(Attempt),
  trigger: "test",
  request: { ...Example.of(Attempt).request, body: JSON.stringify(exampleOf("webhook.test")) }
} as const

export const ResumedWebhook = Schema.Struct({ ...WebhookStatus.fields, probe: Schema.NullOr(Attempt) }).annotate({
  identifier: "ResumedWebhook",
  embedded: true,
  description: "The webhook after the resume. If the probe failed, the webhook is still paused, and the probe's " +
    "message gives the reason."
}).pipe(Example.shown({ ...Example.of(WebhookStatus), probe: { ...tested, trigger: "probe" } }))

export const VerifyDelivery = Schema.Struct({
  header: Schema.String.check(Schema.isMaxCodePoints(8192)).annotate({
    description: "The value of `X-Service-Signature` as the receiver got it, or lines of `Name: value` from its log"
  }),
  body: Schema.String.annotate({ description: "The raw body as the receiver got it, before parsing" })
}).annotate({ identifier: "VerifyDelivery", description: "A delivery as a receiver got it." }).pipe(Example.shown({
  header: "t=1767323045,v1=5257a869e7…",
  body: Example.of(Attempt).request.body
}))

export const VerifiedDelivery = Schema.Struct({
  ok: Schema.Boolean,
  scheme: Schema.Literals(["service", "standard"]),
  checks: Schema.Array(Schema.Struct({
    part: Schema.Literals(["header", "timestamp", "signature"]),
    ok: Schema.Boolean,
    reason: Schema.NullOr(Schema.String),
    message: Schema.String
  }))
}).annotate({ identifier: "VerifiedDelivery", description: "The diagnosis of a signature, part by part." }).pipe(
  Example.shown({
    ok: false,
    scheme: "service",
    checks: [
      { part: "header", ok: true, reason: null, message: "the header is well formed" },
      {
        part: "timestamp",
        ok: true,
        reason: null,
        message: "the timestamp is within 300 seconds of the current time"
      },
      {
        part: "signature",
        ok: false,
        reason: "secret_with_line_end",
        message: "the secret was used with a line end after it"
      }
    ]
  })
)

const milliseconds = (share: string) =>
  Schema.NullOr(Schema.Int).annotate({
    description: `${share} took at most so many milliseconds, timeouts included; ` +
      "up to a quarter too high, because durations are counted in groups. `null` without a response or timeout"
  })

/** Attempts by outcome, and how long the receiver took. */
const attempts = {
  outcomes: Schema.Struct({
    delivered: Schema.Int.annotate({ description: "Answered with 200" }),
    status2xx: Schema.Int.annotate({ description: "Answered with another status of success" }),
    status4xx: Schema.Int,
    status5xx: Schema.Int,
    statusOther: Schema.Int.annotate({ description: "Answered with a status of no other class here" }),
    redirect: Schema.Int,
    timeout: Schema.Int,
    connect: Schema.Int.annotate({ description: "The connection could not be opened" }),
    tls: Schema.Int,
    dns: Schema.Int,
    blockedAddress: Schema.Int
  }).annotate({ identifier: "AttemptCounts", description: "Attempts by outcome, responses but 200 by their class." }),
  p50Ms: milliseconds("Half of the responses"),
  p95Ms: milliseconds("19 of 20 responses")
}

const attempted = {
  outcomes: {
    delivered: 36,
    status2xx: 0,
    status4xx: 0,
    status5xx: 2,
    statusOther: 0,
    redirect: 0,
    timeout: 1,
    connect: 0,
    tls: 0,
    dns: 0,
    blockedAddress: 0
  },
  p50Ms: 153,
  p95Ms: 467
} as const

export const ReceiverStep = Schema.Struct({ at: Timestamp, ...attempts }).annotate({
  identifier: "ReceiverStep",
  description: "The attempts in one step of time."
}).pipe(Example.shown({ at: "2026-01-02T03:00:00.000Z", ...attempted }))

export const ReceiverOutage = Schema.Struct({
  kind: Schema.Literals(["failing", "paused"]).annotate({
    description: "`paused` by itself or by a person"
  }),
  since: Timestamp,
  until: Schema.NullOr(Timestamp).annotate({ description: "`null` as long as it lasts" })
}).annotate({
  identifier: "ReceiverOutage",
  description: "A time in which the webhook was failing or paused, as it was noticed within about a minute."
}).pipe(
  Example.shown({ kind: "failing", since: "2026-01-02T03:04:05.678Z", until: "2026-01-02T03:21:05.678Z" })
)

export const ReceiverReport = Schema.Struct({
  since: Timestamp,
  stepSeconds: Schema.Int.annotate({ description: "300, 3600, 10800, 21600 or 86400, by the range" }),
  ...attempts,
  steps: Schema.Array(ReceiverStep).annotate({
    description: "Oldest first, without gaps, at most 92; the first step may begin before `since`, and then has only " +
      "what is counted from `since` on; the last step may not be over yet"
  }),
  outages: Schema.Array(ReceiverOutage).annotate({ description: "Those that overlap the range, oldest first" })
}).annotate({ identifier: "ReceiverReport", description: "How the receiver behaved over time." }).pipe(
  Example.shown({
    since: Example.of(ReceiverStep).at,
    stepSeconds: 3600,
    ...attempted,
    steps: [Example.of(ReceiverStep)],
    outages: [Example.of(ReceiverOutage)]
  })
)

const receiverQuery = Schema.Struct({
  period: Schema.optionalKey(
    Schema.Literals(["hour", "day", "week", "month", "quarter"]).annotate({
      identifier: "ReceiverPeriod",
      description: "An hour, or days up to now: 1, 7, 30 or 90."
    })
  ).annotateKey({
    description: "An hour, or 1, 7, 30 or 90 days up to `until`; a day if omitted. `since` takes its place"
  }),
  since: Schema.optionalKey(TimeGiven).annotateKey({
    description:
      "Only attempts from this time on, rounded down to an hour, or to the step if it is shorter; they are counted " +
      "for 91 days"
  }),
  until: Schema.optionalKey(TimeGiven).annotateKey({
    description: "Only attempts in steps that began before this time; now if omitted"
  })
}).annotate({ identifier: "ReceiverQuery", description: "The range of a report of the receiver." })

export class WebhookApi extends HttpApiGroup.make("webhook").add(
  HttpApiEndpoint.get("get", "/internal/webhook", { query: noQuery, success: Webhook, error: reading })
    .annotate(Access, session("member")).annotate(NeedsWebhook, true).annotateMerge(
      OpenApi.annotations({
        summary: "Get the webhook",
        description: "Returns the configuration and the health, but no secret. 404 if no webhook is set."
      })
    ),
  HttpApiEndpoint.get("receiver", "/internal/webhook/receiver", {
    query: receiverQuery,
    success: ReceiverReport,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get how the receiver behaves",
    description: "Attempts by outcome and how long they took, over time, tests included. The last hour and at most " +
      "four hours of the last two days have steps of five minutes. Counted about a second after an attempt ends; a " +
      "crash of the service can lose that second."
  })),
  HttpApiEndpoint.put("put", "/internal/webhook", {
    payload: PutWebhook,
    success: SetWebhook,
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, "webhook.set").annotate(NeedsFreshSession, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Set the webhook",
      description: "A workspace has one webhook. Only the response that creates it contains the signing secret."
    })),
  HttpApiEndpoint.delete("remove", "/internal/webhook", {
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("developer")).annotate(Audited, "webhook.remove").annotate(NeedsWebhook, true)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Remove the webhook",
        description: "Deliveries stop; events are still recorded. 404 if no webhook is set."
      })
    ),
  HttpApiEndpoint.post("rotateSecret", "/internal/webhook/rotate-secret", {
    payload: RotateSecret,
    success: RotatedSecret,
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, "webhook.rotate_secret").annotate(NeedsFreshSession, true)
    .annotate(NeedsWebhook, true)
    .annotate(ShownOnce, ["signingSecret"]).annotateMerge(OpenApi.annotations({
      summary: "Rotate the signing secret",
      description:
        "During the overlap, every delivery is signed with both secrets, so receivers can switch at any time."
    })),
  HttpApiEndpoint.post("test", "/internal/webhook/test", { query: noQuery, success: Attempt, error: reading })
    .annotate(Example.Shown, { response: tested }).annotate(Access, session("developer")).annotate(
      Audited,
      "webhook.test"
    ).annotate(NeedsWebhook, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Send a test event",
      description: "Attempted once, even while paused; the response reports the result. A workspace can make ten at " +
        "once, then one in six seconds."
    })),
  HttpApiEndpoint.post("pause", "/internal/webhook/pause", { query: noQuery, success: WebhookStatus, error: reading })
    .annotate(
      Example.Shown,
      Example.changed(WebhookStatus, { status: "paused", pausedAt: ExampleValues.times.recorded })
    )
    .annotate(Access, session("developer")).annotate(Audited, "webhook.pause").annotate(NeedsWebhook, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Pause the webhook",
      description:
        "Events are still recorded, and are held until a person resumes the webhook. `GET /internal/webhook` returns how many."
    })),
  HttpApiEndpoint.post("resume", "/internal/webhook/resume", {
    payload: ResumeWebhook,
    success: ResumedWebhook,
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, "webhook.resume").annotate(NeedsWebhook, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Resume the webhook",
      description: "A test event is sent first: if it fails, the webhook stays paused, unless `force` is set. Held " +
        "events are then delivered oldest first, at a bounded rate, alongside new events."
    })),
  HttpApiEndpoint.post("verify", "/internal/webhook/verify", {
    payload: VerifyDelivery,
    success: VerifiedDelivery,
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, null).annotate(NeedsWebhook, true).annotateMerge(
    OpenApi.annotations({
      summary: "Find out why a signature does not verify",
      description:
        "Checks a delivery as the receiver got it, and reports which part is wrong and why. Returns no secret."
    })
  )
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Webhook (dashboard)", description: "The one receiver of the workspace's events." })
) {}
