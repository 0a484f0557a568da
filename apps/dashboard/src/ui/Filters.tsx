/** The filters of a list, which the page's address holds, and their fields. */
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Fragment, type ReactNode, useId, useRef, useState } from "react"
import { Button } from "./Button.tsx"
import { t } from "./Language.ts"
import { fromLocal, latestLocal, toLocal } from "./Moment.ts"
import { exactly, timeZone } from "./Time.tsx"

/**
 * Returns a function that sets parameters of the page's address, removes empty ones, and goes to the first page of the
 * list. Back leads to the previous address, unless `replace` is true.
 */
export const useFilter = ({ replace = false }: { readonly replace?: boolean } = {}) => {
  const navigate = useNavigate()
  return (changes: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      to: ".",
      replace,
      search: (({ cursor: _, ...search }: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined && value !== "")
        )) as never
    })
}

/** The row that contains the fields of a list's filters. */
export const Filters = ({ children }: { readonly children: ReactNode }) => (
  <div role="search" className="flex flex-wrap items-end gap-3">{children}</div>
)

/** The field for a filter with a few values, or all. */
export const SelectFilter = (
  { all = t("All"), label, onChange, options, value }: {
    readonly label: string
    readonly value: string | undefined
    readonly options: ReadonlyArray<readonly [value: string, name: string]>
    readonly all?: string
    readonly onChange: (value: string | undefined) => void
  }
) => {
  const id = useId()
  return (
    <div className="max-sm:min-w-28 max-sm:flex-1">
      <label htmlFor={id} className="mb-1 block text-[13px] text-muted">{label}</label>
      <select
        id={id}
        className="field sm:min-w-40"
        value={value ?? ""}
        onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
      >
        <option value="">{all}</option>
        {options.map(([value, name]) => <option key={value} value={value}>{name}</option>)}
      </select>
    </div>
  )
}

/** A filter by one of a few values. */
interface Choice<Value extends string = string> {
  readonly label: string
  readonly options: ReadonlyArray<readonly [value: Value, name: string]>
  readonly all?: string
}

/** Filters by the name of the address parameter that holds their value. */
export type Choices = { readonly [parameter: string]: Choice }

type Chosen<C extends Choices> = {
  readonly [Name in keyof C]: C[Name] extends Choice<infer Value> ? Value | undefined : never
}

/**
 * The value of a time filter, such as {@link period}, for times that the reader chooses; the address holds them as
 * `begin` and `end`.
 */
export const range = "range"

/** The filter by time: a number of hours up to now, or {@link range}. */
export const period = {
  label: t("Time"),
  all: t("Any time"),
  options: [
    ["1", t("Last hour")],
    ["24", t("Last 24 hours")],
    ["168", t("Last 7 days")],
    ["720", t("Last 30 days")],
    [range, t("From – to")]
  ]
} as const satisfies Choice

const hasRange = ({ options }: Choice): boolean => options.some(([value]) => value === range)

/** The times of a {@link range} in the address; an invalid time is ignored. */
export const useRange = (): { readonly begin: string | undefined; readonly end: string | undefined } => {
  const { begin, end }: { readonly begin?: string; readonly end?: string } = useSearch({ strict: false })
  const time = (text: string | undefined) => text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text
  return { begin: time(begin), end: time(end) }
}

/**
 * The field for one time of a {@link range}. A typed time takes effect when the reader presses Enter or leaves the
 * field.
 */
const TimeFilter = (
  { label, onChange, value }: {
    readonly label: string
    readonly value: string | undefined
    readonly onChange: (value: string | undefined) => void
  }
) => {
  const id = useId()
  const shown = value === undefined ? "" : toLocal(value)
  const [text, setText] = useState(shown)
  const [before, setBefore] = useState(shown)
  /** Whether the reader is typing: then the time changes with every digit. */
  const isTyping = useRef(false)
  if (before !== shown) {
    setBefore(shown)
    setText(shown)
  }
  const commit = (field: HTMLInputElement) => {
    if (field.value !== shown && field.validity.valid) onChange(fromLocal(field.value))
  }
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-[13px] text-muted">{label}</label>
      <input
        id={id}
        type="datetime-local"
        max={latestLocal}
        title={t("Time zone: {timeZone}", { timeZone })}
        className="field"
        value={text}
        onPointerDown={() => {
          isTyping.current = false
        }}
        onKeyDown={({ currentTarget, key }) => {
          isTyping.current = true
          if (key === "Enter") commit(currentTarget)
        }}
        onChange={({ target }) => {
          setText(target.value)
          if (!isTyping.current) commit(target)
        }}
        onBlur={({ target }) => commit(target)}
      />
    </div>
  )
}

