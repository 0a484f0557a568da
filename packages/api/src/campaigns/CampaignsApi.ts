/**
 * `/internal/campaigns` for people, and `/v1/campaigns` for programs (contract §11): one template to many customers,
 * each once. Both have the same fields, under `/v1` in snake_case.
 */
import {
  type AuditEntry,
  Campaign as Model,
  CampaignCounts,
  CampaignTimeline as Timelines,
  Message,
  PlainText,
  Problem,
  ProblemKind,
  QuietHours,
  Variant,
  WrittenName
} from "@wac/core"
import { Context, Record, Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, apiKey, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { ApiKeyAuthentication, SessionAuthentication } from "../Caller.ts"
import { described, meaningOf } from "../Described.ts"
import { ActsOnCampaign, IsPaged, NeedsIdempotencyKey, TakesFile } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, listOf, noQuery, pageQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { exampleOnWire, onWire } from "../SnakeCase.ts"
import { TimeGiven, Timestamp } from "../Timestamp.ts"
import { costs, UsageCost, UsageLine } from "../usage/UsageApi.ts"

const plan = {
  name: Model.CampaignName,
  template: Model.CampaignTemplate,
  from: Model.CampaignSender.annotate({
    description: "A phone number of the workspace, by id or in E.164; defaults to the number that is the " +
      "default when the recipients are checked"
  }),
  share: Model.Share.annotate({ description: "The share of the phone number's rate that it may use; defaults to 0.5" }),
  maxFailureRate: Model.FailureShare.annotate({
    description: "It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2"
  }),
  holdout: Model.Holdout.annotate({
    description: "The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0"
  })
}

const meaning = {
  template: {
    description:
      "The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name"
  },
  templateB: {
    description: "A second variant of the template: half of the customers, chosen by chance, get it"
  },
  startAt: { description: "When it starts, once it was started; defaults to that moment" },
  notAfter: { description: "Nothing is sent after this time; defaults to 24 hours after the start" },
  quietHours: { description: "When nothing is sent, by each recipient's own clock" }
}

/** The fields with which the example of a campaign is created. */
const offer = {
  name: "Spring offer",
  template: { name: "spring_offer", language: "en_US", bodyParams: ["{{first_name}}"] },
  templateB: { name: "spring_offer_short", language: "en_US" },
  startAt: "2026-01-03T08:00:00.000Z",
  quietHours: { from: "21:00", to: "08:00" },
  share: 0.5
}

export const CreateCampaign = Schema.Struct({
  name: plan.name,
  template: plan.template.annotateKey(meaning.template),
  templateB: Schema.optionalKey(plan.template).annotateKey(meaning.templateB),
  from: Schema.optionalKey(plan.from),
  startAt: Schema.optionalKey(TimeGiven.pipe(described(meaning.startAt.description))),
  notAfter: Schema.optionalKey(TimeGiven.pipe(described(meaning.notAfter.description))),
  quietHours: Schema.optionalKey(QuietHours.QuietHours).annotateKey(meaning.quietHours),
  share: Schema.optionalKey(plan.share),
  maxFailureRate: Schema.optionalKey(plan.maxFailureRate),
  holdout: Schema.optionalKey(plan.holdout)
}).annotate({ identifier: "CreateCampaign", embedded: "NewCampaign", description: "A new campaign." }).pipe(
  Example.shown(offer)
)

export const EditCampaign = Schema.Struct({
  name: Schema.optionalKey(plan.name),
  template: Schema.optionalKey(plan.template).annotateKey(meaning.template),
  templateB: Schema.optionalKey(Schema.NullOr(plan.template)).annotateKey(meaning.templateB),
  from: Schema.optionalKey(Schema.NullOr(plan.from)),
  startAt: Schema.optionalKey(Schema.NullOr(TimeGiven)).annotateKey(meaning.startAt),
  notAfter: Schema.optionalKey(Schema.NullOr(TimeGiven)).annotateKey(meaning.notAfter),
  quietHours: Schema.optionalKey(Schema.NullOr(QuietHours.QuietHours)).annotateKey(meaning.quietHours),
  share: Schema.optionalKey(plan.share),
  maxFailureRate: Schema.optionalKey(plan.maxFailureRate),
  holdout: Schema.optionalKey(plan.holdout)
}).annotate({
  identifier: "EditCampaign",
  embedded: "CampaignChange",
  description: "A change of a campaign. Omitted fields stay; `null` restores a default."
}).pipe(Example.shown({ share: 0.3, notAfter: null }))

export const Counts = Schema.Struct({
  total: Schema.Int,
  ...Record.map(CampaignCounts.none, () => Schema.Int)
}).annotate({
  identifier: "CampaignCounts",
  description: "How many recipients have which outcome. Each is in exactly one of the counts, and `total` is their sum."
}).pipe(Example.shown({
  total: 1200,
  queued: 700,
  sent: 100,
  delivered: 320,
  read: 75,
  failed: 4,
  held: 0,
  unknown: 1,
  skipped: 0
}))

export const Difference = Schema.Struct({
  a: Schema.Finite.annotate({ description: "The share of variant `a`, from 0 to 1" }),
  b: Schema.Finite.annotate({ description: "The share of variant `b`, from 0 to 1" }),
  difference: Schema.Finite.annotate({ description: "`b` less `a`" }),
  low: Schema.Finite,
  high: Schema.Finite,
  isDistinguishable: Schema.Boolean.annotate({
    description: "Whether the difference can be told from chance: the interval from `low` to `high` does not contain 0"
  })
}).annotate({
  identifier: "CampaignDifference",
  description: "The difference of two shares with its 95 % confidence interval (Newcombe's hybrid score interval)."
}).pipe(Example.shown({
  a: 0.782,
  b: 0.798,
  difference: 0.017,
  low: -0.055,
  high: 0.088,
  isDistinguishable: false
}))

export const Comparison = Schema.Struct({
  counts: Schema.Struct({ a: Counts, b: Counts }),
  delivered: Schema.NullOr(Difference).annotate({
    description: "The shares that were delivered; `null` until both variants were sent to a customer"
  }),
  read: Schema.NullOr(Difference).annotate({ description: "The shares that were read" })
}).annotate({
  identifier: "CampaignComparison",
  description: "The result by variant of the template. The shares are those of the messages that were tried."
}).pipe(Example.shown({
  counts: {
    a: { total: 602, queued: 350, sent: 52, delivered: 158, read: 39, failed: 2, held: 0, unknown: 1, skipped: 0 },
    b: { total: 598, queued: 350, sent: 48, delivered: 162, read: 36, failed: 2, held: 0, unknown: 0, skipped: 0 }
  },
  delivered: Example.of(Difference),
  read: { a: 0.155, b: 0.145, difference: -0.01, low: -0.073, high: 0.053, isDistinguishable: false }
}))

export const Forecast = Schema.Struct({
  messages: Schema.Int,
  limitedCustomers: Schema.Int.annotate({
    description:
      "How many customers count against the messaging limit: those outside a service window when they were " +
      "checked"
  }),
  messagingLimit: Schema.NullOr(Schema.Int),
  days: Schema.NullOr(Schema.Int).annotate({
    description: "How many days the messaging limit makes it take; `null` if the limit is 0"
  }),
  alwaysQuiet: Schema.Int.annotate({
    description:
      "How many of the messages are not sent, because quiet hours never end for their customers: the row has no " +
      "`timeZone`, and at any time it is quiet in one of the time zones of the country. It follows `quietHours`"
  }),
  seconds: Schema.Int.annotate({
    description: "How long it takes at its pace and under the messaging limit; it follows `share`"
  }),
  lines: Schema.Array(UsageLine).annotate({
    description: "The messages by the price that they are expected to have, by market, category and type"
  }),
  costs: costs.annotate({
    description: "The sum of `lines` in each currency; empty without a rate card"
  })
}).annotate({
  identifier: "CampaignForecast",
  description: "The forecast of a campaign. Other sends, quiet hours and failures make it take longer."
}).pipe(Example.shown({
  messages: 1200,
  limitedCustomers: 1100,
  messagingLimit: 2000,
  days: 1,
  alwaysQuiet: 0,
  seconds: 30,
  lines: [{
    ...Example.of(UsageLine),
    messages: 1200,
    cost: { currency: "USD", amount: "163.80", ratesFrom: "2026-01-01" }
  }],
  costs: [{ currency: "USD", amount: "163.80" }]
}))

/** An example of a campaign that runs. */
const campaign = {
  ...offer,
  id: ExampleValues.campaign,
  status: "running",
  pausedReason: null,
  from: null,
  checkedFrom: ExampleValues.phoneNumber.written,
  notAfter: null,
  maxFailureRate: 0.2,
  holdout: 0,
  createdAt: ExampleValues.times.recorded,
  startedAt: "2026-01-03T08:00:00.012Z",
  completedAt: null,
  rows: 1205,
  checked: 1205,
  problems: 5,
  forecast: Example.of(Forecast),
  counts: Example.of(Counts),
  reasons: [{ outcome: "failed", reason: "undeliverable", recipients: 4 }],
  comparison: Example.of(Comparison)
} as const

export const Campaign = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  status: Model.CampaignStatus,
  pausedReason: Schema.NullOr(Model.PauseReason).annotate({
    description: "Why it is paused, or why its check stopped"
  }),
  template: Model.CampaignTemplate,
  templateB: Schema.NullOr(Model.CampaignTemplate),
  from: Schema.NullOr(Schema.String),
  checkedFrom: Schema.NullOr(Schema.String).annotate({
    description:
      "The number that sends a campaign without `from`: the default number when its recipients were checked. `null` " +
      "before the check, and with `from`"
  }),
  startAt: Schema.NullOr(Timestamp),
  notAfter: Schema.NullOr(Timestamp),
  quietHours: Schema.NullOr(QuietHours.QuietHours),
  share: Schema.Finite,
  maxFailureRate: Schema.Finite,
  holdout: Schema.Finite,
  createdAt: Timestamp,
  startedAt: Schema.NullOr(Timestamp),
  completedAt: Schema.NullOr(Timestamp),
  rows: Schema.Int.annotate({ description: "How many recipients were added" }),
  checked: Schema.Int.annotate({ description: "How many of them were checked" }),
  problems: Schema.Int.annotate({ description: "How many of the checked ones are not sent to" }),
  forecast: Schema.NullOr(Forecast).annotate({
    description: "The forecast; `null` until the recipients are checked"
  }),
  counts: Counts,
  reasons: Schema.Array(Schema.Struct({
    outcome: Schema.Literals(["failed", "skipped"]),
    reason: Schema.String,
    recipients: Schema.Int
  })).annotate({ description: "Why recipients failed or were skipped, the most frequent reason first" }),
  comparison: Schema.NullOr(Comparison).annotate({
    description: "The result by variant of the template: `a` is `template`. `null` without a second variant"
  })
}).annotate({ identifier: "Campaign", embedded: true, description: "One template to many customers, each once." }).pipe(
  Example.shown(campaign)
)

