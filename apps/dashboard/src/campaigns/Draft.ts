/** The content of a campaign's form (a draft): made from a campaign, and turned into the plan to save. Pure. */
import { hashKey } from "@tanstack/react-query"
import type { Campaign, CreateCampaign, EditCampaign, TemplateDetail } from "@wac/client/internal"
import * as VariableNames from "@wac/core/campaigns/VariableNames"
import * as MaxLength from "../generated/MaxLength.ts"
import { templateKey } from "../templates/TemplateOption.tsx"
import { fromLocal, toLocal } from "../ui/Moment.ts"
import type { Example, Head } from "./RecipientFile.ts"

type Content = Campaign["template"]
type Value = Extract<NonNullable<Content["bodyParams"]>, ReadonlyArray<unknown>>[number]

/**
 * The source of a placeholder's value: a column of the file, the same text for everyone, or a value that the form only
 * keeps.
 */
export type Filling =
  | { readonly by: "column"; readonly column: string }
  | { readonly by: "text"; readonly text: string }
  | { readonly by: "kept"; readonly value: Exclude<Value, string> }

/** The filling of each placeholder, as the person or the campaign has chosen it. */
export type Fillings = { readonly [variable: string]: Filling }

/** The texts of the fields for times and shares. */
export interface Schedule {
  readonly startAt: string
  readonly notAfter: string
  /** In percent. */
  readonly share: string
  readonly quietFrom: string
  readonly quietTo: string
  /** In percent. */
  readonly holdout: string
}

/** The values of the form's fields. */
export interface Draft {
  readonly name: string
  /** The key of the template (`templateKey`); empty until one is chosen. */
  readonly template: string
  readonly fillings: Fillings
  /** The key of variant B's template; empty if all customers get the same. */
  readonly templateB: string
  readonly fillingsB: Fillings
  /** The number to send from; empty for the default number. */
  readonly from: string
  readonly schedule: Schedule
}

/** The settings of a campaign that people choose. Without `maxFailureRate`, the service's default applies. */
export type Plan =
  & { readonly [Field in Exclude<keyof CreateCampaign, "maxFailureRate">]-?: Campaign[Field] }
  & { readonly maxFailureRate?: Campaign["maxFailureRate"] }

/** The template with a key; `undefined` if it is not among these. */
export const templateOf = (
  templates: ReadonlyArray<TemplateDetail>,
  key: string
): TemplateDetail | undefined => templates.find((template) => templateKey(template) === key)

/** Whether the service reads the time zones from a column of a CSV file. */
const isZone = (column: string): boolean => column.toLowerCase() === "timezone"

/**
 * The columns of a file that can fill placeholders: all with a valid name, except the columns of the numbers and of the
 * time zones. `undefined` if they are not known: no file is read, or each of its lines is JSON with its own names.
 */
export const variableColumns = (head: Head | undefined, numberColumn: string): ReadonlyArray<string> | undefined =>
  head === undefined || head.columns.length === 0
    ? undefined
    : head.columns.filter((name) => name !== numberColumn && !isZone(name) && VariableNames.isName(name))

/** The values of the file's first customer that can fill placeholders. An empty cell is no value. */
export const firstOf = (head: Head | undefined, columns: ReadonlyArray<string> = []): Example =>
  Object.fromEntries(
    Object.entries(head?.examples[0] ?? {}).filter(([name, text]) => text !== "" && columns.includes(name))
  )

/** The columns that these fillings use. */
export const columnsOf = (...fillings: ReadonlyArray<Fillings>): ReadonlyArray<string> => [
  ...new Set(
    fillings.flatMap((filling) => Object.values(filling)).flatMap((filling) =>
      filling.by === "column" ? [filling.column] : []
    )
  )
]

/**
 * The filling of each placeholder of a template. By default, the column with the placeholder's name fills it, otherwise
 * an empty text.
 */
export const filledBy = (
  { variables }: TemplateDetail,
  fillings: Fillings,
  columns: ReadonlyArray<string> = []
): Fillings =>
  Object.fromEntries(variables.map((variable) => [
    variable,
    fillings[variable] ??
      (columns.includes(variable) ? { by: "column", column: variable } : { by: "text", text: "" })
  ]))

const valueOf = (filling: Filling): Value =>
  filling.by === "column"
    ? VariableNames.only(filling.column)
    : filling.by === "text"
    ? filling.text
    : filling.value

