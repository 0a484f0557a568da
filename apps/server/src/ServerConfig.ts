/**
 * Configuration by environment variables (contract §8). If a value is invalid, the start fails with one line that names
 * the variable and the expected value; actual values are never shown.
 */
import { SessionApi } from "@wac/api"
import { Limits, Password, PlainText, Portal, Retention, Workspace } from "@wac/core"
import * as ServerUrl from "@wac/postgres/ServerUrl"
import { ReceiverAddress } from "@wac/receivers"
import { S3Location, type S3MediaBytes } from "@wac/s3"
import type { WhatsAppConfig, WhatsAppWebhook } from "@wac/whatsapp"
import { Context, Effect, Option, Redacted, Result, Schema, SchemaIssue, Struct } from "effect"
import { IpNetwork } from "effect/net"
import { join } from "node:path"
import type { Composition } from "wac/effect"
import type * as OidcIssuer from "./OidcIssuer.ts"
import type * as Telemetry from "./Telemetry.ts"
import { BadVariable, type Environment } from "./Variable.ts"
import * as Variable from "./Variable.ts"

/** What `MEDIA_STORE` may be. */
const mediaStoreExpected = "storage or s3://BUCKET/PREFIX"

/** The object store refuses access, or the package that speaks to it is not installed. */
export const refusedMediaStore = ({ message }: S3MediaBytes.S3Refused | S3MediaBytes.S3ClientMissing): BadVariable =>
  new BadVariable({ variable: "MEDIA_STORE", expected: `${mediaStoreExpected}; ${message}` })

/** The storage's secrets were sealed with a different key from the configured ones. */
export const wrongMasterKey = new BadVariable({
  variable: "WAC_MASTER_KEY",
  expected: "the key that encrypts this storage's secrets, or that key in WAC_MASTER_KEY_PREVIOUS"
})

export interface ServerConfig extends Composition.Config {
  readonly storage: Composition.BuiltInStorage
  readonly retention: Retention.Retention
  /** The path of the file with the provider's prices. */
  readonly rateCardFile: string | undefined
  readonly host: string
  readonly port: number
  readonly publicUrl: URL
  /** Whether the address was configured; otherwise it is a guess. */
  readonly isPublicUrlGiven: boolean
  readonly trustedProxies: ReadonlyArray<IpNetwork.IpNetwork>
  /** The provider; for WhatsApp with the first number of the first workspace. */
  readonly provider:
    | { readonly _tag: "Sandbox" }
    | { readonly _tag: "WhatsApp" } & WhatsAppConfig.WhatsAppConfig & WhatsAppWebhook.Agreed
  /** The first workspace and its owner, created if no workspace exists. */
  readonly owner: {
    readonly email: string
    readonly password: Redacted.Redacted
    readonly workspaceName: string
  } | undefined
  /** The file for the set-up link if the log is JSON; `undefined` for one in the temporary folder. */
  readonly setupFile: string | undefined
  /** The issuer at which people sign in; `undefined` if they have passwords here. */
  readonly oidc: OidcIssuer.Options | undefined
  /** The mail server and sender address; `undefined` if no mail is sent. */
  readonly mail: { readonly url: Redacted.Redacted; readonly from: string } | undefined
  /** Where alerts are posted for workspaces without an alert URL. */
  readonly alertUrl: string | undefined
  readonly isRestored: boolean
  /** The origins whose pages may show the portal in a frame. */
  readonly portalOrigins: ReadonlyArray<string>
  /** Where vulnerabilities are reported, as a URL; `undefined` if `/.well-known/security.txt` is not served. */
  readonly securityContact: string | undefined
  /** The token for `/metrics`; without it, only programs on this machine can read them. */
  readonly metricsToken: Redacted.Redacted | undefined
  readonly logFormat: "pretty" | "json"
  readonly logLevel: "Trace" | "Debug" | "Info" | "Warn" | "Error"
  /** The collector of traces, metrics and logs; `undefined` if there is none. */
  readonly telemetry: Telemetry.Config | undefined
}

/** The variables that are read. */
class Variables extends Context.Service<Variables, Environment>()("@wac/server/ServerConfig/Variables") {}