const Outcome = Schema.Literals(Record.keys(CampaignCounts.none)).annotate({
  identifier: "CampaignOutcome",
  description: "The outcome under which a recipient is counted."
})

/** Where a row with a problem is in its file. */
const problemOrigin = {
  line: Schema.NullOr(Schema.Int).annotate({
    description: "The line of its file in which the row begins; `null` if it came from no file"
  }),
  value: Schema.NullOr(Schema.String).annotate({
    description: "The problem of the row, else the customer's name, as it was given"
  })
}

export const CampaignRow = Schema.Struct({
  row: Schema.Int.annotate({ description: "Its place among those that were added, from 1" }),
  problem: Schema.NullOr(Schema.Struct({
    ...Problem.Problem.fields,
    ...problemOrigin
  })).annotate({ description: "Why it is not sent to; `null` if it is, or was not checked yet" }),
  messageId: Schema.NullOr(Schema.String),
  to: Schema.NullOr(Schema.String),
  variant: Schema.NullOr(Variant.Variant).annotate({
    description: "The variant of the template that its customer gets; `null` in a campaign without variants"
  }),
  status: Schema.NullOr(Message.MessageStatus),
  outcome: Schema.NullOr(Outcome).annotate({ description: "The count that its recipient is in" }),
  error: Schema.NullOr(
    Schema.Struct({ code: Schema.String, reason: Schema.optionalKey(Schema.String), message: Schema.String })
  ).annotate({ description: "Why the message failed, or was skipped" })
}).annotate({ identifier: "CampaignRow", embedded: true, description: "A recipient as it was added, with the result." })
  .pipe(Example.shown({
    row: 1,
    problem: null,
    messageId: ExampleValues.sent.id,
    to: ExampleValues.customer,
    variant: "a",
    status: "delivered",
    outcome: "delivered",
    error: null
  }))

