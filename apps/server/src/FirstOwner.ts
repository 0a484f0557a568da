/**
 * The first workspace and its owner, before anybody is let in: whoever finds the server ready can sign in.
 */
import { Setup } from "@wac/core"
import { Context, Effect, Layer, Redacted } from "effect"
import type { ServerConfig } from "./ServerConfig.ts"

/** How somebody signs in for the first time. */
export type SignIn =
  | { readonly _tag: "SetupLink"; readonly token: string; readonly suggestedPassword: string }
  | { readonly _tag: "Owner"; readonly email: string }

const notUsed =
  "WAC_OWNER_EMAIL, WAC_OWNER_PASSWORD and WAC_WORKSPACE_NAME are not used: there is a first workspace already"

const make = Effect.fnUntraced(function*(config: ServerConfig) {
  const setup = yield* Setup.Setup
  const token = yield* setup.token
  if (token === undefined) {
    if (config.owner !== undefined) yield* Effect.logInfo(notUsed)
    return undefined
  }
  if (config.owner === undefined) {
    const link = Redacted.value(token)
    return { _tag: "SetupLink" as const, token: link, suggestedPassword: link.slice(-12) }
  }
  // another process that starts at the same moment may be first: it has the same variables
  yield* setup.create(config.owner).pipe(Effect.catchTag("AlreadySetUp", () => Effect.void))
  return { _tag: "Owner" as const, email: config.owner.email }
})

export class FirstOwner extends Context.Service<FirstOwner, {
  /** Nothing once that is long done. */
  readonly signIn: SignIn | undefined
}>()("@wac/server/FirstOwner") {
  /** Creates the owner whom the environment names, unless there is a workspace. */
  static readonly layer = (config: ServerConfig) =>
    Layer.effect(FirstOwner, Effect.map(make(config), (signIn) => ({ signIn })))
}
