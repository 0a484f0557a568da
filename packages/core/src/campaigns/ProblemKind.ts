/**
 * The problems of a campaign's rows by kind (contract §11). The check counts them, so that a report on the problems
 * does not read a million rows again. Pure.
 */
import type { CheckedRow } from "./CheckedRow.ts"
import type { ProblemReason } from "./Problem.ts"

/** Rows with the same problem. */
export interface ProblemKind {
  readonly reason: ProblemReason
  /**
   * The `message` of the rows' problem. `null` for all rows with this reason whose messages are not counted separately,
   * because there are too many or they are too long.
   */
  readonly message: string | null
  readonly rows: number
  /** The places of the first of these rows in all uploads, at most {@link maxExamples}. */
  readonly places: ReadonlyArray<number>
}

/** The maximum number of messages per reason that are counted separately. They are stored in the campaign's row. */
export const maxMessages = 10

/** The maximum length of a message that is counted separately, in UTF-16 code units. */
export const maxMessage = 200

/** The maximum number of example rows of a kind. */
export const maxExamples = 5

/** A row that was checked. */
export type Checked = Pick<CheckedRow, "place" | "problem">

const isOf = ({ message, reason }: ProblemKind, problem: Pick<ProblemKind, "reason" | "message">): boolean =>
  reason === problem.reason && message === problem.message

/** Counts the problems of checked rows, which are in the order of their places. */
export const add = (
  kinds: ReadonlyArray<ProblemKind>,
  checked: ReadonlyArray<Checked>
): ReadonlyArray<ProblemKind> => {
  const sums: Array<ProblemKind> = [...kinds]
  for (const { place, problem } of checked) {
    if (problem === null) continue
    const { message, reason } = problem
    const known = sums.findIndex((kind) => isOf(kind, problem))
    const isKept = known >= 0 || (
      message.length <= maxMessage &&
      sums.filter((kind) => kind.reason === reason && kind.message !== null).length < maxMessages
    )
    const at = isKept ? known : sums.findIndex((kind) => isOf(kind, { reason, message: null }))
    const { places, rows } = sums[at] ?? { places: [], rows: 0 }
    const kind = {
      reason,
      message: isKept ? message : null,
      rows: rows + 1,
      places: places.length < maxExamples ? [...places, place] : places
    }
    if (at < 0) sums.push(kind)
    else sums[at] = kind
  }
  return sums
}

const rowsIn = (kinds: ReadonlyArray<{ readonly rows: number }>): number =>
  kinds.reduce((sum, { rows }) => sum + rows, 0)

/** The places of the examples of all kinds, in the order of the rows. */
export const placesOf = (kinds: ReadonlyArray<ProblemKind>): ReadonlyArray<number> =>
  kinds.flatMap(({ places }) => places).toSorted((one, other) => one - other)

/** The fields of a campaign that its check wrote. */
interface Checks {
  readonly replaced: number
  readonly checked: number
  readonly problems: number
  readonly problemKinds: ReadonlyArray<ProblemKind>
}

/**
 * The kinds of the campaign's present check. A process with an earlier version, which may run beside this one, does not
 * count kinds and leaves the kinds of an earlier check: they are ignored.
 */
export const countedIn = ({ checked, problemKinds, problems, replaced }: Checks): ReadonlyArray<ProblemKind> =>
  checked === 0 || rowsIn(problemKinds) > problems || placesOf(problemKinds).some((place) => place <= replaced)
    ? []
    : problemKinds

/**
 * How many of a campaign's rows come before the first row with a problem, or with a problem for this reason. A list of
 * such rows can begin after them. 0 if not all problems were counted.
 */
export const rowsBefore = (campaign: Checks, reason: string | undefined): number => {
  const kinds = countedIn(campaign)
  if (rowsIn(kinds) !== campaign.problems) return 0
  const places = kinds.flatMap((kind) => reason === undefined || kind.reason === reason ? kind.places.slice(0, 1) : [])
  return places.length === 0 ? campaign.checked : Math.min(...places) - campaign.replaced - 1
}

/** A row as an example of a problem. Its place is its place among the campaign's present rows. */
export type Example = Pick<CheckedRow, "place" | "line" | "value">

/** Rows with the same message. */
export interface MessageReport extends Pick<ProblemKind, "message" | "rows"> {
  /** The first of these rows, in the order of their upload. Rows that no longer have the problem are left out. */
  readonly examples: ReadonlyArray<Example>
}

/** Rows with the same reason. */
export interface ReasonReport extends Pick<ProblemKind, "reason" | "rows"> {
  /** The most frequent message first; the rows without a message of their own last. */
  readonly messages: ReadonlyArray<MessageReport>
}

/** A report on the rows of a campaign that have a problem. */
export interface ProblemReport {
  /** The number of these rows: the sum of the rows of all reasons and of {@link uncounted}. */
  readonly rows: number
  /** The most frequent reason first. */
  readonly reasons: ReadonlyArray<ReasonReport>
  /** How many of these rows were checked by a version that did not count kinds. */
  readonly uncounted: number
}

const moreFirst = <A extends { readonly rows: number }>(one: A, other: A): number => other.rows - one.rows

/** Builds the report of a campaign. `found` are the rows at the places of its examples. */
export const report = (
  campaign: Checks,
  found: ReadonlyArray<CheckedRow>
): ProblemReport => {
  const kinds = countedIn(campaign)
  const rows = new Map(found.map((row) => [row.place, row]))
  const exampleOf = ({ message, reason }: ProblemKind, at: number): ReadonlyArray<Example> => {
    const row = rows.get(at)
    // the rows may have been checked again since
    if (row?.problem?.reason !== reason || (message !== null && row.problem.message !== message)) return []
    const { line, place, value } = row
    return [{ place: place - campaign.replaced, line, value }]
  }
  const reasons = [...new Set(kinds.map(({ reason }) => reason))].map((reason): ReasonReport => {
    const own = kinds.filter((kind) => kind.reason === reason)
    const messages = own
      .toSorted((one, other) => Number(one.message === null) - Number(other.message === null) || moreFirst(one, other))
      .map((kind): MessageReport => ({
        message: kind.message,
        rows: kind.rows,
        examples: kind.places.flatMap((place) => exampleOf(kind, place))
      }))
    return { reason, rows: rowsIn(own), messages }
  }).toSorted(moreFirst)
  return { rows: campaign.problems, reasons, uncounted: campaign.problems - rowsIn(kinds) }
}
