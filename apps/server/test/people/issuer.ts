/**
 * An OpenID Connect issuer at which people sign in, whatever their password is.
 */
import { Effect } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { Provider } from "oidc-provider"

const secret = "a client's secret"

/** What an issuer says of an address. Real issuers send `email_verified` in every form, or not at all. */
interface Address {
  email?: string
  email_verified?: unknown
}

/**
 * The issuer's claims about people, by name. Their address is in the response of the userinfo endpoint, and in the ID
 * token is what `inToken` says.
 */
export type People = { [name: string]: Address & { wac_roles?: unknown; inToken?: Address } }

/**
 * An issuer on loopback, in the present scope. Clients are whoever it is told of. Its token endpoint does what `instead`
 * says, if anything.
 */
export const issuer = Effect.fnUntraced(function*(people: People) {
  const redirectUris: Array<string> = []
  const server = createServer()
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  )
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const provider = new Provider(url, {
    clients: [{
      client_id: "wac",
      client_secret: secret,
      redirect_uris: ["http://127.0.0.1/internal/oidc/callback"],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      require_auth_time: true
    }],
    claims: { openid: ["sub", "wac_roles", "email", "email_verified"], email: null },
    findAccount: (_, id) => ({
      accountId: id,
      claims: (use) => {
        const { inToken, wac_roles, ...address } = people[id] ?? {}
        return { sub: id, wac_roles, ...(use === "id_token" ? inToken : address) }
      }
    }),
    cookies: { keys: ["k"] }
  })
  // any port of ours
  provider.Client.prototype.redirectUriAllowed = (uri: string) => redirectUris.includes(uri)
  const tokenEndpoint: { instead?: ((response: ServerResponse) => void) | undefined } = {}
  const work = provider.callback()
  server.on("request", (request, response) => {
    if (request.url === "/token" && tokenEndpoint.instead !== undefined) tokenEndpoint.instead(response)
    else void work(request, response)
  })
  const tokenRequests = { count: 0 }
  server.on("request", ({ url }) => {
    if (url === "/token") tokenRequests.count++
  })
  return { url, redirectUris, tokenRequests, tokenEndpoint }
})

/** The settings of a service whose people sign in there. */
export const environmentFor = (issuerUrl: string) => ({
  AUTH: "oidc",
  OIDC_ISSUER: issuerUrl,
  OIDC_CLIENT_ID: "wac",
  OIDC_CLIENT_SECRET: secret
})