export const CampaignTimelineStep = Schema.Struct({
  at: Timestamp,
  sent: Schema.Int.annotate({ description: "Messages that the provider accepted" }),
  delivered: Schema.Int.annotate({ description: "Messages that arrived at the phone" }),
  read: Schema.Int.annotate({ description: "Messages that the customer read" })
}).annotate({ identifier: "CampaignTimelineStep", description: "What happened in one step of time." }).pipe(
  Example.shown({ at: "2026-01-03T08:00:00.000Z", sent: 1200, delivered: 1100, read: 240 })
)

export const CampaignTimeline = Schema.Struct({
  stepSeconds: Schema.Int.annotate({ description: "By the length of the time: from 60 to 604800" }),
  steps: Schema.Array(CampaignTimelineStep).annotate({
    description:
      `Oldest first, without gaps, about ${Timelines.maxSteps} at most. A message that failed after it was ` +
      "sent is left out, as it is in `counts`"
  })
}).annotate({
  identifier: "CampaignTimeline",
  description: "A campaign's messages over time, from the first one to the last report."
}).pipe(Example.shown({ stepSeconds: 60, steps: [Example.of(CampaignTimelineStep)] }))

const timelineQuery = Schema.Struct({
  period: Schema.optionalKey(
    Schema.Literals(Record.keys(Timelines.periods)).annotate({
      identifier: "CampaignPeriod",
      description: "The hour, day or week after the first message."
    })
  ).annotateKey({ description: "Only the hour, day or week after the first message; all of the time if omitted" })
}).annotate({ identifier: "CampaignTimelineQuery", description: "The time of a campaign's timeline." })

