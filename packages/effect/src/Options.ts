/**
 * The options of an instance, and their validation.
 */
import * as Core from "@wac/core"
import { ReceiverAddress, type ReceiverGuardDns } from "@wac/receivers"
import { Predicate, Redacted, Result, Schema } from "effect"
import { Base64 } from "effect/encoding"
import type * as Composition from "./Composition.ts"
import type { FakeClock } from "./FakeClock.ts"
import * as Input from "./Input.ts"
import * as KnownOptions from "./KnownOptions.ts"
import type { Log } from "./Log.ts"
import { composed as composedMediaStore, type MediaStore } from "./media/MediaStore.ts"
import * as OptionValue from "./OptionValue.ts"
import type { Auth } from "./people/Auth.ts"
import type { PortalTheme } from "./people/Portal.ts"
import type { Provider } from "./provider/Provider.ts"
import { composed, type Storage } from "./Storage.ts"
import { badOption } from "./WacError.ts"

/** Rates are per second; `null` means no limit. Omitted settings keep their defaults. */
export interface Limits {
  /** Requests of a workspace, by tier: `{ standard: 100 }`. */
  readonly workspaceTiers?: { readonly [tier: string]: number }
  /** Messages from a phone number, by tier: `{ standard: 80 }`. */
  readonly phoneNumberTiers?: { readonly [tier: string]: number }
  /** Messages from one number to one recipient. */
  readonly pair?: { readonly everySeconds: number; readonly burst: number }
  /** Marketing templates per contact before campaigns leave the contact out; no cap if omitted. */
  readonly frequencyCap?: { readonly messages: number; readonly days: number } | null
  readonly defaults?: {
    readonly workspaceTier?: string
    readonly phoneNumberTier?: string
    /** Messages per workspace and calendar month (UTC). */
    readonly monthlyQuota?: number | null
    /** Unique customers messaged outside a window, per rolling 24 hours and portfolio. */
    readonly messagingLimit?: number | null
  }
}

/** How long records are kept, in days. Omitted kinds keep their defaults. */
export interface Retention {
  /** Events and their deliveries. Default: 30. */
  readonly events?: number
  /** Attempts at deliveries. Default: 30. */
  readonly attempts?: number
  /** The log of API requests. Default: 7. */
  readonly requests?: number
  /** Messages. Default: 400. */
  readonly messages?: number
  /** The content of messages. Default: as long as the messages. */
  readonly bodies?: number
  /** Files after their last use. Default: 30. */
  readonly media?: number
  /** The audit. Default: 365. */
  readonly audit?: number
  /** Processed posts of the provider. Default: 7. */
  readonly inbound?: number
}

/** The provider's charge for a message. */
export interface Rate {
  /** A country (`DE`), or `*` for every country without a rate of its own. */
  readonly market: string
  /** Such as `marketing`. */
  readonly category: string
  /** ISO 4217, such as `USD`. */
  readonly currency: string
  /** In the currency's unit, as a decimal with at most 6 digits after the point: `0.0456`. */
  readonly price: string
  /** The first day (UTC) for which it is valid: `2026-07-01`. */
  readonly validFrom: string
}

/** Which receivers webhooks may have. By default, only https and public addresses. */
export interface ReceiverRules {
  /** Allows http. */
  readonly allowInsecure?: boolean
  /** Private ranges to allow: `["127.0.0.0/8"]`. */
  readonly allowCidrs?: ReadonlyArray<string>
}

/** 32 random bytes, or their base64, as printed by `openssl rand -base64 32`. */
export type MasterKey = string | Uint8Array

