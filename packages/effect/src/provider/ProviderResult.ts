/**
 * Reads what the methods of a host's provider return or throw. Everything is checked: JavaScript may return anything,
 * and getters, thenables and proxies may throw or never end.
 */
import {
  Errors,
  type MediaStore,
  PlainText,
  type Provider as Port,
  ProviderAnswer,
  Template,
  type Time
} from "@wac/core"
import { DateTime, Duration, Option, Predicate, Result, Schema } from "effect"

/** Makes a fake clock wait for a promise of the host (see `FakeClock`). */
export type During = <A>(promise: Promise<A>) => Promise<A>

/** What a method returned, in an object: a promise would follow a thenable, even one that resolves to itself. */
export interface Returned {
  readonly value: unknown
}

/** Calls a method of the provider, which may return a promise, something else, or throw. */
export const calling = (during: During) => (call: () => unknown): Promise<Returned> =>
  during(
    new Promise((resolve, reject) => {
      const returned = call()
      const then = Predicate.isObjectOrArray(returned) || Predicate.isFunction(returned)
        ? (returned as { readonly then?: unknown }).then
        : undefined
      if (typeof then !== "function") return resolve({ value: returned })
      const followed: unknown = then.call(returned, (value: unknown) => resolve({ value }), reject)
      // an async `then` returns a promise, whose rejection nothing else handles
      if (followed instanceof Promise) Promise.prototype.then.call(followed, undefined, reject)
    })
  )

const longestText = 1024

/** A text of the provider for people, in a form that every storage can hold. */
const textOf = (field: string, text: unknown): string => {
  if (typeof text !== "string") throw new TypeError(`${field} must be text`)
  return PlainText.cleaned(text.slice(0, longestText))
}

const described = (outcome: { readonly [field: string]: unknown }) => {
  const { message, param, provider } = outcome
  const detail = (given: unknown): Errors.ProviderDetail => {
    if (!Predicate.isObject(given)) throw new TypeError("provider must be an object with code and message")
    const { code, message } = given
    return { code: textOf("provider.code", code), message: textOf("provider.message", message) }
  }
  return {
    message: textOf("message", message),
    ...(param === undefined ? {} : { param: textOf("param", param) }),
    ...(provider === undefined ? {} : { provider: detail(provider) })
  }
}

/** Checks that a reason is one of the error's code. */
const reasonOf = <Reason extends string>(schema: Schema.Schema<Reason>, code: string, reason: unknown): Reason => {
  if (!Schema.is(schema)(reason)) throw new TypeError(`reason must be a reason of ${code}`)
  return reason
}

/** The wait after a `rate_limited` of a provider that does not name one, in milliseconds. */
const defaultRetryAfter = 1000

const retryAfterOf = (millis: unknown = defaultRetryAfter): Duration.Duration => {
  if (!ProviderAnswer.isRetryAfter(millis)) {
    throw new TypeError("retryAfter must be a number of milliseconds from 0 to 24 hours")
  }
  return Duration.millis(millis)
}

const unknownCode = (status: string) => new TypeError(`the code of a result with the status ${status} is unknown`)

const { Forbidden, InvalidBody, RateLimited, ServerError } = Errors

/** The outcome that `send` returned. Throws if it is invalid, which the core treats as an unknown outcome. */
export const outcomeOf = ({ value }: Returned): Port.ProviderOutcome => {
  if (!Predicate.isObject(value)) throw new TypeError("the provider's result must be an object with a status")
  const { status } = value
  switch (status) {
    case "accepted":
      return ProviderAnswer.outcomeOf({ _tag: "Accepted", providerMessageId: value["providerMessageId"] })
    case "refused": {
      const { code, reason } = value
      switch (code) {
        case "forbidden": {
          const known = reasonOf(Forbidden.fields.reason, code, reason)
          return { _tag: "Refused", error: new Forbidden({ reason: known, ...described(value) }) }
        }
        case "invalid_body": {
          const known = reasonOf(InvalidBody.fields.reason, code, reason)
          return { _tag: "Refused", error: new InvalidBody({ reason: known, ...described(value) }) }
        }
        default:
          throw unknownCode(status)
      }
    }
    case "not_sent": {
      const { code, reason } = value
      switch (code) {
        case "rate_limited": {
          const known = reasonOf(RateLimited.fields.reason, code, reason)
          const retryAfter = retryAfterOf(value["retryAfter"])
          return { _tag: "NotSent", error: new RateLimited({ reason: known, retryAfter, ...described(value) }) }
        }
        case "server_error": {
          const known = reasonOf(ServerError.fields.reason, code, reason)
          return { _tag: "NotSent", error: new ServerError({ reason: known, ...described(value) }) }
        }
        default:
          throw unknownCode(status)
      }
    }
    case "unknown":
      return { _tag: "Unknown" }
    default:
      throw new TypeError("the provider's result has an unknown status")
  }
}