export const CampaignProblemExample = Schema.Struct({
  row: CampaignRow.fields.row,
  ...problemOrigin
}).annotate({ identifier: "CampaignProblemExample", description: "A row with a problem." }).pipe(
  Example.shown({ row: 8, line: 9, value: "" })
)

export const CampaignProblemMessage = Schema.Struct({
  message: Schema.NullOr(Schema.String).annotate({
    description: "The problem; `null` for the other rows with the reason, if there are more than " +
      `${ProblemKind.maxMessages} different problems`
  }),
  rows: Schema.Int,
  examples: Schema.Array(CampaignProblemExample).annotate({
    description: `The first rows with the problem, at most ${ProblemKind.maxExamples}`
  })
}).annotate({ identifier: "CampaignProblemMessage", description: "Rows with the same problem." }).pipe(
  Example.shown({
    message: "to: is empty",
    rows: 3,
    examples: [Example.of(CampaignProblemExample)]
  })
)

export const CampaignProblemReason = Schema.Struct({
  reason: Problem.ProblemReason,
  rows: Schema.Int,
  messages: Schema.Array(CampaignProblemMessage).annotate({ description: "The most frequent message first" })
}).annotate({ identifier: "CampaignProblemReason", description: "Rows with the same reason." }).pipe(
  Example.shown({ reason: "malformed", rows: 3, messages: [Example.of(CampaignProblemMessage)] })
)

export const CampaignProblems = Schema.Struct({
  rows: Schema.Int.annotate({
    description: "How many of the checked rows are not sent to: the sum of all reasons and of `uncounted`"
  }),
  reasons: Schema.Array(CampaignProblemReason).annotate({ description: "The most frequent reason first" }),
  uncounted: Schema.Int.annotate({
    description: "How many of them were checked by a version that did not count the reasons"
  })
}).annotate({ identifier: "CampaignProblems", description: "Why rows of a campaign are not sent to." }).pipe(
  Example.shown({ rows: 3, reasons: [Example.of(CampaignProblemReason)], uncounted: 0 })
)

/** The filter of a list of rows. */
export const rowFilter = {
  outcome: Schema.optionalKey(
    Schema.Literals([...Outcome.literals, "left_out"]).annotate({
      description: "Only recipients with this outcome, or the rows that are not sent to"
    })
  ),
  reason: Schema.optionalKey(
    PlainText.between(1, 64).annotate({
      description: "Only recipients that failed or were skipped for this reason, and rows with this problem"
    })
  )
}

/** The filters of the list of campaigns. A searched part of a name may be as long as a name. */
export const filter = {
  status: Schema.optionalKey(Model.CampaignStatus),
  nameContains: Schema.optionalKey(Model.CampaignName).annotateKey({
    description: "A part of the name, whose letters may be in either case"
  })
}

const listQuery = Schema.Struct({ ...filter, ...pageQuery }).annotate({
  identifier: "ShownCampaignQuery",
  description: "The filters of the list of campaigns."
})

