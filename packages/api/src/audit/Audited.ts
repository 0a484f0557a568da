/**
 * What the audit calls an endpoint's change: an annotation on everything that changes something for a person. `null`: it
 * changes nothing, though it is no GET. A test refuses an endpoint that says neither.
 */
import type { AuditEntry } from "@wac/core"
import { Context } from "effect"

/** The name of the change, or `null`. */
export type Audited = AuditEntry.Action | null

/** The annotation's key. */
export const Audited = Context.Service<Audited>("@wac/api/audit/Audited")
