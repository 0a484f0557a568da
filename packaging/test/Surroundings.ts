/**
 * What a server's optional features speak to, on loopback: a collector, a mail server, an issuer, an object store, a
 * simulated provider, and PostgreSQL.
 */
import { CloudApi } from "@wac/simulator"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import * as S3Server from "@wac/testbed/S3Server"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo, Server as Listener } from "node:net"
import { Provider } from "oidc-provider"
import { SMTPServer } from "smtp-server"

/** Waits until something is there. */
export const until = async <A>(what: string, look: () => A | undefined | Promise<A | undefined>): Promise<A> => {
  // a bound for what never comes, far beyond what a slow machine needs
  const begun = performance.now()
  while (performance.now() - begun < 120_000) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${what} did not come`)
}

/** A request that came. */
interface Posted {
  readonly path: string
  readonly headers: NodeJS.Dict<string | Array<string>>
  readonly body: string
}

const portOf = (server: Listener): number => (server.address() as AddressInfo).port

const listen = async (handle?: RequestListener) => {
  const server = createServer(handle).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${portOf(server)}` }
}

const close = async (server: Server): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

/** Takes every post. */
export const collect = async () => {
  const posts: Array<Posted> = []
  const { server, url } = await listen((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      posts.push({ path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  return { url, posts, close: () => close(server) }
}

const mailbox = async () => {
  const mails: Array<{ readonly to: ReadonlyArray<string>; readonly text: string }> = []
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    onAuth: ({ password, username }, _, done) =>
      username === "wac" && password === "s3cret" ? done(null, { user: username }) : done(new Error("no")),
    onData: (stream, { envelope: { rcptTo } }, done) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        mails.push({ to: rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() })
        done()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `smtp://wac:s3cret@127.0.0.1:${portOf(server.server)}`,
    mails,
    close: () => new Promise<void>((resolve) => server.close(() => resolve()))
  }
}

/** Where everybody signs in with an e-mail address that is theirs, as an admin. */
const issuer = async () => {
  const clientSecret = "a client's secret"
  const { server, url } = await listen()
  const provider = new Provider(url, {
    clients: [{
      client_id: "wac",
      client_secret: clientSecret,
      redirect_uris: ["http://127.0.0.1/internal/oidc/callback"],
      grant_types: ["authorization_code"],
      response_types: ["code"]
    }],
    claims: { openid: ["sub", "wac_roles"], email: ["email", "email_verified"] },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true, wac_roles: "admin" })
    }),
    cookies: { keys: ["k"] }
  })
  // any port of ours
  provider.Client.prototype.redirectUriAllowed = (uri: string) =>
    /^http:\/\/127\.0\.0\.1:\d+\/internal\/oidc\/callback$/.test(uri)
  server.on("request", provider.callback())
  return { url, clientSecret, close: () => close(server) }
}

/** A simulated provider. */
export const simulator = async (options: CloudApi.Options = {}) => {
  const scope = Scope.makeUnsafe()
  const api = await Effect.runPromise(Scope.provide(CloudApi.make(options), scope))
  return { api, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

/** Starts everything. */
export const start = async () => {
  const [collector, receiver, alerts, mail, oidc, s3, whatsApp, postgres] = await Promise.all([
    collect(),
    collect(),
    collect(),
    mailbox(),
    issuer(),
    S3Server.start(),
    simulator(),
    PostgresServer.start("fsync=off")
  ])
  return {
    collector,
    receiver,
    alerts,
    mail,
    oidc,
    s3,
    whatsApp: whatsApp.api,
    postgres,
    close: async () => {
      await Promise.all([
        ...[collector, receiver, alerts, mail, oidc, whatsApp].map(({ close }) => close()),
        s3.stop(),
        postgres.remove()
      ])
    }
  }
}

export type Surroundings = Awaited<ReturnType<typeof start>>
