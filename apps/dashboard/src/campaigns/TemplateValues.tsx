/** The values of the placeholders of a campaign's template: a column of the file, or the same text for everyone. */
import type { Campaign, TemplateDetail } from "@wac/client/internal"
import * as MaxLength from "../generated/MaxLength.ts"
import { Field, TextField } from "../ui/Field.tsx"
import type { Head } from "./RecipientFile.ts"

/** The source of a placeholder's value. */
interface Filling {
  readonly column: string | undefined
  readonly text: string
}

/** By placeholder; one that is missing is an empty text. */
export type Fillings = { readonly [variable: string]: Filling }

const emptyFilling: Filling = { column: undefined, text: "" }

/** The template as the campaign sends it. */
export const contentOf = ({ language, name, variables }: TemplateDetail, fillings: Fillings): Campaign["template"] => {
  const bodyParams = variables.map((variable) => {
    const { column, text } = fillings[variable] ?? emptyFilling
    return column === undefined ? text : `{{${column}}}`
  })
  return { name, language, ...(bodyParams.length === 0 ? {} : { bodyParams }) }
}

/** The values of the first customer of the file, by placeholder. */
export const exampleOf = ({ variables }: TemplateDetail, fillings: Fillings, head: Head | undefined) =>
  Object.fromEntries(variables.map((variable) => {
    const { column, text } = fillings[variable] ?? emptyFilling
    return [variable, column === undefined ? text : head?.examples[0]?.[column] ?? ""]
  }))

/** The whole of a value that a column fills. */
const columnPattern = /^\{\{([^{}]+)\}\}$/

/** The values of the placeholders of a campaign's template. */
export const fillingsOf = ({ variables }: TemplateDetail, { bodyParams }: Campaign["template"]): Fillings =>
  Object.fromEntries(variables.map((variable, i) => {
    const value = Array.isArray(bodyParams)
      ? bodyParams[i]
      : (bodyParams as { readonly [name: string]: unknown } | undefined)?.[variable]
    const text = typeof value === "string" ? value : ""
    const column = columnPattern.exec(text)?.[1]?.trim()
    return [variable, column === undefined ? { column, text } : { column, text: "" }]
  }))

/** The columns that fill placeholders. */
export const columnsOf = (...fillings: ReadonlyArray<Fillings>): ReadonlyArray<string> => [
  ...new Set(fillings.flatMap((filling) => Object.values(filling)).flatMap(({ column }) => column ?? []))
]

/** Columns that are called like a placeholder probably fill it, unless a person has said what fills it. */
export const guessed = (before: Fillings, columns: ReadonlyArray<string>): Fillings => ({
  ...Object.fromEntries(columns.map((column) => [column, { column, text: "" }])),
  ...Object.fromEntries(
    Object.entries(before).filter(([, { column, text }]) =>
      column === undefined ? text !== "" : columns.includes(column)
    )
  )
})

/** The fields for a template's placeholders. */
export const TemplateValues = (
  { columns, fillings, of = "", onChange, template }: {
    readonly template: TemplateDetail
    readonly columns: ReadonlyArray<string>
    readonly fillings: Fillings
    /** What distinguishes these fields from those of another template. */
    readonly of?: string
    readonly onChange: (fillings: Fillings) => void
  }
) => (
  <>
    {template.variables.map((variable) => {
      const filling = fillings[variable] ?? emptyFilling
      const change = (next: Filling) => onChange({ ...fillings, [variable]: next })
      return (
        <div key={`${template.name} ${template.language} ${variable}`} className="grid gap-3 sm:grid-cols-2">
          <Field label={`Placeholder ${variable}${of}`}>
            {(control) => (
              <select
                {...control}
                className="field"
                value={filling.column === undefined ? "" : `c${filling.column}`}
                onChange={({ target: { value } }) =>
                  change({ ...filling, column: value === "" ? undefined : value.slice(1) })}
              >
                <option value="">The same text for everyone</option>
                {columns.map((column) => <option key={column} value={`c${column}`}>Column {column}</option>)}
              </select>
            )}
          </Field>
          {filling.column === undefined
            ? (
              <TextField
                label={`Text for ${variable}${of}`}
                required
                maxLength={MaxLength.templateValue}
                value={filling.text}
                onChange={(text) => change({ column: undefined, text })}
              />
            )
            : null}
        </div>
      )
    })}
  </>
)
