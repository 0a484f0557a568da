/**
 * Turns the hosts of a server's URL into configurations of the client.
 */
import type { PgConnection } from "@effect/sql-pg"
import { Duration, Result } from "effect"
import * as net from "node:net"
import type { Duplex } from "node:stream"
import * as Encryption from "./Encryption.ts"
import * as Negotiation from "./Negotiation.ts"
import * as ServerUrl from "./ServerUrl.ts"

/** A host, as the client connects to it. */
export interface Target {
  readonly config: PgConnection.Config
  /** Begins a connection to the host in the way that `config` describes. */
  readonly connect: () => Duplex
}

/** The hosts, and whether only one that accepts writes may be used. */
export interface Targets {
  readonly hosts: readonly [Target, ...ReadonlyArray<Target>]
  readonly isWritable: boolean
}

/** The defaults for URLs that set none, in seconds. */
const connectTimeout = 3
const keepAlive = 30

const inSeconds = (seconds: number) => seconds === 0 ? Duration.infinity : Duration.seconds(seconds)

const ofHost = (url: ServerUrl.ServerUrl, host: ServerUrl.Host): Result.Result<Target, string> => {
  const probed = url.keepAlive ?? keepAlive
  const { address, name, port } = host
  const isLocal = ServerUrl.isLocal(host)
  const at = address ?? name
  const connect = (): net.Socket =>
    isLocal ? net.connect({ path: `${name}/.s.PGSQL.${port}` }) : net.connect({
      host: at,
      port,
      noDelay: true,
      ...probed === 0 ? {} : { keepAlive: true, keepAliveInitialDelay: probed * 1000 }
    })
  const common: PgConnection.Config = {
    host: at,
    port,
    username: url.user,
    password: url.password,
    database: url.database,
    applicationName: url.applicationName ?? "wac",
    startupOptions: url.options,
    connectTimeout: inSeconds(url.connectTimeout ?? connectTimeout),
    ...probed === 0 ? {} : { keepAlive: Duration.seconds(probed) }
  }
  const { encryption } = url
  // as in libpq, a Unix socket is never encrypted
  if (isLocal || encryption.mode === "disable") return Result.succeed({ config: { ...common, ssl: false }, connect })
  return Result.map(Encryption.make(encryption, host), (options): Target => {
    if (encryption.mode !== "prefer" && encryption.mode !== "allow") {
      return {
        config: {
          ...common,
          get ssl() {
            return options()
          }
        },
        connect
      }
    }
    const stream = Negotiation.make({
      open: connect,
      encryption: options,
      first: encryption.mode === "prefer" ? "encrypted" : "plain"
    })
    return { config: { ...common, ssl: false, stream }, connect: stream }
  })
}

/** The targets of a URL's hosts, in their order. Fails with the reason if one cannot be used. */
export const all = (url: ServerUrl.ServerUrl): Result.Result<Targets, string> => {
  const [first, ...others] = url.hosts
  return Result.flatMap(ofHost(url, first), (target) =>
    Result.map(
      Result.all(others.map((host) => ofHost(url, host))),
      (targets): Targets => ({ hosts: [target, ...targets], isWritable: url.isWritable })
    ))
}