/** The options of an instance. */
export interface WacOptions {
  /** `memory()`, `postgres(url)`, `pglite(directory)`, or a storage of your own. */
  readonly storage: Storage
  /** `sandbox()`, `whatsapp({ … })`, a provider of your own as an object, or one that is a Layer. */
  readonly provider: Provider
  /** Decides who is signed in under `/internal`; if omitted, nobody is. */
  readonly auth?: Auth
  /**
   * Encrypts the secrets in the storage. Required with `postgres`, and with a durable storage of your own. `memory`
   * creates one for each run; `pglite` keeps one.
   */
  readonly masterKey?: MasterKey
  /** The previous master key, during a change. */
  readonly previousMasterKey?: MasterKey
  /** The name for the first workspace if there is none yet. Defaults to `wac`. */
  readonly workspaceName?: string
  /** Serves the dashboard's pages at `/dashboard`, and redirects `/` there. Defaults to false. */
  readonly dashboard?: boolean
  /** The origins whose pages may show the portal in a frame: `["https://app.example.com"]`. Defaults to none. */
  readonly portalOrigins?: ReadonlyArray<string>
  /** The look of the portal, unless a link has its own. Defaults to the look of the dashboard. */
  readonly portalTheme?: PortalTheme
  /**
   * The path at which `handler` and `nodeHandler` are reached, such as `/messaging`. They remove it. Defaults to none.
   */
  readonly prefix?: string
  /**
   * The address that people use, such as `https://example.com`. Unsafe requests of browsers are accepted from this
   * origin only, and `local()` chooses its cookie by it. With `https`, responses carry `Strict-Transport-Security`. If
   * omitted, requests must come from the address that they are sent to.
   */
  readonly publicUrl?: string
  /** Rate limits and quotas. Default: 100 requests a second per workspace, and 80 messages a second per number. */
  readonly limits?: Limits
  /** How long each kind of record is kept, in days. */
  readonly retention?: Retention
  /** The provider's prices, by which `usage` computes costs. Defaults to none. */
  readonly rateCard?: ReadonlyArray<Rate>
  /**
   * When customers' files are downloaded from the provider: as soon as they arrive (`keep`, the default), or when they
   * are first opened, while the provider has them (`on_demand`).
   */
  readonly inboundMedia?: "keep" | "on_demand"
  /** Where the bytes of files are: `s3("s3://bucket/prefix")`. Defaults to the storage. */
  readonly mediaStore?: MediaStore
  /**
   * Whether the storage was restored from a backup: if so, campaigns that were running and queued messages wait until a
   * person lets them continue, and the files of the backup stay in `mediaStore` until the queue is released. Set it for one start after every restore: a copy on the same PostgreSQL server as before
   * looks like the original, and would send again what was sent after the backup. Defaults to false.
   */
  readonly restored?: boolean
  readonly receivers?: ReceiverRules
  /** Receives every line of the log. If omitted, errors are written to stderr, and nothing else. */
  readonly log?: Log
  /**
   * Whether deliveries, queued messages, campaigns, subscriptions, listeners and sweeps run in the background. With
   * `false` they run only during `work`, which a timer of the host calls; nothing keeps the process alive between
   * calls. Defaults to true.
   */
  readonly background?: boolean
  /** A clock of `fakeClock()`, for tests. */
  readonly clock?: FakeClock
}

const names: Record<keyof WacOptions, true> = {
  storage: true,
  provider: true,
  auth: true,
  masterKey: true,
  previousMasterKey: true,
  workspaceName: true,
  dashboard: true,
  portalOrigins: true,
  portalTheme: true,
  prefix: true,
  publicUrl: true,
  limits: true,
  retention: true,
  rateCard: true,
  inboundMedia: true,
  mediaStore: true,
  restored: true,
  receivers: true,
  log: true,
  background: true,
  clock: true
}

const keyLength = 32

const keyOf = (key: MasterKey | undefined, option: string): Redacted.Redacted<Uint8Array> | undefined => {
  if (key === undefined) return undefined
  const bytes = typeof key === "string" ? Result.getOrUndefined(Base64.decode(key)) : key
  if (!(bytes instanceof Uint8Array) || bytes.length !== keyLength) {
    throw badOption(option, `${option} must be ${keyLength} random bytes, or their base64`)
  }
  return Redacted.make(bytes)
}

const readLimits = Input.reader(Core.Limits.Limits)

const limitsOf = (limits: Limits = {}): Core.Limits.Limits => {
  const { standard } = Core.Limits
  const read = readLimits(
    Predicate.isObject(limits)
      ? OptionValue.over(standard, { ...limits, defaults: OptionValue.over(standard.defaults, limits.defaults) })
      : limits
  )
  if (Result.isSuccess(read)) return read.success
  const { message, param } = read.failure
  throw badOption(param === undefined ? "limits" : `limits.${param}`, `limits: ${message}`)
}

const readRetention = Input.reader(Core.Retention.Retention)

const retentionOf = (retention?: Retention): Core.Retention.Retention => {
  const read = readRetention(OptionValue.over(Core.Retention.standard, retention))
  if (Result.isSuccess(read)) return read.success
  const { message, param } = read.failure
  throw badOption(param === undefined ? "retention" : `retention.${param}`, `retention: ${message}`)
}

const exampleRate: Rate = {
  market: "DE",
  category: "marketing",
  currency: "USD",
  price: "0.0456",
  validFrom: "2026-07-01"
}

const rateCardOf = (rates: ReadonlyArray<Rate> = []): Core.RateCard.RateCard => {
  if (!Array.isArray(rates)) throw badOption("rateCard", "rateCard must be an array of rates")
  return rates.map((rate: Rate, i) => {
    const { category, currency, market, price, validFrom } = rate ?? {}
    const read = Core.RateCard.parse({
      market: String(market),
      category: String(category),
      currency: String(currency),
      price: String(price),
      validFrom: String(validFrom)
    })
    if (Result.isSuccess(read)) return read.success
    const param = `rateCard[${i}].${read.failure}`
    throw badOption(param, `${param} is invalid; a valid rate: ${JSON.stringify(exampleRate)}`)
  })
}

