/**
 * Port: sends mail to people. Limits the mails of a workspace.
 */
import { Clock, Context, Effect, Schema } from "effect"
import type { WorkspaceId } from "../Id.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"

/** A plain-text mail to one person. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** A mail could not be sent. The message holds no address. */
export class MailFailed extends Schema.TaggedError<MailFailed>()("MailFailed", { message: Schema.String }) {}

/** Sends mail; `undefined` if none is configured. */
export const Mailer = Context.Reference<
  { readonly send: (mail: Mail) => Effect.Effect<void, MailFailed> } | undefined
>("@wac/core/people/Mailer/Mailer", { defaultValue: () => undefined })

/** Limits the mails of a workspace, whose members choose the recipients: 100 at once, then one per minute. */
const workspacePolicy: RateLimit.Policy = { name: "workspace", interval: 60_000, capacity: 100 }

/**
 * Sends a workspace's mail if a mailer is configured. Fails once the workspace has reached its limit, so that nobody
 * can mail strangers through the service.
 */
export const ofWorkspace = Effect.gen(function*() {
  const mailer = yield* Mailer
  const limits = yield* RateLimitStore
  return Effect.fnUntraced(function*(workspaceId: WorkspaceId, mail: Mail) {
    if (mailer === undefined) return
    const bucket = { key: `mail:workspace:${workspaceId}`, policy: workspacePolicy }
    const readings = yield* limits.spend([bucket], yield* Clock.currentTimeMillis)
    if (RateLimit.refusal(readings) !== undefined) {
      return yield* new MailFailed({ message: "the workspace has reached its limit of e-mails for now" })
    }
    yield* mailer.send(mail)
  })
})