const fillingOf = (value: Value): Filling => {
  if (typeof value !== "string") return { by: "kept", value }
  const column = VariableNames.onlyIn(value)
  return column === undefined ? { by: "text", text: value } : { by: "column", column }
}

/** The fallback text of a currency or time value. */
export const fallbackOf = (value: Exclude<Value, string>): string =>
  "currency" in value ? value.currency.fallback_value : value.date_time.fallback_value

/** The text of each placeholder for a customer; empty if the customer has no value in the column that fills it. */
export const exampleOf = (filled: Fillings, customer: Example): { readonly [variable: string]: string } =>
  Object.fromEntries(
    Object.entries(filled).map(([variable, filling]) => [
      variable,
      filling.by === "column"
        ? customer[filling.column] ?? ""
        : VariableNames.filled(
          filling.by === "text" ? filling.text : fallbackOf(filling.value),
          (name) => customer[name]
        )
    ])
  )

/** The template of a campaign as a customer gets it; `undefined` if the customer lacks a value that it needs. */
export const forCustomer = (content: Content, customer: Example): Content | undefined =>
  VariableNames.namesIn(content).every((name) => customer[name] !== undefined)
    ? VariableNames.filled(content, (name) => customer[name])
    : undefined

/** The fillings of a campaign's template. */
const fillingsOf = ({ variables }: TemplateDetail, { bodyParams }: Content): Fillings =>
  Object.fromEntries(variables.flatMap((variable, i) => {
    const value: Value | undefined = Array.isArray(bodyParams)
      ? bodyParams[i]
      : (bodyParams as { readonly [name: string]: Value } | undefined)?.[variable]
    return value === undefined ? [] : [[variable, fillingOf(value)]]
  }))

/** Whether two values have the same content. */
export const isSame = (one: unknown, other: unknown): boolean => hashKey([one]) === hashKey([other])

const contentOf = ({ language, name, variables }: TemplateDetail, filled: Fillings): Content => ({
  name,
  language,
  ...(variables.length === 0 ? {} : { bodyParams: variables.map((variable) => valueOf(filled[variable]!)) })
})

/**
 * The template of a campaign with these fillings. Parts of the campaign's template that the form does not show stay; if
 * nothing was changed, all stays.
 */
export const filledAs = (
  before: Content | null | undefined,
  template: TemplateDetail,
  filled: Fillings
): Content => {
  if (before == null || templateKey(before) !== templateKey(template)) return contentOf(template, filled)
  return isSame(filled, filledBy(template, fillingsOf(template, before)))
    ? before
    : { ...before, ...contentOf(template, filled) }
}

/** The variables in the values of templates for which the file has no column; none if its columns are not known. */
export const lackingIn = (
  columns: ReadonlyArray<string> | undefined,
  ...contents: ReadonlyArray<Content | null>
): ReadonlyArray<string> =>
  columns === undefined ? [] : VariableNames.namesIn(contents).filter((name) => !columns.includes(name))

/** A number with 12 digits, which are enough for every share that people write; further digits are rounding errors. */
const rounded = (value: number): number => Number(value.toPrecision(12))

/** A share (0 to 1) in percent, as text. */
export const percentOf = (share: number): string => `${rounded(share * 100)}`

const shareOf = (percent: string): number => rounded(Number(percent) / 100)

const timeOf = (at: string | null): string => at === null ? "" : toLocal(at)

/** The service's defaults for the shares of a new campaign. */
const usual = { share: 0.5, holdout: 0 }

/** The draft of a new campaign, with the first template. */
const newDraft = (templates: ReadonlyArray<TemplateDetail>): Draft => ({
  name: "",
  template: templates[0] === undefined ? "" : templateKey(templates[0]),
  fillings: {},
  templateB: "",
  fillingsB: {},
  from: "",
  schedule: {
    startAt: "",
    notAfter: "",
    share: percentOf(usual.share),
    quietFrom: "",
    quietTo: "",
    holdout: percentOf(usual.holdout)
  }
})

