/**
 * Where and as whom calls for a number are made.
 */
import { type Errors, type PhoneNumber, SenderCredentials } from "@wac/core"
import { Effect } from "effect"
import type { Access } from "./CloudApi.ts"

/** Of a sender; failing means that no call can be made for it. */
export type AccessOf = (sender: PhoneNumber.PhoneNumber) => Effect.Effect<Access, Errors.ServerError>

/** The credentials of a number's own, and what they leave out, or all, as configured. */
export const make = (
  { accessToken, apiVersion, baseUrl }: Access
): Effect.Effect<AccessOf, never, SenderCredentials.SenderCredentials> =>
  Effect.map(
    SenderCredentials.SenderCredentials,
    (credentials) => (sender) =>
      Effect.map(credentials.of(sender), (own) => ({ accessToken, apiVersion, baseUrl, ...own }))
  )
