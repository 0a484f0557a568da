/**
 * The addresses for the redirect to an OpenID Connect issuer and back (contract §12 `AUTH=oidc`). Without an issuer
 * they do not exist.
 */
import {
  Audit,
  Authenticator,
  type Errors,
  Id,
  Issuer,
  IssuerSignIn,
  Notices,
  RefusedSignIns,
  StoreError
} from "@wac/core"
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as ErrorResponse from "../ErrorResponse.ts"
import { Exchange } from "../Exchange.ts"
import { MountPath } from "../MountPath.ts"
import { PublicUrl } from "../PublicUrl.ts"
import { SessionCookie } from "./SessionCookie.ts"
import * as SignIn from "./SignIn.ts"

/** The address at which a sign-in starts. */
const begin = "/internal/oidc/sign-in"

/** The redirect URI, to which the issuer sends the browser back. */
const callback = "/internal/oidc/callback"

/** The addresses, if there is an issuer. */
export const paths: ReadonlyArray<string> = [begin, callback]

/** The parameter of the dashboard's address to which the person returns. */
const pageParameter = "page"

/** The parameter that asks for a new proof of who the person is (contract §17). */
const freshParameter = "fresh"

/** The parameter that names the workspace of a page whose session has ended. */
const workspaceParameter = "workspace"

/** A longer address would not fit into a cookie. */
const maxPageLength = 1024

/**
 * The dashboard's address to which the person returns: never outside the dashboard, so a link cannot lead elsewhere.
 */
const pageOf = (asked: string | null, dashboard: string): string => {
  const origin = "http://dashboard"
  if (asked === null || asked.length > maxPageLength || !URL.canParse(asked, origin)) return dashboard
  const url = new URL(asked, origin)
  return url.origin === origin && url.pathname.startsWith(`${dashboard}/`) ? url.pathname + url.search : dashboard
}

/** A refusal: a person is redirected to the dashboard, which shows the reason, and a program gets the error. */
const refused = (error: Errors.DomainError) =>
  Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const answer = yield* ErrorResponse.of(error)
    if (headers["accept"]?.includes("text/html") !== true) return answer
    const { requestId } = yield* Exchange
    const fragment = new URLSearchParams({ refused: "reason" in error ? error.reason : "", request: requestId })
    return HttpServerResponse.redirect(`${yield* MountPath}/dashboard#${fragment}`, { status: 302 })
  })

export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    if ((yield* Issuer.CurrentIssuer) === undefined) return
    const signIn = yield* IssuerSignIn.IssuerSignIn
    const authenticator = yield* Authenticator.Authenticator
    const audit = yield* Audit.Audit
    const notices = yield* Notices.Notices
    const refusedSignIns = yield* RefusedSignIns.RefusedSignIns
    const cookie = yield* SessionCookie
    const base = (yield* PublicUrl).href.replace(/\/$/, "")
    const redirectUri = Effect.map(MountPath, (mount) => `${base}${mount}${callback}`)
    /** The query of the current request. */
    const query = Effect.map(
      Effect.all([HttpServerRequest.HttpServerRequest, redirectUri]),
      ([{ url }, place]) => new URL(url, place).searchParams
    )

    /**
     * Opens a session for the person who came back, and records it in the audit. It is in the workspace that they asked
     * for or that of their current session, if it may be: a page that waits for the sign-in shows that one.
     * Uninterruptible, so that a caller who hangs up hides no session.
     */
    const opened = Effect.fnUntraced(function*(
      { provenAt, roles, userId, workspaceId: asked }: IssuerSignIn.Confirmed
    ) {
      const opening = yield* SignIn.opening
      const current = Option.getOrUndefined(yield* authenticator.session({ token: opening.current, headers: {} }))
      const workspaceId = [asked, current?.userId === userId ? current.workspaceId : undefined].find((id) =>
        id !== undefined && roles.has(id)
      )
      const signedIn = yield* authenticator.open(userId, { ...opening, provenAt, roles, workspaceId })
      yield* SignIn.noticed(notices, signedIn)
      yield* SignIn.signedIn(signedIn)
      const { ownId } = yield* Exchange
      yield* audit.record([signedIn.session], {
        action: "session.sign_in",
        address: opening.address,
        requestId: ownId
      })
    }, Effect.uninterruptible)

    /** Completes a sign-in, and records it if it is refused. */
    const completed = Effect.fnUntraced(function*(returned: IssuerSignIn.Returned) {
      const result = yield* SignIn.recorded(undefined, signIn.complete(returned))
      return result._tag === "Confirmed" ? result : yield* SignIn.recorded(result.account, result.error)
    })

    yield* router.add(
      "GET",
      begin,
      Effect.gen(function*() {
        const asked = yield* query
        const page = pageOf(asked.get(pageParameter), `${yield* MountPath}/dashboard`)
        const { kept, url } = yield* signIn.begin(
          yield* redirectUri,
          page,
          asked.get(freshParameter) === "true",
          Option.getOrUndefined(Id.parse(Id.WorkspaceId, asked.get(workspaceParameter) ?? ""))
        )
        yield* cookie.keep(kept)
        return HttpServerResponse.redirect(url, { status: 302 })
      }).pipe(Effect.catch((error) => refused(error)))
    )
    yield* router.add(
      "GET",
      callback,
      Effect.gen(function*() {
        const place = new URL(yield* redirectUri)
        place.search = new URL((yield* HttpServerRequest.HttpServerRequest).url, place).search
        const returned = { callback: place, kept: yield* cookie.kept, address: yield* SignIn.addressOf }
        const confirmed = yield* completed(returned).pipe(
          Effect.provideService(RefusedSignIns.RefusedSignIns, refusedSignIns)
        )
        yield* opened(confirmed)
        yield* cookie.keep("")
        // checked again: what a browser brings is not trusted, even with a valid MAC
        const page = pageOf(confirmed.page, `${yield* MountPath}/dashboard`)
        return HttpServerResponse.redirect(page, { status: 302 })
      }).pipe(
        Effect.provideService(SessionCookie, cookie),
        StoreError.orUnavailable,
        Effect.catch((error) => refused(error))
      )
    )
  })
)