const rulesOf = (rules: ReceiverRules = {}): ReceiverGuardDns.ReceiverRules => {
  KnownOptions.check(
    rules,
    { allowInsecure: true, allowCidrs: true } satisfies Record<keyof ReceiverRules, true>,
    "receivers."
  )
  const { allowCidrs = [], allowInsecure = false } = rules
  OptionValue.checkBoolean("receivers.allowInsecure", allowInsecure)
  const cidrs = ReceiverAddress.parseCidrs(Array.isArray(allowCidrs) ? allowCidrs.join(",") : "none")
  if (Result.isFailure(cidrs)) {
    throw badOption("receivers.allowCidrs", "receivers.allowCidrs must be an array of ranges such as 10.0.0.0/8")
  }
  return { allowInsecure, allowedCidrs: cidrs.success }
}

/** Checks the options of a host without a type checker: throws on unknown names and on values of the wrong type. */
export const check = (options: WacOptions): void => {
  if (!Predicate.isObject(options)) throw badOption("options", "options must be an object with storage and provider")
  KnownOptions.check(options, names)
  for (const name of ["dashboard", "restored", "background"] as const) OptionValue.checkBoolean(name, options[name])
  if (![undefined, "keep", "on_demand"].includes(options.inboundMedia)) {
    throw badOption("inboundMedia", "inboundMedia must be keep or on_demand")
  }
  if (options.log !== undefined && typeof options.log !== "function") throw badOption("log", "log must be a function")
}

/** Builds the composition's configuration. Throws on the first invalid option. */
export const configOf = (options: WacOptions): Composition.Config<unknown> => {
  const storage = composed(options.storage)
  const masterKey = keyOf(options.masterKey, "masterKey")
  if (masterKey === undefined && options.storage.type === "postgres") {
    throw badOption("masterKey", "masterKey is required with postgres: every process must have the same one")
  }
  return {
    storage,
    masterKey,
    previousMasterKey: keyOf(options.previousMasterKey, "previousMasterKey"),
    limits: limitsOf(options.limits),
    retention: retentionOf(options.retention),
    rateCard: rateCardOf(options.rateCard),
    ...(options.inboundMedia === undefined ? {} : { inboundMedia: options.inboundMedia }),
    ...(options.mediaStore === undefined ? {} : { mediaStore: composedMediaStore(options.mediaStore) }),
    receiverRules: rulesOf(options.receivers)
  }
}

/**
 * A placeholder that matches no origin. Without a public URL, the service relies on the browser's Sec-Fetch-Site or on
 * the request's own address.
 */
const unknownUrl = "https://unknown.invalid"

/** The option `publicUrl`, or a placeholder. Throws unless it is an http or https URL. */
export const publicUrlOf = ({ publicUrl = unknownUrl }: WacOptions): URL => {
  if (!URL.canParse(publicUrl) || !/^https?:$/.test(new URL(publicUrl).protocol)) {
    throw badOption("publicUrl", "publicUrl must be an http or https URL")
  }
  return new URL(publicUrl)
}

/** The option `portalOrigins`. Throws unless each is an origin as browsers write it, because they become a header. */
export const portalOriginsOf = ({ portalOrigins = [] }: WacOptions): ReadonlyArray<string> => {
  const isOrigin = (origin: unknown) => typeof origin === "string" && Core.Portal.isOrigin(origin)
  if (!Array.isArray(portalOrigins) || !portalOrigins.every(isOrigin)) {
    throw badOption("portalOrigins", "portalOrigins must be an array of origins such as https://app.example.com")
  }
  return portalOrigins
}

/** The option `portalTheme`. Throws on an invalid field. */
export const portalThemeOf = (
  { portalTheme = {} }: WacOptions,
  origins: ReadonlyArray<string>
): PortalTheme => {
  const read = Input.reader(Core.Portal.themeOf(origins))(portalTheme)
  if (Result.isSuccess(read)) return read.success
  const { message, param } = read.failure
  throw badOption(param === undefined ? "portalTheme" : `portalTheme.${param}`, `portalTheme: ${message}`)
}

/** The base URL of portal links, without the portal's own path; `undefined` if the portal is not served. */
export const portalBaseOf = (options: WacOptions, prefix: string): string | undefined =>
  options.publicUrl === undefined || options.dashboard !== true
    ? undefined
    : publicUrlOf(options).href.replace(/\/$/, "") + prefix

const isName = Schema.is(Core.Workspace.Name)

/** The option `workspaceName`. Throws on an invalid name. */
export const workspaceNameOf = ({ workspaceName = "wac" }: WacOptions): string => {
  if (!isName(workspaceName)) throw badOption("workspaceName", "workspaceName must have 1 to 100 characters")
  return workspaceName
}
