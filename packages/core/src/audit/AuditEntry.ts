/**
 * The audit (contract §12): what people and the operator's commands changed. No secret in it.
 */
import { Duration } from "effect"
import type { AuditId, RequestId, UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** How long entries are kept. */
export const retention = Duration.days(365)

/** What can be done: the thing, and what becomes of it. */
export const actions = [
  "alert_settings.change",
  "api_key.create",
  "api_key.revoke",
  "delivery.retry",
  "member.change",
  "member.invite",
  "member.join",
  "member.remove",
  "message.send",
  "number.add",
  "number.change",
  "number.remove",
  "password.change",
  "password.reset",
  "portal.open",
  "replay.cancel",
  "replay.create",
  "session.end",
  "session.sign_in",
  "session.sign_out",
  "session.switch",
  "template.sync",
  "webhook.pause",
  "webhook.remove",
  "webhook.resume",
  "webhook.rotate_secret",
  "webhook.set",
  "webhook.test",
  "workspace.set_up"
] as const
/** What was done, as `thing.verb`. */
export type Action = (typeof actions)[number]

/** What else there is to know, in a word each. */
export type Detail = { readonly [name: string]: string }

/** What somebody changed. */
export interface AuditEntry {
  readonly id: AuditId
  readonly workspaceId: WorkspaceId
  readonly action: Action
  /** The id of what was changed. */
  readonly target: string | null
  /** `null`: the operator, by a command. */
  readonly by: { readonly userId: UserId; readonly email: string } | null
  readonly at: Instant
  readonly address: string | null
  readonly requestId: RequestId | null
  readonly detail: Detail | null
}
