/**
 * Configuration by environment variables (contract §8). If a value is invalid, the start fails with one line that
 * names the variable and the expected value; actual values are never shown.
 */
import type { Retention } from "@wac/core"
import type { Composition } from "@wac/effect"
import type { WhatsAppConfig, WhatsAppWebhook } from "@wac/whatsapp"
import { Effect, type Redacted, Schema } from "effect"
import type { IpNetwork } from "effect/net"
import { join } from "node:path"
import * as Addresses from "./config/Addresses.ts"
import { telemetry } from "./config/Collector.ts"
import * as People from "./config/People.ts"
import { provider } from "./config/Provider.ts"
import { BearerToken, flag, optional, read, secret, Variables, WebAddress } from "./config/Reading.ts"
import { retention } from "./config/Retention.ts"
import { storage, type StorageConfig, storageConfig } from "./config/Storage.ts"
import type * as OidcIssuer from "./OidcIssuer.ts"
import type * as Telemetry from "./Telemetry.ts"
import type { BadVariable, Environment } from "./VariableText.ts"
import * as VariableText from "./VariableText.ts"

/** The configuration of the server. */
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

const LogLevel = Schema.Literals(["trace", "debug", "info", "warn", "error"])
const effectLevels = { trace: "Trace", debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** When customers' files are downloaded (contract §8). */
const InboundMedia = Schema.Literals(["keep", "on_demand"])

const mail = Effect.gen(function*() {
  const { host } = yield* Addresses.listening
  const publicUrl = yield* Addresses.publicAddress
  return yield* People.mail((publicUrl ?? new URL(`http://${Addresses.authorityOf(host)}`)).hostname)
})

const isRestored = flag("WAC_RESTORED")

const config = Effect.gen(function*() {
  const opened = yield* storageConfig
  const { host, port } = yield* Addresses.listening
  const publicUrl = yield* Addresses.publicAddress
  const level = yield* read("LOG_LEVEL", LogLevel, LogLevel.literals.join(", "), "info")
  return {
    host,
    port,
    publicUrl: Addresses.addressFor(publicUrl, host, port),
    isPublicUrlGiven: publicUrl !== undefined,
    trustedProxies: yield* Addresses.trustedProxies,
    ...opened,
    provider: yield* provider,
    retention: yield* retention,
    inboundMedia: yield* read("MEDIA_INBOUND", InboundMedia, "keep or on_demand", "keep"),
    rateCardFile: yield* optional("WAC_RATE_CARD", Schema.NonEmptyString, "the path of a CSV file"),
    owner: yield* People.owner,
    setupFile: (yield* optional("WAC_SETUP_FILE", Schema.NonEmptyString, "the path of a file")) ??
      (opened.storage._tag === "Embedded" ? join(opened.storage.directory, "setup-link") : undefined),
    receiverRules: yield* Addresses.receiverRules,
    oidc: yield* People.auth,
    mail: yield* mail,
    alertUrl: (yield* optional("ALERT_URL", WebAddress, "an http or https URL"))?.href,
    isRestored: yield* isRestored,
    portalOrigins: yield* People.portalOrigins,
    securityContact: yield* People.securityContact,
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
  VariableText.checkNames(environment).pipe(
    Effect.andThen(Effect.provideService(config, Variables, environment)),
    Effect.mapError((error) => VariableText.located(environment, error))
  )

/** Reads the configuration from an environment. */
export const fromEnvironment = (environment: Environment): Effect.Effect<ServerConfig, BadVariable> =>
  given(environment)(config)

/** Reads the variables of the storage and its keys, for operator's commands. */
export const storageConfigFromEnvironment = (environment: Environment): Effect.Effect<StorageConfig, BadVariable> =>
  given(environment)(storageConfig)

/** Reads only the storage: `DATABASE_URL`. */
export const storageFromEnvironment = (
  environment: Environment
): Effect.Effect<ServerConfig["storage"], BadVariable> => given(environment)(storage)

/** Reads how long records are kept, for an operator's command that records a use of files: `RETENTION`. */
export const retentionFromEnvironment = (
  environment: Environment
): Effect.Effect<ServerConfig["retention"], BadVariable> => given(environment)(retention)

/** Reads which receivers are allowed, for an operator's command that posts to one. */
export const receiverRulesFromEnvironment = (
  environment: Environment
): Effect.Effect<ServerConfig["receiverRules"], BadVariable> => given(environment)(Addresses.receiverRules)

/** Reads the address that people use, for links that an operator's command makes: `PUBLIC_URL`, `HOST` and `PORT`. */
export const publicUrlFromEnvironment = (environment: Environment): Effect.Effect<URL, BadVariable> =>
  given(environment)(
    Effect.map(
      Effect.all([Addresses.publicAddress, Addresses.listening]),
      ([publicUrl, { host, port }]) => Addresses.addressFor(publicUrl, host, port)
    )
  )

/** Reads whether the database was restored from a backup, for an operator's command: `WAC_RESTORED`. */
export const isRestoredFromEnvironment = (environment: Environment): Effect.Effect<boolean, BadVariable> =>
  given(environment)(isRestored)

/** Reads the mail server, for an operator's command that mails: `SMTP_URL` and `SMTP_FROM`. */
export const mailFromEnvironment = (environment: Environment): Effect.Effect<ServerConfig["mail"], BadVariable> =>
  given(environment)(mail)

/** Reads the origins that may show the portal, for links that an operator's command makes: `PORTAL_ORIGINS`. */
export const portalOriginsFromEnvironment = (
  environment: Environment
): Effect.Effect<ServerConfig["portalOrigins"], BadVariable> => given(environment)(People.portalOrigins)
