/**
 * The draft that the form makes of a campaign, and the plan that it makes of a draft.
 */
import { assert, it } from "@effect/vitest"
import type { Campaign, TemplateDetail } from "@wac/client/internal"
import { Campaign as Model, Recipient } from "@wac/core"
import * as VariableNames from "@wac/core/campaigns/VariableNames"
import { Schema } from "effect"
import {
  changeTo,
  createdBy,
  type Draft,
  exampleOf,
  filledBy,
  firstOf,
  forCustomer,
  lackingIn,
  percentOf,
  type Plan,
  planOf,
  startDraft,
  variableColumns
} from "../src/campaigns/Draft.ts"

const detail = (name: string, parameterFormat: "positional" | "named", variables: ReadonlyArray<string>) => ({
  id: `tpl_${name}`,
  name,
  language: "en_US",
  category: "marketing",
  status: "approved",
  parameterFormat,
  components: [],
  variables,
  unfillable: null,
  quality: null,
  rejectionReason: null,
  providerAccountId: "sandbox",
  providerTemplateId: "1",
  syncedAt: "2026-01-02T03:04:05.700Z"
} satisfies TemplateDetail)

const plain = detail("plain", "positional", [])
const order = detail("order_update", "positional", ["1", "2"])
const promo = detail("promo", "named", ["discount", "name"])
const templates = [plain, order, promo]

/** How the properties are checked: with many cases, the same on every machine. */
const checks = { arbitrary: { runs: 500, seed: "wac" } } as const

const values = [
  "{{Name}}",
  "{{ First name }}",
  "10 % for {{name}}",
  "Ana",
  " Ana ",
  "{{a}}{{b}}",
  "{{}}",
  { currency: { fallback_value: "$1", code: "USD", amount_1000: 1000 } },
  { date_time: { fallback_value: "May 1" } }
] as const

const Sample = Schema.Struct({
  template: Schema.Literals(["plain", "order_update", "promo"]),
  first: Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7, 8]),
  second: Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7, 8]),
  isByName: Schema.Boolean,
  hasOthers: Schema.Boolean
})

/** The content that a campaign has, with what the form does not show. */
const contentOf = (
  { first, hasOthers, isByName, second, template }: typeof Sample.Type
): Campaign["template"] => {
  const [one, two] = [values[first], values[second]]
  return {
    name: template,
    language: "en_US",
    ...(template === "plain" ? {} : {
      bodyParams: template === "promo" && isByName ? { name: two, discount: one } : [one, two]
    }),
    ...(hasOthers ? { header: { text: "{{city}}" }, buttons: [{ index: 0, urlSuffix: "{{code}}" }] } : {})
  }
}

const share = (minimum: number, maximum: number) =>
  Schema.Union([
    Schema.Int.check(Schema.isBetween({ minimum: Math.ceil(minimum * 1000), maximum: maximum * 1000 })),
    Schema.Finite.check(Schema.isBetween({ minimum: minimum * 1000, maximum: maximum * 1000 }))
  ])

const at = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1_700_000_000_000, maximum: 1_900_000_000_000 })))

const Given = Schema.Struct({
  name: Schema.Literals(["Spring", " Spring ", "x".repeat(100)]),
  template: Sample,
  templateB: Schema.NullOr(Sample),
  from: Schema.Literals(["", "pn_01K8ZQ50V4W6X8Y0Z1A3B5C7DE", "+15551230000"]),
  startAt: at,
  notAfter: at,
  isQuiet: Schema.Boolean,
  share: share(0.01, 0.9),
  maxFailureRate: share(0.01, 1),
  holdout: share(0, 0.5)
})

const timeAt = (millis: number | null) => millis === null ? null : new Date(millis).toISOString()

const givenPlan = (given: typeof Given.Type): Required<Plan> => ({
  name: given.name,
  template: contentOf(given.template),
  templateB: given.templateB === null ? null : contentOf(given.templateB),
  from: given.from === "" ? null : given.from,
  startAt: timeAt(given.startAt),
  notAfter: timeAt(given.notAfter),
  quietHours: given.isQuiet ? { from: "21:00", to: "08:00" } : null,
  share: given.share / 1000,
  maxFailureRate: given.maxFailureRate / 1000,
  holdout: given.holdout / 1000
})

