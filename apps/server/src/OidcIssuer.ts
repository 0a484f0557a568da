/**
 * The client of an OpenID Connect issuer (contract §12 `AUTH=oidc`): the code flow with PKCE, state and nonce.
 */
import { Errors, Issuer, PlainText } from "@wac/core"
import { Effect, Layer, Predicate, Redacted } from "effect"
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

/** Errors of an authorization response that concern the person (RFC 6749, §4.1.2.1; OpenID Connect Core 1.0, §3.1.2.6). */
const refusals: ReadonlyArray<string> = ["access_denied", "login_required"]

/** Codes of a return, an ID token or a userinfo response that does not belong to the sign-in which was begun. */
const ofAnotherSignIn: ReadonlyArray<string | undefined> = [
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED"
]

/**
 * Whether a person's sign-in was refused. Everything else is a failure of the issuer or of its configuration here, such
 * as a wrong client secret.
 */
export const isRefusal = (cause: unknown): boolean =>
  cause instanceof client.AuthorizationResponseError
    ? refusals.includes(cause.error)
    : cause instanceof client.ResponseBodyError
    ? cause.error === "invalid_grant"
    : cause instanceof client.ClientError && ofAnotherSignIn.includes(cause.code)

/**
 * The code of a failure, for the log. A code from outside counts only in the form of the registered ones, so that it
 * adds no other text.
 */
const codeOf = (cause: unknown): string => {
  const code = cause instanceof client.AuthorizationResponseError || cause instanceof client.ResponseBodyError
    ? cause.error
    : [cause, Predicate.hasProperty(cause, "cause") ? cause.cause : undefined]
      .map((error) => Predicate.hasProperty(error, "code") ? error.code : undefined)
      .find(Predicate.isString)
  return code !== undefined && /^\w{1,64}$/.test(code) ? code : "unknown"
}

/** Logs a failure that is no refusal, and fails. */
const failed = (cause: unknown) =>
  Effect.andThen(
    Effect.logWarning(`the issuer could not be reached or does not work: ${codeOf(cause)}`),
    Effect.fail(away())
  )

/** Runs a request to the issuer. */
const asked = <A, E>(ask: () => Promise<A>, otherwise: (cause: unknown) => Effect.Effect<never, E>) =>
  Effect.catch(
    Effect.tryPromise({ try: ask, catch: (cause) => ({ cause }) }),
    ({ cause }) => otherwise(cause)
  )

/** Fails with the refusal of a sign-in, or with {@link failed}. */
const refusedOrFailed = (cause: unknown): Effect.Effect<never, Errors.Unauthorized | Errors.ServerError> =>
  isRefusal(cause) ? Effect.fail(refused()) : failed(cause)

const make = ({ clientId, clientSecret, issuer, roleClaim }: Options): Issuer.Issuer => {
  const discover = () =>
    client.discovery(issuer, clientId, Redacted.value(clientSecret), undefined, {
      timeout,
      ...(issuer.protocol === "http:" ? { execute: [client.allowInsecureRequests] } : {})
    })
  let known: Promise<client.Configuration> | undefined
  /** The issuer's metadata, which is read once, and again after a failure. */
  const configuration = asked(() =>
    known ??= discover().catch((cause: unknown) => {
      known = undefined
      throw cause
    }), failed)
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
      const tokens = yield* asked(() =>
        client.authorizationCodeGrant(config, callback, {
          pkceCodeVerifier: codeVerifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true
        }), refusedOrFailed)
      const ofToken = tokens.claims()
      if (ofToken === undefined) return yield* refused()
      // issuers differ in where they put claims that do not concern the sign-in itself
      const ofPerson: Readonly<Record<string, unknown>> = config.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : yield* asked(() => client.fetchUserInfo(config, tokens.access_token, ofToken.sub), refusedOrFailed)
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