const rowQuery = Schema.Struct({ ...pageQuery, ...rowFilter }).annotate({
  identifier: "CampaignRowQuery",
  embedded: "CampaignRowFilter",
  description: "The filter of a campaign's rows."
})

/** The media types of an upload of recipients. */
export const uploadTypes = ["application/x-ndjson", "text/csv"] as const

const uploadQuery = Schema.Struct({
  defaultCountry: Schema.optionalKey(WrittenName.DefaultCountry),
  replace: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Whether the file replaces all rows that the campaign has; if not, it adds to them"
    })
  ),
  toColumn: Schema.optionalKey(
    PlainText.between(1, 64).annotate({
      description: "The column of a CSV file with the phone numbers or user ids; defaults to `to`"
    })
  )
}).annotate({ identifier: "UploadQuery", description: "The parameters of an upload of recipients." })

const PublicDifference = onWire(Difference, "PublicCampaignDifference")

const PublicUsageLine = onWire(
  UsageLine.mapFields(Struct.assign({
    cost: Schema.NullOr(onWire(UsageCost, "PublicUsageCost")).pipe(meaningOf(UsageLine.fields.cost))
  })),
  "PublicUsageLine",
  UsageLine
)

const PublicForecast = onWire(
  Forecast.mapFields(Struct.assign({
    lines: Schema.Array(PublicUsageLine).pipe(meaningOf(Forecast.fields.lines))
  })),
  "PublicCampaignForecast",
  Forecast
)

const PublicComparison = Comparison.mapFields(Struct.assign({
  delivered: Schema.NullOr(PublicDifference).pipe(meaningOf(Comparison.fields.delivered)),
  read: Schema.NullOr(PublicDifference).pipe(meaningOf(Comparison.fields.read))
}))

/** A campaign under `/v1`. */
export const PublicCampaign = onWire(
  Campaign.mapFields(Struct.assign({
    forecast: Schema.NullOr(PublicForecast).pipe(meaningOf(Campaign.fields.forecast)),
    comparison: Schema.NullOr(PublicComparison).pipe(meaningOf(Campaign.fields.comparison))
  })),
  "PublicCampaign",
  Campaign
)

/** An uploaded row under `/v1`. */
export const PublicCampaignRow = onWire(CampaignRow, "PublicCampaignRow")

const none = Record.map(Example.of(Counts), () => 0)

const empty: typeof Campaign.Encoded = {
  ...Example.of(Campaign),
  status: "draft",
  startedAt: null,
  rows: 0,
  checked: 0,
  problems: 0,
  forecast: null,
  counts: none,
  reasons: [],
  comparison: { counts: { a: none, b: none }, delivered: null, read: null }
}

const rows: ReadonlyArray<typeof CampaignRow["Encoded"]> = [
  Example.of(CampaignRow),
  {
    row: 2,
    problem: {
      reason: "duplicate",
      message: "an earlier row has the same customer",
      line: 3,
      value: "+1 (555) 123-4567"
    },
    messageId: null,
    to: null,
    variant: null,
    status: null,
    outcome: null,
    error: null
  }
]

/** The documentation of an endpoint, which is the same under `/v1` and `/internal`. */
interface Said {
  readonly summary: string
  readonly description: string
  /** The audit's name for the change that the endpoint makes; omitted if it only reads. */
  readonly change?: AuditEntry.Action
  /** The campaign as the endpoint leaves it, if that is not the state of its example. */
  readonly campaign?: typeof Campaign.Encoded
}

