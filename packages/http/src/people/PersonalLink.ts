/**
 * Links to our pages with a one-time token after `#`, a part that browsers do not send.
 */
import { Effect, Redacted } from "effect"
import { MountPath } from "../MountPath.ts"
import { PublicUrl } from "../PublicUrl.ts"

/** The purpose of a link: the page of the dashboard that uses the token. */
export type Purpose = "invitation" | "password-reset"

/** Returns the function that makes links at the service's own address, within a request. */
export const make = Effect.map(
  PublicUrl,
  (publicUrl) => (purpose: Purpose) =>
    Effect.map(MountPath, (mount) => (token: Redacted.Redacted): string => {
      const base = publicUrl.href.replace(/\/$/, "")
      return `${base}${mount}/dashboard/${purpose}#token=${Redacted.value(token)}`
    })
)
