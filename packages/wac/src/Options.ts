/**
 * What an instance is made with.
 */
import { Limits as Core, Portal, Workspace } from "@wac/core"
import { ReceiverAddress, type ReceiverGuardDns } from "@wac/receivers"
import { Predicate, Redacted, Result, Schema } from "effect"
import { Base64 } from "effect/encoding"
import type * as Composition from "./Composition.ts"
import type { FakeClock } from "./FakeClock.ts"
import * as Input from "./Input.ts"
import type { Log } from "./Log.ts"
import type { Provider } from "./messages/Provider.ts"
import type { Auth } from "./people/Auth.ts"
import { composed, type Storage } from "./Storage.ts"
import { badOption } from "./WacError.ts"

/** Rates are per second; `null` is no limit. What is left out stays as it is by default. */
export interface Limits {
  /** Requests of a workspace, by tier: `{ standard: 100 }`. */
  readonly workspaceTiers?: { readonly [tier: string]: number }
  /** Messages from a phone number, by tier: `{ standard: 80 }`. */
  readonly phoneNumberTiers?: { readonly [tier: string]: number }
  /** Messages from one number to one recipient. */
  readonly pair?: { readonly everySeconds: number; readonly burst: number }
  readonly defaults?: {
    readonly workspaceTier?: string
    readonly phoneNumberTier?: string
    /** Messages per workspace and calendar month (UTC). */
    readonly monthlyQuota?: number | null
    /** Unique customers written to outside a window, per rolling 24 hours and phone number. */
    readonly messagingLimit?: number | null
  }
}

/** Which receivers webhooks may have; by default only https and public addresses. */
export interface ReceiverRules {
  /** Allows http. */
  readonly allowInsecure?: boolean
  /** Private ranges that are allowed: `["127.0.0.0/8"]`. */
  readonly allowCidrs?: ReadonlyArray<string>
}

/** 32 random bytes, or their base64, as `openssl rand -base64 32` makes them. */
export type MasterKey = string | Uint8Array

/** What an instance is made with. */
export interface WacOptions {
  /** `memory()`, `postgres(url)`, `pglite(directory)`, or a storage that is not ours. */
  readonly storage: Storage
  /** `sandbox()`, `whatsapp({ … })`, a provider of your own as an object, or one that is a Layer. */
  readonly provider: Provider
  /** Who is signed in to what is served under `/internal`; nobody when left out. */
  readonly auth?: Auth
  /**
   * Encrypts the secrets in the storage. Required with `postgres`, and with a storage that is not ours if it survives the
   * process; memory has one per run, `pglite` keeps one.
   */
  readonly masterKey?: MasterKey
  /** The master key before, while it is being changed. */
  readonly previousMasterKey?: MasterKey
  /** The name that the first workspace is created with, if there is none yet; `wac` when left out. */
  readonly workspaceName?: string
  /** Serves the dashboard's pages at `/dashboard`, and redirects `/` there. False by default. */
  readonly dashboard?: boolean
  /** The origins whose pages may show the portal in a frame: `["https://app.example.com"]`. None by default. */
  readonly portalOrigins?: ReadonlyArray<string>
  /** The path that `handler` and `nodeHandler` are reached at, `/messaging`; they take it off. None when left out. */
  readonly prefix?: string
  /**
   * The address that people use, such as `https://example.com`: unsafe requests of browsers are taken from there alone,
   * and `local()` chooses its cookie by it. With `https`, answers have `Strict-Transport-Security`. If omitted, requests
   * must come from the address that they are made to.
   */
  readonly publicUrl?: string
  /** Rate limits and quotas: 100 requests a second of a workspace, 80 messages a second from a number when left out. */
  readonly limits?: Limits
  readonly receivers?: ReceiverRules
  /** Gets every line of the log. If omitted, errors are written to stderr, and nothing else is. */
  readonly log?: Log
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
  prefix: true,
  publicUrl: true,
  limits: true,
  receivers: true,
  log: true,
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

const readLimits = Input.reader(Core.Limits)

const limitsOf = (limits: Limits = {}): Core.Limits => {
  const read = readLimits({ ...Core.standard, ...limits, defaults: { ...Core.standard.defaults, ...limits.defaults } })
  if (Result.isSuccess(read)) return read.success
  const { message, param } = read.failure
  throw badOption(param === undefined ? "limits" : `limits.${param}`, `limits: ${message}`)
}

/** Refuses a name that is none of an option's: what is misspelt would silently be the default. */
const known = (given: object, names: { readonly [name: string]: true }, within = ""): void => {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name))
  if (unknown !== undefined) throw badOption(`${within}${unknown}`, `there is no option ${within}${unknown}`)
}

const rulesOf = (rules: ReceiverRules = {}): ReceiverGuardDns.ReceiverRules => {
  known(rules, { allowInsecure: true, allowCidrs: true } satisfies Record<keyof ReceiverRules, true>, "receivers.")
  const { allowCidrs = [], allowInsecure = false } = rules
  const cidrs = ReceiverAddress.parseCidrs(Array.isArray(allowCidrs) ? allowCidrs.join(",") : "none")
  if (Result.isFailure(cidrs)) {
    throw badOption("receivers.allowCidrs", "receivers.allowCidrs must be an array of ranges such as 10.0.0.0/8")
  }
  return { allowInsecure, allowedCidrs: cidrs.success }
}

/** Throws for what no type checker has seen: other names than those of options, and functions that are none. */
export const check = (options: WacOptions): void => {
  if (!Predicate.isObject(options)) throw badOption("options", "options must be an object with storage and provider")
  known(options, names)
  if (options.dashboard !== undefined && typeof options.dashboard !== "boolean") {
    throw badOption("dashboard", "dashboard must be true or false")
  }
  if (options.log !== undefined && typeof options.log !== "function") throw badOption("log", "log must be a function")
}

/** What the composition is told; throws at the first option that is not what it must be. */
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
    receiverRules: rulesOf(options.receivers)
  }
}

/** Nothing has this origin: without an address of its own, a service believes a browser, or the request's own address. */
const unknownUrl = "https://unknown.invalid"

export const publicUrlOf = ({ publicUrl = unknownUrl }: WacOptions): URL => {
  if (!URL.canParse(publicUrl) || !/^https?:$/.test(new URL(publicUrl).protocol)) {
    throw badOption("publicUrl", "publicUrl must be an http or https URL")
  }
  return new URL(publicUrl)
}

/** Origins as the browser writes them, so that nothing else comes into a header. */
export const portalOriginsOf = ({ portalOrigins = [] }: WacOptions): ReadonlyArray<string> => {
  const isOrigin = (origin: unknown) => typeof origin === "string" && Portal.isOrigin(origin)
  if (!Array.isArray(portalOrigins) || !portalOrigins.every(isOrigin)) {
    throw badOption("portalOrigins", "portalOrigins must be an array of origins such as https://app.example.com")
  }
  return portalOrigins
}

/** Where links to the portal lead, less what is mounted there; nothing where the portal is not served. */
export const portalBaseOf = (options: WacOptions, prefix: string): string | undefined =>
  options.publicUrl === undefined || options.dashboard !== true
    ? undefined
    : publicUrlOf(options).href.replace(/\/$/, "") + prefix

const isName = Schema.is(Workspace.Name)

export const workspaceNameOf = ({ workspaceName = "wac" }: WacOptions): string => {
  if (!isName(workspaceName)) throw badOption("workspaceName", "workspaceName must have 1 to 100 characters")
  return workspaceName
}