it.prop(
  "a campaign whose form is opened and saved unchanged has every field of its plan as it was",
  [Given],
  ([one]) => {
    const given = givenPlan(one)
    const saved = planOf(startDraft({ campaign: given, isCopy: false }, templates), templates, undefined, given)
    assert.deepStrictEqual(saved, given)
    assert.deepStrictEqual(changeTo(saved!, given), {})
  },
  checks
)

it.prop("a duplicate has every field of the campaign's plan but the name and the times", [Given], ([one]) => {
  const given = givenPlan(one)
  const saved = planOf(startDraft({ campaign: given, isCopy: true }, templates), templates, undefined, given)
  assert.deepStrictEqual(saved, {
    ...given,
    name: `${given.name.slice(0, 93)} (copy)`.trim(),
    startAt: null,
    notAfter: null
  })
  const created = createdBy(saved!)
  assert.strictEqual(created.maxFailureRate, given.maxFailureRate)
  assert.isFalse(Object.values(created).includes(null as never))
}, checks)

const campaign: Required<Plan> = {
  name: "Spring",
  template: { name: "order_update", language: "en_US", bodyParams: ["{{Name}}", "1042"], header: { text: "{{city}}" } },
  templateB: { name: "plain", language: "en_US" },
  from: "+15551230000",
  startAt: "2026-01-02T03:04:05.700Z",
  notAfter: "2026-01-03T03:04:05.700Z",
  quietHours: { from: "21:00", to: "08:00" },
  share: 0.123,
  maxFailureRate: 0.05,
  holdout: 0.0725
}

/** What a change of the form changes in the campaign. */
const changed = (change: (draft: Draft) => Partial<Draft>) => {
  const draft = startDraft({ campaign, isCopy: false }, templates)
  return changeTo(planOf({ ...draft, ...change(draft) }, templates, undefined, campaign)!, campaign)
}

it("a changed field of the form changes this field of the campaign and no other", () => {
  const schedule = (changes: Partial<Draft["schedule"]>) =>
    changed(({ schedule }) => ({ schedule: { ...schedule, ...changes } }))
  assert.deepStrictEqual(changed(() => ({ name: " May " })), { name: "May" })
  assert.deepStrictEqual(changed(() => ({ from: "" })), { from: null })
  assert.deepStrictEqual(changed(() => ({ templateB: "" })), { templateB: null })
  assert.deepStrictEqual(schedule({ share: "14.3" }), { share: 0.143 })
  assert.deepStrictEqual(schedule({ holdout: "0" }), { holdout: 0 })
  assert.deepStrictEqual(schedule({ notAfter: "" }), { notAfter: null })
  assert.deepStrictEqual(schedule({ quietTo: "" }), { quietHours: null })
  assert.deepStrictEqual(
    changed(({ fillings }) => ({ fillings: { ...fillings, 2: { by: "column", column: "Order" } } })),
    {
      template: {
        name: "order_update",
        language: "en_US",
        bodyParams: ["{{Name}}", "{{Order}}"],
        header: { text: "{{city}}" }
      }
    }
  )
})

it("a share is shown in percent without the errors of binary fractions, and not rounded to a whole number", () => {
  assert.deepStrictEqual([0.07, 0.29, 0.075, 0.143, 0.5, 0].map(percentOf), ["7", "29", "7.5", "14.3", "50", "0"])
})

const head = (...columns: ReadonlyArray<string>) => ({ columns, examples: [], summary: "" })

it("a file's columns of numbers and time zones, and those whose name is no variable, fill no placeholder", () => {
  const columns = [
    "Phone",
    "Name",
    "timeZone",
    "TIMEZONE",
    "timezone",
    "First name",
    "{x}",
    "y".repeat(64),
    "y".repeat(65)
  ]
  assert.deepStrictEqual(variableColumns(head(...columns), "Phone"), ["Name", "First name", "y".repeat(64)])
  assert.isUndefined(variableColumns(head(), ""))
  assert.isUndefined(variableColumns(undefined, ""))
})

