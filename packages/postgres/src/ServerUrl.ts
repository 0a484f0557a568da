/**
 * Parses the URL of a PostgreSQL server, or of several servers of which one is the primary, as libpq does:
 * `postgres://user:password@host:port,host:port/database?sslmode=…`. Every parameter is either supported or refused by
 * name, never ignored. Pure.
 */
import { Redacted, Result } from "effect"
import * as net from "node:net"

/** Where a server listens. */
export interface Host {
  /** The name or the address by which its certificate is verified, or the directory of its Unix socket. */
  readonly name: string
  readonly port: number
  /** The address to connect to, if given; otherwise the name is looked up. */
  readonly address?: string
}

/** The modes of encryption, from the weakest to the strongest. */
export const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const

/** One of {@link sslModes}. */
export type SslMode = (typeof sslModes)[number]

/** How connections are encrypted. Files are named by their paths, and read later. */
export interface Encryption {
  readonly mode: SslMode
  /** The file with the trusted certificate authorities, or `system` to trust the machine's. */
  readonly authorities?: string
  readonly certificate?: string
  readonly key?: string
  readonly passphrase?: Redacted.Redacted
  readonly revoked?: string
  readonly minVersion?: string
  readonly maxVersion?: string
  /** Whether the server's name is sent while the encryption is negotiated (SNI). */
  readonly isNamed: boolean
}

/** A parsed URL. */
export interface ServerUrl {
  readonly hosts: readonly [Host, ...ReadonlyArray<Host>]
  readonly user?: string
  readonly password?: Redacted.Redacted
  readonly database?: string
  readonly encryption: Encryption
  readonly applicationName?: string
  /** Command line options for the server's session. */
  readonly options?: string
  /** The time limit for connecting in seconds; 0 means no limit. */
  readonly connectTimeout?: number
  /** Seconds of silence until the connection is probed; 0 means never. */
  readonly keepAlive?: number
  /** Whether the host must accept writes, even if it is the only one. */
  readonly isWritable: boolean
  /** The destination for operators, without credentials. */
  readonly name: string
}

