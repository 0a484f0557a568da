/**
 * The address and the credentials of calls for a phone number.
 */
import { type Errors, type PhoneNumber, SenderCredentials } from "@wac/core"
import { Effect } from "effect"
import type { Access } from "./CloudApi.ts"

/** Returns the access of a sender. If it fails, no call can be made for this number. */
export type AccessOf = (sender: PhoneNumber.PhoneNumber) => Effect.Effect<Access, Errors.ServerError>

/** Uses a number's own credentials. What they omit comes from the configuration. */
export const make = (
  { accessToken, apiVersion, baseUrl }: Access
): Effect.Effect<AccessOf, never, SenderCredentials.SenderCredentials> =>
  Effect.map(
    SenderCredentials.SenderCredentials,
    (credentials) => (sender) =>
      Effect.map(credentials.of(sender), (own) => ({ accessToken, apiVersion, baseUrl, ...own }))
  )
