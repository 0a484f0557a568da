/**
 * The error of an invalid run.
 */
import { Runtime, Schema } from "effect"

/** The run is invalid: a process did not start, something broke, or a contestant answered wrongly. */
export class BenchFailed extends Schema.TaggedError<BenchFailed>()("BenchFailed", { message: Schema.String }) {
  /** `main` prints the error itself. */
  override readonly [Runtime.errorReported] = false
}

/** Turns a rejection or a thrown value into a BenchFailed. */
export const because = (what: string) => (cause: unknown): BenchFailed =>
  new BenchFailed({ message: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })
