/**
 * How long each kind of record is kept.
 */
import { Retention } from "@wac/core"
import { Effect, Schema, Struct } from "effect"
import { parts } from "./Parts.ts"

/** The content of `RETENTION`. */
const RetentionPatch = Schema.fromJsonString(
  Schema.Struct(Struct.map(Retention.Retention.fields, Schema.optionalKey))
)

/** The retention (contract §8 `RETENTION`): any part replaces that part of the standard. */
export const retention = parts(
  "RETENTION",
  `JSON with days from 1 to 36500 by kind, such as {"events":30,"messages":400}, and the kinds ${
    Struct.keys(Retention.Retention.fields).join(", ")
  }`,
  RetentionPatch,
  (patch) => Effect.succeed<Retention.Retention>({ ...Retention.standard, ...patch })
)
