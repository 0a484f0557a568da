/**
 * The client of an OpenID Connect issuer (contract §12 `AUTH=oidc`): the code flow with PKCE, state and nonce.
 */
import { Errors, Issuer, PlainText } from "@wac/core"
import { Effect, Layer, Redacted } from "effect"
import * as client from "openid-client"

/** The issuer, and this service's credentials as a client there. */
export interface Options {
  readonly issuer: URL
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** The name of the claim with a person's roles. */
  readonly roleClaim: string
}

/** The maximum number of characters of a subject identifier (OpenID Connect Core 1.0, §2). */
const maxSubject = 255

/** Seconds that the issuer may take for one response. */
const timeout = 10

const away = () =>
  new Errors.ServerError({ reason: "provider_unavailable", message: "the issuer cannot be reached or does not work" })

const refused = () =>
  new Errors.Unauthorized({
    reason: "invalid_credentials",
    message: "the issuer did not confirm your identity: start again"
  })

/** Whether the issuer responded with a refusal. */
const isRefusal = (cause: unknown): boolean =>
  cause instanceof client.AuthorizationResponseError || cause instanceof client.ResponseBodyError ||
  cause instanceof client.ClientError

const make = ({ clientId, clientSecret, issuer, roleClaim }: Options): Issuer.Issuer => {
  const discover = () =>
    client.discovery(issuer, clientId, Redacted.value(clientSecret), undefined, {
      timeout,
      ...(issuer.protocol === "http:" ? { execute: [client.allowInsecureRequests] } : {})
    })
  let known: Promise<client.Configuration> | undefined
  /** The issuer's metadata, which is read once, and again after a failure. */
  const configuration = Effect.tryPromise({
    try: () =>
      known ??= discover().catch((cause: unknown) => {
        known = undefined
        throw cause
      }),
    catch: away
  })
  return {
    begin: Effect.fnUntraced(function*(redirectUri, isFresh) {
      const config = yield* configuration
      const kept = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier()
      }
      const challenge = yield* Effect.promise(() => client.calculatePKCECodeChallenge(kept.codeVerifier))
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: "openid email",
        code_challenge: challenge,
        code_challenge_method: "S256",
        state: kept.state,
        nonce: kept.nonce,
        ...(isFresh ? { prompt: "login", max_age: "0" } : {})
      })
      return { url, kept }
    }),
    complete: Effect.fnUntraced(function*(callback, { codeVerifier, nonce, state }) {
      const config = yield* configuration
      const asked = Effect.fnUntraced(function*<A>(ask: () => Promise<A>) {
        return yield* Effect.tryPromise({ try: ask, catch: (cause) => isRefusal(cause) ? refused() : away() })
      })
      const tokens = yield* asked(() =>
        client.authorizationCodeGrant(config, callback, {
          pkceCodeVerifier: codeVerifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true
        })
      )
      const ofToken = tokens.claims()
      if (ofToken === undefined) return yield* refused()
      // issuers differ in where they put claims that do not concern the sign-in itself
      const ofPerson: Readonly<Record<string, unknown>> = config.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : yield* asked(() => client.fetchUserInfo(config, tokens.access_token, ofToken.sub))
      const { iss, sub } = ofToken
      if (sub.length > maxSubject || PlainText.issueOf(sub) !== undefined) return yield* refused()
      // an e-mail address counts only together with the `email_verified` beside it
      const { email, email_verified: emailVerified } = "email_verified" in ofToken ? ofToken : ofPerson
      return {
        identity: { issuer: iss, subject: sub },
        email,
        emailVerified,
        authTime: ofToken.auth_time,
        roles: roleClaim in ofToken ? ofToken[roleClaim] : ofPerson[roleClaim]
      }
    })
  }
}

/** Makes a configured issuer the current one. */
export const layer = (options: Options): Layer.Layer<never> => Layer.succeed(Issuer.CurrentIssuer, make(options))
