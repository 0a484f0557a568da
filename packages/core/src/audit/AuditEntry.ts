/**
 * The audit (contract §12): what people, API keys and operator commands changed. Entries hold no secret.
 */
import type { ApiKeyId, AuditId, RequestId, UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"

/** The actions that are recorded: an object and what was done to it. */
export const actions = [
  "alert_settings.change",
  "api_key.create",
  "api_key.revoke",
  "campaign.cancel",
  "campaign.change",
  "campaign.check",
  "campaign.create",
  "campaign.pause",
  "campaign.remove",
  "campaign.resume",
  "campaign.start",
  "campaign.upload",
  "contact.import_opt_outs",
  "contact.opt_in",
  "contact.opt_out",
  "customer.erase",
  "delivery.retry",
  "factor.add_passkey",
  "factor.disable",
  "factor.enable",
  "factor.remove_passkey",
  "factor.renew_recovery_codes",
  "member.change",
  "member.end_sessions",
  "member.invite",
  "member.join",
  "member.remove",
  "member.reset_factor",
  "message.cancel",
  "message.retry",
  "message.send",
  "number.add",
  "number.change",
  "number.remove",
  "opt_out_words.change",
  "password.change",
  "password.reset",
  "portal.link",
  "portal.open",
  "queue.release",
  "replay.cancel",
  "replay.create",
  "request.see_values",
  "request_values.change",
  "session.end",
  "session.end_all",
  "session.refuse",
  "session.sign_in",
  "session.sign_in_with_factor",
  "session.sign_out",
  "session.switch",
  "template.create",
  "template.edit",
  "template.remove",
  "template.sync",
  "webhook.pause",
  "webhook.remove",
  "webhook.resume",
  "webhook.rotate_secret",
  "webhook.set",
  "webhook.test",
  "workspace.change",
  "workspace.create",
  "workspace.set_up"
] as const
/** The action, as `thing.verb`. */
export type Action = (typeof actions)[number]

/** More about a change, as short strings. */
export type Detail = { readonly [name: string]: string }

/** The person who made a change, or the API key with its name at that time. */
export type By =
  | { readonly userId: UserId; readonly email: string }
  | { readonly apiKeyId: ApiKeyId; readonly name: string }

/** The id and the name of the person or API key that made a change. */
export const namesOf = (by: By): { readonly id: UserId | ApiKeyId; readonly name: string } =>
  "userId" in by ? { id: by.userId, name: by.email } : { id: by.apiKeyId, name: by.name }

/** The person or API key that made a change, from the id and name. */
export const byOf = (id: string, name: string): By =>
  id.startsWith("key_")
    ? { apiKeyId: id as ApiKeyId, name }
    : { userId: id as UserId, email: name }

/** A recorded change. */
export interface AuditEntry {
  readonly id: AuditId
  readonly workspaceId: WorkspaceId
  readonly action: Action
  /** The id of the changed object. */
  readonly target: string | null
  /**
   * Who made the change. `null` if an operator's command did. For a refused sign-in, the account that was named,
   * because it is not known who tried.
   */
  readonly by: By | null
  readonly at: Instant
  readonly address: string | null
  readonly requestId: RequestId | null
  readonly detail: Detail | null
}
