/** Form fields: a label, a control, a hint and an error, which are connected for screen readers. */
import { WacError } from "@wac/client/internal"
import { type ComponentProps, type ReactNode, useId } from "react"
import { type Entry, lineOf } from "./Entries.ts"
import { messageOf } from "./Failure.tsx"
import { t } from "./Language.ts"
import { latestLocal } from "./Moment.ts"
import { Problem } from "./Problem.ts"
import { withinSentence } from "./Words.ts"

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /**
   * An error of the whole form: the service's refusal, or a {@link Problem}. The field shows it only if it is about the
   * field.
   */
  readonly error?: unknown
  /** The field's name in the API, by which errors refer to it. */
  readonly param?: string | undefined
}

const isAbout = (error: unknown, param: string | undefined): boolean =>
  (error instanceof WacError || error instanceof Problem) && param !== undefined &&
  (error.param === param || error.param?.startsWith(`${param}.`) === true ||
    error.param?.startsWith(`${param}[`) === true)

/** The message of an error at its field, without a path such as `components[1].text` or `expiresAt`, which the label replaces. */
const messageAt = (error: unknown, list = "", entries: ReadonlyArray<Entry> = []): string => {
  if (!(error instanceof WacError) || error.param === undefined || !/[.[A-Z]/.test(error.param)) return messageOf(error)
  const path = [`${error.param}: `, `${error.param} `].find((path) => error.message.startsWith(path)) ?? ""
  const problem = messageOf(error, path === "" ? undefined : error.message.slice(path.length))
  const line = lineOf(error.param, list, entries)
  return line === undefined ? problem : t("Line {line}: {problem}", { line, problem: withinSentence(problem) })
}

/** The error, for the form itself to show; `null` if it is about one of these fields, which shows it. */
export const elsewhere = (error: unknown, ...params: ReadonlyArray<string>): unknown =>
  params.some((param) => isAbout(error, param)) ? null : error

/** A field around any control, which gets its id and its ARIA attributes. */
export const Field = (
  { children, entries, error, hint, label, param }: FieldProps & {
    /** The entries of a field that takes a list; an error of one of them then names its line. */
    readonly entries?: ReadonlyArray<Entry>
    readonly children: (
      control: {
        readonly id: string
        readonly "aria-describedby": string | undefined
        readonly "aria-invalid": boolean
      }
    ) => ReactNode
  }
) => {
  const id = useId()
  const isWrong = isAbout(error, param)
  const describedBy = [hint === undefined ? "" : `${id}-hint`, isWrong ? `${id}-error` : ""].filter((_) => _ !== "")
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="block font-medium">{label}</label>
      {children({ id, "aria-describedby": describedBy.join(" ") || undefined, "aria-invalid": isWrong })}
      {hint === undefined ? null : <p id={`${id}-hint`} className="text-[13px] text-muted">{hint}</p>}
      {isWrong
        ? <p id={`${id}-error`} role="alert" className="text-[13px] text-bad">{messageAt(error, param, entries)}</p>
        : null}
    </div>
  )
}

/**
 * The properties of an input for an e-mail address. Browsers refuse letters beyond ASCII before the @ of an input with
 * the type `email`, and send others after it than were typed.
 */
export const emailInput = { inputMode: "email", autoCapitalize: "none", spellCheck: false } as const

/** A field with one line of text. All other properties are passed to the input. */
export const TextField = (
  { className = "", error, hint, label, onChange, param, ...input }:
    & FieldProps
    & Omit<ComponentProps<"input">, "onChange" | "value">
    & { readonly value: string; readonly onChange: (text: string) => void }
) => (
  <Field label={label} hint={hint} error={error} param={param}>
    {(control) => (
      <input
        autoComplete="off"
        {...input.type === "datetime-local" ? { max: latestLocal } : {}}
        {...input}
        {...control}
        className={`field ${className}`}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
)

/** A checkbox with its label. */
export const Check = (
  { checked, children, name, onChange }: {
    readonly checked?: boolean
    readonly name?: string
    readonly onChange?: (checked: boolean) => void
    readonly children: ReactNode
  }
) => (
  <label className="flex items-start gap-2">
    <input
      type="checkbox"
      name={name}
      className="mt-0.75 size-4 accent-accent"
      {...(checked === undefined ? {} : { checked })}
      onChange={(event) => onChange?.(event.target.checked)}
    />
    <span>{children}</span>
  </label>
)

/** A choice of one of a few values, as radio buttons with labels. */
export const Choices = <Value extends string>(
  { choices, label, onChange, value }: {
    readonly label: string
    readonly value: Value
    readonly onChange: (value: Value) => void
    readonly choices: ReadonlyArray<readonly [Value, ReactNode]>
  }
) => {
  const name = useId()
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 font-medium">{label}</legend>
      {choices.map(([choice, words]) => (
        <label key={choice} className="flex items-start gap-2">
          <input
            type="radio"
            name={name}
            value={choice}
            checked={value === choice}
            onChange={() => onChange(choice)}
            className="mt-0.75 size-4 accent-accent"
          />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  )
}