const read = Effect.fnUntraced(function*<A, I>(
  variable: Variable.Name,
  schema: Schema.Codec<A, I>,
  expected: string,
  fallback: A
) {
  const text = yield* Variable.text(yield* Variables, variable)
  return text === undefined
    ? fallback
    : yield* Effect.mapError(
      Schema.decodeUnknownEffect(schema)(text),
      () => new BadVariable({ variable, expected })
    )
})

const optional = <A, I>(variable: Variable.Name, schema: Schema.Codec<A, I>, expected: string) =>
  read(variable, Schema.UndefinedOr(schema), expected, undefined)

const secret = <A, I>(variable: Variable.Name, schema: Schema.Codec<A, I>, expected: string) =>
  Effect.map(optional(variable, schema, expected), (value) => value === undefined ? undefined : Redacted.make(value))

const Key = Schema.Uint8ArrayFromBase64.check(
  Schema.makeFilter((bytes: Uint8Array) => bytes.length === 32 || "must be 32 bytes")
)
const keyExpected = "32 random bytes in base64, as `openssl rand -base64 32` makes them"

/** A host as part of a URL: IPv6 addresses are in brackets. */
const authorityOf = (host: string): string => host.includes(":") ? `[${host}]` : host

const HostName = PlainText.between(1, 253).check(
  Schema.makeFilter((host: string) =>
    (/^[^\s/?#@\\]+$/.test(host) && URL.canParse(`http://${authorityOf(host)}`)) || "must be a host name or an address"
  )
)

const PortNumber = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65535 }))

const Flag = Schema.Literals(["true", "false"])

const WebAddress = Schema.URLFromString.check(
  Schema.makeFilter((url: URL) => url.protocol === "http:" || url.protocol === "https:" || "must be http or https")
)

const PublicAddress = WebAddress.check(
  Schema.makeFilter(({ hash, password, search, username }: URL) =>
    username + password + search + hash === "" || "must be a URL without user, password, query or fragment"
  )
)

const BearerToken = Schema.String.check(Schema.isPattern(/^[-A-Za-z0-9._~+/]+=*$/))