const said = {
  create: {
    summary: "Create a campaign",
    description: "A draft without recipients. Nothing is sent until it is checked and started.",
    change: "campaign.create",
    campaign: empty
  },
  list: { summary: "List campaigns", description: "Newest first." },
  get: {
    summary: "Get a campaign",
    description: "Its counts still change with the provider's reports after it is completed."
  },
  edit: {
    summary: "Change a campaign",
    description:
      "Templates, sender and holdout can change until the campaign is started; then its recipients must be " +
      "checked again.",
    change: "campaign.change",
    campaign: { ...Example.of(Campaign), ...Example.of(EditCampaign) }
  },
  remove: {
    summary: "Delete a campaign",
    description: "Only possible before it is started. Its recipients are deleted too.",
    change: "campaign.remove"
  },
  upload: {
    summary: "Upload recipients",
    description:
      "Adds the rows of a file to a campaign that was not started, or replaces those that it has: NDJSON, with `to` " +
      "and what differs from the campaign's template in each line, or CSV as spreadsheets write it, with a column " +
      "of phone numbers or user ids, a column for each variable, and `timeZone` if quiet hours need it. If the file " +
      "is refused, the campaign stays as it was. Rows that cannot be read are reported when the campaign is checked.",
    change: "campaign.upload",
    campaign: { ...empty, rows: 1205 }
  },
  check: {
    summary: "Check a campaign's recipients",
    description: "In the background; the campaign is `ready` afterwards. Rows with a problem are listed with it.",
    change: "campaign.check",
    campaign: { ...empty, status: "checking", rows: 1205 }
  },
  start: {
    summary: "Start a campaign",
    description: "A campaign that is `ready`. Starting it again changes nothing. Refused if the campaign's end has " +
      "passed, or is before its start, because nobody would get a message.",
    change: "campaign.start"
  },
  pause: {
    summary: "Pause a campaign",
    description: "Stops sending within a second.",
    change: "campaign.pause",
    campaign: { ...Example.of(Campaign), status: "paused", pausedReason: "person" }
  },
  resume: {
    summary: "Resume a campaign",
    description:
      "It continues with the recipients that are left. Refused once the campaign's end has passed, because " +
      "they would all be skipped: set a later end first.",
    change: "campaign.resume"
  },
  cancel: {
    summary: "Cancel a campaign",
    description: "Waiting recipients are skipped. Messages in flight still get their outcome.",
    change: "campaign.cancel",
    campaign: { ...Example.of(Campaign), status: "cancelled" }
  },
  recipients: {
    summary: "List a campaign's recipients",
    description: "In the order of their upload. With a filter, a page looks at 10,000 rows at most, so it may hold " +
      "fewer than its limit even if more follow. With `Accept: text/csv` the response is a file with all of them, in " +
      "which a value that a spreadsheet would read as a formula begins with an apostrophe."
  }
} as const satisfies { readonly [endpoint: string]: Said }

/**
 * The endpoints under a prefix. `door` has what differs there: the callers, and the forms of requests and responses.
 */
const endpointsOf = <
  const Prefix extends "/v1" | "/internal",
  ActionHeaders extends Schema.Struct.Fields,
  Create extends Schema.Top,
  Edit extends Schema.Top,
  Upload extends Schema.Top,
  Query extends Schema.Top,
  Shown extends Schema.Top,
  List extends Schema.Top,
  Rows extends Schema.Top
