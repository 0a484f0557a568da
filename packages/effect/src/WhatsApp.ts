/**
 * The provider WhatsApp as an option of an instance: it sends through Meta's Cloud API.
 */
import { Effect, Layer, Redacted } from "effect"
import type * as Composition from "./Composition.ts"
import * as KnownOptions from "./KnownOptions.ts"
import { badOption } from "./WacError.ts"

/** The options of the Cloud API. */
export interface WhatsAppOptions {
  /** An access token of the app's system user. */
  readonly accessToken: string
  /** Meta's id of the phone number that the first workspace sends from. */
  readonly phoneNumberId: string
  /** Meta's id of the WhatsApp Business Account. */
  readonly businessAccountId: string
  /** The app's secret, which signs Meta's posts. */
  readonly appSecret: string
  /** The verify token, given to Meta together with the address `<where handler is>/providers/whatsapp/webhook`. */
  readonly verifyToken: string
  /** Defaults to Meta's address. */
  readonly baseUrl?: string
  /** Defaults to `v26.0`. */
  readonly apiVersion?: string
}

/** See {@link whatsapp}. */
export interface WhatsAppProvider extends WhatsAppOptions {
  readonly type: "whatsapp"
}

/**
 * Sends over WhatsApp. Meta posts statuses and replies to `/providers/whatsapp/webhook`, relative to where `handler` or
 * `nodeHandler` is served. At the first start Meta is asked for the number.
 */
export const whatsapp = (options: WhatsAppOptions): WhatsAppProvider => ({ ...options, type: "whatsapp" })

const text = (options: WhatsAppOptions, option: keyof WhatsAppOptions, form: RegExp, expected: string): string => {
  const value = options[option]
  if (typeof value !== "string" || !form.test(value)) {
    throw badOption(`provider.${option}`, `provider.${option} must be ${expected}`)
  }
  return value
}

const visible = /^[\x21-\x7e]+$/
const graphId = /^[0-9]+$/
const version = /^v[0-9]{1,3}\.[0-9]{1,2}$/

const names: Record<keyof WhatsAppProvider, true> = {
  type: true,
  accessToken: true,
  phoneNumberId: true,
  businessAccountId: true,
  appSecret: true,
  verifyToken: true,
  baseUrl: true,
  apiVersion: true
}

/** The adapter, which is loaded only if it is used. */
export const layer = (options: WhatsAppProvider): Composition.Adapters["provider"] => {
  KnownOptions.check(options, names, "provider.")
  const { baseUrl = "https://graph.facebook.com" } = options
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw badOption("provider.baseUrl", "provider.baseUrl must be an http or https URL")
  }
  const config = {
    baseUrl,
    apiVersion: options.apiVersion === undefined
      ? "v26.0"
      : text(options, "apiVersion", version, "a version such as v26.0"),
    accessToken: Redacted.make(text(options, "accessToken", visible, "an access token")),
    phoneNumberId: text(options, "phoneNumberId", graphId, "Meta's id of a phone number, digits only"),
    businessAccountId: text(options, "businessAccountId", graphId, "Meta's id of an account, digits only"),
    appSecret: Redacted.make(text(options, "appSecret", visible, "the app's secret")),
    verifyToken: Redacted.make(text(options, "verifyToken", visible, "the verify token entered at Meta"))
  }
  return Layer.unwrap(
    Effect.map(Effect.promise(() => import("@wac/whatsapp")), ({ WhatsApp }) => WhatsApp.layer(config))
  )
}
