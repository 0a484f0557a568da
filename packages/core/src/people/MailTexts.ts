/**
 * The mails to people: their subjects and texts. Pure.
 */
import { type Instant, iso } from "../Time.ts"
import type { Mail } from "./Mailer.ts"
import type { Role } from "./Member.ts"

/** Makes text safe for one line of a header. */
const line = (text: string): string => text.replaceAll(/\p{Cc}+/gu, " ")

/** The mail with an invitation's link. */
export const invitation = (
  { by, expiresAt, link, role, to, workspaceName }: {
    readonly to: string
    readonly by: string
    readonly role: Role
    readonly workspaceName: string
    readonly link: string
    readonly expiresAt: Instant
  }
): Mail => ({
  to,
  subject: line(`You are invited to ${workspaceName}`),
  text: `${line(by)} invites you to the workspace ${line(workspaceName)}, as ${role}.

Accept the invitation here, until ${iso(expiresAt)}:
${link}

If you did not expect this mail, you can ignore it.
`
})

/** The mail with a password reset link. */
export const passwordReset = (
  { expiresAt, link, to }: { readonly to: string; readonly link: string; readonly expiresAt: Instant }
): Mail => ({
  to,
  subject: "Reset your password",
  text: `Somebody, probably you, asked to reset the password of this address.

Choose a new password here, until ${iso(expiresAt)}:
${link}

If it was not you, you can ignore this mail: your password stays as it is.
`
})

/** When and from where something was done. */
interface Circumstances {
  readonly to: string
  readonly at: Instant
  readonly address: string | undefined
}

const circumstances = ({ address, at }: Circumstances): string =>
  `at ${iso(at)}${address === undefined ? "" : `, from the address ${line(address)}`}`

const byOperator = " by the operator of the service,"

/** The mail to a person whose password was changed or reset: by the person, or by the operator's command. */
export const passwordNotice = (notice: Circumstances & { readonly by: "person" | "operator" }): Mail => ({
  to: notice.to,
  subject: "Your password was changed",
  text: `The password of this address was changed${notice.by === "operator" ? byOperator : ""} ${circumstances(notice)}.

If ${
    notice.by === "operator" ? "you did not ask for it" : "it was not you"
  }, ask for a link that resets the password on the sign-in page, and tell an admin of your workspace.
`
})

/** A change of a person's second factor: by the person, by the owner who reset it, or by the operator (`null`). */
export type FactorChange =
  | { readonly _tag: "On" }
  | { readonly _tag: "Off" }
  | { readonly _tag: "Codes" }
  | { readonly _tag: "PasskeyAdded"; readonly name: string }
  | { readonly _tag: "PasskeyRemoved"; readonly name: string; readonly isLast: boolean }
  | { readonly _tag: "Reset"; readonly by: string | null }

/** The words for a change of a second factor: what was changed and how, and what to do if nobody wanted that. */
const factorWords = (change: FactorChange): {
  readonly what: string
  readonly name?: string
  readonly was: string
  readonly done: string
  readonly by?: string
  readonly now?: string
  readonly remedy: string
} => {
  const setUpAgain = "change your password, and set up a second factor on the page Your account"
  const passwordAlone = "Until you set up another, your password alone signs you in."
  const factor = { what: "second factor", was: "was" }
  switch (change._tag) {
    case "On":
      return {
        ...factor,
        done: "switched on",
        remedy: "ask an owner of your workspace to reset it, and change your password"
      }
    case "Off":
      return { ...factor, done: "switched off", now: passwordAlone, remedy: setUpAgain }
    case "Codes":
      return {
        what: "recovery codes",
        was: "were",
        done: "replaced",
        now: "The earlier codes are no longer valid.",
        remedy: "change your password, and make new recovery codes on the page Your account"
      }
    case "PasskeyAdded":
      return {
        what: "passkey",
        name: change.name,
        was: "was",
        done: "added",
        now: "Together with the password it signs in to your account.",
        remedy: "change your password, and remove the passkey on the page Your account"
      }
    case "PasskeyRemoved":
      return {
        what: "passkey",
        name: change.name,
        was: "was",
        done: "removed",
        ...(change.isLast ? { now: passwordAlone } : {}),
        remedy: setUpAgain
      }
    case "Reset":
      return {
        ...factor,
        done: "reset",
        by: change.by === null ? byOperator : ` by ${line(change.by)}, an owner of your workspace,`,
        now: passwordAlone,
        remedy: setUpAgain
      }
  }
}

/** The mail to a person whose second factor was switched on or off, or reset, or has new recovery codes or passkeys. */
export const factorNotice = (notice: Circumstances & { readonly change: FactorChange }): Mail => {
  const { by = "", done, name, now, remedy, was, what } = factorWords(notice.change)
  const named = name === undefined ? what : `${what} “${line(name)}”`
  return {
    to: notice.to,
    subject: `Your ${what} ${was} ${done}`,
    text: `The ${named} of this address ${was} ${done}${by} ${circumstances(notice)}.
${now === undefined ? "" : `${now}\n`}
If ${by === "" ? "it was not you" : "you did not ask for it"}, ${remedy}.
`
  }
}

/** The mail to a person who signed in on a new device. */
export const deviceNotice = (notice: Circumstances): Mail => ({
  to: notice.to,
  subject: "You signed in on a new device",
  text: `Somebody signed in with this address on a device that had not signed in with it before, ${
    circumstances(notice)
  }.

If it was not you, change the password with which you sign in, and end all other sessions on the page Your account.
`
})

/** A change in a workspace, such as a new API key. */
export interface WorkspaceChange {
  readonly what: string
  /** The name of what is new. */
  readonly name?: string | undefined
  /** The way to undo the change. */
  readonly remedy: string
}

/** The mail to a workspace's owner about a change in it. */
export const workspaceNotice = (
  notice: Circumstances & WorkspaceChange & { readonly by: string; readonly workspaceName: string }
): Mail => ({
  to: notice.to,
  subject: line(`${notice.what} in ${notice.workspaceName}`),
  text: `${notice.what}${notice.name === undefined ? "" : ` “${line(notice.name)}”`}: a change that ${
    line(notice.by)
  } made in the workspace ${line(notice.workspaceName)} ${circumstances(notice)}.

If you did not expect this, ${notice.remedy}, and end the person's sessions on the page Members.
`
})