const RangeFilter = () => {
  const { begin, end } = useRange()
  const setFilter = useFilter({ replace: true })
  return (
    <>
      <TimeFilter label={t("From")} value={begin} onChange={(begin) => setFilter({ begin })} />
      <TimeFilter label={t("To")} value={end} onChange={(end) => setFilter({ end })} />
    </>
  )
}

/** The filters of the page's address; a value that is not an option of its filter is ignored. */
export const useChosen = <C extends Choices>(choices: C): Chosen<C> => {
  const search: { readonly [parameter: string]: unknown } = useSearch({ strict: false })
  return Object.fromEntries(
    Object.entries(choices).map(([name, { options }]) =>
      [name, options.find(([value]) => value === search[name])?.[0]] as const
    )
  ) as Chosen<C>
}

/** The filters of the page's address in words, as names and values: first `others`, then the choices. */
export const useFilterWords = (
  choices: Choices,
  others: Readonly<Record<string, string | undefined>>
): ReadonlyArray<readonly [name: string, value: string]> => {
  const chosen = useChosen(choices)
  const { begin, end } = useRange()
  const times = begin === undefined
    ? end === undefined ? undefined : t("to {end}", { end: exactly(end) })
    : end === undefined
    ? t("from {begin}", { begin: exactly(begin) })
    : t("from {begin} to {end}", { begin: exactly(begin), end: exactly(end) })
  return [
    ...Object.entries(others).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]),
    ...Object.entries(choices).flatMap(([parameter, { all = t("All"), label, options }]) => {
      const value = chosen[parameter]
      if (value === undefined) return []
      if (value === range) return [[label, times ?? all] as const]
      return [[label, options.find(([each]) => each === value)![1]] as const]
    })
  ]
}

/** The fields for {@link Choices}, which set the parameters of the address. */
export const ChoiceFilters = ({ choices }: { readonly choices: Choices }) => {
  const chosen = useChosen(choices)
  const setFilter = useFilter()
  return Object.entries(choices).map(([name, choice]) => (
    <Fragment key={name}>
      <SelectFilter
        {...choice}
        value={chosen[name]}
        onChange={(value) =>
          setFilter({
            [name]: value,
            ...(hasRange(choice) && value !== range ? { begin: undefined, end: undefined } : {})
          })}
      />
      {hasRange(choice) && chosen[name] === range ? <RangeFilter /> : null}
    </Fragment>
  ))
}

/** A filter of the address that has no field, with a button that clears it. */
export const ChosenFilter = (
  { children, onClear }: { readonly children: ReactNode; readonly onClear: () => void }
) => (
  <p className="flex min-h-9 items-center gap-2">
    <span className="text-muted">{children}</span>
    <Button small icon="cross" onClick={onClear}>{t("Clear")}</Button>
  </p>
)

/** The field for a search text, which takes effect when the reader presses Enter or the button. */
export const SearchFilter = (
  { label, onSearch, placeholder, value }: {
    readonly label: string
    readonly value: string | undefined
    readonly placeholder: string
    readonly onSearch: (value: string | undefined) => void
  }
) => {
  const id = useId()
  const [text, setText] = useState(value ?? "")
  const [before, setBefore] = useState(value)
  if (before !== value) {
    setBefore(value)
    setText(value ?? "")
  }
  return (
    <form
      className="flex min-w-0 flex-1 basis-full items-end gap-2 sm:basis-64"
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(text.trim() === "" ? undefined : text.trim())
      }}
    >
      <div className="min-w-0 flex-1">
        <label htmlFor={id} className="mb-1 block text-[13px] text-muted">{label}</label>
        <input
          id={id}
          type="search"
          className="field"
          value={text}
          placeholder={placeholder}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <Button type="submit" icon="search">{t("Search")}</Button>
    </form>
  )
}
