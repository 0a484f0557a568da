/**
 * The audit's name for an endpoint's change: an annotation on every endpoint with which a person changes something.
 * `null` marks an endpoint that changes nothing although it is not a GET. A test fails for an endpoint without the
 * annotation.
 */
import type { AuditEntry } from "@wac/core"
import { Context } from "effect"

/** The name of the change, or `null`. */
export type Audited = AuditEntry.Action | null

/** The annotation's key. */
export const Audited = Context.Service<Audited>("@wac/api/audit/Audited")
