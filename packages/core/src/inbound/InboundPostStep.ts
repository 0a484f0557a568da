/**
 * The decisions at the end of a post's claim. They need no loaded records, because the claim's token guards the write:
 * a storage writes the changes in one statement if the token still holds the claim. Pure.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"
import * as InboundPost from "./InboundPost.ts"

/** Ends a claim whose post was processed. */
export interface Complete extends InboundPost.PostName {
  readonly now: Instant
  /** The claim's token. */
  readonly token: string
  /** How long the post is remembered; defaults to `InboundPost.keptFor`. */
  readonly keptFor?: Duration.Duration
}

/** Ends a claim whose post was not processed: it failed, or it is released. */
export type Release =
  & Omit<Complete, "keptFor">
  & (
    | { readonly problem: InboundPost.Problem; readonly retryAt: Instant | null }
    | { readonly problem: null; readonly retryAt: Instant }
  )

/** The changes at the end of a claim. Times are in milliseconds from the storage's time. */
export interface Ended {
  /** When the post is due again; `null` if never. */
  readonly dueIn: number | null
  /** Whether the try counts. */
  readonly isTry: boolean
  /** Why the last try failed; `null` if it did not fail. Omitted if unchanged. */
  readonly problem?: InboundPost.Problem | null
  /** When the post may be deleted. Omitted if unchanged. */
  readonly expires?: {
    readonly in: number
    /** Whether to keep an expiry that is set already: the retention of a failed post runs from its first failure. */
    readonly onlyIfNew: boolean
  }
}

/** The end of a claim whose post was processed. */
export const complete = ({ keptFor = InboundPost.keptFor }: Pick<Complete, "keptFor">): Ended => ({
  dueIn: null,
  isTry: false,
  problem: null,
  expires: { in: Duration.toMillis(keptFor), onlyIfNew: false }
})

/** The end of a claim whose post was not processed. */
export const release = ({ now, problem, retryAt }: Release): Ended => ({
  dueIn: retryAt === null ? null : retryAt - now,
  ...problem === null ? { isTry: false } : {
    isTry: true,
    problem,
    expires: { in: Duration.toMillis(InboundPost.keptWithProblemFor), onlyIfNew: true }
  }
})
