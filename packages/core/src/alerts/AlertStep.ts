/**
 * What observing the matters of a workspace decides: each has one alert, and that ends with it.
 */
import type { AlertId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { Alert, Matter } from "./Alert.ts"

/** Says everything that is the matter. */
export interface Observe {
  readonly now: Instant
  readonly workspaceId: WorkspaceId
  readonly matters: ReadonlyArray<Matter>
  /** As many as there are matters. */
  readonly ids: ReadonlyArray<AlertId>
}

/** What is news to whoever observed it first. */
export interface Observed {
  readonly opened: ReadonlyArray<Alert>
  readonly closed: ReadonlyArray<Alert>
}

/** What it loads, under locks. */
export interface Loaded extends Known {
  /** The alerts of a workspace that go on. */
  readonly open: (workspaceId: WorkspaceId) => ReadonlyArray<Alert>
}

/** Alerts as they are after the step. */
export interface Writes {
  readonly opened: ReadonlyArray<Alert>
  readonly closed: ReadonlyArray<Alert>
}

const nameOf = ({ kind, subject }: Matter): string => `${kind} ${subject}`

/** `AlertStore.observe`, of different workspaces. */
export const observe: Decide<Observe, Loaded, Observed, Writes> = (loaded, commands) => {
  const answers = commands.map(({ ids, matters, now: asked, workspaceId }): Observed => {
    const now = loaded.now(asked)
    const open = loaded.open(workspaceId)
    const known = new Set(open.map(nameOf))
    const present = new Set(matters.map(nameOf))
    return {
      opened: matters.flatMap((matter, i) =>
        known.has(nameOf(matter))
          ? []
          : [{ ...matter, id: ids[i]!, workspaceId, openedAt: now, closedAt: null }]
      ),
      closed: open.filter((alert) => !present.has(nameOf(alert))).map((alert) => ({ ...alert, closedAt: now }))
    }
  })
  return {
    answers,
    writes: { opened: answers.flatMap(({ opened }) => opened), closed: answers.flatMap(({ closed }) => closed) }
  }
}
