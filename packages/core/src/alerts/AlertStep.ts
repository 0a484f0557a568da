/**
 * The decision of `AlertStore.observe`: each problem has one alert, which closes when the problem has ended; and each
 * change of an alert is notified, even if the process that noticed it stops.
 */
import { Duration } from "effect"
import type { AlertId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import { type Alert, kinds, type Problem } from "./Alert.ts"

/** Reports all current problems of a workspace. */
export interface Observe {
  readonly now: Instant
  readonly workspaceId: WorkspaceId
  readonly problems: ReadonlyArray<Problem>
  /** A new id for each of the problems. */
  readonly ids: ReadonlyArray<AlertId>
}

/**
 * How long the process that learned of a change has to send its notifications, before another process sends them: more
 * than all its tries take (`AlertRunner`).
 */
export const lease = Duration.minutes(5)

/** A change of an alert whose notifications are not finished; the alert is as the change left it. */
export interface Notification {
  readonly alert: Alert
  /** When another process sends them. */
  readonly dueAt: Instant
}

/** What happened to the alert at this change. */
export const changeOf = ({ closedAt }: Alert): "opened" | "closed" => closedAt === null ? "opened" : "closed"

/**
 * The alerts that this observation opened and closed, and earlier changes whose notifications no process finished, as
 * the changes left them. Each is returned to one observer at a time ({@link lease}).
 */
export interface Observed {
  readonly opened: ReadonlyArray<Alert>
  readonly closed: ReadonlyArray<Alert>
  readonly unfinished: ReadonlyArray<Alert>
}

/** The records that the step loads, under locks. */
export interface Loaded extends Known {
  /** The open alerts of a workspace. */
  readonly open: (workspaceId: WorkspaceId) => ReadonlyArray<Alert>
  /** The unfinished notifications of a workspace. */
  readonly unfinished: (workspaceId: WorkspaceId) => ReadonlyArray<Notification>
}

/** The alerts to write, in their new state. */
export interface Writes {
  readonly opened: ReadonlyArray<Alert>
  readonly closed: ReadonlyArray<Alert>
  /** New notifications, and known ones with a new due time. */
  readonly notifications: ReadonlyArray<Notification>
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
      // a later version's process, beside which this one runs, knows more kinds
      closed: open.filter((alert) => kinds.includes(alert.kind) && !present.has(nameOf(alert)))
        .map((alert) => ({ ...alert, closedAt: now })),
      unfinished: loaded.unfinished(workspaceId).filter(({ dueAt }) => dueAt <= now).map(({ alert }) => alert)
    }
  })
  return {
    answers,
    writes: {
      opened: answers.flatMap(({ opened }) => opened),
      closed: answers.flatMap(({ closed }) => closed),
      notifications: answers.flatMap(({ closed, opened, unfinished }, i) => {
        const dueAt = loaded.now(commands[i]!.now) + Duration.toMillis(lease)
        return [...opened, ...closed, ...unfinished].map((alert) => ({ alert, dueAt }))
      })
    }
  }
}