const form = /^(?:postgres(?:ql)?:\/\/)([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(#.*)?$/s

const place = /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/s

const numbers = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]

const isPort = (port: string): boolean => /^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65535

/** What is wrong with a host and its port; `undefined` if nothing is. */
const wrongPlace = (text: string, of: string, isOnly: boolean): string | undefined => {
  const found = place.exec(text)
  if (found === null) return `${of} is no name and no address: one of IPv6 stands in brackets, as in [::1]:5432`
  const [, host, port] = found
  if (host === "" && !(isOnly && port === undefined)) return `${of} is missing`
  if (port !== undefined && port !== "" && !isPort(port)) return `the port of ${of} is no number from 1 to 65535`
  return undefined
}

/** Thrown for an invalid URL. `why` names the faulty part and never quotes a parameter's value. */
class Fault {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

const decoded = (text: string, what: string): string => {
  let value: string
  try {
    value = decodeURIComponent(text)
  } catch {
    throw new Fault(`${what} has an invalid percent-encoding`)
  }
  if (value.includes("\0")) throw new Fault(`${what} must not contain NUL`)
  return value
}

/** The parameters in a URL's query, by name. */
type Given = { [name in keyof typeof carriedOut]?: string }

/** Returns what is wrong with a parameter's value; `undefined` if nothing is. */
type Rule = (value: string) => string | undefined

const any: Rule = () => undefined

const required: Rule = (value) => value === "" ? "must not be empty" : undefined

const oneOf = (...values: ReadonlyArray<string>): Rule => (value) =>
  values.includes(value) ? undefined : `must be ${values.slice(0, -1).join(", ")} or ${values.at(-1)}`

/** Accepts only the values that need no support. `why` explains why other values are not supported. */
const only = (values: ReadonlyArray<string>, why: string): Rule => (value) =>
  values.includes(value) ? undefined : `can only be ${values.join(" or ")}: ${why}`

const count: Rule = (value) => /^[0-9]{1,9}$/.test(value) ? undefined : "must be a whole number of seconds"

const versions = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]

const byIdentity = "wac writes, and follows the host that accepts writes"

/** The supported parameters of libpq, with the rules for their values. */
const carriedOut = {
  host: required,
  hostaddr: required,
  port: required,
  user: required,
  password: any,
  dbname: required,
  connect_timeout: count,
  application_name: any,
  fallback_application_name: any,
  options: any,
  client_encoding: (value) =>
    /^(auto|utf-?8)$/i.test(value) ? undefined : "can only be UTF8: every text of wac's is Unicode",
  keepalives: oneOf("0", "1"),
  keepalives_idle: count,
  sslmode: oneOf(...sslModes),
  sslrootcert: required,
  sslcert: required,
  sslkey: required,
  sslpassword: any,
  sslcrl: required,
  sslsni: oneOf("0", "1"),
  sslcertmode: (value) =>
    value === "require"
      ? "cannot be require: the client does not notice whether the server asked for the certificate"
      : oneOf("disable", "allow")(value),
  ssl_min_protocol_version: oneOf(...versions),
  ssl_max_protocol_version: oneOf(...versions),
  sslnegotiation: only(["postgres"], "the client asks the server before it encrypts"),
  sslcompression: only(["0"], "TLS compression is insecure"),
  gssencmode: only(["disable", "prefer"], "the client has no GSSAPI encryption"),
  channel_binding: only(
    ["disable", "prefer"],
    "the client has no channel binding; leave it out, and use sslmode=verify-full against a server in between"
  ),
  min_protocol_version: only(["3.0"], "the client speaks version 3.0"),
  max_protocol_version: oneOf("3.0", "3.2", "latest"),
  target_session_attrs: (value) =>
    ["any", "read-write", "primary"].includes(value)
      ? undefined
      : `can only be any, read-write or primary: ${byIdentity}`,
  load_balance_hosts: only(["disable"], byIdentity)
} satisfies Record<string, Rule>

const noGss = "the client has no GSSAPI"
const noOauth = "the client has no OAuth"
const noScramKey = "the client signs in with a password"
const noProbes = "Node.js cannot set it; set it in the system (net.ipv4.tcp_keepalive_… of Linux)"

/** The unsupported parameters of libpq, with the reasons. */
const refused: { readonly [name: string]: string } = {
  passfile: "give the password in the URL, or the URL in a file (DATABASE_URL_FILE)",
  service: "write its parameters into the URL",
  servicefile: "write its parameters into the URL",
  require_auth: "the client cannot restrict how it signs in; use sslmode=verify-full",
  keepalives_interval: noProbes,
  keepalives_count: noProbes,
  tcp_user_timeout: noProbes,
  replication: "wac does not replicate",
  requiressl: "use sslmode=require",
  sslcrldir: "use sslcrl, which names a file",
  sslkeylogfile: "it would reveal what is encrypted",
  requirepeer: "Node.js cannot tell who owns a Unix socket",
  krbsrvname: noGss,
  gsslib: noGss,
  gssdelegation: noGss,
  scram_client_key: noScramKey,
  scram_server_key: noScramKey,
  oauth_issuer: noOauth,
  oauth_client_id: noOauth,
  oauth_client_secret: noOauth,
  oauth_scope: noOauth
}

/** The parameters of libpq by the names that other clients use. */
const otherNames: { readonly [name: string]: string } = {
  ssl: "sslmode=require or sslmode=verify-full",
  tls: "sslmode=require or sslmode=verify-full",
  sslaccept: "sslmode=require or sslmode=verify-full",
  sslca: "sslrootcert",
  sslidentity: "sslcert and sslkey",
  username: "user",
  database: "dbname",
  hostname: "host",
  timeout: "connect_timeout",
  schema: "DATABASE_SCHEMA, or the option schema",
  currentschema: "DATABASE_SCHEMA, or the option schema",
  searchpath: "DATABASE_SCHEMA, or the option schema"
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** Whether two texts differ by at most one edit: a letter added, removed or changed, or two neighbours exchanged. */
const isNear = (a: string, b: string): boolean => {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const rest = (text: string, from: number) => text.slice(start + from)
  return rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1) ||
    a[start] === b[start + 1] && a[start + 1] === b[start] && rest(a, 2) === rest(b, 2)
}

const unknown = (name: string): string => {
  const asked = plain(name)
  const names = Object.keys(carriedOut)
  const meant = otherNames[asked] ?? names.find((known) => plain(known) === asked) ??
    (asked.length > 3 ? names.find((known) => isNear(plain(known), asked)) : undefined)
  // a long text is probably not a parameter's name, but perhaps part of a password that was not encoded
  const quoted = /^[A-Za-z][A-Za-z0-9_.-]{0,31}$/.test(name) ? `the parameter ${name}` : "a parameter"
  return `${quoted} is not known${meant === undefined ? "" : `: use ${meant}`}`
}

/** What is wrong with a parameter; `undefined` if nothing is. */
const wrongParameter = (name: string, value: string): string | undefined => {
  if (Object.hasOwn(carriedOut, name)) {
    const wrong = carriedOut[name as keyof typeof carriedOut](value)
    return wrong === undefined ? undefined : `${name} ${wrong}`
  }
  return Object.hasOwn(refused, name) ? `${name} is not supported: ${refused[name]}` : unknown(name)
}

const givenIn = (query: string): Given => {
  const given: Given = {}
  for (const part of query.split("&")) {
    if (part === "") continue
    const [key, ...rest] = part.split("=")
    const name = decoded(key!, "a parameter's name")
    // libpq does not read + as a space
    const value = decoded(rest.join("="), Object.hasOwn(carriedOut, name) ? name : "a parameter")
    const wrong = wrongParameter(name, value)
    if (wrong !== undefined) throw new Fault(wrong)
    given[name as keyof Given] = value
  }
  return given
}

const standardPort = 5432

/** The hosts of a URL. The parameters `host`, `hostaddr` and `port` take precedence over the part before the path. */
const hostsOf = (authority: string, given: Given): ReadonlyArray<Host> => {
  const places = authority.split(",").map((one) => {
    const [, host, port] = place.exec(one)!
    return { host: host!.startsWith("[") ? host!.slice(1, -1) : decoded(host!, "the host"), port: port ?? "" }
  })
  const addresses = given.hostaddr?.split(",")
  const isElsewhere = places.every(({ host }) => host === "")
  const names = given.host?.split(",") ?? (isElsewhere ? addresses : undefined) ?? places.map(({ host }) => host)
  if (given.hostaddr !== undefined && addresses!.length !== names.length) {
    throw new Fault("hostaddr must have as many addresses as there are hosts")
  }
  const ports = given.port?.split(",") ?? places.map(({ port }) => port)
  if (ports.length !== 1 && ports.length !== names.length) throw new Fault("port must be one, or one for each host")
  return names.map((name, i) => {
    const port = ports.length === 1 ? ports[0]! : ports[i]!
    const address = addresses?.[i]
    if (port !== "" && !isPort(port)) throw new Fault("port must be a number from 1 to 65535")
    if (name === "" && given.host !== undefined) throw new Fault("host must name a host")
    if (name.startsWith("@")) throw new Fault("host cannot be an abstract Unix socket")
    return {
      name: name === "" ? "localhost" : name,
      port: port === "" ? standardPort : Number(port),
      ...address === undefined || address === "" ? {} : { address }
    }
  })
}

/** Whether a host is reached by a Unix socket. */
export const isLocal = ({ address, name }: Host): boolean => address === undefined && name.startsWith("/")

const isThisMachine = (host: Host): boolean => {
  const at = host.address ?? host.name
  return isLocal(host) || at === "localhost" || at === "::1" || net.isIPv4(at) && at.startsWith("127.")
}

/**
 * The mode, if it connects to another machine without verifying that this is the server, so that an attacker on the
 * network could impersonate the server; else `undefined`.
 */
export const unprovenMode = ({ encryption: { authorities, mode }, hosts }: ServerUrl): SslMode | undefined =>
  hosts.every(isThisMachine) || mode.startsWith("verify-") || mode === "require" && authorities !== undefined
    ? undefined
    : mode

const encryptionOf = (given: Given): Encryption => {
  const { sslcert, sslcrl, sslkey, sslmode, sslpassword, sslrootcert } = given
  const isSystem = sslrootcert === "system"
  const mode = (sslmode ?? (isSystem ? "verify-full" : "prefer")) as SslMode
  if (isSystem && mode !== "verify-full") {
    throw new Fault(
      "sslrootcert=system needs sslmode=verify-full: anybody may have a certificate of a public authority"
    )
  }
  if ((sslcert === undefined) !== (sslkey === undefined)) {
    throw new Fault(sslcert === undefined ? "sslkey needs sslcert" : "sslcert needs sslkey")
  }
  const minVersion = given.ssl_min_protocol_version
  const maxVersion = given.ssl_max_protocol_version
  if (minVersion !== undefined && maxVersion !== undefined && minVersion > maxVersion) {
    throw new Fault("ssl_min_protocol_version must not be above ssl_max_protocol_version")
  }
  return {
    mode,
    isNamed: given.sslsni !== "0",
    ...sslrootcert === undefined ? {} : { authorities: sslrootcert },
    ...sslcert === undefined || sslkey === undefined || given.sslcertmode === "disable"
      ? {}
      : { certificate: sslcert, key: sslkey },
    ...sslpassword === undefined ? {} : { passphrase: Redacted.make(sslpassword) },
    ...sslcrl === undefined ? {} : { revoked: sslcrl },
    ...minVersion === undefined ? {} : { minVersion },
    ...maxVersion === undefined ? {} : { maxVersion }
  }
}

const bracketed = (host: string): string => host.includes(":") ? `[${host}]` : host

const parsed = (authority: string, path: string | undefined, query: string): ServerUrl => {
  const at = authority.lastIndexOf("@") + 1
  const credentials = authority.slice(0, at).slice(0, -1)
  if (credentials.includes("@")) {
    throw new Fault("there are two @ before the host: one in a user or a password is written %40")
  }
  const places = authority.slice(at).split(",")
  for (const [i, one] of places.entries()) {
    const of = places.length === 1 ? "the host" : `the ${numbers[i] ?? `${i + 1}th`} host`
    const wrong = wrongPlace(one, of, places.length === 1)
    if (wrong !== undefined) throw new Fault(wrong)
    if (!URL.canParse(`postgres://${one}`)) throw new Fault("it is no URL")
  }
  const given = givenIn(query)
  const [first, ...others] = hostsOf(authority.slice(at), given)
  const colon = credentials.indexOf(":")
  const user = given.user ?? decoded(colon < 0 ? credentials : credentials.slice(0, colon), "the user")
  const password = given.password ?? (colon < 0 ? "" : decoded(credentials.slice(colon + 1), "the password"))
  const database = given.dbname ?? decoded(path ?? "", "the database")
  if (others.length > 0 && given.target_session_attrs === "any") {
    throw new Fault(`target_session_attrs cannot be any with several hosts: ${byIdentity}`)
  }
  const { connect_timeout, fallback_application_name, keepalives, keepalives_idle, options } = given
  const applicationName = given.application_name ?? fallback_application_name
  const keepAlive = keepalives === "0" ? "0" : keepalives_idle
  const hosts = given.host === undefined && given.hostaddr === undefined && given.port === undefined
    ? places
    : [first!, ...others].map((host) => isLocal(host) ? host.name : `${bracketed(host.name)}:${host.port}`)
  return {
    hosts: [first!, ...others],
    encryption: encryptionOf(given),
    isWritable: others.length > 0 || ["read-write", "primary"].includes(given.target_session_attrs ?? ""),
    name: `${hosts.join(",")}${database === "" ? "" : `/${database}`}`,
    ...user === "" ? {} : { user },
    ...password === "" ? {} : { password: Redacted.make(password) },
    ...database === "" ? {} : { database },
    ...applicationName === undefined || applicationName === "" ? {} : { applicationName },
    ...options === undefined ? {} : { options },
    ...connect_timeout === undefined ? {} : { connectTimeout: Number(connect_timeout) },
    ...keepAlive === undefined ? {} : { keepAlive: Number(keepAlive) }
  }
}

/** Parses a URL, or describes what is wrong with it without quoting it, since it holds a password. */
export const parse = (text: string): Result.Result<ServerUrl, string> => {
  if (!/^postgres(ql)?:\/\//.test(text)) return Result.fail("it does not begin with postgres://")
  const [, authority, path, query, fragment] = form.exec(text) ?? []
  if (!authority?.includes("@") && /^postgres(ql)?:\/\/[^/?#]*[/?#][^?]*@/.test(text)) {
    return Result.fail("there is a / ? or # before the @: in a user or a password they are written %2F %3F %23")
  }
  if (authority === undefined || fragment !== undefined) return Result.fail("it is no URL")
  try {
    return Result.succeed(parsed(authority, path, query ?? ""))
  } catch (fault) {
    if (fault instanceof Fault) return Result.fail(fault.why)
    throw fault
  }
}
