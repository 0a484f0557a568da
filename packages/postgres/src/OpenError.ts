import { StoreError } from "@wac/core"
import { Schema } from "effect"

/**
 * The storage could not be opened. The message is one line for an operator and holds no credentials. `problem` is set
 * if the storage responded with something that an operator must correct, or if the disk of an embedded database is
 * full. `isInUse` is true if another process has the embedded database open.
 */
export class OpenError extends Schema.TaggedError<OpenError>()("OpenError", {
  message: Schema.String,
  problem: Schema.optional(StoreError.Problem),
  isInUse: Schema.optional(Schema.Boolean)
}) {}