/** The deepest level of a template's components. */
const deepest = 32

/** A copy of JSON whose texts every storage can hold. */
const jsonOf = (value: unknown, place: string, depth = deepest): Schema.Json => {
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return value as Schema.Json
  if (typeof value === "string") return PlainText.cleaned(value)
  if (depth > 0 && Array.isArray(value)) {
    return value.map((one: unknown) => jsonOf(one, place, depth - 1))
  }
  if (depth > 0 && Predicate.isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, field]) =>
        field === undefined ? [] : [[PlainText.cleaned(name), jsonOf(field, place, depth - 1)]]
      )
    )
  }
  throw new TypeError(`${place} must be JSON`)
}

const Name = PlainText.between(1, 512)

const Listed = Schema.Struct({
  providerTemplateId: ProviderAnswer.ProviderId,
  name: Name,
  language: Name,
  category: Name,
  status: Name,
  parameterFormat: Schema.optional(Template.ParameterFormat),
  quality: Schema.optional(Schema.NullOr(Name)),
  rejectionReason: Schema.optional(Schema.NullOr(PlainText.PlainText))
})

const readListed = Schema.decodeUnknownResult(Listed)

const templateOf = (template: unknown, index: number): Template.ProviderTemplate => {
  const place = `[${index}]`
  if (!Predicate.isObject(template)) throw new TypeError(`${place} must be an object`)
  const read = readListed(template)
  if (Result.isFailure(read)) {
    const field = Object.keys(Listed.fields).find((field) =>
      !Schema.is(Listed.fields[field as keyof typeof Listed.fields])(template[field])
    )
    throw new TypeError(`${place}.${field ?? "name"} is missing or invalid`)
  }
  const { category, name, parameterFormat, providerTemplateId, language, quality, rejectionReason, status } =
    read.success
  const { components } = template
  if (!Array.isArray(components)) throw new TypeError(`${place}.components must be an array`)
  return {
    providerTemplateId,
    name,
    language,
    category: category.toLowerCase(),
    status: status.toLowerCase(),
    parameterFormat: parameterFormat ?? "positional",
    components: components.map((component: unknown) => jsonOf(component, `${place}.components`)),
    quality: quality ?? null,
    rejectionReason: rejectionReason ?? null
  }
}

/** The templates that `templates` returned. Throws a `TypeError` that names the first fault. */
export const templatesOf = (value: unknown): ReadonlyArray<Template.ProviderTemplate> => {
  if (!Array.isArray(value)) throw new TypeError("it must be an array")
  return value.map(templateOf)
}

/** The message of an error of {@link templatesOf}, after a colon; empty for other errors. */
export const placeOf = (error: unknown): string => {
  try {
    return error instanceof TypeError ? `: ${error.message}` : ""
  } catch {
    return ""
  }
}

const keptFor = Duration.days(30)

/** The file that `upload` returned. Throws if it is invalid. */
export const uploadOf = ({ value }: Returned, now: Time.Instant): MediaStore.ProviderMedia => {
  if (!Predicate.isObject(value)) throw new TypeError("the uploaded file must be an object with providerMediaId")
  const { expiresAt, providerMediaId } = value
  if (!Schema.is(ProviderAnswer.ProviderId)(providerMediaId)) {
    throw new TypeError("providerMediaId must be text of 1 to 512 characters")
  }
  const expires = expiresAt === undefined
    ? now + Duration.toMillis(keptFor)
    : Option.getOrUndefined(Option.map(DateTime.make(expiresAt as DateTime.DateTime.Input), DateTime.toEpochMillis))
  if (expires === undefined) throw new TypeError("expiresAt must be a time")
  return { providerMediaId, expiresAt: expires }
}

/** The bytes of a file that `download` returned. Throws on a piece that is not a `Uint8Array`. */
export const bytesOf = async function*(file: unknown): AsyncGenerator<Uint8Array> {
  for await (const piece of file as AsyncIterable<unknown>) {
    if (!(piece instanceof Uint8Array)) throw new TypeError("a piece of a file must be a Uint8Array")
    yield piece
  }
}
