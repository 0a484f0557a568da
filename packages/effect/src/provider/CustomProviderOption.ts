/**
 * Checks the option of a provider of the host: throws on unknown names and on values of the wrong type.
 */
import { Capabilities, E164, PlainText, ProviderAnswer } from "@wac/core"
import { Schema } from "effect"
import { badOption } from "../WacError.ts"
import type { CustomProvider } from "./CustomProvider.ts"

/** The names of an option, and which of them are methods. */
const names: { readonly [name in keyof Required<CustomProvider>]: "value" | "method" } = {
  name: "value",
  phoneNumber: "value",
  providerNumberId: "value",
  capabilities: "value",
  send: "method",
  templates: "method",
  markRead: "method",
  upload: "method",
  download: "method"
}

/** The capabilities that require a method. */
const methods = { templates: "templates", readMarks: "markRead", uploads: "upload" } as const

/** The capabilities of a provider: those that it declares, or by default what WhatsApp has. */
export const capabilitiesOf = ({ capabilities, upload }: CustomProvider): Capabilities.Capabilities =>
  capabilities === undefined
    ? { ...Capabilities.all, uploads: upload !== undefined }
    : {
      ...Capabilities.none,
      ...Object.fromEntries(Capabilities.names.map((name) => [name, capabilities[name] ?? false]))
    }

const checkCapabilities = (provider: CustomProvider): void => {
  const { capabilities } = provider
  const place = "provider.capabilities"
  if (capabilities !== undefined) {
    if (typeof capabilities !== "object" || capabilities === null) {
      throw badOption(place, `${place} must be an object of what the channel has`)
    }
    for (const [name, has] of Object.entries(capabilities)) {
      if (!Capabilities.names.some((known) => known === name)) {
        throw badOption(
          `${place}.${name}`,
          `there is no capability ${name}; there are ${Capabilities.names.join(", ")}`
        )
      }
      if (has !== undefined && typeof has !== "boolean") {
        throw badOption(`${place}.${name}`, `${place}.${name} must be true or false`)
      }
    }
  }
  const has = capabilitiesOf(provider)
  for (const capability of ["templates", "readMarks", "uploads"] as const) {
    const method = methods[capability]
    const isThere = provider[method] !== undefined
    // a provider that declares no capabilities may lack read receipts
    if (has[capability] && !isThere && (capabilities !== undefined || capability === "templates")) {
      throw badOption(`provider.${method}`, `the capability ${capability} requires the method ${method}`)
    }
    if (isThere && !has[capability]) {
      throw badOption(`${place}.${capability}`, `the method ${method} requires the capability ${capability}`)
    }
  }
  if (has.uploads && !has.media) throw badOption(`${place}.uploads`, "the capability uploads requires media")
}

const isKnown = (name: string): name is keyof typeof names => Object.hasOwn(names, name)

const isPlain = (object: object): boolean => [null, Object.prototype].includes(Object.getPrototypeOf(object))

/** Every name of an object's members, including those of its class. */
const allNames = (object: object): ReadonlyArray<string> => {
  const all: Array<string> = []
  for (let one: object | null = object; one !== null && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    all.push(...Object.getOwnPropertyNames(one))
  }
  return all
}

/**
 * The first name that a provider must not have; `undefined` if there is none. An instance of a class may have other
 * members, so of its names only those count that differ from a known one in case alone.
 */
const unknownIn = (provider: object): string | undefined =>
  isPlain(provider)
    ? Object.keys(provider).find((name) => !isKnown(name))
    : allNames(provider).find((name) =>
      !isKnown(name) && Object.keys(names).some((known) => known.toLowerCase() === name.toLowerCase())
    )

const isName = Schema.is(PlainText.between(1, 64))
const isProviderId = Schema.is(ProviderAnswer.ProviderId)
const isNumber = Schema.is(E164.E164)

/** Throws on an invalid provider. The error names the field. */
export const check = (provider: CustomProvider): void => {
  if (typeof provider !== "object" || provider === null || provider.send === undefined) {
    throw badOption(
      "provider",
      "provider must be sandbox(), whatsapp({…}), or an object with phoneNumber and send; see defineProvider"
    )
  }
  const unknown = unknownIn(provider)
  if (unknown !== undefined) {
    throw badOption(`provider.${unknown}`, `a provider has no ${unknown}; it has ${Object.keys(names).join(", ")}`)
  }
  for (const name of Object.keys(names).filter(isKnown)) {
    if (names[name] === "method" && provider[name] !== undefined && typeof provider[name] !== "function") {
      throw badOption(`provider.${name}`, `provider.${name} must be a function`)
    }
  }
  checkCapabilities(provider)
  const { name, phoneNumber, providerNumberId } = provider
  if (!isNumber(phoneNumber)) {
    throw badOption("provider.phoneNumber", "provider.phoneNumber must be a phone number in E.164 format")
  }
  if (name !== undefined && !isName(name)) {
    throw badOption("provider.name", "provider.name must have 1 to 64 characters")
  }
  if (providerNumberId !== undefined && !isProviderId(providerNumberId)) {
    throw badOption("provider.providerNumberId", "provider.providerNumberId must have 1 to 512 characters")
  }
}
