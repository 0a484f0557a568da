import { Runtime, Schema } from "effect"

/** The run is worth nothing: something did not start, broke, or answered wrongly. */
export class BenchFailed extends Schema.TaggedError<BenchFailed>()("BenchFailed", { message: Schema.String }) {
  /** `main` tells of it. */
  override readonly [Runtime.errorReported] = false
}

/** The failure that a rejected promise or a thrown value tells of. */
export const because = (what: string) => (cause: unknown): BenchFailed =>
  new BenchFailed({ message: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })
