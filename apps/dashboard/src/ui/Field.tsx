/** Fields of forms: a label, the control, a hint and what is wrong, tied together for who hears them. */
import { WacError } from "@wac/client/internal"
import { type ComponentProps, type ReactNode, useId } from "react"
import { messageOf } from "./Failure.tsx"
import { latestLocal } from "./Moment.ts"
import { Problem } from "./Problem.ts"

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** The service's refusal of the form, or a {@link Problem} of it. */
  readonly error?: unknown
  /** The name that the service calls this field by. */
  readonly param?: string | undefined
}

const isAbout = (error: unknown, param: string | undefined): boolean =>
  (error instanceof WacError || error instanceof Problem) && param !== undefined &&
  (error.param === param || error.param?.startsWith(`${param}.`) === true ||
    error.param?.startsWith(`${param}[`) === true)

/** An error at its field, whose label stands for a path such as `components[1].text`. */
const messageAt = (error: unknown): string =>
  error instanceof WacError && error.param !== undefined && /[.[]/.test(error.param) &&
    error.message.startsWith(`${error.param} `)
    ? messageOf(error, error.message.slice(error.param.length + 1))
    : messageOf(error)

/** The error, unless one of the fields shows it. */
export const elsewhere = (error: unknown, ...params: ReadonlyArray<string>): unknown =>
  params.some((param) => isAbout(error, param)) ? null : error

export const Field = (
  { children, error, hint, label, param }: FieldProps & {
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
      {isWrong ? <p id={`${id}-error`} role="alert" className="text-[13px] text-bad">{messageAt(error)}</p> : null}
    </div>
  )
}

/** A field of one line. What is given besides is the input's own. */
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

/** One of a few, each with its words. */
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