const LogLevel = Schema.Literals(["trace", "debug", "info", "warn", "error"])
const effectLevels = { trace: "Trace", debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** The content of `WAC_LIMITS`: any part of `Limits`, which replaces that part of the standard limits. */
const LimitsPatch = Schema.fromJsonString(Schema.Struct({
  workspaceTiers: Schema.optionalKey(Limits.Limits.fields.workspaceTiers),
  phoneNumberTiers: Schema.optionalKey(Limits.Limits.fields.phoneNumberTiers),
  pair: Schema.optionalKey(Limits.Limits.fields.pair),
  frequencyCap: Limits.Limits.fields.frequencyCap,
  defaults: Schema.optionalKey(Schema.Struct({
    workspaceTier: Schema.optionalKey(Limits.Limits.fields.defaults.fields.workspaceTier),
    phoneNumberTier: Schema.optionalKey(Limits.Limits.fields.defaults.fields.phoneNumberTier),
    monthlyQuota: Schema.optionalKey(Limits.Limits.fields.defaults.fields.monthlyQuota),
    messagingLimit: Schema.optionalKey(Limits.Limits.fields.defaults.fields.messagingLimit)
  }))
}))

/** The content of `RETENTION`. */
const RetentionPatch = Schema.fromJsonString(
  Schema.Struct(Struct.map(Retention.Retention.fields, Schema.optionalKey))
)

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * The path of the first invalid part, and what it must be; `undefined` if the whole value is invalid. Contains no
 * value.
 */
const partOf = (issue: SchemaIssue.Issue): string | undefined => {
  const [first] = issuesOf(issue).issues
  const path = (first?.path ?? []).map((key) => String(typeof key === "object" ? key.key : key)).join(".")
  if (first === undefined || path === "") return undefined
  const words = first.message.replace(/^Expected /, "")
  return words === "no excess property"
    ? `no part ${path}`
    : words === "Missing key"
    ? `a part ${path}`
    : `${path} to be ${words}`
}

const limits = Effect.gen(function*() {
  const variable = "WAC_LIMITS"
  const expected = "JSON such as {\"workspaceTiers\":{\"standard\":100},\"phoneNumberTiers\":{\"standard\":80}," +
    "\"pair\":{\"everySeconds\":6,\"burst\":45},\"defaults\":{\"monthlyQuota\":null}}, every part optional, with " +
    "rates per second from 0.001 to 1,000,000 and each default tier among the tiers"
  const text = yield* read(variable, Schema.String, expected, "{}")
  return yield* Schema.decodeEffect(LimitsPatch)(text, { onExcessProperty: "error" }).pipe(
    Effect.flatMap((patch) =>
      Schema.decodeEffect(Limits.Limits)({
        ...Limits.standard,
        ...patch,
        defaults: { ...Limits.standard.defaults, ...patch.defaults }
      })
    ),
    Effect.mapError(({ issue }) => {
      const part = partOf(issue)
      return new BadVariable({ variable, expected: part === undefined ? expected : `${part}, in ${expected}` })
    })
  )
})

/** How long each kind of record is kept (contract §8 `RETENTION`): any part replaces that part of the standard. */
const retention = Effect.gen(function*() {
  const variable = "RETENTION"
  const kinds = Struct.keys(Retention.Retention.fields)
  const expected = `JSON with days from 1 to 36500 by kind, such as {"events":30,"messages":400}, and the kinds ${
    kinds.join(", ")
  }`
  const text = yield* read(variable, Schema.String, expected, "{}")
  return yield* Schema.decodeEffect(RetentionPatch)(text, { onExcessProperty: "error" }).pipe(
    Effect.map((patch): Retention.Retention => ({ ...Retention.standard, ...patch })),
    Effect.mapError(({ issue }) => {
      const part = partOf(issue)
      return new BadVariable({ variable, expected: part === undefined ? expected : `${part}, in ${expected}` })
    })
  )
})

const owner = Effect.gen(function*() {
  const email = yield* optional("WAC_OWNER_EMAIL", SessionApi.SetUp.fields.email, "an e-mail address")
  const password = yield* optional("WAC_OWNER_PASSWORD", Password.Password, "a password of 8 to 256 characters")
  const workspaceName = yield* read("WAC_WORKSPACE_NAME", Workspace.Name, "1 to 100 characters", "wac")
  if (email === undefined && password === undefined) return undefined
  if (email === undefined) {
    return yield* new BadVariable({
      variable: "WAC_OWNER_EMAIL",
      expected: "an e-mail address, together with WAC_OWNER_PASSWORD"
    })
  }
  if (password === undefined) {
    return yield* new BadVariable({
      variable: "WAC_OWNER_PASSWORD",
      expected: "a password, together with WAC_OWNER_EMAIL"
    })
  }
  return { email, password, workspaceName }
})

const networksExpected = "CIDRs separated by commas, such as 10.0.0.0/8,::1"

const notNetworks = (variable: Variable.Name) => () => new BadVariable({ variable, expected: networksExpected })

/** Networks and single addresses, separated by commas. */
const networks = Effect.fnUntraced(function*(variable: Variable.Name) {
  const text = yield* read(variable, Schema.String, networksExpected, "")
  return yield* Effect.mapError(Effect.fromResult(ReceiverAddress.parseCidrs(text)), notNetworks(variable))
})

const trustedProxies = Effect.gen(function*() {
  const variable = "TRUST_PROXY"
  const cidrs = yield* networks(variable)
  const made = Result.all(cidrs.map(({ network, prefixLength }) => IpNetwork.fromString(`${network}/${prefixLength}`)))
  return yield* Effect.mapError(Effect.fromResult(made), notNetworks(variable))
})

/** Several processes share a database server, so a process cannot generate the key. */
const masterKey = Effect.fnUntraced(function*(storage: ServerConfig["storage"]["_tag"]) {
  const variable = "WAC_MASTER_KEY"
  const key = yield* secret(variable, Key, keyExpected)
  return key === undefined && storage === "Server"
    ? yield* new BadVariable({ variable, expected: `${keyExpected}; required with a PostgreSQL server` })
    : key
})

const VisibleAscii = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]+$/))
const GraphId = Schema.String.check(Schema.isPattern(/^[0-9]{1,32}$/))

