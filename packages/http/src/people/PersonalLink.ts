/**
 * Links to our pages that carry a one-time token, behind `#`: browsers send that part nowhere.
 */
import { Effect, Redacted } from "effect"
import { MountPath } from "../MountPath.ts"
import { PublicUrl } from "../PublicUrl.ts"

/** What such a link is for: the page of the dashboard that takes the token. */
export type Purpose = "invitation" | "password-reset"

/** Gives what makes links at the service's own address, within a request. */
export const make = Effect.map(
  PublicUrl,
  (publicUrl) => (purpose: Purpose) =>
    Effect.map(MountPath, (mount) => (token: Redacted.Redacted): string => {
      const base = publicUrl.href.replace(/\/$/, "")
      return `${base}${mount}/dashboard/${purpose}#token=${Redacted.value(token)}`
    })
)