/** The draft of a campaign. If its template is not among these, one has to be chosen again. */
const draftOf = (
  { from, holdout, name, notAfter, quietHours, share, startAt, template, templateB }: Omit<Plan, "maxFailureRate">,
  templates: ReadonlyArray<TemplateDetail>
): Draft => {
  const chosen = templateOf(templates, templateKey(template))
  const chosenB = templateB === null ? undefined : templateOf(templates, templateKey(templateB))
  return {
    name,
    template: chosen === undefined ? "" : templateKey(chosen),
    fillings: chosen === undefined ? {} : fillingsOf(chosen, template),
    templateB: chosenB === undefined ? "" : templateKey(chosenB),
    fillingsB: chosenB === undefined ? {} : fillingsOf(chosenB, templateB!),
    from: from ?? "",
    schedule: {
      startAt: timeOf(startAt),
      notAfter: timeOf(notAfter),
      share: percentOf(share),
      quietFrom: quietHours?.from ?? "",
      quietTo: quietHours?.to ?? "",
      holdout: percentOf(holdout)
    }
  }
}

const copied = " (copy)"

/** The name of a copy. If the suffix does not fit, the end of the name is cut off. */
const copyOf = (name: string): string => `${name.slice(0, MaxLength.createCampaignName - copied.length)}${copied}`

/** The draft of a copy of a campaign: with another name, and without its times, which may have passed. */
const copyDraft = (draft: Draft): Draft => ({
  ...draft,
  name: copyOf(draft.name),
  schedule: { ...draft.schedule, startAt: "", notAfter: "" }
})

/** The campaign that a form starts from: to change it, or to create another one like it. */
export interface Start<Of = Campaign> {
  readonly campaign: Of
  readonly isCopy: boolean
}

/** The draft that a form starts with. */
export const startDraft = (
  start: Start<Omit<Plan, "maxFailureRate">> | undefined,
  templates: ReadonlyArray<TemplateDetail>
): Draft => {
  if (start === undefined) return newDraft(templates)
  const draft = draftOf(start.campaign, templates)
  return start.isCopy ? copyDraft(draft) : draft
}

/**
 * The plan for a draft; `undefined` until a template is chosen. A field whose text was not changed keeps the exact
 * value of the campaign `like`, and so does everything that the form does not show.
 */
export const planOf = (
  draft: Draft,
  templates: ReadonlyArray<TemplateDetail>,
  columns: ReadonlyArray<string> | undefined,
  like: Plan | undefined
): Plan | undefined => {
  const template = templateOf(templates, draft.template)
  if (template === undefined) return undefined
  const templateB = templateOf(templates, draft.templateB)
  const { schedule } = draft
  const before = like === undefined ? undefined : draftOf(like, templates)
  /** The campaign's value if the field's text was not changed, otherwise the value made from the text. */
  const value = <Field extends keyof Plan>(field: Field, textOf: (draft: Draft) => unknown, made: () => Plan[Field]) =>
    like !== undefined && before !== undefined && isSame(textOf(draft), textOf(before)) ? like[field] : made()
  const timeIn = (text: string): string | null => fromLocal(text) ?? null
  return {
    name: value("name", ({ name }) => name, () => draft.name.trim()),
    template: filledAs(like?.template, template, filledBy(template, draft.fillings, columns)),
    templateB: templateB === undefined
      ? null
      : filledAs(like?.templateB, templateB, filledBy(templateB, draft.fillingsB, columns)),
    from: value("from", ({ from }) => from, () => draft.from === "" ? null : draft.from),
    startAt: value("startAt", ({ schedule }) => schedule.startAt, () => timeIn(schedule.startAt)),
    notAfter: value("notAfter", ({ schedule }) => schedule.notAfter, () => timeIn(schedule.notAfter)),
    quietHours: schedule.quietFrom === "" || schedule.quietTo === ""
      ? null
      : { from: schedule.quietFrom, to: schedule.quietTo },
    share: value("share", ({ schedule }) => schedule.share, () => shareOf(schedule.share)),
    holdout: value("holdout", ({ schedule }) => schedule.holdout, () => shareOf(schedule.holdout)),
    ...(like?.maxFailureRate === undefined ? {} : { maxFailureRate: like.maxFailureRate })
  }
}

/** The request that creates a campaign with a plan. */
export const createdBy = ({ name, template, ...plan }: Plan): CreateCampaign => ({
  name,
  template,
  ...Object.fromEntries(Object.entries(plan).filter(([, value]) => value !== null))
})

/**
 * The request that changes a campaign to a plan. It has only the fields that differ, so that rows stay checked where
 * possible.
 */
export const changeTo = (plan: Plan, campaign: Plan): EditCampaign =>
  Object.fromEntries(
    Object.entries(plan).filter(([field, value]) => !isSame(value, campaign[field as keyof Plan]))
  )