/** Meta's address and API version; a version is supported for about two years. */
const whatsAppDefaults = { baseUrl: new URL("https://graph.facebook.com"), apiVersion: "v26.0" }

/** A variable that WhatsApp requires. */
const needed = Effect.fnUntraced(
  function*<I>(variable: Variable.Name, schema: Schema.Codec<string, I>, expected: string) {
    const value = yield* optional(variable, schema, expected)
    return value ?? (yield* new BadVariable({ variable, expected: `${expected}; required with PROVIDER=whatsapp` }))
  }
)

const whatsApp = Effect.gen(function*() {
  const accessToken = yield* needed("WHATSAPP_ACCESS_TOKEN", BearerToken, "an access token of the app's system user")
  const appSecret = yield* needed("WHATSAPP_APP_SECRET", VisibleAscii, "the app's secret, which signs its webhooks")
  const verifyToken = yield* needed(
    "WHATSAPP_VERIFY_TOKEN",
    VisibleAscii,
    "the verify token entered at Meta with the address"
  )
  return {
    _tag: "WhatsApp" as const,
    baseUrl: (yield* read("WHATSAPP_BASE_URL", WebAddress, "an http or https URL", whatsAppDefaults.baseUrl)).href,
    apiVersion: yield* read(
      "WHATSAPP_API_VERSION",
      Schema.String.check(Schema.isPattern(/^v[0-9]{1,3}\.[0-9]{1,2}$/)),
      "a version such as v26.0",
      whatsAppDefaults.apiVersion
    ),
    accessToken: Redacted.make(accessToken),
    phoneNumberId: yield* needed("WHATSAPP_PHONE_NUMBER_ID", GraphId, "the id of a phone number, digits only"),
    businessAccountId: yield* needed(
      "WHATSAPP_BUSINESS_ACCOUNT_ID",
      GraphId,
      "the id of the WhatsApp Business Account, digits only"
    ),
    appSecret: Redacted.make(appSecret),
    verifyToken: Redacted.make(verifyToken)
  }
})

const provider = Effect.gen(function*() {
  const name = yield* read("PROVIDER", Schema.Literals(["sandbox", "whatsapp"]), "sandbox or whatsapp", "sandbox")
  return name === "sandbox" ? { _tag: "Sandbox" as const } : yield* whatsApp
})

/** Where the bytes of files are (contract §10 `MEDIA_STORE`). Without keys, the SDK finds them as on any machine of AWS. */
const mediaStore = Effect.gen(function*() {
  const variable = "MEDIA_STORE"
  const text = yield* read(variable, Schema.String, mediaStoreExpected, "storage")
  if (text === "storage") return undefined
  const location = S3Location.parse(text)
  if (location === undefined) return yield* new BadVariable({ variable, expected: mediaStoreExpected })
  const endpoint = yield* optional("AWS_ENDPOINT_URL", WebAddress, "an http or https URL")
  const region = yield* optional("AWS_REGION", Schema.NonEmptyString, "the name of a region")
  const accessKeyId = yield* optional("AWS_ACCESS_KEY_ID", VisibleAscii, "the id of an access key")
  const secretAccessKey = yield* secret("AWS_SECRET_ACCESS_KEY", VisibleAscii, "the secret of the access key")
  const sessionToken = yield* secret("AWS_SESSION_TOKEN", VisibleAscii, "a session token")
  if (accessKeyId !== undefined && secretAccessKey === undefined) {
    return yield* new BadVariable({
      variable: "AWS_SECRET_ACCESS_KEY",
      expected: "the secret of the key in AWS_ACCESS_KEY_ID"
    })
  }
  return {
    ...location,
    ...(endpoint === undefined ? {} : { endpoint: endpoint.href }),
    ...(region === undefined ? {} : { region }),
    ...(accessKeyId === undefined || secretAccessKey === undefined ? {} : {
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
    })
  } satisfies S3MediaBytes.Options
})