>(door: {
  readonly prefix: Prefix
  readonly reads: Access
  readonly changes: Access
  readonly actionHeaders: ActionHeaders
  readonly create: Create
  readonly edit: Edit
  readonly upload: Upload
  readonly query: Query
  readonly campaign: Shown
  readonly list: List
  readonly rows: Rows
  readonly example: (example: unknown) => unknown
  readonly rowsExample: unknown
  /** An addition to the description of the list. */
  readonly ofList: string
}) => {
  const annotationsOf = (name: keyof typeof said) => {
    const { campaign, change, ...words }: Said = said[name]
    return Context.mergeAll(
      OpenApi.annotations(words),
      Context.make(Access, change === undefined ? door.reads : door.changes),
      change === undefined ? Context.empty() : Context.make(Audited, change),
      Context.make(Example.Shown, campaign === undefined ? {} : { response: door.example(campaign) }),
      Context.make(ActsOnCampaign, name !== "list")
    )
  }
  const action = <const Name extends "check" | "start" | "pause" | "resume" | "cancel">(name: Name) =>
    HttpApiEndpoint.post(name, `${door.prefix}/campaigns/:id/${name}`, {
      params: byId,
      query: noQuery,
      headers: door.actionHeaders,
      success: door.campaign,
      error: reading
    }).annotateMerge(annotationsOf(name)).annotate(NeedsIdempotencyKey, "idempotency-key" in door.actionHeaders)

  return [
    HttpApiEndpoint.post("create", `${door.prefix}/campaigns`, {
      query: noQuery,
      headers: idempotencyKey(),
      payload: door.create,
      success: door.campaign.pipe(HttpApiSchema.status(201)),
      error: writing
    }).annotateMerge(annotationsOf("create")).annotate(NeedsIdempotencyKey, true),
    HttpApiEndpoint.get("list", `${door.prefix}/campaigns`, { query: door.query, success: door.list, error: reading })
      .annotateMerge(annotationsOf("list")).annotate(IsPaged, true)
      .annotate(OpenApi.Description, `${said.list.description}${door.ofList}`),
    HttpApiEndpoint.get("get", `${door.prefix}/campaigns/:id`, {
      params: byId,
      query: noQuery,
      success: door.campaign,
      error: reading
    }).annotateMerge(annotationsOf("get")),
    HttpApiEndpoint.patch("edit", `${door.prefix}/campaigns/:id`, {
      params: byId,
      query: noQuery,
      payload: door.edit,
      success: door.campaign,
      error: writing
    }).annotateMerge(annotationsOf("edit")),
    HttpApiEndpoint.delete("remove", `${door.prefix}/campaigns/:id`, {
      params: byId,
      query: noQuery,
      success: HttpApiSchema.NoContent,
      error: reading
    }).annotateMerge(annotationsOf("remove")),
    HttpApiEndpoint.put("upload", `${door.prefix}/campaigns/:id/recipients`, {
      params: byId,
      query: door.upload,
      payload: HttpApiSchema.StreamUint8Array({ contentType: uploadTypes }),
      success: door.campaign,
      error: writing
    }).annotateMerge(annotationsOf("upload")).annotate(TakesFile, uploadTypes),
    action("check"),
    action("start"),
    action("pause"),
    action("resume"),
    action("cancel"),
    HttpApiEndpoint.get("recipients", `${door.prefix}/campaigns/:id/recipients`, {
      params: byId,
      query: rowQuery,
      success: [door.rows, Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv" }))],
      error: reading
    }).annotateMerge(annotationsOf("recipients")).annotate(IsPaged, true)
      .annotate(Example.Shown, { response: door.rowsExample })
  ] as const
}

/** Campaigns as programs make and run them. A key that is bound to numbers reaches only their campaigns. */
export class CampaignsApi extends HttpApiGroup.make("campaigns").add(
  ...endpointsOf({
    prefix: "/v1",
    reads: apiKey("campaigns:write"),
    changes: apiKey("campaigns:write"),
    actionHeaders: idempotencyKey(),
    create: onWire(CreateCampaign, "CreatePublicCampaign"),
    edit: onWire(EditCampaign, "EditPublicCampaign"),
    upload: onWire(uploadQuery, "RecipientQuery"),
    query: onWire(listQuery, "CampaignQuery"),
    campaign: PublicCampaign,
    list: listOf(PublicCampaign),
    rows: listOf(PublicCampaignRow),
    example: exampleOnWire,
    rowsExample: Example.page(rows.map(exampleOnWire)),
    ofList: " A key that is bound to numbers gets the campaigns of these; its pages may hold fewer than their limit " +
      "even if more follow."
  })
).middleware(ApiKeyAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Campaigns", description: "One template to many customers, each once." })
) {}

/** Campaigns as people make and run them. */
export class CampaignsDashboardApi extends HttpApiGroup.make("campaignsDashboard").add(
  ...endpointsOf({
    prefix: "/internal",
    reads: session("developer"),
    changes: session("developer"),
    actionHeaders: {},
    create: CreateCampaign,
    edit: EditCampaign,
    upload: uploadQuery,
    query: listQuery,
    campaign: Campaign,
    list: internalListOf(Campaign),
    rows: internalListOf(CampaignRow),
    example: (example) => example,
    rowsExample: Example.internalPage(rows),
    ofList: ""
  }),
  HttpApiEndpoint.get("problems", "/internal/campaigns/:id/problems", {
    params: byId,
    query: noQuery,
    success: CampaignProblems,
    error: reading
  }).annotate(Access, session("developer")).annotate(ActsOnCampaign, true).annotateMerge(OpenApi.annotations({
    summary: "Get a campaign's problems",
    description: "Why rows that were checked are not sent to, with the first rows of each problem. " +
      "`GET /internal/campaigns/:id/recipients?outcome=left_out` lists all of them."
  })),
  HttpApiEndpoint.get("timeline", "/internal/campaigns/:id/timeline", {
    params: byId,
    query: timelineQuery,
    success: CampaignTimeline,
    error: reading
  }).annotate(Access, session("developer")).annotate(ActsOnCampaign, true).annotateMerge(OpenApi.annotations({
    summary: "Get a campaign's timeline",
    description: "How many of its messages were sent, delivered and read when. Empty until the first one is sent."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Campaigns (dashboard)", description: "One template to many customers, each once." })
) {}
