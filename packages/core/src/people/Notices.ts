/**
 * Mails a person about changes of their account, and a workspace's owners about changes in it, so that they notice a
 * change that somebody else made in their name (contract §17). Does nothing without a mailer. A mail never holds a
 * secret.
 */
import { Clock, Context, Effect, FiberSet, Layer, Option } from "effect"
import type { Actor, Change } from "../audit/Audit.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import type { Instant } from "../Time.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import * as Mailer from "./Mailer.ts"
import * as MailTexts from "./MailTexts.ts"
import type { Person } from "./Member.ts"
import { MemberStore } from "./MemberStore.ts"

/** Limits the notices to one person about their account or one workspace: 10 at once, then one per 10 minutes. */
const policy: RateLimit.Policy = { name: "login", interval: 600_000, capacity: 10 }

/** A notice about an account, whose person gets it, or about the actor's workspace, whose owners get it. */
type Notice =
  | { readonly _tag: "Password" }
  | { readonly _tag: "Factor"; readonly change: Exclude<MailTexts.FactorChange, { readonly _tag: "Reset" }> }
  | { readonly _tag: "FactorReset"; readonly of: string }
  | ({ readonly _tag: "Workspace" } & MailTexts.WorkspaceChange)

/** The notice about a change; `undefined` if nobody is notified of it. Pure. */
export const noticeOf = ({ action, detail }: Pick<Change, "action" | "detail">): Notice | undefined => {
  switch (action) {
    case "password.change":
    case "password.reset":
      return { _tag: "Password" }
    case "factor.enable":
      return { _tag: "Factor", change: { _tag: "On" } }
    case "factor.renew_recovery_codes":
      return { _tag: "Factor", change: { _tag: "Codes" } }
    case "factor.disable":
      return { _tag: "Factor", change: { _tag: "Off" } }
    case "factor.add_passkey":
      return { _tag: "Factor", change: { _tag: "PasskeyAdded", name: detail?.["name"] ?? "" } }
    case "factor.remove_passkey":
      return {
        _tag: "Factor",
        change: {
          _tag: "PasskeyRemoved",
          name: detail?.["name"] ?? "",
          isLast: detail?.["secondFactor"] === "off"
        }
      }
    case "member.reset_factor":
      return detail?.["email"] === undefined ? undefined : { _tag: "FactorReset", of: detail["email"] }
    case "api_key.create":
      return {
        _tag: "Workspace",
        what: "A new API key",
        name: detail?.["name"],
        remedy: "revoke the key on the page API keys"
      }
    case "webhook.set":
      return { _tag: "Workspace", what: "A changed webhook", remedy: "check the webhook's URL on the page Webhook" }
    case "webhook.remove":
      return { _tag: "Workspace", what: "A removed webhook", remedy: "set the webhook again on the page Webhook" }
    case "webhook.rotate_secret":
      return {
        _tag: "Workspace",
        what: "A new signing secret of the webhook",
        remedy: "rotate the secret again on the page Webhook"
      }
    case "member.change":
    case "member.join":
      return detail?.["role"] === "owner"
        ? {
          _tag: "Workspace",
          what: "A new owner",
          name: detail["email"],
          remedy: "change the person's role on the page Members"
        }
        : undefined
    default:
      return undefined
  }
}

/** The mail about an account, after a change that the person with this address made. */
const accountNotice = (
  notice: Exclude<Notice, { readonly _tag: "Workspace" }>,
  by: string,
  circumstances: { readonly at: Instant; readonly address: string | undefined }
): Mailer.Mail => {
  switch (notice._tag) {
    case "Password":
      return MailTexts.passwordNotice({ ...circumstances, to: by, by: "person" })
    case "Factor":
      return MailTexts.factorNotice({ ...circumstances, to: by, change: notice.change })
    case "FactorReset":
      // without the client's address: it belongs to the owner who reset the factor, not to the mail's recipient
      return MailTexts.factorNotice({
        ...circumstances,
        address: undefined,
        to: notice.of,
        change: { _tag: "Reset", by }
      })
  }
}

export class Notices extends Context.Service<Notices, {
  /**
   * Mails the notices of a change that a person made, given once for each workspace that it concerns, if there are any.
   * `person` is the same person, needed only if they may be in no workspace. Works in the background and never fails.
   */
  readonly ofChange: (
    actors: ReadonlyArray<Actor>,
    change: Pick<Change, "action" | "detail" | "address">,
    person?: Pick<Person, "email">
  ) => Effect.Effect<void>
  /** Notifies a person of a sign-in on a device that had not signed in to their account. Never fails. */
  readonly ofDevice: (person: Pick<Person, "email">, address: string) => Effect.Effect<void>
}>()("@wac/core/people/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const mailer = yield* Mailer.Mailer
      if (mailer === undefined) return Notices.of({ ofChange: () => Effect.void, ofDevice: () => Effect.void })
      const members = yield* MemberStore
      const workspaces = yield* WorkspaceStore
      const limits = yield* RateLimitStore
      const mailing = yield* FiberSet.make()

      /** Runs in the background, so that a response does not wait for the mail. */
      const run = (notice: Effect.Effect<void, { readonly message: string }>) =>
        Effect.asVoid(FiberSet.run(
          mailing,
          Effect.catch(notice, ({ message }) => Effect.logWarning(`a mail could not be sent: ${message}`))
        ))

      /**
       * Notices are limited per person and `about` (account or workspace), so that a flood about one hides no other.
       */
      const send = Effect.fnUntraced(function*(about: string, mail: Mailer.Mail) {
        const bucket = { key: `notice:${about}:${mail.to}`, policy }
        const readings = yield* limits.spend([bucket], yield* Clock.currentTimeMillis)
        if (RateLimit.refusal(readings) === undefined) yield* mailer.send(mail)
      })

      const toOwners = Effect.fnUntraced(function*(
        { email: by, workspaceId }: Pick<Person, "email"> & Pick<Actor, "workspaceId">,
        about: MailTexts.WorkspaceChange & { readonly at: Instant; readonly address: string | undefined }
      ) {
        const found = yield* workspaces.get(workspaceId)
        const workspaceName = Option.match(found, { onNone: () => "", onSome: ({ name }) => name })
        const owners = (yield* members.ofWorkspace(workspaceId)).filter(({ role }) => role === "owner")
        for (const { email: to } of owners) {
          yield* send(workspaceId, MailTexts.workspaceNotice({ ...about, to, by, workspaceName }))
        }
      })

      return Notices.of({
        ofChange: Effect.fnUntraced(function*(actors, { address, ...change }, person) {
          const notice = noticeOf(change)
          const people = actors.filter((actor) => "userId" in actor)
          const [by = person] = people
          if (notice === undefined || by === undefined) return
          const at = yield* Clock.currentTimeMillis
          if (notice._tag === "Workspace") {
            return yield* run(
              Effect.forEach(people, (each) => toOwners(each, { ...notice, at, address }), { discard: true })
            )
          }
          // an account is the same in each of its workspaces
          yield* run(send("account", accountNotice(notice, by.email, { at, address })))
        }),
        ofDevice: Effect.fnUntraced(function*({ email: to }, address) {
          const at = yield* Clock.currentTimeMillis
          yield* run(send("account", MailTexts.deviceNotice({ to, at, address })))
        })
      })
    })
  )
}