/** The issuer at which people sign in, if any (contract §12 `AUTH`). */
const auth = Effect.gen(function*() {
  const method = yield* read("AUTH", Schema.Literals(["local", "oidc"]), "local or oidc", "local")
  if (method === "local") return undefined
  const needed = Effect.fnUntraced(
    function*<A, I>(variable: Variable.Name, schema: Schema.Codec<A, I>, expected: string) {
      const value = yield* optional(variable, schema, expected)
      return value ?? (yield* new BadVariable({ variable, expected: `${expected}; required with AUTH=oidc` }))
    }
  )
  return {
    issuer: yield* needed("OIDC_ISSUER", WebAddress, "the issuer's http or https URL"),
    clientId: yield* needed("OIDC_CLIENT_ID", Schema.NonEmptyString, "the client id of this service at the issuer"),
    clientSecret: Redacted.make(
      yield* needed("OIDC_CLIENT_SECRET", Schema.NonEmptyString, "the secret for that client id")
    ),
    roleClaim: yield* read("OIDC_ROLE_CLAIM", Schema.NonEmptyString, "the name of a claim", "wac_roles")
  }
})

const smtpExpected = "smtp://USER:PASSWORD@HOST:PORT, or smtps://…"

const SmtpUrl = Schema.String.check(
  Schema.makeFilter((text: string) =>
    (/^smtps?:\/\//.test(text) && URL.canParse(text) && new URL(text).hostname !== "") || "must be an SMTP URL"
  )
)

const readEmail = Schema.decodeUnknownOption(SessionApi.SetUp.fields.email)

/** The origins that may show the portal in a frame (contract §12 `PORTAL_ORIGINS`). */
const portalOrigins = Effect.gen(function*() {
  const variable = "PORTAL_ORIGINS"
  const expected = "origins separated by commas, such as https://app.example.com"
  const text = yield* read(variable, Schema.String, expected, "")
  const origins = text.split(",").map((origin) => origin.trim()).filter((origin) => origin !== "")
  return origins.every(Portal.isOrigin) ? origins : yield* new BadVariable({ variable, expected })
})

/** Where to report a vulnerability: a URL, or an e-mail address. */
const securityContact = Effect.gen(function*() {
  const variable = "SECURITY_CONTACT"
  const expected = "an e-mail address, or a mailto: or https: address"
  const text = yield* optional(variable, Schema.String, expected)
  if (text === undefined || text === "") return undefined
  const url = Option.isSome(readEmail(text)) && !text.startsWith("mailto:") ? `mailto:${text}` : text
  return /^(mailto:|https:\/\/)[!-~]+$/.test(url) && URL.canParse(url)
    ? url
    : yield* new BadVariable({ variable, expected })
})

/** Mail to people (contract §12 `SMTP_URL`). */
const mail = Effect.fnUntraced(function*(publicHost: string) {
  const url = yield* secret("SMTP_URL", SmtpUrl, smtpExpected)
  const from = yield* read("SMTP_FROM", Schema.String, "an e-mail address", `wac@${publicHost}`)
  if (url === undefined) return undefined
  if (Option.isNone(readEmail(from)) || /[<>\r\n]/.test(from)) {
    return yield* new BadVariable({ variable: "SMTP_FROM", expected: "an e-mail address" })
  }
  return { url, from }
})

const serverExpected = "postgres://USER:PASSWORD@HOST:PORT/DATABASE, several hosts separated by commas"

/** The URL of a PostgreSQL server; the error explains why a URL cannot be used. */
const serverUrl = (variable: Variable.Name, text: string) =>
  Effect.as(
    Effect.mapError(
      Effect.fromResult(ServerUrl.parse(text)),
      (why) => new BadVariable({ variable, expected: `${serverExpected}; ${why}` })
    ),
    Redacted.make(text)
  )

const storage = Effect.gen(function*() {
  const variable = "DATABASE_URL"
  const expected = "postgres://…, pglite:DIRECTORY or memory:"
  const text = yield* read(variable, Schema.String, expected, "pglite:.data")
  if (text === "memory:") return { _tag: "Memory" as const }
  const directory = /^pglite:(.+)$/.exec(text)?.[1]
  if (directory !== undefined) return { _tag: "Embedded" as const, directory }
  if (!/^postgres(ql)?:\/\//.test(text)) return yield* new BadVariable({ variable, expected })
  const url = yield* serverUrl(variable, text)
  const listen = "DATABASE_LISTEN_URL"
  const listenText = yield* optional(listen, Schema.String, serverExpected)
  return {
    _tag: "Server" as const,
    url,
    ...(listenText === undefined ? {} : { listenUrl: yield* serverUrl(listen, listenText) })
  }
})

type Kept = Pick<ServerConfig, keyof Composition.Kept>

/** The storage and its keys. */
const kept = Effect.gen(function*() {
  const chosen = yield* storage
  const files = yield* mediaStore
  return {
    storage: chosen,
    ...(files === undefined ? {} : { mediaStore: files }),
    masterKey: yield* masterKey(chosen._tag),
    previousMasterKey: yield* secret("WAC_MASTER_KEY_PREVIOUS", Key, keyExpected),
    limits: yield* limits
  } satisfies Kept
})

/** The address that people use, if it is configured. */
const publicAddress = optional("PUBLIC_URL", PublicAddress, "an http or https URL, without a user or a query")

/** The address that people use; otherwise a guess from where the server listens. */
const addressFor = (publicUrl: URL | undefined, host: string, port: number): URL =>
  publicUrl ?? new URL(`http://${authorityOf(host)}:${port}`)

const listening = Effect.gen(function*() {
  const host = yield* read("HOST", HostName, "a host name or an address", "127.0.0.1")
  const port = yield* read("PORT", PortNumber, "a port number, 0 to 65535", 8080)
  return { host, port }
})

/** What receivers may be (contract §8). */
const receiverRules = Effect.gen(function*() {
  return {
    allowInsecure: (yield* read("WEBHOOK_ALLOW_INSECURE", Flag, "true or false", "false")) === "true",
    allowedCidrs: yield* networks("WEBHOOK_ALLOW_CIDRS")
  }
})

/** Pairs as OpenTelemetry writes them: `name=value`, separated by commas, with values that are percent-encoded. */
const pairs = Effect.fnUntraced(function*(variable: Variable.Name, isName: RegExp) {
  const expected = "NAME=VALUE, separated by commas, with values that are percent-encoded"
  const text = yield* read(variable, Schema.String, expected, "")
  const entries = text.split(",").map((pair) => pair.trim()).filter((pair) => pair !== "").map((pair) => {
    const at = pair.indexOf("=")
    const [name, value] = [pair.slice(0, Math.max(at, 0)).trim(), pair.slice(at + 1).trim()]
    return Result.map(
      Result.try(() => decodeURIComponent(value)),
      (value) => [name, value] as const
    ).pipe(Result.filterOrFail(([name, value]) => isName.test(name) && !/[\r\n\0]/.test(value), () => undefined))
  })
  return Object.fromEntries(
    yield* Effect.mapError(Effect.fromResult(Result.all(entries)), () => new BadVariable({ variable, expected }))
  )
})

const samplers = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false, ratio: undefined },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true, ratio: undefined }
} as const

