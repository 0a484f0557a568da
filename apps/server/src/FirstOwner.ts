/**
 * At startup, creates the first workspace and its owner if the configuration names an owner. Otherwise returns the
 * token of the setup link. `Setup` writes to the storage and asks the provider for the first number. This happens
 * before the server is ready, so that the owner can sign in as soon as it is.
 */
import { Setup, Templates } from "@wac/core"
import { Context, Effect, Layer, Redacted } from "effect"
import type { ServerConfig } from "./ServerConfig.ts"
import { BadVariable } from "./VariableText.ts"

/** How the first owner signs in. */
export type SignIn =
  | { readonly _tag: "SetupLink"; readonly token: string; readonly suggestedPassword: string }
  | { readonly _tag: "Owner"; readonly email: string }

const notUsed =
  "WAC_OWNER_EMAIL, WAC_OWNER_PASSWORD and WAC_WORKSPACE_NAME are ignored: a first workspace already exists"

const make = Effect.fnUntraced(function*(config: ServerConfig) {
  const setup = yield* Setup.Setup
  const templates = yield* Templates.Templates
  const token = yield* setup.token
  if (token === undefined) {
    if (config.owner !== undefined) yield* Effect.logInfo(notUsed)
    return undefined
  }
  if (config.owner === undefined) {
    const link = Redacted.value(token)
    return { _tag: "SetupLink" as const, token: link, suggestedPassword: link.slice(-12) }
  }
  // another process that starts at the same time may be first; it has the same variables
  yield* setup.create(config.owner).pipe(
    // the composition, which has already started, found no workspace to list them for
    Effect.flatMap(({ workspaceId }) => templates.syncFirst(workspaceId)),
    Effect.catchTags({
      AlreadySetUp: () => Effect.void,
      InvalidBody: ({ message }) =>
        Effect.fail(new BadVariable({ variable: "WAC_OWNER_PASSWORD", expected: `a password, which ${message}` }))
    })
  )
  return { _tag: "Owner" as const, email: config.owner.email }
})

/** The result of the set-up of the first workspace. */
export class FirstOwner extends Context.Service<FirstOwner, {
  /** The sign-in to show at the start; `undefined` if a workspace already exists. */
  readonly signIn: SignIn | undefined
}>()("@wac/server/FirstOwner") {
  /** Unless a workspace exists, creates the owner that the configuration names, or returns the setup link's token. */
  static readonly layer = (config: ServerConfig) =>
    Layer.effect(FirstOwner, Effect.map(make(config), (signIn) => ({ signIn })))
}
