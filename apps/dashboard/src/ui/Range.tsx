/** A range of time up to now, as a filter of a list. */
import { SelectFilter } from "./Filters.tsx"

const hour = 60 * 60 * 1000

const ranges = [["1", "Last hour"], ["24", "Last 24 hours"], ["168", "Last 7 days"], ["720", "Last 30 days"]] as const

/** The range that an address names, in hours; `undefined`: any time. */
export const rangeOf = (hours: string | undefined): string | undefined => ranges.find(([each]) => each === hours)?.[0]

/** The query of a list of what is in a range. */
export const within = (range: string | undefined): { readonly since?: Date } =>
  range === undefined ? {} : { since: new Date(Date.now() - Number(range) * hour) }

export const RangeFilter = (
  { onChange, value }: {
    readonly value: string | undefined
    readonly onChange: (range: string | undefined) => void
  }
) => <SelectFilter label="Time" all="Any time" value={value} options={ranges} onChange={onChange} />
