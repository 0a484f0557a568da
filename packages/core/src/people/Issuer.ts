/**
 * Port: signing in at an OpenID Connect issuer (contract §12 `AUTH=oidc`). At each sign-in the issuer decides who the
 * person is and which roles they have. `IssuerClaims` has the rules for what the issuer states about a person.
 */
import { Context, type Effect } from "effect"
import type { ServerError, Unauthorized } from "../Errors.ts"
import type { IssuerClaims } from "./IssuerClaims.ts"
import type { IssuerState } from "./IssuerState.ts"

/** The secrets that tie the browser's return to the sign-in that it began. The browser keeps them meanwhile. */
export type SignInSecrets = Pick<IssuerState, "state" | "nonce" | "codeVerifier">

/** An issuer: the authorization code flow with PKCE, state and nonce. */
export interface Issuer {
  /**
   * The URL to send the browser to, and what the browser keeps meanwhile. With `isFresh`, the issuer asks people to
   * prove who they are even if they are signed in there.
   */
  readonly begin: (
    redirectUri: string,
    isFresh: boolean
  ) => Effect.Effect<{ readonly url: URL; readonly kept: SignInSecrets }, ServerError>
  /** Verifies the browser's return. `callback` is our address with the issuer's parameters. */
  readonly complete: (callback: URL, kept: SignInSecrets) => Effect.Effect<IssuerClaims, Unauthorized | ServerError>
}

/** The issuer at which people sign in; `undefined` if they do not sign in at one. */
export const CurrentIssuer = Context.Reference<Issuer | undefined>("@wac/core/people/Issuer/CurrentIssuer", {
  defaultValue: () => undefined
})
