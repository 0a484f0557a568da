import { Schema } from "effect"

/** The storage could not be opened. The message is one line for an operator and holds no credentials. */
export class OpenError extends Schema.TaggedError<OpenError>()("OpenError", { message: Schema.String }) {}