/** Which traces are collected. */
const sampler = Effect.gen(function*() {
  const names = Struct.keys(samplers)
  const name = yield* read("OTEL_TRACES_SAMPLER", Schema.Literals(names), names.join(", "), "parentbased_always_on")
  const share = yield* read(
    "OTEL_TRACES_SAMPLER_ARG",
    Schema.NumberFromString.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
    "a number from 0 to 1",
    1
  )
  const { isParentBased, ratio = share } = samplers[name]
  return { isParentBased, ratio }
})

/** Whether a signal is exported. */
const exported = (variable: Variable.Name) =>
  Effect.map(
    read(variable, Schema.Literals(["otlp", "none"]), "otlp or none", "otlp"),
    (exporter) => exporter === "otlp"
  )

/** The collector (contract §8 `OTEL_…`). */
const telemetry = Effect.gen(function*() {
  const endpoint = yield* optional("OTEL_EXPORTER_OTLP_ENDPOINT", WebAddress, "an http or https URL")
  const isDisabled = (yield* read("OTEL_SDK_DISABLED", Flag, "true or false", "false")) === "true"
  const attributes = yield* pairs("OTEL_RESOURCE_ATTRIBUTES", /^[\x21-\x7e]+$/)
  const serviceName = yield* optional("OTEL_SERVICE_NAME", Schema.NonEmptyString, "a name")
  const headers = yield* pairs("OTEL_EXPORTER_OTLP_HEADERS", /^[-!#$%&'*+.^_`|~A-Za-z0-9]+$/)
  const config = {
    headers: Redacted.make(headers),
    serviceName: serviceName ?? attributes["service.name"] ?? "wac",
    attributes,
    sampler: yield* sampler,
    signals: {
      traces: yield* exported("OTEL_TRACES_EXPORTER"),
      metrics: yield* exported("OTEL_METRICS_EXPORTER"),
      logs: yield* exported("OTEL_LOGS_EXPORTER")
    }
  }
  return endpoint === undefined || isDisabled ? undefined : { ...config, endpoint: endpoint.href }
})

/** When customers' files are downloaded (contract §8). */
const InboundMedia = Schema.Literals(["keep", "on_demand"])

const config = Effect.gen(function*() {
  const opened = yield* kept
  const { host, port } = yield* listening
  const publicUrl = yield* publicAddress
  const level = yield* read("LOG_LEVEL", LogLevel, LogLevel.literals.join(", "), "info")
  return {
    host,
    port,
    publicUrl: addressFor(publicUrl, host, port),
    isPublicUrlGiven: publicUrl !== undefined,
    trustedProxies: yield* trustedProxies,
    ...opened,
    provider: yield* provider,
    retention: yield* retention,
    inboundMedia: yield* read("MEDIA_INBOUND", InboundMedia, "keep or on_demand", "keep"),
    rateCardFile: yield* optional("WAC_RATE_CARD", Schema.NonEmptyString, "the path of a CSV file"),
    owner: yield* owner,
    setupFile: (yield* optional("WAC_SETUP_FILE", Schema.NonEmptyString, "the path of a file")) ??
      (opened.storage._tag === "Embedded" ? join(opened.storage.directory, "setup-link") : undefined),
    receiverRules: yield* receiverRules,
    oidc: yield* auth,
    mail: yield* mail((publicUrl ?? new URL(`http://${authorityOf(host)}`)).hostname),
    alertUrl: (yield* optional("ALERT_URL", WebAddress, "an http or https URL"))?.href,
    isRestored: (yield* read("WAC_RESTORED", Flag, "true or false", "false")) === "true",
    portalOrigins: yield* portalOrigins,
    securityContact: yield* securityContact,
    metricsToken: yield* secret("METRICS_TOKEN", BearerToken, "a Bearer token of letters, digits and -._~+/="),
    logFormat: yield* read(
      "LOG_FORMAT",
      Schema.Literals(["pretty", "json"]),
      "pretty or json",
      process.stdout.isTTY ? "pretty" : "json"
    ),
    logLevel: effectLevels[level],
    telemetry: yield* telemetry
  } satisfies ServerConfig
})

const given = (environment: Environment) => <A>(config: Effect.Effect<A, BadVariable, Variables>) =>
  Variable.checkNames(environment).pipe(
    Effect.andThen(Effect.provideService(config, Variables, environment)),
    Effect.mapError((error) => Variable.located(environment, error))
  )

/** Reads the configuration from an environment. */
export const fromEnvironment = (environment: Environment): Effect.Effect<ServerConfig, BadVariable> =>
  given(environment)(config)

/** Reads the storage and its keys, for an operator's command that serves nothing. */
export const keptFromEnvironment = (environment: Environment): Effect.Effect<Kept, BadVariable> =>
  given(environment)(kept)

/** Reads only the storage: `DATABASE_URL`. */
export const storageFromEnvironment = (
  environment: Environment
): Effect.Effect<ServerConfig["storage"], BadVariable> => given(environment)(storage)

/** Reads which receivers are allowed, for an operator's command that posts to one. */
export const receiverRulesFromEnvironment = (
  environment: Environment
): Effect.Effect<ServerConfig["receiverRules"], BadVariable> => given(environment)(receiverRules)

/** Reads the address that people use, for links that an operator's command makes: `PUBLIC_URL`, `HOST` and `PORT`. */
export const publicUrlFromEnvironment = (environment: Environment): Effect.Effect<URL, BadVariable> =>
  given(environment)(
    Effect.map(
      Effect.all([publicAddress, listening]),
      ([publicUrl, { host, port }]) => addressFor(publicUrl, host, port)
    )
  )