it("a column that is called like a placeholder fills it until a person says what does", () => {
  assert.deepStrictEqual(filledBy(promo, {}, ["name"]), {
    discount: { by: "text", text: "" },
    name: { by: "column", column: "name" }
  })
  assert.deepStrictEqual(filledBy(promo, {}, ["Name"])["name"], { by: "text", text: "" })
  const said = { by: "text", text: "" } as const
  assert.deepStrictEqual(filledBy(promo, { name: said }, ["name"])["name"], said)
  assert.deepStrictEqual(filledBy(plain, { name: said }, ["name"]), {})
})

it("a column that the file lacks still fills its placeholder in the form, which reports that the file lacks it", () => {
  const column = { by: "column", column: "Name" } as const
  assert.deepStrictEqual(filledBy(order, { 1: column }, ["Order"])["1"], column)
  assert.deepStrictEqual(lackingIn(["Order"], campaign.template, null), ["Name", "city"])
  assert.deepStrictEqual(lackingIn(["Name", "city"], campaign.template, campaign.templateB), [])
  assert.deepStrictEqual(lackingIn(undefined, campaign.template), [])
})

const Columns = Schema.Array(Schema.Literals(["Name", "First name", "name", "a", "b", "city", "code"]))

it.prop(
  "what the form reports as lacking is what the service leaves rows out for",
  [Sample, Columns],
  ([one, columns]) => {
    const template = contentOf(one)
    const { to } = Schema.decodeSync(Recipient.Recipient)({ to: "+15551230001" })
    const variables = Object.fromEntries(columns.map((column) => [column, "x"]))
    const made = Recipient.messageTo(
      { from: null, template: Schema.decodeUnknownSync(Model.CampaignTemplate)(template) },
      { to, variables }
    )
    assert.strictEqual(lackingIn(columns, template).length > 0, "missing" in made)
  },
  checks
)

it.prop(
  "a test is the template that the service would send to the customer, and there is none for whom it leaves out",
  [Sample, Columns],
  ([one, columns]) => {
    const template = contentOf(one)
    const { to } = Schema.decodeSync(Recipient.Recipient)({ to: "+15551230001" })
    const customer = Object.fromEntries(columns.map((column) => [column, `of ${column}`]))
    const made = Recipient.messageTo(
      { from: null, template: Schema.decodeUnknownSync(Model.CampaignTemplate)(template) },
      { to, variables: customer }
    )
    assert.deepStrictEqual(
      forCustomer(template, customer),
      "missing" in made ? undefined : made.message.template as unknown
    )
  },
  checks
)

it("a text for everyone is shown with the first customer's values, of which empty cells and other columns are none", () => {
  const example = { Phone: "+15551230001", Name: "Ana", City: "" }
  const customer = firstOf({ columns: Object.keys(example), examples: [example], summary: "" }, ["Name", "City"])
  assert.deepStrictEqual(customer, { Name: "Ana" })
  assert.deepStrictEqual(
    exampleOf({
      1: { by: "text", text: "Dear {{Name}} of {{City}}" },
      2: { by: "column", column: "City" },
      3: { by: "kept", value: { date_time: { fallback_value: "May 1, {{Name}}" } } }
    }, customer),
    { 1: "Dear Ana of {{City}}", 2: "", 3: "May 1, Ana" }
  )
  assert.deepStrictEqual(firstOf(undefined, ["Name"]), {})
})

it("a text is a column only if it is one variable and nothing else", () => {
  assert.strictEqual(VariableNames.onlyIn("{{ First name }}"), "First name")
  for (const text of ["", "Ana", "{{}}", "{{a}}{{b}}", "{{a}} ", "{{a}", "{{a{b}}"]) {
    assert.isUndefined(VariableNames.onlyIn(text), text)
  }
})
