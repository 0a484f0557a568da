/**
 * The decision of `AlertStore.observe`: each problem has one alert, which closes when the problem has ended.
 */
import type { AlertId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { Alert, Problem } from "./Alert.ts"

/** Reports all current problems of a workspace. */
export interface Observe {
  readonly now: Instant
  readonly workspaceId: WorkspaceId
  readonly problems: ReadonlyArray<Problem>
  /** A new id for each of the problems. */
  readonly ids: ReadonlyArray<AlertId>
}

/** The alerts that this observation opened and closed. Each change is returned to one observer only. */
export interface Observed {
  readonly opened: ReadonlyArray<Alert>
  readonly closed: ReadonlyArray<Alert>
}

/** The records that the step loads, under locks. */
export interface Loaded extends Known {
  /** The open alerts of a workspace. */
  readonly open: (workspaceId: WorkspaceId) => ReadonlyArray<Alert>
}

/** The alerts to write, in their new state. */
export interface Writes {
  readonly opened: ReadonlyArray<Alert>
  readonly closed: ReadonlyArray<Alert>
}

const nameOf = ({ kind, subject }: Problem): string => `${kind} ${subject}`

/** Decides `AlertStore.observe`. Each command must be for a different workspace. */
export const observe: Decide<Observe, Loaded, Observed, Writes> = (loaded, commands) => {
  const answers = commands.map(({ ids, problems, now: asked, workspaceId }): Observed => {
    const now = loaded.now(asked)
    const open = loaded.open(workspaceId)
    const known = new Set(open.map(nameOf))
    const present = new Set(problems.map(nameOf))
    return {
      opened: problems.flatMap((problem, i) =>
        known.has(nameOf(problem))
          ? []
          : [{ ...problem, id: ids[i]!, workspaceId, openedAt: now, closedAt: null }]
      ),
      closed: open.filter((alert) => !present.has(nameOf(alert))).map((alert) => ({ ...alert, closedAt: now }))
    }
  })
  return {
    answers,
    writes: { opened: answers.flatMap(({ opened }) => opened), closed: answers.flatMap(({ closed }) => closed) }
  }
}
